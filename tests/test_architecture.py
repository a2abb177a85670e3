"""The allowed imports between the packages of the library."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "kerasnmt"

# The allowed imports of each package: other packages, and the libraries that it needs.
ROOMS = {
    "presets": {"models", "decoding", "kinds"},
    "alignment": set(),
    "kinds": set(),
    "speed": set(),
    "layers": {"speed"},
    "decoding": {"speed"},
    "models": {"layers", "decoding"},
    "tasks": {"text", "decoding", "models", "viz", "kinds", "alignment"},
    "text": set(),
    "data": {"text"},
    "training": {
        "models",
        "zoo",
        "tasks",
        "text",
        "data",
        "decoding",
        "viz",
        "speed",
        "alignment",
        "presets",
    },
    "viz": set(),
    "runtime": {"tasks", "text", "decoding"},
    "serving": {"tasks", "text", "decoding", "layers", "viz", "kinds", "runtime"},
    "zoo": {"models", "layers", "presets"},
    "cli": {
        *("alignment", "presets"),
        *("layers", "decoding", "models", "text", "tasks", "data", "training", "viz"),
        *("serving", "zoo", "kinds"),
    },
}
# Modules that all packages may import.
COMMON = {
    "atomic_write",
    "backends",
    "calibration",
    "checksum",
    "columns",
    "config_parts",
    "extras",
    "folder_lock",
    "hooks",
    "ids",
    "languages",
    "nearest_name",
    "png",
    "progress_lines",
    "scripts",
    "shortlist",
    "sizes",
    "small_weights",
    "time_cache",
    "token_confidence",
    "version",
}
# Functions of the hooks, and of the kinds of requests, import packages above the models.
HOOKS = {"presets", "text", "data", "tasks", "training", "serving"}
TENSORFLOW = {"tensorflow", "tensorflow_text", "sentencepiece"}
# Packages that run on any backend of Keras.
PURE = {"speed", "layers", "decoding", "models", "zoo"}
# Packages without models, which import Keras only to register parts of a model.
FILES = sorted(PACKAGE.rglob("*.py"))


def imports(path):
    """Return each imported module with its line, and whether a function imports it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))

    def visit(node, lazy):
        for child in ast.iter_child_nodes(node):
            inside = lazy or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            if isinstance(child, ast.Import):
                for alias in child.names:
                    yield alias.name, child.lineno, lazy
            elif isinstance(child, ast.ImportFrom):
                assert not child.level, f"{path}:{child.lineno} imports relatively"
                for alias in child.names:
                    yield f"{child.module}.{alias.name}", child.lineno, lazy
            yield from visit(child, inside)

    yield from visit(tree, False)


def room_of(path):
    parts = path.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else None


def name_of(path):
    return str(path.relative_to(PACKAGE.parent))


def test_every_folder_is_a_room():
    folders = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    assert folders == set(ROOMS)
    assert len(FILES) > 50


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_arrows(path):
    room = room_of(path)
    for module, line, lazy in imports(path):
        top, _, rest = module.partition(".")
        where = f"{name_of(path)}:{line} imports {module}"
        assert not module.startswith("keras.src"), where
        # Messages need the protobuf of their compiler or a newer one, and TensorFlow an older one.
        assert not module.startswith("sentencepiece.sentencepiece_"), where
        if top == "kerasnmt":
            target = rest.partition(".")[0]
            if target in COMMON or target.startswith("__") or target == room:
                continue
            if path.name == "hooks.py" or room == "kinds":
                assert lazy and target in HOOKS, where
                continue
            assert room is not None, f"{where}: the modules beside the rooms import none"
            allowed = ROOMS[room]
            # `from kerasnmt import layers` names a room just as well.
            assert target in allowed, f"{where}: {room} may import {sorted(allowed)}"
        if room in PURE or room is None:
            # Some drop-ins replace operations of Keras on TensorFlow only.
            drop_in = room == "speed" and lazy
            assert drop_in or top not in TENSORFLOW, f"{where}: {room} knows no TensorFlow"
        if room == "viz":
            assert top not in TENSORFLOW | {"keras"}, where


def test_the_test_sees_lazy_imports():
    seen = {module: lazy for module, _, lazy in imports(PACKAGE / "hooks.py")}
    assert seen["kerasnmt.serving.export_model"] is True
    assert seen["kerasnmt.text.register_tokenizers"] is True
    assert seen["keras"] is False
