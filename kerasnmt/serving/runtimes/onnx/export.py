"""Exports for ONNX Runtime."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import keras

from kerasnmt.atomic_write import atomic_folder
from kerasnmt.checksum import sha256
from kerasnmt.decoding import SearchOptions
from kerasnmt.ids import END_ID, PAD_ID, SOURCE_IDS, START_ID, UNKNOWN_ID, extended
from kerasnmt.layers import LearnedPositions
from kerasnmt.layers.composite import layers_within
from kerasnmt.runtime.loading import FORMAT, MODELS
from kerasnmt.runtime.onnx_graphs import ANSWER, ENCODER, STEP
from kerasnmt.runtime.search_model import described_search
from kerasnmt.serving.runtimes.export_module import ExportModule
from kerasnmt.serving.runtimes.onnx.graphs import make_answer_graph, make_graphs
from kerasnmt.serving.runtimes.onnx.weights import KINDS, with_weights
from kerasnmt.serving.runtimes.onnx.whole_search import make_search
from kerasnmt.serving.runtimes.plain_files import (
    DESCRIPTION,
    TOKENIZERS,
    refuse_half_precision,
    refuse_shortlist,
    serialized_tokenizers,
    write_json,
)
from kerasnmt.serving.runtimes.version_folder import refuse_existing
from kerasnmt.small_weights import check_weights
from kerasnmt.tasks.language_tags import needs_language
from kerasnmt.tasks.task import with_own_options
from kerasnmt.text.parts import in_every_form


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

    - `encoder.onnx`, of a model that searches: From the source to the first states `state_0`, …,
      the memory `memory_0`, …, and `source_mask`. The source is `source_ids`, int32
      `[batch, source_length]` with the end token, padded with 0; or `images`, float32
      `[batch, height, width, channels]` from 0 to 255. A model that copies also takes
      `extended_source_ids`, and a model that reads a context, `context_ids`.
    - `step.onnx`, of the same model: From the last ids, int32 `[batch, hypotheses]`, the states and
      the memory to `log_probabilities`, float32 `[batch, hypotheses, vocabulary]`, attention
      weights, and the new states, `new_state_0`, ….
    - `search.onnx`, with `whole=True`: The same model with its beam search, for programs that have
      no search. From the inputs of `encoder.onnx` to `ids`, int32 `[batch, beam_size, length]`,
      padded with 0; `scores`, float32 `[batch, beam_size]`, best first; and, if the model has
      attention, `weights`, float32 `[batch, beam_size, length, source_length]`.
    - `answer.onnx`, of a memory network: From `story_ids`, int32 `[batch, sentences, words]`, and
      `question_ids`, int32 `[batch, words]`, both padded with 0, to `log_probabilities`, float32
      `[batch, vocabulary]`, and `weights` of the hops, float32 `[batch, hops, sentences]`.
    - `tokenizers.json`: The tokenizers with their vocabularies.
    - `kerasnmt.json`: The options, the special ids, the names of states, memory and records,
      checksums of the other files, and examples with answers that the export gave when it was
      written, for the check.
    - `README.md`: How another program calls the graphs.

    Args:
        model: A `kerasnmt.models.TranslationModel`, `CaptionModel` or `MemoryNetwork` with
            tokenizers.
        directory: Path of the folder to write. It must not exist. Its parents are created if
            necessary.
        weights: Number format of the matrices in the files: "float32", "float16" with half the
            size, or "int8" with a quarter. ONNX Runtime computes with float32.
        whole: Whether to write `search.onnx` too. Its options of the search are fixed.
        **options: Options of `kerasnmt.decoding.TranslationOptions`, or of a memory network,
            `max_words`. `kerasnmt.runtime.load` can change those of
            `kerasnmt.decoding.SearchOptions`; the others are fixed.

    Returns:
        Path of the folder.

    Raises:
        ValueError: If the folder exists, the model has no tokenizers, computes in half precision or
            is of another kind, `weights` is unknown, a weight is too large for float16, an option
            is out of range or unknown, the model has fewer learned positions than `max_length`, or
            `search.onnx` is wanted of samples or of a model that does not search.
        ModuleNotFoundError: If the extra `onnx-export` is not installed.
        OSError: If the folder cannot be written.
    """
    directory = Path(directory)
    refuse_existing(directory)
    options = with_own_options(model, options)
    check_weights(weights, KINDS)
    refuse_half_precision(model, "ONNX Runtime")
    refuse_shortlist(options, "ONNX Runtime")
    module = ExportModule(model, **options)  # checks the options
    if module.fields not in _PARTS:
        raise ValueError(
            f"Expected a model that reads {', or '.join(' and '.join(one) for one in _PARTS)}, for "
            f"ONNX Runtime. Received: {model.name}, which reads {' and '.join(module.fields)}."
        )
    parts = _PARTS[module.fields](model, module.description, whole)
    tokenizers = serialized_tokenizers(model)
    description = {
        "format": FORMAT,
        **module.description,
        "dictionary": options.get("dictionary"),
        "lexicon": in_every_form(options.get("lexicon") or {}) or None,
        "weights": weights,
        "special_ids": {"pad": PAD_ID, "unknown": UNKNOWN_ID, "start": START_ID, "end": END_ID},
        **parts.description,
    }
    with atomic_folder(directory) as folder:
        for name, graph in parts.graphs.items():
            (folder / name).write_bytes(with_weights(graph, weights))
        write_json(folder / TOKENIZERS, tokenizers)
        description["files"] = {path.name: sha256(path) for path in sorted(folder.iterdir())}
        (folder / "README.md").write_text(parts.readme, encoding="utf-8")
        written = MODELS[module.fields](folder, description, tokenizers)
        examples = module.contract.examples(written.function("serving_default"))
        write_json(folder / DESCRIPTION, {**description, "examples": examples})
    return str(directory)


class _Parts(NamedTuple):
    """What an export contains besides tokenizers.

    Attributes:
        graphs: Graphs by the names of their files.
        description: What a program must know about them.
        readme: How a program calls them.
    """

    graphs: dict[str, bytes]
    description: dict[str, Any]
    readme: str


def _of_texts(model: keras.Model, options: Mapping[str, Any], whole: bool) -> _Parts:
    names = [*SOURCE_IDS[: 1 + model.reads_context]]
    names += [extended(name) for name in names if model.copies]
    inputs = {name: keras.KerasTensor((None, None), dtype="int32") for name in names}
    parts = _of_search(model, inputs, options, whole, _README_OF_TEXTS)
    inside = (layer for _, layer in layers_within(model))
    positions = [one.max_length for one in inside if isinstance(one, LearnedPositions)]
    parts.description["positions"] = min(positions, default=None)
    parts.description["needs_language"] = needs_language(options)
    return parts


def _of_images(model: keras.Model, options: Mapping[str, Any], whole: bool) -> _Parts:
    inputs = {"images": keras.KerasTensor((None, *options["image_shape"]), dtype="float32")}
    return _of_search(model, inputs, options, whole, _README_OF_IMAGES)


def _of_search(
    model: keras.Model,
    inputs: Mapping[str, keras.KerasTensor],
    options: Mapping[str, Any],
    whole: bool,
    readme: str,
) -> _Parts:
    search = SearchOptions(**described_search(options))
    if whole and search.samples:
        raise ValueError(
            f"Expected samples=0 with whole=True. Received: samples={search.samples}. "
            "kerasnmt.runtime draws samples."
        )
    graphs = make_graphs(model, inputs, search.max_length)
    files = {ENCODER: graphs.encoder, STEP: graphs.step}
    if whole:
        files["search.onnx"] = make_search(model, inputs, search)
    names = {
        "inputs": [*inputs],
        "states": graphs.states,
        "memory": graphs.memory,
        "records": graphs.records,
    }
    return _Parts(files, {"copies": model.copies, "graphs": names}, readme + _README_OF_SEARCH)


def _of_stories(model: keras.Model, options: Mapping[str, Any], whole: bool) -> _Parts:
    if whole:
        raise ValueError(
            "Expected whole=False for a model that does not search. Received: whole=True with "
            f"{model.name}."
        )
    return _Parts({ANSWER: make_answer_graph(model)}, {}, _README_OF_STORIES)


# What is written for models that read these fields of a request.
_PARTS: dict[tuple[str, ...], Callable[[keras.Model, Mapping[str, Any], bool], _Parts]] = {
    ("text",): _of_texts,
    ("text", "context"): _of_texts,
    ("image",): _of_images,
    ("story", "question"): _of_stories,
}

_README_OF_TEXTS = """# A model for ONNX Runtime

`encoder.onnx` reads a text, and `step.onnx` predicts its translation, token by token. Any program
with ONNX Runtime can run them: in Python, C#, Java, C++ or JavaScript. `kerasnmt.json` has the
names and the options.

1. Turn the text into ids with `tokenizers.json`: the n-th word or character, from 0, has the id
   n + 4, and `model` is a SentencePiece model in base64. First bring the text into the Unicode
   form `normalization`, such as nfd, if there is one; a tag such as `<deu>` is one entry; with
   `fold_case`, a capital that is no entry is its small letter; and `default_tags` stand in front of
   a text without tags. With `split_words` in `kerasnmt.json`, the model reads single words, without
   the signs around them, and with `split_sentences` single sentences. Append 3, the end token, and
   run `encoder.onnx` with `source_ids`, int32 `[batch, length]`, padded with 0. It returns the
   states `state_0`, …, the memory `memory_0`, …, and `source_mask`. `graphs.inputs` lists all.
   `context_ids` is the context. In `extended_source_ids`, the n-th different word outside the
   vocabulary, from 0, has the id size + n, where size is the number of entries of the vocabulary
   with the special ids. The translation of an empty text is empty; the graphs may say something
   else.
"""

_README_OF_IMAGES = """# A model for ONNX Runtime

`encoder.onnx` reads an image, and `step.onnx` predicts its caption, token by token. Any program
with ONNX Runtime can run them: in Python, C#, Java, C++ or JavaScript. `kerasnmt.json` has the
names and the options.

1. Stretch the image to the height and width of `image_shape`, and run `encoder.onnx` with `images`,
   float32 `[batch, height, width, channels]` from 0 to 255. It returns the states `state_0`, …, the
   memory `memory_0`, …, and `source_mask`. In `tokenizers.json`, the n-th word or character, from
   0, has the id n + 4, and `model` is a SentencePiece model in base64.
"""

_README_OF_SEARCH = """2. Begin with `ids` = 2, the start token, int32 `[batch, 1]`.
3. Run `step.onnx` with `ids`, the states and the memory. It returns `log_probabilities`,
   `[batch, hypotheses, vocabulary]`, attention weights, and `new_state_0`, …, the states of the
   next step. A state with an axis in `graphs.states` first gets one more row of zeros along it.
4. Take the best id that is not 0 or 2 (nor 1, if `copies`) as the next `ids`, and go back to 3
   until it is 3. An id of size or more is the word with this extended id.

`search.onnx`, if it is there, does steps 2 to 4 with beam search: from the inputs of `encoder.onnx`
to `ids`, `[batch, beam_size, length]`, with the end token and padded with 0, `scores`, best first,
and attention weights. In Python, `kerasnmt.runtime.load(folder)` does all of it, with beam search.
"""

_README_OF_STORIES = """# A model for ONNX Runtime

`answer.onnx` reads a story and a question, and predicts the answer, a word. Any program with ONNX
Runtime can run it: in Python, C#, Java, C++ or JavaScript. `kerasnmt.json` has the options.

1. Turn the question, and each sentence of the story, into ids with `source` of `tokenizers.json`:
   the n-th word, from 0, has the id n + 4, and other words have the id 1. Leave out sentences
   without words, and keep the last `max_sentences` sentences, with `max_words` words each.
2. Run `answer.onnx` with `story_ids`, int32 `[batch, sentences, words]`, oldest first, and
   `question_ids`, int32 `[batch, words]`. Both are padded with 0, and have at least one sentence
   and one word, which can be 0.
3. It returns `log_probabilities`, `[batch, vocabulary]`, and `weights`, `[batch, hops, sentences]`:
   where each hop looked. The answer is the best id from 4, a word of `target` if it is there. The
   answer to an empty question is empty; the graph may say something else.

In Python, `kerasnmt.runtime.load(folder).answer(stories, questions)` does all of it.
"""
