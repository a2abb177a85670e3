"""Registry of the zoo's models, which completes their signatures and docstrings."""

import functools
import inspect
import os
import re
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

import keras

from kerasnmt.nearest_name import unknown_name_message
from kerasnmt.presets.finding import from_preset, get_preset
from kerasnmt.zoo.arguments import ARGUMENTS

Constructor = Callable[..., keras.Model]

_CONSTRUCTORS: dict[str, Constructor] = {}
_ENDING = """

Returns:
    A `{}`, not compiled.

Raises:
    ValueError: If an argument is out of range, or arguments contradict each other."""


def register(
    family: Constructor | None = None, *, without: Sequence[str] = (), **defaults
) -> Callable[[Constructor], Constructor]:
    """Register a model of the zoo, with the name of the function that creates it.

    A family is a function that creates similar models. A member states only its differences:

    ```python
    @register(family=luong)
    def luong_dot_lstm(source: Any, target: Any = None, **options) -> Seq2Seq:
        "Luong's model with LSTM cells and the dot score."
        return luong(source, target, layers.LSTMCell, layers.DotScore(name="score"), **options)
    ```

    The member takes the keyword-only arguments of its family, which its signature and docstring
    show. The function gets all of them in `options`, and the name of the member as `name`. It may
    have its own keywords, with a default. A keyword without a default is a keyword of the family
    that the function itself uses. The function gets an attribute `from_preset`, which loads a
    trained model of this name.

    Args:
        family: Family of the model, or None for a model without a family.
        without: Keywords of the family that the member does not take.
        **defaults: Keywords of the family that have another default for this member.

    Returns:
        The decorator.
    """

    def decorate(function: Constructor) -> Constructor:
        if family is not None:
            function = _member(function, _signature(function, family, without, defaults))
        constructor: Any = documented(function, family)
        constructor.from_preset = _loader(constructor.__name__)
        _CONSTRUCTORS[constructor.__name__] = constructor
        return constructor

    return decorate


def documented(function: Constructor, family: Constructor | None = None) -> Constructor:
    """Complete the docstring of a function that creates a model, and return the function.

    The text of the family follows the text of the function. Each argument has an entry in "Args",
    from the docstring of the function, from the docstring of its family or from `ARGUMENTS`, in
    this order. "Returns" and "Raises" are the same for all models.
    """
    if function.__doc__ is None:  # with `python -OO`
        return function
    wrapper = textwrap.TextWrapper(
        96, initial_indent=" " * 4, subsequent_indent=" " * 8, break_on_hyphens=False
    )
    entries = {name: wrapper.fill(f"{name}: {text}") for name, text in ARGUMENTS.items()}
    texts: list[str] = []
    for described in (family, function) if family else (function,):
        text, _, arguments = (inspect.getdoc(described) or "").partition("\n\nArgs:\n")
        texts.insert(0, text)
        for entry in re.split(r"\n(?=    \w+: )", arguments.partition("\n\n")[0]):
            entries[entry.partition(":")[0].strip()] = entry
    signature = inspect.signature(function)
    arguments = "\n".join(entries[name] for name in signature.parameters)
    ending = _ENDING.format(signature.return_annotation.__name__)
    function.__doc__ = "\n\n".join([*texts, f"Args:\n{arguments}{ending}"])
    return function


def _signature(
    function: Constructor, family: Constructor, without: Sequence[str], defaults: dict[str, Any]
) -> inspect.Signature:
    """Return the signature of a member: its own arguments and the keywords of its family."""
    signature, parameters = inspect.signature(function), inspect.signature(family).parameters
    keywords = {key: p for key, p in parameters.items() if p.kind is p.KEYWORD_ONLY}
    for key in without:
        del keywords[key]
    for key, default in defaults.items():
        keywords[key] = keywords[key].replace(default=default)
    own = signature.parameters.values()
    keywords |= {p.name: p for p in own if p.kind is p.KEYWORD_ONLY and p.default is not p.empty}
    sides = [p for p in own if p.kind is p.POSITIONAL_OR_KEYWORD]
    return signature.replace(parameters=[*sides, *keywords.values()])


def _member(function: Constructor, signature: inspect.Signature) -> Constructor:
    """Return the function with this signature, which passes all keywords to it."""
    name = function.__name__

    @functools.wraps(function)
    def make(*sides: Any, **options) -> keras.Model:
        for key in options:
            if key not in signature.parameters:
                message = unknown_name_message(key, signature.parameters, "keyword")
                raise TypeError(f"{name}: {message}")
        call = signature.bind(*sides, **options)
        call.apply_defaults()
        return function(*call.args, name=name, **call.kwargs)

    member: Any = make
    member.__signature__ = signature
    return member


def _loader(name: str) -> Constructor:
    """Return the function `from_preset` of a model."""

    @functools.wraps(from_preset, assigned=())
    def of_this_model(preset: str | os.PathLike, **options) -> keras.Model:
        loaded = get_preset(preset)
        if loaded.model_name != name:
            raise ValueError(
                f"Expected a preset of {name}. Received: {preset}, a {loaded.model_name}. Load it "
                "with kerasnmt.zoo.from_preset."
            )
        return from_preset(preset, **options)

    of_this_model.__name__ = "from_preset"
    of_this_model.__doc__ = f"Load a trained {name}; see `kerasnmt.zoo.from_preset`."
    return of_this_model


def list_models(kind: type[keras.Model] = keras.Model) -> list[str]:
    """Return the sorted names of the models of the zoo.

    Args:
        kind: A class of `kerasnmt.models`, such as `Seq2Seq`, to list only its models.
    """
    return sorted(n for n, make in _CONSTRUCTORS.items() if issubclass(_kind(make), kind))


def get_model(name: str, kind: type[keras.Model] = keras.Model) -> Constructor:
    """Return the function that creates a model.

    Args:
        name: A name of `list_models(kind)`.
        kind: Class of the model. By default, any class.

    Raises:
        ValueError: If there is no such model, or it has another class. The error suggests the
            nearest name.
    """
    if name not in _CONSTRUCTORS:
        raise ValueError(unknown_name_message(name, list_models(kind), "model"))
    if name not in list_models(kind):
        raise ValueError(
            f"Expected the name of a {kind.__name__}, one of {', '.join(list_models(kind))}. "
            f"Received: {name}, a {_kind(_CONSTRUCTORS[name]).__name__}."
        )
    return _CONSTRUCTORS[name]


def _kind(constructor: Constructor) -> type[keras.Model]:
    """Return the return type in the signature of a function."""
    return inspect.signature(constructor).return_annotation
