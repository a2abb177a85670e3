"""Tasks, which turn requests such as texts or images into answers, on TensorFlow and JAX."""

from kerasnmt.lazy_names import lazy_names

# A client of a server needs no TensorFlow.
__all__, __getattr__ = lazy_names(
    __name__,
    {
        "answering": ["AnsweringTask"],
        "captioning": ["CaptioningTask"],
        "explorer": ["Exploration", "Explorer", "Inspection", "TreeNode", "WordChoice"],
        "kinds": ["task_of"],
        "search_task": ["SearchTask"],
        "sentence_attention": ["SentenceAttention"],
        "served_model": ["ServedModel"],
        "task": ["Task"],
        "translation": ["TranslationTask"],
        "translator": ["Translator"],
    },
)
