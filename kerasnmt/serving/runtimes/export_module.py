"""Module that an export writes, a task with stored weights."""

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import keras
import tensorflow as tf

from kerasnmt.backends import need_export_backend
from kerasnmt.kinds import kind_of
from kerasnmt.serving.contract.export_contract import ExportContract
from kerasnmt.serving.runtimes.runtime import OPTIONS_OF_TEXTS, lost_options
from kerasnmt.serving.runtimes.stored_weights import StoredWeights
from kerasnmt.tasks import ServedModel, task_of
from kerasnmt.tasks.task import with_own_options


def options_without_texts(
    model: keras.Model, options: Mapping[str, Any], title: str
) -> dict[str, Any]:
    """Return the options of an export without texts, and warn of those of the model that it lacks.

    Args:
        model: The model, whose `search_options` hold for those that are left out.
        options: Options of the caller.
        title: Title of the runtime.
    """
    every = with_own_options(model, options)
    lost = [name for name in OPTIONS_OF_TEXTS if every.get(name) and name not in options]
    if lost:
        warnings.warn(lost_options(lost, title, model.name), stacklevel=3)
    return {**every, **dict.fromkeys(lost, False)}


class ExportModule(ServedModel):
    """Task of a model, with the weights in the number format of the export.

    Its signatures are the `exported` steps of the task; see `kerasnmt.tasks.TranslationTask`,
    `CaptioningTask` and `AnsweringTask`.

    Args:
        model: A `kerasnmt.models.TranslationModel`, `CaptionModel` or `MemoryNetwork` with
            tokenizers.
        weights: Number format of the stored weights; see `kerasnmt.serving.StoredWeights`.
        **options: Options of the task, such as `beam_size=5`; see `with_own_options`.

    Raises:
        ValueError: If the model has no tokenizers, an option is out of range or not valid for the
            model, or Keras does not run on TensorFlow.
    """

    def __init__(self, model: keras.Model, *, weights: str = "float32", **options) -> None:
        need_export_backend()
        # These are variables of TensorFlow, because a server does not find variables in Keras
        # layers. The model itself is not tracked, so its optimizer is not exported.
        self._weights = StoredWeights(model, weights)
        self._task = task_of(
            model, applied=self._weights.applied, **with_own_options(model, options)
        )
        self.fields = self._task.fields
        self.contract: ExportContract = kind_of(self.fields).contract.fitting(self.description)
        self.source_lengths = self._task.source_lengths

    def function(self, name: str) -> Callable[..., Mapping[str, Any]]:
        """Return the function of a signature, or another function of the task."""
        return self._task.function(name)

    @property
    def signatures(self) -> dict[str, Any]:
        """Traced functions, by the names of their signatures."""
        return {name: self._task.signatures[name] for name in self._task.exported}

    @property
    def saved(self) -> tf.Module:
        """Objects that an export tracks: the signatures' objects, and `source_lengths`."""
        saved = tf.Module()
        saved.weights = self._weights
        saved.assets = self._task.assets
        if self.source_lengths is not None:
            saved.source_lengths = self.source_lengths
        return saved

    @property
    def description(self) -> dict[str, Any]:
        """Facts that the signatures do not show, as values for JSON."""
        return {
            "inputs": [*self.fields],
            **self._task.description,
            "weights": self._weights.kind,
        }

    def examples(self) -> dict[str, list[str]]:
        """Return requests with the model's answers, for the check of the export."""
        return self.contract.examples(self.function("serving_default"))
