"""Exports for ONNX Runtime: the encoder and the step of a model as ONNX graphs."""

from pathlib import Path

import keras

from kerasnmt.atomic_write import atomic_folder
from kerasnmt.decoding import SearchOptions
from kerasnmt.ids import END_ID, PAD_ID, SOURCE_IDS, START_ID, UNKNOWN_ID, extended
from kerasnmt.runtime.loading import FORMAT, described_search, sha256
from kerasnmt.runtime.onnx_graphs import ENCODER, STEP
from kerasnmt.runtime.onnx_model import OnnxModel
from kerasnmt.serving.runtimes.export_module import ExportModule
from kerasnmt.serving.runtimes.onnx.graphs import make_graphs
from kerasnmt.serving.runtimes.onnx.weights import check_weights, with_weights
from kerasnmt.serving.runtimes.onnx.whole_search import make_search
from kerasnmt.serving.runtimes.plain_files import (
    DESCRIPTION,
    TOKENIZERS,
    serialized_tokenizers,
    write_json,
)
from kerasnmt.serving.runtimes.version_folder import refuse_existing


def export_onnx(
    model: keras.Model,
    directory: str | Path,
    *,
    weights: str = "float32",
    whole: bool = False,
    **options,
) -> str:
    """Write a model for ONNX Runtime, completely or not at all.

    `kerasnmt.runtime.load` and the program `kerasnmt` run the folder without TensorFlow and Keras.
    It contains these files:

    - `encoder.onnx`: From `source_ids`, int32 `[batch, source_length]` with the end token, padded
      with 0, to the first states `state_0`, …, the memory `memory_0`, …, and `source_mask`. A model
      that copies also takes `extended_source_ids`, and a model that reads a context, `context_ids`.
    - `step.onnx`: From the last ids, int32 `[batch, hypotheses]`, the states and the memory to
      `log_probabilities`, float32 `[batch, hypotheses, vocabulary]`, attention weights, and the new
      states, `new_state_0`, ….
    - `search.onnx`, with `whole=True`: The model with its beam search, for programs that have no
      search. From the inputs of `encoder.onnx` to `ids`, int32 `[batch, beam_size, length]`, padded
      with 0; `scores`, float32 `[batch, beam_size]`, best first; and, if the model has attention,
      `weights`, float32 `[batch, beam_size, length, source_length]`.
    - `tokenizers.json`: The tokenizers with their vocabularies.
    - `kerasnmt.json`: The search options, the special ids, the names of states, memory and records,
      checksums of the other files, and examples with answers that the export gave when it was
      written, for the check.
    - `README.md`: How another program calls the graphs.

    Args:
        model: A `kerasnmt.models.TranslationModel` with tokenizers.
        directory: Path of the folder to write. It must not exist. Its parents are created if
            necessary.
        weights: Number format of the matrices in the files: "float32", "float16" with half the
            size, or "int8" with a quarter. ONNX Runtime computes with float32.
        whole: Whether to write `search.onnx` too. Its options of the search are fixed.
        **options: Options of `kerasnmt.decoding.SearchOptions`, which `kerasnmt.runtime.load` can
            change; and `replace_unknown`, `dictionary` and `split_sentences`, which are fixed.

    Returns:
        Path of the folder.

    Raises:
        ValueError: If the folder exists, the model has no tokenizers, computes in half precision or
            does not translate, `weights` is unknown, a weight is too large for float16, an option
            is out of range or unknown, or samples are wanted from `search.onnx`.
        ModuleNotFoundError: If the extra `onnx-export` is not installed.
        OSError: If the folder cannot be written.
    """
    directory = Path(directory)
    refuse_existing(directory)
    check_weights(weights)
    if model.compute_dtype != "float32":
        raise ValueError(
            f"Expected a model that computes in float32 for ONNX Runtime. Received: {model.name} "
            f"with compute_dtype='{model.compute_dtype}'. Pass kerasnmt.models.in_float32(model), "
            "which has the same weights."
        )
    module = ExportModule(model, **options)  # checks the options
    if module.contract.answer != "translation":
        raise ValueError(
            f"Expected a model that translates for ONNX Runtime. Received: {model.name}, which "
            f"reads {' and '.join(module.fields)}. Use model.export to write it for TF Serving."
        )
    names = [*SOURCE_IDS[: 1 + model.reads_context]]
    names += [extended(name) for name in names if model.copies]
    inputs = {name: keras.KerasTensor((None, None), dtype="int32") for name in names}
    graphs = make_graphs(model, inputs)
    tokenizers = serialized_tokenizers(model)
    description = {
        "format": FORMAT,
        **module.description,
        "dictionary": options.get("dictionary"),
        "weights": weights,
        "copies": model.copies,
        "special_ids": {"pad": PAD_ID, "unknown": UNKNOWN_ID, "start": START_ID, "end": END_ID},
        "graphs": {
            "inputs": names,
            "states": graphs.states,
            "memory": graphs.memory,
            "records": graphs.records,
        },
    }
    search = SearchOptions(**described_search(description))
    if whole and search.samples:
        raise ValueError(
            f"Expected samples=0 with whole=True. Received: samples={search.samples}. "
            "kerasnmt.runtime draws samples."
        )
    with atomic_folder(directory) as folder:
        if whole:
            graph = make_search(model, inputs, search)
            (folder / "search.onnx").write_bytes(with_weights(graph, weights))
        (folder / ENCODER).write_bytes(with_weights(graphs.encoder, weights))
        (folder / STEP).write_bytes(with_weights(graphs.step, weights))
        write_json(folder / TOKENIZERS, tokenizers)
        description["files"] = {path.name: sha256(path) for path in sorted(folder.iterdir())}
        (folder / "README.md").write_text(_README, encoding="utf-8")
        written = OnnxModel(folder, description, tokenizers, search)
        examples = module.contract.examples(written.function("serving_default"))
        write_json(folder / DESCRIPTION, {**description, "examples": examples})
    return str(directory)


_README = """# A model for ONNX Runtime

`encoder.onnx` reads a text, and `step.onnx` predicts its translation, token by token. Any program
with ONNX Runtime can run them: in Python, C#, Java, C++ or JavaScript. `kerasnmt.json` has the
names and the options.

1. Turn the text into ids with `tokenizers.json`: the n-th word or character, from 0, has the id
   n + 4, and `model` is a SentencePiece model in base64. Append 3, the end token, and run
   `encoder.onnx` with `source_ids`, int32 `[batch, length]`, padded with 0. It returns the states
   `state_0`, …, the memory `memory_0`, …, and `source_mask`. `graphs.inputs` lists all inputs.
   `context_ids` is the context. In `extended_source_ids`, the n-th different word outside the
   vocabulary, from 0, has the id size + n, where size is the number of entries of the vocabulary
   with the special ids.
2. Begin with `ids` = 2, the start token, int32 `[batch, 1]`.
3. Run `step.onnx` with `ids`, the states and the memory. It returns `log_probabilities`,
   `[batch, hypotheses, vocabulary]`, attention weights, and `new_state_0`, …, the states of the
   next step. A state with an axis in `graphs.states` first gets one more row of zeros along it.
4. Take the best id that is not 0 or 2 (nor 1, if `copies`) as the next `ids`, and go back to 3
   until it is 3. An id of size or more is the word with this extended id.

`search.onnx`, if it is there, does steps 2 to 4 with beam search: from the inputs of `encoder.onnx`
to `ids`, `[batch, beam_size, length]`, with the end token and padded with 0, `scores`, best first,
and attention weights. The translation of an empty text is empty; the graphs may say something else.
In Python, `kerasnmt.runtime.load(folder).translate(texts)` does all of it, with beam search.
"""
