"""Exports for LiteRT, whose core takes and returns token ids."""

import json
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf

from kerasnmt.atomic_write import atomic_folder
from kerasnmt.extras import MissingPackageError, extras
from kerasnmt.ids import SOURCE_IDS, extended
from kerasnmt.runtime.search_model import described_search
from kerasnmt.serving.runtimes.export_module import ExportModule, options_without_texts
from kerasnmt.serving.runtimes.litert.runtime import LiteRTRuntime
from kerasnmt.serving.runtimes.plain_files import (
    DESCRIPTION,
    TOKENIZERS,
    refuse_half_precision,
    refuse_shortlist,
    serialized_tokenizers,
    write_json,
)
from kerasnmt.serving.runtimes.runtime import OPTIONS_OF_TEXTS
from kerasnmt.serving.runtimes.stored_weights import StoredWeights
from kerasnmt.serving.runtimes.version_folder import refuse_existing
from kerasnmt.tasks import ServedModel
from kerasnmt.text import register_tokenizers
from kerasnmt.text.translation_codec import EncodedSource, TranslationCodec


def export_lite(
    model: keras.Model,
    directory: str | Path,
    *,
    weights: str = "float32",
    **options,
) -> str:
    """Write the search of a model for LiteRT, which runs on small devices.

    The folder is written completely or not at all. It contains these files:

    - `model.tflite`: The core, which uses only LiteRT ops.
    - `tokenizers.json`: The tokenizers with their vocabularies.
    - `kerasnmt.json`: The options and, if the package ai-edge-litert is installed, examples with
      answers that the export gave when it was written, for the check.

    The signature of the core, `serving_default`, takes one sentence:

    - `source_ids`, int32 `[1, source_length]`, of any length, with the end token, not padded.
    - `extended_source_ids`, of the same shape, if the model copies.
    - `context_ids`, int32 `[1, context_length]`, if the model reads a context, and
      `extended_context_ids` if it also copies.

    It returns `ids`, int32 `[1, max_length]`, the best translation with its end token, padded with
    0, and `score`, float32 `[1]`, the log-probability divided by the length penalty.

    Args:
        model: A `kerasnmt.models.TranslationModel` with tokenizers.
        directory: Path of the folder to write. It must not exist. Its parents are created if
            necessary.
        weights: Number format of the weights: "float32", "float16" or "int8". "float16" halves the
            size, but is slow, because LiteRT converts the weights to float32 in each step. "int8"
            has a quarter of the size and is fast, because LiteRT computes with int8; small matrices
            stay in float32.
        **options: Options of `kerasnmt.decoding.SearchOptions`, which are fixed in the core.

    Returns:
        Path of the folder.

    Raises:
        ValueError: If the folder exists, the model has no tokenizers or computes in half precision,
            or an option is out of range, or is not one of the search.
        OSError: If the folder cannot be written.
    """
    directory = Path(directory)
    refuse_existing(directory)
    options = options_without_texts(model, options, "LiteRT")
    refuse_half_precision(model, "LiteRT")
    off = {"replace_unknown": False, **dict.fromkeys(OPTIONS_OF_TEXTS, False), "lexicon": None}
    for name, value in off.items():
        if options.get(name):
            raise ValueError(
                f"Expected no {name} for LiteRT, whose core takes one sentence and returns no "
                f"attention weights. Received: {name}={options[name]!r:.40}. Pass {name}={value}, "
                f"or --search {name}={json.dumps(value)}, or use model.export."
            )
    refuse_shortlist(options, "LiteRT")
    module = ExportModule(model, weights=weights, **options)  # checks the options
    if module.contract.answer != "translation":
        raise ValueError(
            f"Expected a model that translates for LiteRT. Received: {model.name}, which reads "
            f"{' and '.join(module.fields)}. Use model.export to write it for TF Serving."
        )
    core = _core(model, weights, described_search(module.description))
    with atomic_folder(directory) as folder:
        (folder / LiteRTRuntime.mark).write_bytes(core)
        write_json(folder / TOKENIZERS, serialized_tokenizers(model))
        description = module.description
        with suppress(MissingPackageError):  # the machine that exports need not run the export
            written = _LiteModule(folder, description)
            answers = module.contract.examples(written.function("serving_default"))
            description["examples"] = answers
        write_json(folder / DESCRIPTION, description)
    return str(directory)


def load_lite(directory: str | Path) -> ServedModel:
    """Load an export for LiteRT, with its tokenizers, for `Translator`.

    It needs the package ai-edge-litert, which is in the extra `litert`. Several threads can use
    it, but it translates one text at a time.

    Args:
        directory: Path of a folder that `export_lite` wrote.

    Returns:
        The export. Its only signature is `serving_default`.

    Raises:
        ValueError: If `export_lite` did not write the folder, or it cannot be loaded.
        ModuleNotFoundError: If the package is not installed.
    """
    directory = Path(directory)
    LiteRTRuntime().check_files(directory)
    try:
        return _LiteModule(directory, json.loads((directory / DESCRIPTION).read_bytes()))
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(f"{directory}: the export cannot be loaded: {error}") from error


class _LiteModule(ServedModel):
    """Core of an export, with its tokenizers."""

    def __init__(self, directory: Path, description: dict[str, Any]) -> None:
        self.description = description
        register_tokenizers()
        tokenizers = {
            side: keras.saving.deserialize_keras_object(config)
            for side, config in json.loads((directory / TOKENIZERS).read_bytes()).items()
        }
        source, target = tokenizers["source"], tokenizers.get("target", tokenizers["source"])
        self._search = _interpreter(str(directory / LiteRTRuntime.mark)).get_signature_runner()
        self._searching = threading.Lock()
        self._inputs = self._search.get_input_details()
        self._codec = TranslationCodec(source, target, extended("source_ids") in self._inputs)
        self.fields = ("text", "context") if "context_ids" in self._inputs else ("text",)
        self.signatures = {"serving_default": self._translate}
        self.source_lengths = self._codec.source_lengths

        def read(*texts: tf.Tensor) -> tuple[dict[str, tf.Tensor], EncodedSource]:
            source = self._codec.encode_source(*texts, max_length=description["max_length"])
            return source.inputs(), source

        # TensorFlow traces each function in its first call.
        signature = [tf.TensorSpec([1], tf.string)] * len(self.fields)
        self._read = tf.function(read, input_signature=signature, autograph=False)
        self._write = tf.function(self._codec.decode, autograph=False, reduce_retracing=True)

    def _translate(self, **fields: Sequence[str]) -> dict[str, tf.Tensor]:
        columns = (tf.constant(fields[name], tf.string)[:, None] for name in self.fields)
        answers = [self._translate_one(*row) for row in zip(*columns, strict=True)]
        return {
            "translation": tf.constant([text for text, _ in answers], tf.string),
            "score": tf.constant([score for _, score in answers], tf.float32),
        }

    def _translate_one(self, *texts: tf.Tensor) -> tuple[bytes, float]:
        inputs, source = self._read(*texts)
        if source.empty[0]:
            return b"", 0.0
        with self._searching:
            outputs = self._search(**{name: inputs[name].numpy() for name in self._inputs})
        return self._write(outputs["ids"], source)[0].numpy(), outputs["score"][0]


def _interpreter(path: str) -> Any:
    with extras():
        from ai_edge_litert.interpreter import Interpreter
    return Interpreter(path)


def _core(model: keras.Model, weights: str, search: dict[str, Any]) -> bytes:
    stored = StoredWeights(model)
    on_stored = stored.applied(model.search)
    names = [*SOURCE_IDS[: 1 + model.reads_context]]
    names += [extended(name) for name in names if model.copies]

    # The batch size is 1, because LiteRT needs lists of tensors where only the length is unknown.
    @tf.function(
        input_signature=[tf.TensorSpec([1, None], tf.int32, name=name) for name in names],
        autograph=False,
    )
    def best(*ids: tf.Tensor) -> dict[str, tf.Tensor]:
        hypotheses = on_stored(dict(zip(names, ids, strict=True)), **search)
        return {"ids": hypotheses.ids[:, 0], "score": hypotheses.scores[:, 0]}

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
