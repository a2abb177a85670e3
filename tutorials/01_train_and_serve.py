# %% [markdown]
# # 1. Train a translator and serve it
#
# This tutorial trains a translator on pairs of sentences and exports it as a SavedModel that takes
# text and returns text. The data is the built-in corpus, English and German sentences that a
# grammar generated. To train on your own files, replace one line.
#
# Open it as a notebook (`.ipynb`), or run it as a script (`.py`). It takes a few minutes on two
# cores. With `KERASNMT_SMALL=1` in the environment it runs on very little data, as a quick check.

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
# A corpus is a `tf.data.Dataset` of pairs of strings. For your own files, write
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
# A tokenizer turns text into ids inside the TensorFlow graph, so it can be exported with the model.
# Here both languages share one SentencePiece vocabulary.

# %%
tokenizer = SentencePieceTokenizer.train(pairs, vocabulary_size=300 if small else 2000)
ids = tokenizer.tokenize(["the old man sleeps ."])[0]
print(ids.numpy())
print(*(token.decode() for token in tokenizer.tokens(ids).numpy()))

# %% [markdown]
# `batches` groups pairs of similar length, so there is little padding. It returns exactly what
# `model.fit` takes: inputs, targets, and sample weights, which are 0 for padding.

# %%
train_batches = batches(pairs, tokenizer, batch_size=64, seed=1, cache=True)
validation_batches = batches(validation, tokenizer, batch_size=64, shuffle=False, cache=True)
print(f"{describe_batches(train_batches).padding_share:.1%} of all positions are padding")

# %% [markdown]
# ## A model from the zoo
# Every model of the zoo is a function that returns a `keras.Model`. The model has its own loss:
# cross-entropy per real token, with label smoothing.

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
        Throughput(),  # before TensorBoard, which writes the logs
        keras.callbacks.TensorBoard(folder / "logs"),
        AttentionImages(folder / "logs", validation_batches),
    ],
    verbose=2,
    shuffle=False,
)
print(f"watch it with: tensorboard --logdir {folder / 'logs'}")

# %% [markdown]
# ## Translate
# `translate` takes text and returns text. It runs the same task that `export` writes below.

# %%
test = builtin_corpus(20 if small else 500, "test")
sources = [pair.source for pair in test]
translations = model.translate(sources, beam_size=5)
for source, translation in zip(sources[:4], translations, strict=False):
    print(source, "->", translation)
scores = translation_scores(translations, [pair.target for pair in test])
print(f"BLEU {scores['bleu']:.1f}  ({scores['bleu_signature']})")

# %% [markdown]
# ## Where the model looks
# `attention` translates a text and returns the attention weights as well. A notebook shows the
# result as a picture; `print` shows it as a table. Each row is a token of the translation. The
# darkest cells mark the source tokens that the model attended to. German puts an infinitive such as
# "arbeiten" at the end, so there the attention leaves the diagonal.

# %%
sentence = "the son promises to work for a sister ."
attended = model.attention(sentence, beam_size=5)
print(attended)
attended.figure().savefig(folder / "attention.png")
print(folder / "attention.png")
attended

# %% [markdown]
# ## Export and check
# `export` writes a version folder for TF Serving, which appears only when it is complete.
# `check_export` loads it in a process without the Python package of TensorFlow. It uses
# TensorFlow's C API, which runs the same code as the server.

# %%
version = model.export(folder / "saved_models" / "bahdanau_gru" / "1", beam_size=5)
report = check_export(version, sources[:5], translations[:5])
print(report)
assert report.passed

# %% [markdown]
# ## What the server answers
# The export has three signatures: `serving_default` (translation and score), `n_best`, and
# `attention`, which returns the weights of the table above.

# %%
served = Translator(load_export(version))
for translation, score in served.n_best([sentence])[0]:
    print(f"{score:6.2f}  {translation}")
(attended_there,) = served.attention([sentence])
assert attended_there.target_tokens == attended.target_tokens

# %% [markdown]
# `save` writes the model and its tokenizers to one file. The loaded model gives the same
# translations.

# %%
model.save(folder / "model.keras")
again = keras.saving.load_model(folder / "model.keras")
assert again.translate(sources[:5], beam_size=5) == translations[:5]
