"""Parallel text or stories in, batches of ids out; and a corpus that needs no download."""

from importlib import import_module
from typing import Any

# Loaded when first asked for: the built-in corpus is to be had without TensorFlow.
_HOMES = {
    "batches": "kerasnmt.data.batching",
    "BatchStatistics": "kerasnmt.data.batch_statistics",
    "builtin_corpus": "kerasnmt.data.builtin",
    "builtin_scenes": "kerasnmt.data.scenes",
    "caption_batches": "kerasnmt.data.caption_batching",
    "describe_batches": "kerasnmt.data.batch_statistics",
    "read_babi": "kerasnmt.data.babi",
    "read_parallel": "kerasnmt.data.reading",
    "read_tsv": "kerasnmt.data.reading",
    "save_batches": "kerasnmt.data.saving",
    "SavedBatches": "kerasnmt.data.saved_batches",
    "Scene": "kerasnmt.data.scenes",
    "SceneCaption": "kerasnmt.data.scenes",
    "SceneObject": "kerasnmt.data.scenes",
    "split_evenly": "kerasnmt.data.splitting",
    "story_batches": "kerasnmt.data.story_batching",
    "StoryQuestion": "kerasnmt.data.babi",
    "SyntheticPair": "kerasnmt.data.builtin",
    "word_dropout": "kerasnmt.data.dropping",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
