"""`tests/public_api.txt` lists the public names."""

import re
from functools import cached_property
from types import ModuleType

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


def test_a_name_that_is_gone_is_named(monkeypatch):
    names = [name for name in kerasnmt.viz.__all__ if name != "format_pharaoh"]
    monkeypatch.setattr(kerasnmt.viz, "__all__", names)
    assert public_api.differences(listing(), public_api.public_api()).splitlines() == [
        "The public API differs from tests/public_api.txt:",
        "-kerasnmt.viz.format_pharaoh(links: Iterable[tuple[int, int]]) -> str",
        "If the changes are intended, rewrite the file with `python -m tests.public_api`.",
    ]


def test_an_argument_that_has_changed_is_shown(monkeypatch):
    def with_five(self, iterations: int = 5) -> None: ...

    monkeypatch.setattr(kerasnmt.viz.IBMModel1, "__init__", with_five)
    message = public_api.differences(listing(), public_api.public_api())
    assert message.splitlines()[1:3] == [
        "-kerasnmt.viz.IBMModel1(iterations: int = 10)",
        "+kerasnmt.viz.IBMModel1(iterations: int = 5)",
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


def test_lines_of_a_package(monkeypatch):
    for cls in (Base, Shape, ShapeError):
        monkeypatch.setattr(cls, "__module__", "kerasnmt.shapes")
    package = ModuleType("kerasnmt.shapes")
    vars(package).update(
        Shape=Shape, ShapeError=ShapeError, SIDES=4, parse=kerasnmt.viz.parse_pharaoh
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
        "kerasnmt.shapes.parse is kerasnmt.viz.parse_pharaoh",
    ]
