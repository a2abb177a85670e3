"""Parallel text in, batches of ids out; and a corpus that needs no download."""

from importlib import import_module
from typing import Any

# Loaded when first asked for: the built-in corpus is to be had without TensorFlow.
_HOMES = {
    "BatchStatistics": "kerasnmt.data.batch_statistics",
    "SavedBatches": "kerasnmt.data.saved_batches",
    "SyntheticPair": "kerasnmt.data.builtin",
    "batches": "kerasnmt.data.batching",
    "builtin_corpus": "kerasnmt.data.builtin",
    "describe_batches": "kerasnmt.data.batch_statistics",
    "read_parallel": "kerasnmt.data.reading",
    "read_tsv": "kerasnmt.data.reading",
    "save_batches": "kerasnmt.data.saving",
    "split_evenly": "kerasnmt.data.splitting",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
