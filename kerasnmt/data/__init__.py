"""Parallel text, stories and captions, their batches of ids, and built-in corpora."""

from kerasnmt.lazy_names import lazy_names

# The built-in corpus does not need TensorFlow.
__all__, __getattr__ = lazy_names(
    __name__,
    {
        "babi": ["StoryQuestion", "read_babi"],
        "batch_statistics": ["BatchStatistics", "describe_batches"],
        "batching": ["batches"],
        "builtin": ["SyntheticPair", "builtin_corpus"],
        "caption_batching": ["caption_batches"],
        "dropping": ["word_dropout"],
        "reading": ["read_parallel", "read_tsv"],
        "saved_batches": ["SavedBatches"],
        "saving": ["save_batches"],
        "scenes": ["Scene", "SceneCaption", "SceneObject", "builtin_scenes"],
        "shards": ["Shards"],
        "splitting": ["part_of_batches", "split_evenly"],
        "story_batching": ["story_batches"],
    },
)
