"""Error messages about a recipe, in one line that names the key."""

from collections.abc import Iterable
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from kerasnmt.nearest_name import unknown_name_message

# Replacements of pydantic messages that name Python classes.
_PLAIN_MESSAGES = {"path_type": "should be a path", "invalid_key": "should be a name"}


def first_problem(error: ValidationError, schema: type[BaseModel]) -> str:
    """Describe the problem that should be fixed first.

    Unknown keys come first, because a misspelled key is also a missing key.

    Args:
        error: Validation error of a recipe.
        schema: Class of the recipe.

    Returns:
        One line with the key, what was expected and what was received.
    """
    problems = sorted(error.errors(), key=lambda problem: problem["type"] != "extra_forbidden")
    kind, message, received = (problems[0][field] for field in ("type", "msg", "input"))
    if not problems[0]["loc"]:  # a problem of the whole recipe
        return f"the recipe {problems[0]['ctx']['error']}"
    *sections, _ = location = [str(part) for part in problems[0]["loc"]]
    key = ".".join(location)
    if kind == "extra_forbidden":
        known = [".".join([*sections, name]) for name in _section(schema, sections).model_fields]
        elsewhere = [
            f"{section}.{location[-1]}"
            for section in schema.model_fields
            if location[-1] in _section(schema, [section]).model_fields
        ]
        return unknown_name_message(key, elsewhere if len(elsewhere) == 1 else known, "key")
    if kind == "missing":
        fields = _section(schema, sections).model_fields
        return f"missing key '{key}': {fields[location[-1]].description}"
    if kind == "contradiction":
        return f"{key}: {message}"
    if kind == "value_error":
        message = str(problems[0]["ctx"]["error"])
    elif kind == "model_type":
        names = ", ".join(_section(schema, location).model_fields)
        message = f"should be a mapping with the keys {names}"
    elif kind in _PLAIN_MESSAGES:
        message = _PLAIN_MESSAGES[kind]
    return f"'{key}' {message.removeprefix('Input ')}. Received: {key}={received!r}"


def _section(schema: type[BaseModel], location: Iterable[str]) -> type[BaseModel]:
    """Find the class of a section by its location in the recipe."""
    section: Any = schema
    for name in location:
        annotation = section.model_fields[name].annotation
        section = next(iter(get_args(annotation)), annotation)
    return section
