"""Exports for CTranslate2, which runs Transformers fast on CPUs."""

from pathlib import Path

import keras

from kerasnmt.atomic_write import atomic_folder
from kerasnmt.checksum import sha256
from kerasnmt.serving.runtimes.ctranslate2.model import CTranslate2Model, need_ctranslate2
from kerasnmt.serving.runtimes.ctranslate2.transformer_spec import (
    check_transformer,
    transformer_spec,
    vocabulary_map,
)
from kerasnmt.serving.runtimes.export_module import ExportModule, options_without_texts
from kerasnmt.serving.runtimes.plain_files import (
    DESCRIPTION,
    TOKENIZERS,
    serialized_tokenizers,
    write_json,
)
from kerasnmt.serving.runtimes.runtime import OPTIONS_OF_TEXTS
from kerasnmt.serving.runtimes.version_folder import refuse_existing

_WEIGHTS = ("float32", "int8")
# Options that CTranslate2 does not have, and the only values that they can have. It has options for
# the minimum length and repeated n-grams, but computes other probabilities with them.
_FIXED = {
    "coverage_penalty": 0.0,
    "min_length": 1,
    "max_length_ratio": None,
    "no_repeat_ngram": 0,
    "samples": 0,
    **dict.fromkeys(("replace_unknown", *OPTIONS_OF_TEXTS, "lexicon"), False),
}


def export_ctranslate2(
    model: keras.Model, directory: str | Path, *, weights: str = "float32", **options
) -> str:
    """Write a Transformer for CTranslate2, completely or not at all.

    The folder contains a model of CTranslate2 (`model.bin`, `config.json` and its vocabularies) and
    these files:

    - `tokenizers.json`: The tokenizers with their vocabularies.
    - `kerasnmt.json`: The search options, checksums of the other files, and examples with answers
      that the export gave when it was written, for the check.

    With float32 weights, a greedy search finds the translations of the model, except for ties. A
    beam search nearly always finds them. In CTranslate2, new hypotheses take the places of those
    that have ended, so it sometimes finds a translation with a better score, and the further
    translations of `n_best` can differ.

    CTranslate2 divides log-probabilities by length^alpha, like `length_normalization="length"`.
    With "wu", our default, the export ranks the hypotheses that CTranslate2 has finished again.
    Scores are slightly larger than the model's, because the softmax does not contain padding
    and start: by up to 0.007 for the preset `tatoeba_en_fr_transformer`.

    Args:
        model: A Transformer of `kerasnmt.zoo` with tokenizers.
        directory: Path of the folder to write. It must not exist. Its parents are created if
            necessary.
        weights: Number format of the matrices: "float32" or "int8". "int8" has a quarter of the
            size, and CTranslate2 computes with int8.
        **options: Options of `kerasnmt.decoding.SearchOptions`, which are fixed in the export:
            `beam_size`, `length_penalty`, `length_normalization`, `max_length` and `allow_unknown`.
            And `shortlist`, which writes the model's shortlist as `vmap.txt`.

    Returns:
        Path of the folder.

    Raises:
        ValueError: If the folder exists, the model is not a Transformer or has no tokenizers, or
            an option is out of range or not one of the above.
        ModuleNotFoundError: If the package ctranslate2 is not installed.
        OSError: If the folder cannot be written.
    """
    directory = Path(directory)
    refuse_existing(directory)
    if weights not in _WEIGHTS:
        raise ValueError(
            f"Expected weights to be one of {', '.join(_WEIGHTS)} for CTranslate2. Received: "
            f"weights={weights!r}"
        )
    check_transformer(model)
    options = options_without_texts(model, options, "CTranslate2")
    module = ExportModule(model, **options)  # checks the options
    description = {**module.description, "weights": weights}
    for name, value in _FIXED.items():
        if description[name] != value:
            raise ValueError(
                f"Expected {name}={value}, the only value for CTranslate2. Received: "
                f"{name}={description[name]}. Use model.export to write it for TF Serving."
            )
    need_ctranslate2()
    spec = transformer_spec(model, description["max_length"])
    spec.optimize(quantization=weights)
    with atomic_folder(directory) as folder:
        spec.save(str(folder))
        if description["shortlist"]:
            lines = vocabulary_map(model)
            (folder / "vmap.txt").write_text("".join(f"{line}\n" for line in lines), "utf-8")
        write_json(folder / TOKENIZERS, serialized_tokenizers(model))
        description["files"] = {path.name: sha256(path) for path in sorted(folder.iterdir())}
        written = CTranslate2Model(folder, description)
        examples = module.contract.examples(written.function("serving_default"))
        write_json(folder / DESCRIPTION, {**description, "examples": examples})

    return str(directory)
