"""Tasks, which turn requests such as texts or images into answers, on TensorFlow and JAX."""

from kerasnmt.lazy_names import lazy_names

# A client of a server needs no TensorFlow.
__all__, __getattr__ = lazy_names(
    __name__,
    {
        "answering": ["AnsweringTask"],
        "captioning": ["CaptioningTask"],
        "kinds": ["task_of"],
        "sentence_attention": ["SentenceAttention"],
        "served_model": ["ServedModel"],
        "task": ["Task"],
        "translation": ["TranslationTask"],
        "translator": ["Translator"],
    },
)
