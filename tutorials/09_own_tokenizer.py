# %% [markdown]
# # 9. A tokenizer of your own
#
# Text can be split into other units than words, characters and pieces. To use units of your own,
# write a subclass of `kerasnmt.text.Tokenizer`. This one uses bytes: 256 ids cover every language,
# and no text is unknown. Models with it can be trained, saved and exported like any other.
#
# Open it as a notebook (`.ipynb`), or run it as a script (`.py`). It trains one small model, in
# about a minute on one core. With `KERASNMT_SMALL=1` in the environment it runs on very little
# data, as a quick check.

# %%
import os
import tempfile
from pathlib import Path

import keras
import tensorflow as tf

from kerasnmt.data import builtin_corpus
from kerasnmt.serving import load_export
from kerasnmt.tasks import Translator
from kerasnmt.text import Tokenizer
from kerasnmt.zoo import luong_general_gru

small = os.environ.get("KERASNMT_SMALL") == "1"
folder = Path(tempfile.mkdtemp(prefix="kerasnmt-"))
keras.utils.set_random_seed(1)

# %% [markdown]
# ## The class
# A tokenizer turns text into ids from 4 on. Ids 0 to 3 are padding, unknown, start and end in every
# tokenizer; the base class and the models handle them. A subclass defines five things:
#
# - `kind` says how tokens form words. Bytes are like characters: a space begins the next word.
# - The constructor gives the base class a printable form of each id, for attention pictures.
# - `_tokenize` and `_detokenize` run inside TensorFlow graphs, in `tf.data` and on a server, so
#   they use only TensorFlow operations. The table of bytes is an attribute, so exports include it.
# - A model may write bytes that are not valid UTF-8. `unicode_transcode` turns them into valid
#   text.
# - `get_config` and the registration with Keras store the tokenizer in a `model.keras`.


# %%
@keras.saving.register_keras_serializable("tutorial")
class ByteTokenizer(Tokenizer):
    """A tokenizer that splits UTF-8 text into bytes: byte b has the id b + 4."""

    kind = "characters"

    def __init__(self):
        printable = [chr(byte) if 32 < byte < 127 else f"<{byte:02X}>" for byte in range(256)]
        printable[32] = "▁"
        super().__init__(printable)
        with tf.init_scope():
            self._texts = tf.constant(["⁇".encode()] * 4 + [bytes([byte]) for byte in range(256)])

    def _tokenize(self, text):
        split = tf.strings.bytes_split(text)
        values = tf.reshape(tf.io.decode_raw(split.flat_values, tf.uint8), [-1])
        return split.with_flat_values(tf.cast(values, tf.int32) + 4)

    def _detokenize(self, ids, copied=None):
        text = tf.strings.reduce_join(tf.gather(self._texts, ids), axis=-1)
        return tf.strings.unicode_transcode(text, "UTF-8", "UTF-8")

    def get_config(self):
        return {}


tokenizer = ByteTokenizer()
print(tokenizer)
ids = tokenizer.tokenize(["Bär 熊"])
print(ids.to_list()[0])
print(*(token.decode() for token in tokenizer.tokens(ids[0]).numpy()))
assert tokenizer.detokenize(ids).numpy()[0].decode() == "Bär 熊"
# Not all ids of a model are valid text.
print(tokenizer.detokenize([[70, 195 + 4, 1]]).numpy()[0].decode())

# %% [markdown]
# ## A model on bytes
# The model reads the words of German sentences and writes them in capitals. A letter such as ä has
# two bytes, and Ä shares the first one with it.

# %%
words = sorted({word for pair in builtin_corpus(4000) for word in pair.target.split()})
pairs = [(word, word.upper()) for word in words if word.isalpha() and "ß" not in word]
pairs = pairs[: 64 if small else None]
held_out = pairs[::10]
training = [pair for place, pair in enumerate(pairs) if place % 10]
print(len(training), "words, such as", *training[-3:])

model = luong_general_gru(tokenizer, embedding_dim=32, units=64, dropout=0.1)
model.compile(keras.optimizers.Adam(0.005))
history = model.fit(
    training, batch_size=32, epochs=2 if small else 12, validation_data=held_out, verbose=2
)

# %%
sources, targets = map(list, zip(*held_out, strict=True))
translations = model.translate(sources, max_length=30)
right = sum(one == other for one, other in zip(translations, targets, strict=True))
print(f"{right} of {len(targets)} words that it has not seen are right")
print(model.attention("schön", max_length=30))

# %% [markdown]
# ## Save and load
# The file names the class, `tutorial>ByteTokenizer`. A program that loads the file must import the
# class first.

# %%
model.save(folder / "model.keras")
copy = keras.saving.load_model(folder / "model.keras")
assert isinstance(copy.source_tokenizer, ByteTokenizer)
assert copy.translate(sources, max_length=30) == translations

# %% [markdown]
# ## Export
# An export contains the graph of the tokenizer, so a server needs neither the class nor Python.

# %%
version = model.export(folder / "capitals" / "1", max_length=30)
assert Translator(load_export(version)).translate(sources) == translations
print(version)
