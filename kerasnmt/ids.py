"""The four ids that every tokenizer, model and search agrees on.

They come before all other entries of a vocabulary. Plain integers, so that the rooms that know no
text can use them too.
"""

PAD_ID = 0
UNKNOWN_ID = 1
START_ID = 2
END_ID = 3
