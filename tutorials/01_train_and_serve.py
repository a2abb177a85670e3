# %% [markdown]
# # 1. Train a translator and serve it
#
# From pairs of sentences to a SavedModel that takes text and returns text, in one page. The data is
# the built-in corpus, a grammar of English and German; replace one line for your own files.
#
# Run it as a script, or cell by cell in an editor that knows `# %%`. It takes some minutes on two
# cores; with `KERASNMT_SMALL=1` in the environment it runs on little data, to show that it runs.

# %%
import os
import tempfile
from pathlib import Path

import keras
import tensorflow as tf

from kerasnmt.data import batches, builtin_corpus, describe_batches
from kerasnmt.serving import Translator, check_export, load_export
from kerasnmt.text import SentencePieceTokenizer
from kerasnmt.training import AttentionImages, Throughput, translation_scores
from kerasnmt.zoo import bahdanau_gru

small = os.environ.get("KERASNMT_SMALL") == "1"
folder = Path(tempfile.mkdtemp(prefix="kerasnmt-"))
keras.utils.set_random_seed(1)

# %% [markdown]
# ## Data
# A corpus is a `tf.data.Dataset` of pairs of strings. For your own files it is
# `pairs = read_parallel("train.en.gz", "train.de.gz")`.


# %%
def corpus(size, split):
    pairs = builtin_corpus(size, split)
    return tf.data.Dataset.from_tensor_slices(
        ([pair.source for pair in pairs], [pair.target for pair in pairs])
    )


pairs = corpus(400 if small else 24_000, "train")
validation = corpus(50 if small else 300, "validation")
for source, target in pairs.take(3).as_numpy_iterator():
    print(source.decode(), "->", target.decode())

# %% [markdown]
# ## Tokens
# A tokenizer turns text into ids inside the TensorFlow graph, so that it can be exported with the
# model. One SentencePiece vocabulary serves both languages here.

# %%
tokenizer = SentencePieceTokenizer.train(pairs, vocabulary_size=300 if small else 2000)
ids = tokenizer.tokenize(["the old man sleeps ."])
print(ids)
print(tokenizer.tokens(ids[0]))

# %% [markdown]
# `batches` puts pairs of like length together, so that little is padding. It gives exactly what
# `model.fit` takes: inputs, targets, and a weight of 0 for padding.

# %%
train_batches = batches(pairs, tokenizer, batch_size=64, seed=1, cache=True)
validation_batches = batches(validation, tokenizer, batch_size=64, shuffle=False, cache=True)
print(f"{describe_batches(train_batches).padding_share:.1%} of all positions are padding")

# %% [markdown]
# ## A model from the zoo
# Every name of the zoo is a function that returns a `keras.Model`. It compiles with a loss of its
# own: cross-entropy per real token, label-smoothed.

# %%
size = 16 if small else 192
model = bahdanau_gru(tokenizer, units=size, embedding_dim=size, dropout=0.1)
model.compile(keras.optimizers.Adam(0.003, global_clipnorm=1.0), label_smoothing=0.1)
model.summary()

# %%
history = model.fit(
    train_batches,
    validation_data=validation_batches,
    epochs=1 if small else 4,
    callbacks=[
        Throughput(),  # before TensorBoard, which writes what is in the logs
        keras.callbacks.TensorBoard(folder / "logs"),
        AttentionImages(folder / "logs", validation_batches),
    ],
    verbose=2,
    shuffle=False,
)
print(f"watch it with: tensorboard --logdir {folder / 'logs'}")

# %% [markdown]
# ## Translate
# Text in, text out, with the same task that will be exported.

# %%
test = builtin_corpus(20 if small else 500, "test")
sources = [pair.source for pair in test]
translations = model.translate(sources, beam_size=5)
for source, translation in zip(sources[:4], translations, strict=False):
    print(source, "->", translation)
scores = translation_scores(translations, [pair.target for pair in test])
print(f"BLEU {scores['bleu']:.1f}  ({scores['bleu_signature']})")

# %% [markdown]
# ## Where it looks
# `attention` translates a text and keeps the attention weights. In a notebook the result is a
# picture, here a table: each row is a token of the translation, and its darkest cells stand below
# the words that the model read for it.

# %%
attended = model.attention(sources[0], beam_size=5)
print(attended)
attended.figure().savefig(folder / "attention.png")
print(folder / "attention.png")

# %% [markdown]
# ## Export and check
# `export` writes a version folder for TF Serving, whole or not at all. `check_export` loads it in a
# process without Python's TensorFlow, through the C API that the server itself uses.

# %%
version = model.export(folder / "saved_models" / "bahdanau_gru" / "1", beam_size=5)
report = check_export(version, sources[:5], translations[:5])
print(report)
assert report.passed

# %% [markdown]
# ## What the server answers
# Three signatures: `serving_default` (translation and score), `n_best`, and `attention`, with the
# weights of the table above.

# %%
served = Translator(load_export(version))
print(served.n_best(sources[:1])[0][:3])
(attended_there,) = served.attention(sources[:1])
assert attended_there.target_tokens == attended.target_tokens

# %% [markdown]
# The model itself goes to one file, tokenizers included, and comes back the same.

# %%
model.save(folder / "model.keras")
again = keras.saving.load_model(folder / "model.keras")
assert again.translate(sources[:5], beam_size=5) == translations[:5]
