"""The model that a recipe asks for."""

import inspect
import json
from types import NoneType
from typing import Any, get_args

from kerasnmt import zoo
from kerasnmt.models import Seq2Seq
from kerasnmt.nearest_name import unknown_name_message

# Of sizes and numbers of layers; a larger one is a slip, which would exhaust the memory.
_LARGEST = 100_000


def check_model(name: str, keywords: dict[str, Any]) -> None:
    """Checks a recipe's model, before anything costly begins.

    Args:
        name: a name of the zoo.
        keywords: of its constructor.

    Raises:
        ValueError: the zoo has no such model that translates, or the model no such keyword, or that
            is of another type or too large.
    """
    parameters = inspect.signature(zoo.get_model(name, Seq2Seq)).parameters
    known = {key: p for key, p in parameters.items() if p.kind is p.KEYWORD_ONLY}
    for key, value in keywords.items():
        if key not in known:
            names = [f"model.{name}" for name in known]
            raise ValueError(unknown_name_message(f"model.{key}", names, "key"))
        annotation = known[key].annotation
        kinds = get_args(annotation) or (annotation,)
        if type(value) not in kinds and not (float in kinds and type(value) is int):
            expected = " or ".join("null" if k is NoneType else k.__name__ for k in kinds)
            default = json.dumps(known[key].default)
            raise ValueError(
                f"Expected model.{key} to be of type {expected}; its default is {default}. "
                f"Received: model.{key}={value!r}"
            )
        if type(value) is int and abs(value) > _LARGEST:
            raise ValueError(
                f"Expected model.{key} to be at most {_LARGEST}. Received: model.{key}={value}"
            )
