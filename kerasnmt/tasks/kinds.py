"""Task of a model."""

from typing import Any

import keras

from kerasnmt.models import CaptionModel, MemoryNetwork
from kerasnmt.models.translation_model import TranslationModel
from kerasnmt.tasks.answering import AnsweringTask
from kerasnmt.tasks.captioning import CaptioningTask
from kerasnmt.tasks.task import Task
from kerasnmt.tasks.translation import TranslationTask

_TASKS = {
    TranslationModel: TranslationTask,
    CaptionModel: CaptioningTask,
    MemoryNetwork: AnsweringTask,
}


def task_of(model: keras.Model, **options: Any) -> Task:
    """Return the task of a model.

    Args:
        model: A model of `kerasnmt.models` with tokenizers.
        **options: Arguments of `TranslationTask`, `CaptioningTask` or `AnsweringTask`.

    Returns:
        The task.

    Raises:
        ValueError: If the model has no task, or an option is not valid for it.
    """
    for kind, task in _TASKS.items():
        if isinstance(model, kind):
            return task(model, **options)
    raise ValueError(f"Expected a model of kerasnmt.models. Received: {type(model).__name__}.")
