"""Base class of models with tokenizers."""

import operator
import os
from collections.abc import Mapping
from typing import Any, ClassVar, NoReturn, Self, cast

import keras

from kerasnmt import hooks
from kerasnmt.calibration import Calibration
from kerasnmt.columns import holds_texts
from kerasnmt.decoding import SearchOptions
from kerasnmt.layers.composite import Composite
from kerasnmt.shortlist import Shortlist

# Attributes that the config of a model keeps as documents, if it has them.
_KEPT: dict[str, Any] = {"calibration": Calibration, "shortlist": Shortlist}


class TextModel(Composite, keras.Model):
    """Base class of models with tokenizers, which can be saved, loaded and exported.

    A subclass has a `target_tokenizer`, and also a `source_tokenizer` if its source is text.
    Without tokenizers, it takes only arrays.
    """

    source_tokenizer: Any = None
    target_tokenizer: Any = None
    # Name of the task on model hubs.
    pipeline_tag: ClassVar[str] = "translation"
    # Fields of the model's requests.
    request_fields: tuple[str, ...] = ("text",)
    # Methods that take arrays and requests, used in error messages.
    takes_arrays: ClassVar[str] = "model.search"
    takes_requests: ClassVar[str] = "model.translate"
    # Class of the options of the methods that search, or None for a model that does not search.
    options_class: ClassVar[type[SearchOptions] | None] = None
    # Calibration of probabilities, which the config of the model keeps, or None.
    calibration: Calibration | None = None
    # Vocabulary shortlist, which the config of the model keeps, or None.
    shortlist: Shortlist | None = None

    def __init__(self, **kwargs) -> None:
        super().__init__(**kwargs)
        self._translators = _Translators()

    @property
    def search_options(self) -> dict[str, Any]:
        """Options of the methods that search, for those that a call leaves out.

        A preset has the options with which it was scored, and the model of a finished run those of
        its recipe. The config of the model keeps them. Change one with
        `model.search_options["beam_size"] = 3`, or set all of them.
        """
        return self._translators.search_options

    @search_options.setter
    def search_options(self, options: Mapping[str, Any]) -> None:
        if not isinstance(options, Mapping) or not all(isinstance(name, str) for name in options):
            raise ValueError(
                "Expected a dict of search options, such as {'beam_size': 5}, or {} for none. "
                f"Received: search_options={options!r}"
            )
        if options and self.options_class is None:
            raise ValueError(
                f"Expected no search options, because {self.name} does not search. Received: "
                f"search_options={options!r}"
            )
        checked = self.options_class.from_keywords(dict(options)) if self.options_class else None
        # The checked values are plain numbers, which JSON takes.
        own = {name: getattr(checked, name) for name in options}
        self._translators.search_options = _plain(own)

    def save(self, filepath: str | os.PathLike, *args: Any, **kwargs) -> None:
        """Write the model to a file whose name ends with ".keras"; see `keras.Model.save`.

        Raises:
            ValueError: If the file has the format HDF5, from which the model cannot be loaded.
        """
        if os.fspath(filepath).endswith((".h5", ".hdf5")):
            raise ValueError(
                f"Expected a file whose name ends with .keras. Received: {os.fspath(filepath)}. "
                "Rename it, or call model.save_weights with a name that ends with .weights.h5."
            )
        super().save(filepath, *args, **kwargs)

    def export(self, directory: str, *, weights: str = "float32", **options) -> str:
        """Write a SavedModel for TF Serving, completely or not at all.

        Args:
            directory: Path of the folder to write, `<name>/<version>` with a number as the version,
                as TF Serving requires. It must not exist.
            weights: Number format of the stored weights: "float32", or "float16" or "int8" for a
                smaller export; see `kerasnmt.serving.StoredWeights`.
            **options: Options of the model's task, which are fixed in the export; see
                `kerasnmt.tasks.TranslationTask`, `CaptioningTask` and `AnsweringTask`. By default
                they are the model's `search_options`.

        Returns:
            Path of the folder.

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

        By default, a preset is smaller than the file of `save`, because it has no optimizer state,
        and its weights are not float32. It has checksums, and a card for readers and model hubs.
        See `kerasnmt.presets.Preset` for its files. Parts that are frozen stay frozen.

        All keys of `about` are optional:

        - `task`, `description`, `attribution` and `score` are texts.
        - `good_for`, `not_for` and `bias`, what the training data makes the model prefer, are
          texts. `demonstration` says whether the model only shows what an architecture learns, and
          is of no other use.
        - `evaluation` is the command that measures the score.
        - `low_score` is the score of the search, with its length penalty, that hardly any sentence
          of the test data falls below. `kerasnmt translate` warns of texts that do.
        - `license` is an identifier such as "cc-by-4.0".
        - `languages` are codes such as `["en", "fr"]`. Two languages are source and target.
        - `model` contains the keywords of the zoo's function that made the model. `kerasnmt init
          --init-from` writes them into a recipe.
        - `search` contains the search options with which the score was measured, by default the
          model's `search_options`, which the loaded model gets.
        - `examples` are dicts with an `input`, such as `{"text": "I am here."}`, and an `output`.

        Args:
            folder: Path of the folder to write. It must not exist.
            weights: Number format of the matrices in the file: "float32", "float16" or "int8". The
                loaded model computes in float32.
            about: Description of the preset; see above.

        Returns:
            Path of the folder.

        Raises:
            ValueError: If the model has no tokenizers, the folder exists, `about` has an unknown
                key or an invalid value, or a weight is not finite or too large for float16.
        """
        self._need_tokenizers()
        return str(hooks.save_preset(self, folder, weights, about))

    def predict(self, x: Any, *args: Any, **kwargs) -> Any:
        """Return the outputs of `call` for arrays; see `keras.Model.predict`.

        Raises:
            ValueError: If `x` contains texts.
        """
        if holds_texts(x):
            raise ValueError(
                "Expected arrays, because predict calls the model with ids. Received: texts. Call "
                f"{self.takes_requests}, which takes text."
            )
        return super().predict(x, *args, **kwargs)

    def quantize(self, *args: Any, **kwargs) -> NoReturn:
        """Refuse to quantize the model in place, because several layers need float weights.

        Raises:
            NotImplementedError: Always.
        """
        raise NotImplementedError(
            f"{self.name} cannot be quantized in place, because several of its layers need float "
            'weights. Call model.export(directory, weights="int8") or '
            'model.save_to_preset(folder, weights="int8"), which store int8 weights.'
        )

    def compile(self, *args: Any, **kwargs) -> None:
        """Configure training; see `keras.Model.compile`."""
        super().compile(*args, **kwargs)
        self._translators.clear()  # the loss can change the normalizer of the output

    def compile_from_config(self, config: dict) -> None:
        """Compile with the arguments of `get_compile_config`."""
        hooks.register_optimizers()
        self.compile(**keras.saving.deserialize_keras_object(config))
        self.optimizer.build(self.trainable_variables)

    def _translator(self, **options) -> Any:
        """Return a `kerasnmt.tasks.Translator`, which is created once for the same options."""
        self._need_tokenizers()
        return self._translators.get(self, options)

    def _searcher(self, options: dict[str, Any], without: tuple[str, ...] = ()) -> Any:
        """Return the translator with these options, and the model's own for those left out.

        Args:
            options: A user's keywords.
            without: Names of options that do not hold.

        Raises:
            ValueError: If an option is unknown, has a wrong type or value, or contradicts another
                one.
        """
        kind, own = cast(type[SearchOptions], self.options_class), self.search_options
        merged = {**own, **options}
        try:
            kind.from_keywords(merged)
        except ValueError as error:
            kind.from_keywords(options)  # raises an error that is not about the model
            problem = str(error).removesuffix(".")
            raise ValueError(f"{problem}. The model has search_options={own!r}.") from error
        return self._translator(**{k: v for k, v in merged.items() if k not in without})

    def _need_tokenizers(self) -> None:
        """Check that the model has tokenizers, before anything imports TensorFlow."""
        if self.target_tokenizer is None:
            raise ValueError(
                f"Expected a model with tokenizers for text. Received: {self.name}, which was "
                "created with vocabulary sizes. Create it with tokenizers, or pass arrays to "
                f"{self.takes_arrays}."
            )

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments, where tokenizers have their vocabularies.

        The target tokenizer is omitted if it is the source tokenizer, and so are search options, a
        calibration and a shortlist that the model does not have.
        """
        config = super().get_config()
        if options := self.search_options:
            self.search_options = options  # checks it: the user may have changed the dict
            config["search_options"] = _plain(options)
        for name in _KEPT:
            if (part := getattr(self, name)) is not None:
                config[name] = part.document()
        if self.target_tokenizer is self.source_tokenizer:
            config.pop("target_tokenizer", None)
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """Create the model from the result of `get_config`."""
        if any(config.get(f"{side}_tokenizer") is not None for side in ("source", "target")):
            hooks.register_tokenizers()
        options = config.get("search_options", {})
        given = {k: v for k, v in config.items() if k not in _KEPT and k != "search_options"}
        model = super().from_config(given)
        model.search_options = options
        for name, kind in _KEPT.items():
            setattr(model, name, kind.of(config.get(name)))
        return model


def _plain(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of options, in which Keras has not wrapped the dicts."""
    return {k: dict(v) if isinstance(v, Mapping) else v for k, v in options.items()}


class _Translators:
    """Cache of a model's translators, and the model's search options.

    Keras and TensorFlow do not look into this object, so they do not track its attributes.
    """

    def __init__(self) -> None:
        self._translators: dict[str, Any] = {}
        self._parts: list[Any] = [None] * 4
        self.search_options: dict[str, Any] = {}

    def get(self, model: keras.Model, options: dict[str, Any]) -> Any:
        """Return the translator with these options and the model's present parts."""
        parts = [model.calibration, model.shortlist, model.source_tokenizer, model.target_tokenizer]
        if any(map(operator.is_not, parts, self._parts)):
            self.clear()
            self._parts = parts
        key = repr(sorted(options.items()))
        if key not in self._translators:
            self._translators[key] = hooks.translator_of(model, **options)
        return self._translators[key]

    def clear(self) -> None:
        """Forget the translators, whose graphs keep the model as it was."""
        self._translators.clear()
