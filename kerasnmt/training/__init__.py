"""Recipes, the training that they describe, and callbacks for any `model.fit`."""

from importlib import import_module
from typing import Any

# Loaded when first asked for: a recipe is to be read without TensorFlow.
_HOMES = {
    "AttentionImages": "kerasnmt.training.attention_images",
    "BestModel": "kerasnmt.training.best_model",
    "Checkpoint": "kerasnmt.training.checkpoint",
    "EpochHistory": "kerasnmt.training.epoch_history",
    "InverseSquareRoot": "kerasnmt.training.inverse_square_root",
    "learning_rate_schedule": "kerasnmt.training.schedules",
    "MovingAverage": "kerasnmt.training.moving_average",
    "Place": "kerasnmt.training.checkpoint",
    "Recipe": "kerasnmt.training.recipe",
    "Replayed": "kerasnmt.training.replayed",
    "RunFolder": "kerasnmt.training.run_folder",
    "texts": "kerasnmt.training.corpora",
    "Throughput": "kerasnmt.training.throughput",
    "train": "kerasnmt.training.train_recipe",
    "TrainingClock": "kerasnmt.training.training_clock",
    "TrainingProgress": "kerasnmt.training.training_progress",
    "translation_scores": "kerasnmt.training.scoring",
    "TranslationQuality": "kerasnmt.training.translation_quality",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
