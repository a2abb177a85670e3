"""Write `kerasnmt/zoo/__init__.pyi`, which shows every model to editors and type checkers.

`make` runs it after the installation and before it builds the wheel.
"""

import inspect
import json
import re
import textwrap
from pathlib import Path

from kerasnmt import zoo

PATH = Path(zoo.__file__).with_suffix(".pyi")
HEADER = '''\
"""Zoo, with all models of the library by name."""

# Written by `make`.

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, ParamSpec, Protocol, TypeVar

from keras import Model
from keras.layers import Layer

from kerasnmt.models import CaptionModel, MemoryNetwork, Seq2Seq
from kerasnmt.presets import Preset

_Options = ParamSpec("_Options")
_Made = TypeVar("_Made", covariant=True)

class _Constructor(Protocol[_Options, _Made]):
    def __call__(self, *args: _Options.args, **kwargs: _Options.kwargs) -> _Made: ...
    def from_preset(self, preset: str | PathLike, *, load_weights: bool = True) -> _Made: ...

def _with_presets(function: Callable[_Options, _Made]) -> _Constructor[_Options, _Made]:
    """Add `from_preset` to a function that creates a model."""
'''


def text_of(annotation):
    """Return an annotation without the names of modules."""
    text = getattr(annotation, "__forward_arg__", annotation)
    text = text if isinstance(text, str) else inspect.formatannotation(text)
    return re.sub(r"\b(?:[a-z_]\w*\.)+", "", text)


def argument(parameter):
    default = parameter.default
    text = f"{parameter.name}: {text_of(parameter.annotation)}"
    if default is not parameter.empty:
        values = {type: text_of, str: json.dumps}
        text += f" = {values.get(type(default), repr)(default)}"
    return text


def definition(function):
    signature = inspect.signature(function)
    arguments = [argument(parameter) for parameter in signature.parameters.values()]
    keyword_only = [p.kind is p.KEYWORD_ONLY for p in signature.parameters.values()]
    if any(keyword_only):
        arguments.insert(keyword_only.index(True), "*")
    text = inspect.getdoc(function)
    docstring = f'"""{text}\n"""' if "\n" in text else f'"""{text}"""'
    head = [f"def {function.__name__}(", *(f"    {text}," for text in arguments)]
    return "\n".join(
        [
            *(["@_with_presets"] if hasattr(function, "from_preset") else []),
            *(head if arguments else []),
            f"{'' if arguments else head[0]}) -> {text_of(signature.return_annotation)}:",
            textwrap.indent(docstring, "    "),
        ]
    )


def stub():
    functions = [getattr(zoo, name) for name in zoo.__all__]
    return "\n".join([HEADER, *(definition(function) + "\n" for function in functions)])


if __name__ == "__main__":
    PATH.write_text(stub(), encoding="utf-8")
