"""Small faults for a module: their places, and the text of the module with one of them."""

import ast
from collections.abc import Iterator
from typing import NamedTuple

OPERATORS = {
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult},
    **{ast.FloorDiv: ast.Mult, ast.Mod: ast.Add, ast.Pow: ast.Mult},
    **{ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd},
    **{ast.And: ast.Or, ast.Or: ast.And},
}
COMPARISONS = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt},
    **{ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is},
    **{ast.In: ast.NotIn, ast.NotIn: ast.In},
}
FUNCTIONS = {
    **{"sigmoid": "tanh", "tanh": "sigmoid", "log": "exp", "exp": "log", "sin": "cos"},
    **{"cos": "sin", "maximum": "minimum", "minimum": "maximum", "max": "min", "min": "max"},
    **{"argmax": "argmin", "any": "all", "all": "any", "ones": "zeros", "zeros": "ones"},
    **{"ones_like": "zeros_like", "zeros_like": "ones_like", "sum": "max"},
    **{"logical_and": "logical_or", "logical_or": "logical_and"},
}
AXES = {"axis", "axes", "keepdims"}


class Mutation(NamedTuple):
    """Fault that replaces the text `old`, at bytes `[start, end)` of a module, by `new`."""

    line: int
    kind: str
    start: int
    end: int
    old: str
    new: str

    def apply(self, source: str) -> str:
        """Return the text of the module with the fault."""
        text = source.encode()
        return (text[: self.start] + self.new.encode() + text[self.end :]).decode()


def find_mutations(source: str) -> list[Mutation]:
    """Return all possible faults of a module, in the order of its text.

    Docstrings, annotations and error messages stay unchanged.
    """
    text = source.encode()
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = set()
    for kind, node, new in _changes(ast.parse(source), None):
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        old = text[start:end].decode()
        found.add(Mutation(node.lineno, kind, start, end, old, f"({ast.unparse(new)})"))
    return sorted(found, key=lambda one: (one.start, one.end, one.new))


def _changes(node: ast.AST, argument: str | None) -> Iterator[tuple[str, ast.AST, ast.AST]]:
    """Yield (kind, node, new node) for the faults in `node`.

    Args:
        node: Node to search.
        argument: Name of the argument that `node` is, a keyword or a variable.
    """
    if isinstance(node, ast.Raise | ast.JoinedStr | ast.Import | ast.ImportFrom):
        return
    yield from ((kind, node, new) for kind, new in _replacements(node, argument))
    if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
        return
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "bases"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.keyword):
                yield from _changes(child.value, child.arg)
            elif isinstance(child, ast.Return):
                if child.value is not None and not _is_none(child.value):
                    yield "return", child.value, ast.Constant(None)
                    yield from _changes(child.value, None)
            elif isinstance(child, ast.AST):
                given = name == "args" and isinstance(child, ast.Name)
                yield from _changes(child, child.id if given else None)


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _replacements(node: ast.AST, argument: str | None) -> Iterator[tuple[str, ast.AST]]:
    """Yield (kind, node) for each fault of this node."""
    if argument == "strict":  # zip() computes the same with it.
        return
    if argument is not None and "mask" in argument.split("_") and not _is_none(node):
        yield "mask", ast.Constant(None)
    match node:
        case ast.Constant(bool(value)):
            yield "axis" if argument in AXES else "constant", ast.Constant(not value)
        case ast.Constant(int(value)):
            yield "axis" if argument in AXES else "constant", ast.Constant(value + 1)
        case ast.Constant(float(value)):
            yield "constant", ast.Constant(value * 2 or 1.0)
        case ast.UnaryOp(ast.USub(), ast.Constant(int(value))):
            # Not 1, because axis 1 of a matrix equals axis -1.
            new = ast.UnaryOp(ast.USub(), ast.Constant(value + 1))
            yield "axis" if argument in AXES else "sign", new
        case ast.UnaryOp(ast.USub() | ast.Not() | ast.Invert(), operand):
            yield "sign" if isinstance(node.op, ast.USub) else "operator", operand
        case ast.BinOp(left, operator, right) if type(operator) in OPERATORS:
            yield "operator", ast.BinOp(left, OPERATORS[type(operator)](), right)
        case ast.BoolOp(operator, values):
            yield "operator", ast.BoolOp(OPERATORS[type(operator)](), values)
        case ast.Compare(left, [operator], right) if type(operator) in COMPARISONS:
            yield "comparison", ast.Compare(left, [COMPARISONS[type(operator)]()], right)
        case ast.Call(ast.Attribute(_, "where"), [condition, one, other], []):
            yield "mask", ast.Call(node.func, [condition, other, one], [])
        case ast.Call(ast.Attribute(_, "logical_not"), [operand], []):
            yield "mask", operand
        case ast.Call(ast.Attribute(module, name), arguments, keywords) if name in FUNCTIONS:
            function = ast.Attribute(module, FUNCTIONS[name])
            yield "function", ast.Call(function, arguments, keywords)
        case ast.Call(ast.Name(name), arguments, keywords) if name in FUNCTIONS:
            yield "function", ast.Call(ast.Name(FUNCTIONS[name]), arguments, keywords)
