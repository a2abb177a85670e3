"""Write `tests/public_api.txt`, the public names of the library with their signatures.

python -m tests.public_api
"""

import difflib
import inspect
from functools import cached_property
from pathlib import Path
from types import ModuleType

import kerasnmt
from tests.zoo.stub import text_of

PATH = Path(__file__).with_suffix(".txt")


class Text:
    """Annotation that is printed as this text, without quotes."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text


def packages():
    rooms = (getattr(kerasnmt, name) for name in sorted(kerasnmt.__all__))
    return [kerasnmt, *(room for room in rooms if isinstance(room, ModuleType))]


def public_api():
    """Return a line for each public name, and for each method and property of the classes."""
    return [line for package in packages() for line in sorted(lines_of(package))]


def lines_of(package):
    for name in package.__all__:
        path, value = f"{package.__name__}.{name}", getattr(package, name)
        home = home_of(value)
        if home and home != path:
            yield f"{path} is {home}"
        elif inspect.isclass(value):
            yield path + constructor(value)
            yield from (f"{path} is a {base}" for base in map(home_of, value.__mro__[1:]) if base)
            yield from (f"{path}.{member}" for member in members(value))
        elif inspect.isfunction(value):
            yield path + signature(value)
            own = {key: one for key, one in vars(value).items() if not key.startswith("_")}
            yield from (f"{path}.{key}{signature(one)}" for key, one in own.items())
        else:
            kind = "module" if isinstance(value, ModuleType) else type(value).__name__
            yield f"{path}: {kind}"


def home_of(value):
    """Return the name of a class or function in the package that defines it, if it is public."""
    for package in packages()[1:]:
        module, name = getattr(value, "__module__", ""), getattr(value, "__name__", "")
        if module.startswith(f"{package.__name__}.") and name in package.__all__:
            return f"{package.__name__}.{name}"
    return None


def is_ours(cls):
    return cls.__module__.startswith("kerasnmt.")


def constructor(cls):
    """Return the arguments of a class, or dots if the constructor belongs to another library."""
    for base in cls.__mro__:
        for name in ("__init__", "__new__"):
            if name in vars(base) and is_ours(base):
                return signature(vars(base)[name], bound=True).partition(" -> ")[0]
            if name in vars(base):
                return "()" if base is object else "(...)"


def members(cls):
    """Yield the methods and properties of a class.

    Members of other libraries and of public base classes are omitted.
    """
    public = [base for base in cls.__mro__[1:] if home_of(base)]
    listed = {above for base in public for above in base.__mro__}
    found = {}
    for base in cls.__mro__:
        if is_ours(base) and base not in listed:
            found = {**vars(base), **found}
    for name, value in found.items():
        if name.startswith("_"):
            continue
        if isinstance(value, property | cached_property):
            getter = value.fget if isinstance(value, property) else value.func
            yield f"{name}:{signature(getter, bound=True).removeprefix('() ->')}"
        elif isinstance(value, staticmethod):
            yield name + signature(value.__func__)
        elif isinstance(value, classmethod):
            yield name + signature(value.__func__, bound=True)
        elif inspect.isfunction(value) and value.__module__.startswith("kerasnmt."):
            yield name + signature(value, bound=True)


def signature(function, *, bound=False):
    """Return the signature of a function as text; a bound function has no first parameter."""
    made = inspect.signature(function)
    parameters = [
        one.replace(annotation=annotation_of(one.annotation), default=default_of(one.default))
        for one in made.parameters.values()
    ]
    returns = annotation_of(made.return_annotation)
    return str(made.replace(parameters=parameters[bound:], return_annotation=returns))


def annotation_of(annotation):
    if annotation is inspect.Signature.empty:
        return annotation
    return Text(text_of(annotation))


def default_of(default):
    named = default is not inspect.Parameter.empty and hasattr(default, "__name__")
    return Text(default.__name__) if named else default


def differences(listing, found):
    """Return the lines in which a listing differs from the actual one, or an empty string."""
    lines = difflib.unified_diff(listing, found, n=0, lineterm="")
    changes = [line for line in lines if not line.startswith(("---", "+++", "@@"))]
    if not changes:
        return ""
    return "\n".join(
        [
            f"The public API differs from tests/{PATH.name}:",
            *changes,
            "If the changes are intended, rewrite the file with `python -m tests.public_api`.",
        ]
    )


if __name__ == "__main__":
    PATH.write_text("".join(f"{line}\n" for line in public_api()), encoding="utf-8")
