import sys
from types import ModuleType

import pytest

from kerasnmt.lazy_names import lazy_names


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with one module, whose name is imported on first use."""
    (tmp_path / "animals").mkdir()
    (tmp_path / "animals/__init__.py").write_text(
        "from kerasnmt.lazy_names import lazy_names\n"
        "__all__, __getattr__ = lazy_names(__name__, {'pets': ['dog', 'Cat']})\n"
    )
    (tmp_path / "animals/pets.py").write_text("dog = 'wuff'\nclass Cat: pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    import animals

    yield animals
    for name in ("animals", "animals.pets"):
        sys.modules.pop(name, None)


def test_a_module_is_imported_on_first_use(package):
    assert package.__all__ == ["Cat", "dog"]
    assert "animals.pets" not in sys.modules
    assert package.dog == "wuff"
    assert package.Cat.__module__ == "animals.pets"
    assert isinstance(sys.modules["animals.pets"], ModuleType)


def test_an_unknown_name():
    _, find = lazy_names("animals", {"pets": ["dog"]})
    with pytest.raises(AttributeError, match=r"^module 'animals' has no attribute 'bird'$"):
        find("bird")
