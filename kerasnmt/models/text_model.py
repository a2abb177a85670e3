"""The base of models with tokenizers."""

import os
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import keras

from kerasnmt import hooks
from kerasnmt.columns import holds_texts
from kerasnmt.layers.composite import Composite
from kerasnmt.models.preset import save_preset


class TextModel(Composite, keras.Model):
    """Save, load and export a model with tokenizers.

    A subclass has a `target_tokenizer`, and also a `source_tokenizer` if its source is text.
    Without tokenizers it takes only arrays.
    """

    source_tokenizer: Any = None
    target_tokenizer: Any = None
    # What the model does, as model hubs name it, and the fields of its requests.
    pipeline_tag: ClassVar[str] = "translation"
    request_fields: tuple[str, ...] = ("text",)
    # The methods that take arrays and requests, for errors.
    takes_arrays: ClassVar[str] = "model.search"
    takes_requests: ClassVar[str] = "model.translate"

    def __init__(self, **kwargs) -> None:
        super().__init__(**kwargs)
        self._translators = _Translators()

    def export(self, directory: str, *, weights: str = "float32", **options) -> str:
        """Write a SavedModel for TF Serving, completely or not at all.

        Args:
            directory: The folder to write, `<name>/<version>`, as TF Serving requires; the version
                is a number. It must not exist.
            weights: The number format of the stored weights: "float32", or "float16" or "int8" for
                a smaller export; see `kerasnmt.serving.StoredWeights`.
            **options: Options of the model's task, which the export fixes: see
                `kerasnmt.tasks.TranslationTask`, `CaptioningTask` and `AnsweringTask`.

        Returns:
            The directory.

        Raises:
            ValueError: If the model has no tokenizers, the directory exists, or an option is out of
                range.
        """
        self._need_tokenizers()
        return hooks.export(self, directory, weights=weights, **options)

    def save_to_preset(
        self,
        folder: str | os.PathLike,
        *,
        weights: str = "float16",
        about: Mapping[str, Any] | None = None,
    ) -> str:
        """Write a preset, a folder that `kerasnmt.zoo.from_preset` loads, completely or not at all.

        A preset is smaller than the file of `save`, because it keeps neither the optimizer nor
        float32 weights. It has checksums, and a card for readers and model hubs. See
        `kerasnmt.models.Preset` for its files.

        Args:
            folder: The folder to write. It must not exist.
            weights: The number format of the matrices in the file: "float32", "float16" or "int8".
                The loaded model computes in float32.
            about: The description of the preset. All keys are optional: `task`, `description`,
                `attribution` and `score` are texts; `evaluation` is the command that gives the
                score; `license` is an identifier such as "cc-by-4.0"; `languages` are codes such as
                `["en", "fr"]`, where two are source and target; `search` are the search options of
                the score, which the command line uses; `examples` are dicts with an `input`, such
                as `{"text": "I am here."}`, and an `output`.

        Returns:
            The folder.

        Raises:
            ValueError: If the model has no tokenizers, the folder exists, `about` has an unknown
                key or a value that is not valid, or a weight is not finite or too large for
                float16.
        """
        self._need_tokenizers()
        return str(save_preset(self, folder, weights, about))

    def predict(self, x: Any, *args: Any, **kwargs) -> Any:
        """Return the outputs of `call` for arrays; see `keras.Model.predict`.

        Raises:
            ValueError: If `x` holds texts.
        """
        if holds_texts(x):
            raise ValueError(
                "Expected arrays, as the inputs of the model, for predict. Received: texts. Call "
                f"{self.takes_requests}, which takes text."
            )
        return super().predict(x, *args, **kwargs)

    def _translator(self, **options) -> Any:
        """Return a `kerasnmt.tasks.Translator` with these options, made once for each of them."""
        self._need_tokenizers()
        return self._translators.get(self, options)

    def _need_tokenizers(self) -> None:
        """Check that the model has tokenizers, before anything imports TensorFlow."""
        if self.target_tokenizer is None:
            raise ValueError(
                f"Expected a model with tokenizers, for text. Received: {self.name}, made of "
                "vocabulary sizes. Make it with tokenizers, or pass arrays to "
                f"{self.takes_arrays}."
            )

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments, the tokenizers with their vocabularies.

        The tokenizer of the target is left out if it is the source's.
        """
        config = super().get_config()
        if self.target_tokenizer is self.source_tokenizer:
            config.pop("target_tokenizer", None)
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """Make the model from `get_config`."""
        if any(config.get(f"{side}_tokenizer") is not None for side in ("source", "target")):
            hooks.register_tokenizers()
        return super().from_config(config)


class _Translators:
    """The translators that a model has made.

    Keras and TensorFlow do not look into it, so they do not track these objects.
    """

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}

    def get(self, model: keras.Model, options: dict[str, Any]) -> Any:
        """Return the translator with these options."""
        key = repr(sorted(options.items()))
        if key not in self._made:
            self._made[key] = hooks.translator_of(model, **options)
        return self._made[key]
