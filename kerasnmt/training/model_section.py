"""The model that a recipe asks for."""

import inspect
from typing import Any

from kerasnmt import zoo
from kerasnmt.nearest_name import unknown_name_message


def check_model(name: str, keywords: dict[str, Any]) -> None:
    """Checks a recipe's model, before anything costly begins.

    Args:
        name: a name of the zoo.
        keywords: of its constructor.

    Raises:
        ValueError: the zoo has no such model, or the model no such keyword, or its default is of
            another type.
    """
    parameters = inspect.signature(zoo.get_model(name)).parameters
    defaults = {key: p.default for key, p in parameters.items() if p.kind is p.KEYWORD_ONLY}
    for key, value in keywords.items():
        if key not in defaults:
            known = [f"model.{known}" for known in defaults]
            raise ValueError(unknown_name_message(f"model.{key}", known, "key"))
        kind = type(defaults[key])
        if type(value) not in ((int, float) if kind is float else (kind,)):
            raise ValueError(
                f"Expected model.{key} to be of type {kind.__name__}, as its default "
                f"{defaults[key]!r} is. Received: model.{key}={value!r}"
            )
