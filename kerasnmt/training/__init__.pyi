"""Recipes, training from a recipe, and callbacks for any `model.fit`."""

from .callbacks.attention import AttentionImages, AttentionStatistics
from .callbacks.best_model import BestModel
from .callbacks.checkpoint import Checkpoint, Progress
from .callbacks.divergence_check import DivergenceCheck
from .callbacks.epoch_history import EpochHistory, TrainingClock
from .callbacks.hyperparameters import Hyperparameters
from .callbacks.interruption import Interruption, Terminated
from .callbacks.length_histograms import LengthHistograms
from .callbacks.linear_start import LinearStart
from .callbacks.moving_average import MovingAverage
from .callbacks.projector import write_projector
from .callbacks.replayed import Replayed
from .callbacks.step_scalars import StepScalars
from .callbacks.throughput import Throughput
from .callbacks.training_progress import TrainingProgress
from .callbacks.translations import SampleTranslations, TranslationQuality
from .corpora import grouped, texts
from .new_recipe import NewRecipe, PairFiles
from .optimizers import Adam, GradientNorm, ReplicaAdam
from .processes import Processes, join_processes
from .recipe import Recipe
from .run_folder import RunFolder
from .schedules import InverseSquareRoot, learning_rate_schedule
from .scoring import bleu_tokenizer, compared_scores, nearest_translations, translation_scores
from .training import train

__all__ = [
    "Adam",
    "AttentionImages",
    "AttentionStatistics",
    "BestModel",
    "Checkpoint",
    "DivergenceCheck",
    "EpochHistory",
    "GradientNorm",
    "Hyperparameters",
    "Interruption",
    "InverseSquareRoot",
    "LengthHistograms",
    "LinearStart",
    "MovingAverage",
    "NewRecipe",
    "PairFiles",
    "Processes",
    "Progress",
    "Recipe",
    "Replayed",
    "ReplicaAdam",
    "RunFolder",
    "SampleTranslations",
    "StepScalars",
    "Terminated",
    "Throughput",
    "TrainingClock",
    "TrainingProgress",
    "TranslationQuality",
    "bleu_tokenizer",
    "compared_scores",
    "grouped",
    "join_processes",
    "learning_rate_schedule",
    "nearest_translations",
    "texts",
    "train",
    "translation_scores",
    "write_projector",
]
