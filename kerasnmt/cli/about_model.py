"""What a page says about a model: a description and examples."""

import base64
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from kerasnmt.cli.loading import is_preset
from kerasnmt.tasks.language_tags import lacks_language

# Number of examples, the longest text of an example, and the number of rows to choose from.
_EXAMPLES, _LONGEST, _ROWS = 4, 80, 100


def about_model(path: str, fields: Sequence[str], export: Mapping[str, Any]) -> dict[str, Any]:
    """Return the `description` of a model, and `examples`, a list of requests.

    Args:
        path: A preset, a run or an export.
        fields: Fields of the requests.
        export: Description of the model, which has `examples` if it is an export.

    Returns:
        For a preset, its description and examples. For an export, its examples. For a run that
        translates, sources of its validation data, if the files can still be read.
    """
    if is_preset(path):
        from kerasnmt.zoo import get_preset

        about = get_preset(path).about
        examples = [_request(one["input"]) for one in about.get("examples", [])]
        return {"description": about.get("description", ""), "examples": examples}
    requests = _of_export(export, fields) if "examples" in export else _of_run(path, fields)
    return {"description": "", "examples": [*islice(requests, _EXAMPLES)]}


def _request(example: Mapping[str, Any]) -> dict[str, str]:
    """Return the request of a preset's example. An image is in base64."""
    if "scene" not in example:
        return {**example}
    import tensorflow as tf

    from kerasnmt.data import builtin_scenes

    image = builtin_scenes(example["scene"] + 1, "test")[-1].image
    return {"image": base64.b64encode(tf.io.encode_png(image).numpy()).decode()}


def _of_export(export: Mapping[str, Any], fields: Sequence[str]) -> Iterator[dict[str, str]]:
    """Yield the examples of an export that are not empty, and have a language if it needs one."""
    columns = [export["examples"].get(field, []) for field in fields]
    for values in zip(*columns, strict=True):
        example = dict(zip(fields, values, strict=True))
        if all(map(str.strip, values)) and not lacks_language(example.get("text", ""), export):
            yield example


def _of_run(path: str, fields: Sequence[str]) -> Iterator[dict[str, str]]:
    """Yield short sources of the validation data of a run."""
    from kerasnmt.training import Recipe, RunFolder
    from kerasnmt.training.corpora import read_pairs

    recipe = RunFolder(Path(path)).recipe
    if [*fields] != ["text"] or not recipe.exists():
        return
    section = Recipe.load(recipe, []).data.validation
    try:
        pairs = read_pairs(section, "validation")
    except ValueError:  # the files have moved or changed
        return
    seen = set()
    for source, _ in pairs.take(_ROWS).as_numpy_iterator():
        text = source.decode(errors="replace")
        if text.strip() and len(text) <= _LONGEST and text not in seen:
            seen.add(text)
            yield {"text": text}
