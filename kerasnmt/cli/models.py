"""`kerasnmt models`."""

import ast
import inspect
import json
import re
from collections.abc import Callable
from importlib.resources import files
from typing import Annotated

import typer

from kerasnmt.cli.console import print_table
from kerasnmt.cli.quiet import load_tensorflow
from kerasnmt.presets.choosing import preset_descriptions

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
    trained = [preset for preset, about in preset_descriptions().items() if about["model"] == name]
    if trained:
        print(f"Try it trained: kerasnmt presets {trained[0]}  # {len(trained)} in all: ", end="")
        print(", ".join(trained))


def _documented() -> dict[str, str]:
    """Return the docstring of each model and of its family by name, from the source of the zoo.

    The zoo itself would import TensorFlow.
    """
    folder = files("kerasnmt").joinpath("zoo")
    modules = [one for one in folder.iterdir() if one.name.endswith(".py")]
    bodies = [ast.parse(module.read_text("utf-8")).body for module in modules]
    functions = [one for body in bodies for one in body if isinstance(one, ast.FunctionDef)]
    texts = {one.name: ast.get_docstring(one) or "" for one in functions}
    models = {}
    for function in functions:
        for decorator in function.decorator_list:
            if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "register":
                values = {one.arg: ast.unparse(one.value) for one in decorator.keywords}
                family = values.get("family", "").rpartition(".")[2]
                models[function.name] = f"{texts[function.name]}\n\n{texts.get(family, '')}"
    return dict(sorted(models.items()))


def _paper(docstring: str) -> str:
    """Return the first sentence of the source in a docstring."""
    _, _, source = docstring.partition("Source:")
    return re.split(r"(?<!al)\.(?: |$)", " ".join(source.partition("\n\n")[0].split()))[0]
