"""`kerasnmt models`."""

import ast
import inspect
import json
import re
from collections.abc import Callable
from importlib.resources import files
from typing import Annotated

import typer

from kerasnmt import preset_folders
from kerasnmt.cli.console import print_table
from kerasnmt.cli.quiet import load_tensorflow

_VOCABULARY = 8_000


def models(
    name: Annotated[str | None, typer.Argument(help="Model to describe.")] = None,
) -> None:
    """List the models of the zoo, or describe one."""
    if name is not None:
        load_tensorflow()
        from kerasnmt.zoo import get_model

        _describe(get_model(name))
        return
    documented = _documented()
    print_table(
        [("model", "source"), *((known, _paper(documented[known])) for known in documented)]
    )
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
    model = constructor(_VOCABULARY)
    model.summary(expand_nested=True)
    from kerasnmt.models import TranslationModel

    if isinstance(model, TranslationModel) and not model.reads_context:
        print(f"\nTrain it on your pairs: kerasnmt init --model {name} --pairs pairs.tsv")
    trained = [
        preset
        for preset, folder in preset_folders.shipped_presets().items()
        if json.loads((folder / preset_folders.METADATA).read_bytes())["model"] == name
    ]
    if trained:
        print(f"Try it trained: kerasnmt presets {trained[0]}  # {len(trained)} in all: ", end="")
        print(", ".join(trained))


def _documented() -> dict[str, str]:
    """Return the docstring of each model by name, from the stub of the zoo.

    The zoo itself would import TensorFlow.
    """
    stub = files("kerasnmt").joinpath("zoo", "__init__.pyi").read_text("utf-8")
    return {
        one.name: ast.get_docstring(one) or ""
        for one in ast.parse(stub).body
        if isinstance(one, ast.FunctionDef) and one.decorator_list
    }


def _paper(docstring: str) -> str:
    """Return the first sentence of the source in a docstring."""
    _, _, source = docstring.partition("Source:")
    return re.split(r"(?<!al)\.(?: |$)", " ".join(source.partition("\n\n")[0].split()))[0]
