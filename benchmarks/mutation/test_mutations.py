"""Faults of examples. Docstrings and messages get none."""

import ast
from pathlib import Path

import pytest

from benchmarks.mutation.mutations import find_mutations

PACKAGE = Path(__file__).parents[2] / "kerasnmt"


@pytest.mark.parametrize(
    ("source", "changed"),
    [
        ("a + b", ["(a - b)"]),
        ("a // b", ["(a * b)"]),
        ("a < b", ["(a <= b)"]),
        ("a is None", ["(a is not None)"]),
        ("a and b", ["(a or b)"]),
        ("not a", ["(a)"]),
        ("-a", ["(a)"]),
        ("7", ["(8)"]),
        ("0.5", ["(1.0)"]),
        ("0.0", ["(1.0)"]),
        ("True", ["(False)"]),
        ("f(x, axis=1)", ["f(x, axis=(2))"]),
        ("f(x, axis=-1)", ["f(x, axis=(-2))"]),
        ("-0.5", ["(0.5)"]),
        ("f(x, source_mask=m)", ["f(x, source_mask=(None))"]),
        ("f(x, source_mask=None)", []),
        ("f(x, masked=m)", []),
        ("zip(a, b, strict=True)", []),
        ("f(x, mask)", ["f(x, (None))"]),
        ("ops.where(a, b, c)", ["(ops.where(a, c, b))"]),
        ("ops.logical_not(a)", ["(a)"]),
        ("ops.sigmoid(x)", ["(ops.tanh(x))"]),
        ("max(x)", ["(min(x))"]),
        ("def f():\n    return x", ["def f():\n    return (None)"]),
        ("def f():\n    return None", []),
        ("def f():\n    return", []),
        ("def f(a=1):\n    pass", ["def f(a=(2)):\n    pass"]),
        # Text in UTF-8 before the fault; several lines.
        ("'é', 7", ["'é', (8)"]),
        ("(a +\n b)", ["((a - b))"]),
        # For people.
        ("def f(a: 1 = b) -> 2:\n    'Add 1.'\n    raise E(f'{1 + 2}', 3)", []),
        ("@g(1)\nclass A(B(2)):\n    x: 3", []),
    ],
)
def test_faults(source, changed):
    assert [mutation.apply(source) for mutation in find_mutations(source)] == changed


def test_each_fault_says_where_and_what():
    found = find_mutations("x = 1\n\ny = a - 2\n")
    assert [(one.line, one.kind, one.old, one.new) for one in found] == [
        (1, "constant", "1", "(2)"),
        (3, "operator", "a - 2", "(a + 2)"),
        (3, "constant", "2", "(3)"),
    ]


def test_faults_of_the_library_are_python():
    source = (PACKAGE / "layers" / "attention" / "attention.py").read_text(encoding="utf-8")
    found = find_mutations(source)
    assert {one.kind for one in found} > {"operator", "comparison", "mask", "return", "constant"}
    for mutation in found:
        changed = mutation.apply(source)
        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(source))
