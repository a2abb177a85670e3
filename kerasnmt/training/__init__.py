"""Recipes, training from a recipe, and callbacks for any `model.fit`."""

from kerasnmt.lazy_names import lazy_names

# Reading a recipe needs no TensorFlow.
__all__, __getattr__ = lazy_names(
    __name__,
    {
        "callbacks.attention": ["AttentionImages", "AttentionStatistics"],
        "callbacks.best_model": ["BestModel"],
        "callbacks.checkpoint": ["Checkpoint", "Place"],
        "callbacks.divergence_check": ["DivergenceCheck"],
        "callbacks.epoch_history": ["EpochHistory", "TrainingClock"],
        "callbacks.hyperparameters": ["Hyperparameters"],
        "callbacks.interruption": ["Interruption", "Terminated"],
        "callbacks.length_histograms": ["LengthHistograms"],
        "callbacks.linear_start": ["LinearStart"],
        "callbacks.moving_average": ["MovingAverage"],
        "callbacks.projector": ["write_projector"],
        "callbacks.replayed": ["Replayed"],
        "callbacks.step_scalars": ["StepScalars"],
        "callbacks.throughput": ["Throughput"],
        "callbacks.training_progress": ["TrainingProgress"],
        "callbacks.translations": ["SampleTranslations", "TranslationQuality"],
        "corpora": ["grouped", "texts"],
        "new_recipe": ["NewRecipe", "PairFiles"],
        "optimizers": ["Adam", "GradientNorm", "ReplicaAdam"],
        "processes": ["Processes", "join_processes"],
        "recipe": ["Recipe", "search_options"],
        "run_folder": ["RunFolder"],
        "schedules": ["InverseSquareRoot", "learning_rate_schedule"],
        "scoring": ["bleu_tokenizer", "compared_scores", "translation_scores"],
        "training": ["train"],
    },
)
