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
    name: Annotated[str | None, typer.Argument(help="Model to describe.")] = None,
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
    print("\n`kerasnmt models NAME` shows the sizes, the options and the layers of a model.")


def _describe(constructor: Callable) -> None:
    """Print the description of a constructor, the default sizes and the layers."""
    description, _, _ = (inspect.getdoc(constructor) or "").partition("\nArgs:")
    print(description)
    name = constructor.__name__
    print(f"Options and their defaults, as keys under `model` in a recipe (name: {name}):")
    defaults = inspect.signature(constructor).parameters.values()
    for parameter in defaults:
        if parameter.kind is parameter.KEYWORD_ONLY:
            print(f"  {parameter.name}: {json.dumps(parameter.default)}")
    print(f"\nLayers, with a vocabulary of {_VOCABULARY:,}:")
    constructor(_VOCABULARY).summary(expand_nested=True)


def _paper(constructor: Callable) -> str:
    """Return the first sentence of the source in a constructor's docstring."""
    _, _, source = (inspect.getdoc(constructor) or "").partition("Source:")
    return re.split(r"(?<!al)\.(?: |$)", " ".join(source.partition("\n\n")[0].split()))[0]
