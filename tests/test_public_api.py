"""`tests/public_api.txt` lists the public names."""

import re
from functools import cached_property
from pkgutil import resolve_name
from types import ModuleType
from typing import NamedTuple

import kerasnmt
from tests import public_api


def listing():
    return public_api.PATH.read_text(encoding="utf-8").splitlines()


def test_the_listing_is_in_step():
    message = public_api.differences(listing(), public_api.public_api())
    assert not message, message


def test_every_public_name_is_listed():
    names = {re.match(r"[\w.]+", line)[0] for line in listing()}
    for package in public_api.packages():
        assert {f"{package.__name__}.{name}" for name in package.__all__} <= names
    assert not any(" at 0x" in line for line in listing())


def is_documented(value):
    """Whether it has a docstring; named tuples and dataclasses get one that lists their fields."""
    fields = f"{getattr(value, '__name__', '')}("
    return bool(value.__doc__) and not value.__doc__.startswith(fields)


def test_every_public_name_has_a_docstring():
    # ruff sees neither the methods of private base classes nor what is made at import.
    names = {re.match(r"[\w.]+", line)[0] for line in listing()}
    assert not [name for name in sorted(names) if not is_documented(resolve_name(name))]


def test_what_has_no_docstring():
    for value in (Shape, Shape.read, Shape.area, Shape.border, Base.inherited, Point):
        assert not is_documented(value)


def test_a_name_that_is_gone_is_named(monkeypatch):
    names = [name for name in kerasnmt.alignment.__all__ if name != "format_pharaoh"]
    monkeypatch.setattr(kerasnmt.alignment, "__all__", names)
    assert public_api.differences(listing(), public_api.public_api()).splitlines() == [
        "The public API differs from tests/public_api.txt:",
        "-kerasnmt.alignment.format_pharaoh(links: Iterable[tuple[int, int]]) -> str",
        "If the changes are intended, rewrite the file with `python -m tests.public_api`.",
    ]


def test_an_argument_that_has_changed_is_shown(monkeypatch):
    def with_five(self, iterations: int = 5) -> None: ...

    monkeypatch.setattr(kerasnmt.alignment.IBMModel1, "__init__", with_five)
    message = public_api.differences(listing(), public_api.public_api())
    assert message.splitlines()[1:3] == [
        "-kerasnmt.alignment.IBMModel1(iterations: int = 10)",
        "+kerasnmt.alignment.IBMModel1(iterations: int = 5)",
    ]


class Base:
    def inherited(self, size: "kerasnmt.data.Size") -> None: ...


class Shape(Base):
    sides = 4

    def __init__(self, name: str = "square", *, kind: type = int, **kwargs): ...

    @classmethod
    def read(cls, path: str) -> "Shape": ...

    @staticmethod
    def known() -> list[str]: ...

    @property
    def area(self) -> float: ...

    @cached_property
    def border(self) -> float: ...

    def _private(self): ...


class ShapeError(ValueError):
    pass


class Point(NamedTuple):
    x: int


def test_lines_of_a_package(monkeypatch):
    for cls in (Base, Shape, ShapeError):
        monkeypatch.setattr(cls, "__module__", "kerasnmt.shapes")
    package = ModuleType("kerasnmt.shapes")
    vars(package).update(
        Shape=Shape, ShapeError=ShapeError, SIDES=4, parse=kerasnmt.alignment.parse_pharaoh
    )
    package.__all__ = ["SIDES", "ShapeError", "Shape", "parse"]
    monkeypatch.setattr(Shape.known, "__module__", "kerasnmt.shapes")
    monkeypatch.setattr(Base.inherited, "__module__", "kerasnmt.shapes")
    assert sorted(public_api.lines_of(package)) == [
        "kerasnmt.shapes.SIDES: int",
        "kerasnmt.shapes.Shape(name: str = 'square', *, kind: type = int, **kwargs)",
        "kerasnmt.shapes.Shape.area: float",
        "kerasnmt.shapes.Shape.border: float",
        "kerasnmt.shapes.Shape.inherited(size: Size) -> None",
        "kerasnmt.shapes.Shape.known() -> list[str]",
        "kerasnmt.shapes.Shape.read(path: str) -> Shape",
        "kerasnmt.shapes.ShapeError(...)",
        "kerasnmt.shapes.parse is kerasnmt.alignment.parse_pharaoh",
    ]
