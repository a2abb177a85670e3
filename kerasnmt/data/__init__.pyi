"""Parallel text, stories and captions, their batches of ids, and built-in corpora."""

from .babi import StoryQuestion, read_babi
from .batch_statistics import BatchStatistics, describe_batches
from .batching import batches
from .builtin import SyntheticPair, builtin_corpus
from .caption_batching import caption_batches
from .cleaning import PairFilter
from .dropping import word_dropout
from .reading import read_parallel, read_tsv
from .saved_batches import SavedBatches
from .saving import save_batches
from .scenes import Scene, SceneCaption, SceneObject, builtin_scenes
from .shards import Shards
from .splitting import part_of_batches, split_evenly
from .story_batching import story_batches

__all__ = [
    "BatchStatistics",
    "PairFilter",
    "SavedBatches",
    "Scene",
    "SceneCaption",
    "SceneObject",
    "Shards",
    "StoryQuestion",
    "SyntheticPair",
    "batches",
    "builtin_corpus",
    "builtin_scenes",
    "caption_batches",
    "describe_batches",
    "part_of_batches",
    "read_babi",
    "read_parallel",
    "read_tsv",
    "save_batches",
    "split_evenly",
    "story_batches",
    "word_dropout",
]
