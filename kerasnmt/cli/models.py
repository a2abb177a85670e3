"""`kerasnmt models`."""

import inspect
import json
import re
from collections.abc import Callable
from typing import Annotated

import typer

from kerasnmt.cli.console import print_table
from kerasnmt.cli.quiet import load_tensorflow

_VOCABULARY = 8_000


def models(
    name: Annotated[str | None, typer.Argument(help="A model to describe.")] = None,
) -> None:
    """List the models of the zoo, or describe one."""
    load_tensorflow()
    from kerasnmt import zoo

    if name is not None:
        _describe(zoo.get_model(name))
        return
    rows = [("model", "source")]
    rows += [(known, _paper(zoo.get_model(known))) for known in zoo.list_models()]
    print_table(rows)
    print("\n`kerasnmt models NAME` shows the sizes, the options and the layers of one.")


def _describe(constructor: Callable) -> None:
    """Print a constructor's description, its default sizes, and the layers."""
    description, _, _ = (inspect.getdoc(constructor) or "").partition("\nArgs:")
    print(description)
    print(f"Default sizes, as keys under `model` in a recipe (name: {constructor.__name__}):")
    defaults = inspect.signature(constructor).parameters.values()
    for parameter in defaults:
        if parameter.kind is parameter.KEYWORD_ONLY:
            print(f"  {parameter.name}: {json.dumps(parameter.default)}")
    print(f"\nLayers, with a vocabulary of {_VOCABULARY:,}:")
    constructor(_VOCABULARY).summary(expand_nested=True)


def _paper(constructor: Callable) -> str:
    """Return the first source of a constructor's docstring, up to the end of the sentence."""
    _, _, source = (inspect.getdoc(constructor) or "").partition("Source:")
    return re.split(r"(?<!al)\.(?: |$)", " ".join(source.partition("\n\n")[0].split()))[0]
