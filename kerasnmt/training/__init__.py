"""Recipes, the training that they describe, and callbacks for any `model.fit`."""

from importlib import import_module
from typing import Any

# Loaded when first asked for: a recipe is to be read without TensorFlow.
_HOMES = {
    "Adam": "kerasnmt.training.adam",
    "AttentionImages": "kerasnmt.training.attention_images",
    "AttentionStatistics": "kerasnmt.training.attention_statistics",
    "BestModel": "kerasnmt.training.best_model",
    "Checkpoint": "kerasnmt.training.checkpoint",
    "DivergenceCheck": "kerasnmt.training.divergence_check",
    "EpochHistory": "kerasnmt.training.epoch_history",
    "GradientNorm": "kerasnmt.training.gradient_norm",
    "Hyperparameters": "kerasnmt.training.hyperparameters",
    "Interruption": "kerasnmt.training.interruption",
    "InverseSquareRoot": "kerasnmt.training.inverse_square_root",
    "learning_rate_schedule": "kerasnmt.training.schedules",
    "LengthHistograms": "kerasnmt.training.length_histograms",
    "LinearStart": "kerasnmt.training.linear_start",
    "MovingAverage": "kerasnmt.training.moving_average",
    "Place": "kerasnmt.training.checkpoint",
    "Recipe": "kerasnmt.training.recipe",
    "Replayed": "kerasnmt.training.replayed",
    "ReplicaAdam": "kerasnmt.training.replica_adam",
    "RunFolder": "kerasnmt.training.run_folder",
    "SampleTranslations": "kerasnmt.training.sample_translations",
    "StepScalars": "kerasnmt.training.step_scalars",
    "Terminated": "kerasnmt.training.terminated",
    "texts": "kerasnmt.training.corpora",
    "Throughput": "kerasnmt.training.throughput",
    "train": "kerasnmt.training.train_recipe",
    "TrainingClock": "kerasnmt.training.training_clock",
    "TrainingProgress": "kerasnmt.training.training_progress",
    "translation_scores": "kerasnmt.training.scoring",
    "TranslationQuality": "kerasnmt.training.translation_quality",
    "write_projector": "kerasnmt.training.projector",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
