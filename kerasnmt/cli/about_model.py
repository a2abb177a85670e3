"""What a page says about a model: a description and examples."""

import base64
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

# Number of examples, and the longest text of an example.
_EXAMPLES, _LONGEST = 4, 80


def about_model(place: str, fields: Sequence[str], export: Mapping[str, Any]) -> dict[str, Any]:
    """Return a `description` and `examples`, a list of requests.

    Args:
        place: A preset, a run or an export.
        fields: Fields of the requests.
        export: Description of the export, or an empty dict.

    Returns:
        The description of a preset and its examples; or sources of a run's validation data, if its
        files are still there; or the examples of an export.
    """
    from kerasnmt.preset_folders import preset_folder

    if preset_folder(place) is not None or "://" in place:
        from kerasnmt.zoo import get_preset

        about = get_preset(place).about
        examples = [_request(one["input"]) for one in about.get("examples", [])]
        return {"description": about.get("description", ""), "examples": examples}
    found = _of_export(export, fields) if export else _of_run(place, fields)
    return {"description": "", "examples": [*islice(found, _EXAMPLES)]}


def _request(example: Mapping[str, Any]) -> dict[str, str]:
    """Return the request of a preset's example. An image is in base64."""
    if "scene" not in example:
        return {**example}
    import tensorflow as tf

    from kerasnmt.data import builtin_scenes

    image = builtin_scenes(example["scene"] + 1, "test")[-1].image
    return {"image": base64.b64encode(tf.io.encode_png(image).numpy()).decode()}


def _of_export(export: Mapping[str, Any], fields: Sequence[str]) -> Iterator[dict[str, str]]:
    """Yield the examples of an export that are not empty."""
    columns = [export.get("examples", {}).get(field, []) for field in fields]
    for values in zip(*columns, strict=True):
        if all(value.strip() for value in values):
            yield dict(zip(fields, values, strict=True))


def _of_run(place: str, fields: Sequence[str]) -> Iterator[dict[str, str]]:
    """Yield short sources of the validation data of a run."""
    from kerasnmt.training import Recipe, RunFolder
    from kerasnmt.training.corpora import read_pairs

    recipe = RunFolder(Path(place)).recipe
    if [*fields] != ["text"] or not recipe.exists():
        return
    section = Recipe.load(recipe, []).data.validation
    if not all(path.exists() for _, path in section if isinstance(path, Path)):
        return
    seen = set()
    for source, _ in read_pairs(section, "validation").take(100).as_numpy_iterator():
        text = source.decode(errors="replace")
        if text.strip() and len(text) <= _LONGEST and text not in seen:
            seen.add(text)
            yield {"text": text}
