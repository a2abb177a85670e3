"""Writing and loading a model's core for LiteRT: token ids in, token ids out."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf

from kerasnmt.ids import END_ID
from kerasnmt.serving.stored_weights import StoredWeights
from kerasnmt.serving.text_module import TextModule
from kerasnmt.serving.version_folder import refuse_existing, write_folder
from kerasnmt.text import register_tokenizers

CORE, TOKENIZERS, DESCRIPTION = "model.tflite", "tokenizers.json", "kerasnmt.json"


def export_lite(
    model: keras.Model,
    directory: str | Path,
    *,
    weights: str = "float32",
    **options,
) -> str:
    """Write a model's search for LiteRT, which runs on small devices, whole or not at all.

    The folder holds `model.tflite`, of LiteRT's own ops alone; `tokenizers.json`, what Keras makes
    of the tokenizers, their vocabularies included; and `kerasnmt.json`, the options. The core's
    signature, `serving_default`, takes one sentence:

    - `source_ids`, int32 `[1, source_length]`, of any length, without padding, the end token last;
    - `extended_source_ids`, likewise, if the model copies;

    and gives `ids`, int32 `[1, max_length]`, the best translation with its end token, padded with
    0, and `score`, float32 `[1]`, log-probability divided by the length penalty.

    Args:
        model: a `kerasnmt.models.SearchModel` with tokenizers.
        directory: where to write; must not exist, its parents may.
        weights: "float32"; "float16" for half the size, which is slow, as LiteRT makes it float32
            in each step; "int8" for a quarter, which is fast, as LiteRT computes with it. LiteRT
            leaves small matrices as they are.
        **options: of `kerasnmt.decoding.SearchOptions`, fixed in the core.

    Returns:
        the directory.

    Raises:
        ValueError: the directory exists, the model has no tokenizers or computes in half precision,
            or an option is out of range.
        OSError: it could not be written.
    """
    directory = Path(directory)
    refuse_existing(directory)
    if model.compute_dtype != "float32":
        raise ValueError(
            f"Expected a model that computes in float32, for LiteRT. Received: {model.name} with "
            f"compute_dtype='{model.compute_dtype}'. Give kerasnmt.models.in_float32(model), which "
            "has the same weights."
        )
    if model.reads_context:
        raise ValueError(
            "Expected a model that reads a source alone, for LiteRT. Received: "
            f"{model.name}, which reads a context as well. model.export writes it for TF Serving."
        )
    description = TextModule(model, weights=weights, **options).description  # refuses bad options
    tokenizers = {"source": keras.saving.serialize_keras_object(model.source_tokenizer)}
    if model.target_tokenizer is not model.source_tokenizer:
        tokenizers["target"] = keras.saving.serialize_keras_object(model.target_tokenizer)
    core = _core(model, weights, options)

    def write(folder: Path) -> None:
        (folder / CORE).write_bytes(core)
        for name, document in ((TOKENIZERS, tokenizers), (DESCRIPTION, description)):
            text = json.dumps(document, ensure_ascii=False, indent=2)
            (folder / name).write_text(text + "\n", encoding="utf-8")

    return str(write_folder(directory, write))


def load_lite(directory: str | Path) -> Any:
    """Load what `export_lite` wrote for `Translator`, with its tokenizers beside the core.

    It runs with the package ai-edge-litert (the extra `litert`). It translates one text after the
    other, and not in several threads.

    Args:
        directory: the folder.

    Returns:
        an object with `signatures`, of which there is `serving_default` alone, `source_lengths` and
        `description`.

    Raises:
        ValueError: the folder does not hold what `export_lite` writes, it cannot be loaded, or the
            package is not installed.
    """
    directory = Path(directory)
    if missing := [n for n in (CORE, TOKENIZERS, DESCRIPTION) if not (directory / n).exists()]:
        raise ValueError(
            f"Expected a folder that export_lite wrote. Received: directory='{directory}', without "
            f"{' and '.join(missing)}."
        )
    try:
        return _LiteModule(directory)
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(f"{directory}: the export cannot be loaded: {error}") from error


class _LiteModule:
    """A core between its tokenizers."""

    def __init__(self, directory: Path) -> None:
        self.description = json.loads((directory / DESCRIPTION).read_bytes())
        register_tokenizers()
        tokenizers = {
            side: keras.saving.deserialize_keras_object(config)
            for side, config in json.loads((directory / TOKENIZERS).read_bytes()).items()
        }
        self._source_tokenizer = tokenizers["source"]
        self._target_tokenizer = tokenizers.get("target", self._source_tokenizer)
        self._search = _interpreter(str(directory / CORE)).get_signature_runner()
        self._copies = "extended_source_ids" in self._search.get_input_details()
        self.signatures = {"serving_default": self._translate}

    def source_lengths(self, text: Sequence[str]) -> tf.Tensor:
        """Count the tokens of each text, the end token included, before a cut."""
        return tf.cast(self._source_tokenizer.tokenize(text).row_lengths(), tf.int32) + 1

    def _translate(self, text: Sequence[str]) -> dict[str, tf.Tensor]:
        rows = tf.constant(text)[:, None]
        translations, scores = zip(*map(self._translate_one, rows), strict=True)
        return {"translation": tf.stack(translations), "score": tf.constant(scores, tf.float32)}

    def _translate_one(self, text: tf.Tensor) -> tuple[tf.Tensor, float]:
        ids, extended_ids, unknown_words = self._read(text)
        if ids.shape[1] == 1:  # nothing but the end token
            return tf.constant(""), 0.0
        inputs = {"source_ids": ids.numpy()}
        if self._copies:
            inputs["extended_source_ids"] = extended_ids.numpy()
        found = self._search(**inputs)
        return self._write(found["ids"], unknown_words)[0], found["score"][0]

    @tf.function(input_signature=[tf.TensorSpec([1], tf.string)], autograph=False)
    def _read(self, text: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.RaggedTensor]:
        source = self._source_tokenizer.tokenize_source(text)
        most = self.description["max_length"] - 1
        ids, extended_ids = (
            tf.concat([ragged[:, :most].to_tensor(), [[END_ID]]], axis=1)
            for ragged in (source.ids, source.extended_ids)
        )
        return ids, extended_ids, source.unknown_words

    @tf.function(
        input_signature=[
            tf.TensorSpec([1, None], tf.int32),
            tf.RaggedTensorSpec([1, None], tf.string),
        ],
        autograph=False,
    )
    def _write(self, ids: tf.Tensor, unknown_words: tf.RaggedTensor) -> tf.Tensor:
        return self._target_tokenizer.detokenize(ids, unknown_words if self._copies else None)


def _interpreter(path: str) -> Any:
    try:
        from ai_edge_litert.interpreter import Interpreter
    except ModuleNotFoundError as error:
        raise ValueError(
            "Expected the package ai-edge-litert, which runs exports for LiteRT. Received: none. "
            "Install it: pip install 'kerasnmt[litert]'"
        ) from error
    return Interpreter(path)


def _core(model: keras.Model, weights: str, search: dict[str, Any]) -> bytes:
    stored = StoredWeights(model)
    on_stored = stored.applied(model.search)
    names = ("source_ids", "extended_source_ids")[: 1 + model.copies]

    # A batch of one, because LiteRT keeps lists of tensors whose shape is known but for their
    # length.
    @tf.function(
        input_signature=[tf.TensorSpec([1, None], tf.int32, name=name) for name in names],
        autograph=False,
    )
    def best(*ids: tf.Tensor) -> dict[str, tf.Tensor]:
        found = on_stored(dict(zip(names, ids, strict=True)), **search)
        return {"ids": found.ids[:, 0], "score": found.scores[:, 0]}

    with tf.device("CPU"):
        converter = tf.lite.TFLiteConverter.from_concrete_functions(
            [best.get_concrete_function()], stored
        )
        converter.experimental_enable_resource_variables = False  # weights become constants
        if weights != "float32":
            converter.optimizations = [tf.lite.Optimize.DEFAULT]
        if weights == "float16":
            converter.target_spec.supported_types = [tf.float16]
        return converter.convert()
