"""Ids that all tokenizers, models and searches share, and the inputs that contain them.

The four special ids come before all other ids of a vocabulary. They are integers, so that packages
without text can also use them.
"""

PAD_ID = 0
UNKNOWN_ID = 1
START_ID = 2
END_ID = 3
# First id that stands for text.
FIRST_WORD_ID = 4
# Inputs of a model with the ids of the texts that it reads.
SOURCE_IDS = ("source_ids", "context_ids")
# Maximum number of tokens of a context, including its end token. Longer contexts are truncated.
MAX_CONTEXT_LENGTH = 1000


def extended(name: str) -> str:
    """Return the name of the input with the extended ids of an input of ids.

    The inputs of a model that copies have both: in `source_ids`, a word outside the vocabulary is
    unknown, and in `extended_source_ids`, it has an id of its own.
    """
    return f"extended_{name}"
