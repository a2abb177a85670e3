"""Four special ids, which all tokenizers, models and searches share.

They come before all other ids of a vocabulary. They are integers, so that packages without text can
also use them.
"""

PAD_ID = 0
UNKNOWN_ID = 1
START_ID = 2
END_ID = 3
