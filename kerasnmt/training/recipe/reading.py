"""Reading of a recipe's YAML, with overrides and relative paths."""

import math
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

import yaml

_MOST_BYTES = 10**6
# A recipe has three levels. A document with thousands would exhaust Python's stack.
_MOST_LEVELS = 20
_PLAIN = re.compile(r"[./]*[^\W\d_][\w./-]*")
_PATH = re.compile(r"data\.\w+\.(source|target|pairs|alignments|context|weights)")


def read_document(path: Path, overrides: Iterable[str]) -> Any:
    """Read the YAML of a recipe, make its paths absolute and apply overrides.

    Args:
        path: Path of the file. Paths in it are relative to its folder.
        overrides: Dotted keys and values, such as `model.units=512`. Paths in them are relative to
            the working folder.

    Returns:
        The document. If there are overrides, it is a mapping.

    Raises:
        ValueError: If the file cannot be read, is too large or is not YAML, or an override is
            malformed or cannot be applied.
    """
    try:
        with open(path, "rb") as file:
            text = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise ValueError(f"{path}: the recipe cannot be read: {error.strerror}") from None
    if len(text) > _MOST_BYTES:
        raise ValueError(f"{path}: expected a recipe of at most {_MOST_BYTES:,} bytes")
    document = with_absolute_paths(_parse(text, str(path)), path.parent)
    if isinstance(document, dict):
        for override in overrides:
            apply_override(override, document)
    return document


def with_absolute_paths(value: Any, folder: Path, key: str = "") -> Any:
    """Make the paths in a part of a recipe absolute.

    Args:
        value: Part of a recipe.
        folder: Folder of relative paths.
        key: Dotted key of the part, or an empty string for a whole recipe.

    Returns:
        The part with absolute paths.
    """
    if isinstance(value, dict):
        return {
            name: with_absolute_paths(item, folder, f"{key}.{name}".lstrip("."))
            for name, item in value.items()
        }
    if isinstance(value, str | os.PathLike) and _PATH.fullmatch(key):
        return os.path.abspath(folder / os.path.expanduser(value))
    return value


def as_yaml(value: str) -> str:
    """Return YAML from which `read_document` reads a string, in quotes if they are necessary."""
    if _PLAIN.fullmatch(value) and _parse(value.encode(), "") == value:
        return value
    return yaml.safe_dump(value, default_style='"', allow_unicode=True, width=math.inf).rstrip()


def apply_override(override: str, document: dict[str, Any]) -> None:
    """Set a dotted key of a document, such as `training.epochs=5`.

    Raises:
        ValueError: If the override is malformed.
    """
    key, equals, text = override.partition("=")
    if not equals or not all(key.split(".")):
        raise ValueError(
            "expected an override with a dotted key and a value, such as training.epochs=5. "
            f"Received: {override!r}"
        )
    *sections, name = key.split(".")
    for section in sections:
        if not isinstance(document.get(section), dict):
            document[section] = {}
        document = document[section]
    value = _parse(text.encode(), f"override {key}")
    document[name] = with_absolute_paths(value, Path.cwd(), key)


def _parse(text: bytes, origin: str) -> Any:
    """Parse YAML. A `ValueError` names the line."""
    try:
        return yaml.load(text.decode(), _Loader)  # a subclass of `SafeLoader`
    except UnicodeDecodeError as error:
        line, problem = text.count(b"\n", 0, error.start), "not UTF-8"
    except yaml.MarkedYAMLError as error:
        mark: Any = error.problem_mark
        line, problem = mark.line, f"not YAML: {error.problem}"
    except yaml.reader.ReaderError as error:
        line = text.decode().count("\n", 0, error.position)
        problem = f"not YAML: {error.reason}"
    raise ValueError(f"{origin}, line {line + 1}: {problem}")


_OF_YAML_1_1 = ("tag:yaml.org,2002:bool", "tag:yaml.org,2002:int")


class _Loader(yaml.SafeLoader):
    """YAML loader with decimal numbers, and the booleans of YAML 1.2, without aliases.

    PyYAML follows YAML 1.1, where 1e-3 is a string, 010 is 8, 1:30 is 90, and words such as `no`
    and `on` are booleans. It keeps the last of two equal keys, which are refused here. With
    aliases, a small file can stand for billions of values.
    """

    yaml_implicit_resolvers: ClassVar[dict] = {  # type: ignore[misc]  # as PyYAML has it
        first: [(tag, form) for tag, form in resolvers if tag not in _OF_YAML_1_1]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def __init__(self, stream: Any) -> None:
        super().__init__(stream)
        self._levels = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event: Any = self.peek_event()
        mark = event.start_mark
        self._levels += 1
        if self._levels > _MOST_LEVELS:
            problem = f"more than {_MOST_LEVELS} levels deep"
            raise yaml.composer.ComposerError(None, None, problem, mark)
        node = super().compose_node(parent, index)
        self._levels -= 1
        if isinstance(event, yaml.AliasEvent):
            problem = f"the alias *{event.anchor}, but a recipe has no aliases"
            raise yaml.composer.ComposerError(None, None, problem, mark)
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        lines: dict[str, int] = {}
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            if key.value in lines:
                problem = f"the key {key.value!r} is already in line {lines[key.value]}"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            lines[key.value] = key.start_mark.line + 1
        return super().construct_mapping(node, deep)


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:bool",
    re.compile(r"(true|True|TRUE|false|False|FALSE)$"),
    list("tTfF"),
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:int", re.compile(r"[-+]?(0|[1-9]\d*)$"), list("-+0123456789")
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?(\d+\.\d*|\.\d+|\d+(?=[eE]))([eE][-+]?\d+)?$"),
    list("-+.0123456789"),
)
