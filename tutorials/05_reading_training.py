# %% [markdown]
# # 5. Reading training curves
#
# This tutorial explains what TensorBoard shows during training and what to do about it: loss,
# perplexity and BLEU; learning rates that are too low or too high; overfitting; attention that
# becomes sharper.
#
# Open it as a notebook (`.ipynb`), or run it as a script (`.py`). It trains five small models, in
# about fifteen minutes on two cores. With `KERASNMT_SMALL=1` in the environment it runs on very
# little data, as a quick check.

# %%
# %matplotlib inline
import os
import tempfile
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf
from matplotlib.figure import Figure
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from kerasnmt.data import batches, builtin_corpus
from kerasnmt.text import SentencePieceTokenizer
from kerasnmt.training import (
    Adam,
    AttentionImages,
    AttentionStatistics,
    Hyperparameters,
    LengthHistograms,
    SampleTranslations,
    StepScalars,
    TranslationQuality,
    write_projector,
)
from kerasnmt.zoo import bahdanau_gru

small = os.environ.get("KERASNMT_SMALL") == "1"
folder = Path(tempfile.mkdtemp(prefix="kerasnmt-"))

# %% [markdown]
# ## What the callbacks write
# Each callback below adds something to TensorBoard. The order matters in one case:
# `TranslationQuality` and `AttentionStatistics` add to the logs of an epoch, so they come before
# Keras' `TensorBoard`, which writes these logs. `Adam` is Keras' `Adam`, but it remembers the
# gradient norm before clipping.

# %%
pairs = builtin_corpus(400 if small else 8000)
validation = builtin_corpus(50 if small else 300, "validation")
sources, references = [pair.source for pair in validation], [pair.target for pair in validation]
tokenizer = SentencePieceTokenizer.train(pairs, vocabulary_size=250 if small else 1000)
size, batch_size = (16, 64) if small else (96, 32)


def trained(run, pairs, rate, epochs):
    """Train a model, and write the logs of the run to a folder of its own."""
    keras.utils.set_random_seed(1)
    logs = folder / "logs" / run
    train_batches = batches(pairs, tokenizer, batch_size=batch_size, seed=1, cache=True)
    validation_batches = batches(validation, tokenizer, batch_size=64, shuffle=False, cache=True)
    model = bahdanau_gru(tokenizer, units=size, embedding_dim=size)
    model.compile(Adam(rate, global_clipnorm=1.0), label_smoothing=0.1)
    print(run)
    model.fit(
        train_batches,
        validation_data=validation_batches,
        epochs=epochs,
        callbacks=[
            TranslationQuality(sources, references, max_length=60),  # BLEU and chrF
            AttentionStatistics(validation_batches),  # how sharp the attention is
            keras.callbacks.TensorBoard(logs, write_graph=False),  # the logs of each epoch
            StepScalars(logs, every=2 if small else 20),  # loss and norms within epochs
            LengthHistograms(logs, train_batches),  # sentence lengths
            SampleTranslations(logs, sources[:5], references[:5], max_length=60),
            AttentionImages(logs, validation_batches, sentences=2),
            Hyperparameters(logs, {"pairs": len(pairs), "rate": rate, "units": size}),
        ],
        verbose=2,
        shuffle=False,
    )
    return model


model = trained("base", pairs, 0.003, 2 if small else 8)

# %% [markdown]
# `tensorboard --logdir …/logs` shows all runs in a browser, also while they are training.
# `kerasnmt train` writes the same logs to `RUN/logs`.
#
# ![TensorBoard: curves of the runs below](images/tensorboard_scalars.png)

# %%
print(f"tensorboard --logdir {folder / 'logs'}")

# %% [markdown]
# You can also read the files in Python, as the rest of this page does.


# %%
def read(run, part):
    """Return the events of one run; 0 keeps all of them instead of a sample."""
    return EventAccumulator(str(folder / "logs" / run / part), {"tensors": 0}).Reload()


def curve(run, part, tag):
    """Return the steps and the values of a curve."""
    events = read(run, part).Tensors(tag)
    values = [float(tf.make_ndarray(event.tensor_proto)) for event in events]
    return [event.step for event in events], values


# %% [markdown]
# ## The data, before anything else
# *Histograms: `length/source`, `length/target`.* There is one bar for each number of tokens. Look
# for:
#
# - A second peak. Some lines may contain several sentences, or may be in another language and split
#   into many pieces.
# - A long tail. `max_length` cuts it off; check how much you lose.
# - Very different lengths on the two sides. The pairs may be misaligned.
#
# A model translates sentences badly if they are longer than its training sentences, whatever the
# curves say.

# %%
events = read("base", "data")
for side in ("source", "target"):
    bars = tf.make_ndarray(events.Tensors(f"length/{side}")[0].tensor_proto)
    lengths = np.repeat(np.round(bars[:, :2].mean(axis=1)), bars[:, 2].astype(int))
    half, most, longest = np.percentile(lengths, [50, 99, 100])
    print(f"{side}: half have up to {half:g} tokens, 99% up to {most:g}, the longest {longest:g}")

# %% [markdown]
# ## Loss, perplexity, BLEU
# *Scalars: `epoch_loss`, `epoch_perplexity`, `epoch_bleu`; runs `train` and `validation`.*
#
# Training minimizes the **loss**. With label smoothing it never comes near 0: the targets put a
# tenth of the probability on wrong words, so even a perfect model has a loss above 0.

# %%
smoothing, vocabulary = 0.1, tokenizer.vocabulary_size
wrong = smoothing / vocabulary
right = 1 - smoothing + wrong
least = -right * np.log(right) - (vocabulary - 1) * wrong * np.log(wrong)
print(f"least loss with label smoothing {smoothing} and {vocabulary} words: {least:.3f}")

# %% [markdown]
# **Perplexity** is measured without label smoothing. It is the number of equally likely tokens from
# which the model chooses, on average, given the correct tokens so far. A perplexity of 1 is
# certainty. Here, a model that knows only the token frequencies has about two hundred. Use
# perplexity to compare epochs, or models with *the same tokens*, but never models with different
# vocabularies. (The training numbers are means over an epoch, while the model is still learning.
# The validation numbers are taken at the end of the epoch, so they may look better at first.)
#
# **BLEU** scores whole translations. The model writes them itself, so one wrong word leads to the
# next. BLEU stays near 0 until the model attends, long after the perplexity has begun to fall. It
# keeps rising when the loss is nearly flat. Choose the model by BLEU. In the first epochs, when
# BLEU says nothing, judge by perplexity.

# %%
columns = {
    "loss": curve("base", "train", "epoch_loss")[1],
    "validation loss": curve("base", "validation", "epoch_loss")[1],
    "validation perplexity": curve("base", "validation", "epoch_perplexity")[1],
    "BLEU": curve("base", "validation", "epoch_bleu")[1],
    "attention entropy": curve("base", "validation", "epoch_attention_entropy")[1],
}
print("epoch", *columns, sep="  ")
for epoch, row in enumerate(zip(*columns.values(), strict=True), start=1):
    cells = (f"{value:{len(name)}.2f}" for name, value in zip(columns, row, strict=True))
    print(f"{epoch:5}", *cells, sep="  ")

# %% [markdown]
# ## Attention that becomes sharper
# *Scalars: `epoch_attention_entropy`, `epoch_attention_overlap`; images: `attention/1`, …*
#
# The entropy of the weights falls from ln n (equal weights on all n source tokens) toward 0 (all
# weight on one token). In the table above, it falls in the same epochs in which BLEU leaves 0.
# Until then, the decoder writes likely German that has nothing to do with the source. In the
# images, uniform rows become a path of dark cells. The bars below each image show the coverage: a
# bar far above 1 is a word that was translated several times, and a bar at 0 is a word that was
# left out.
#
# If the overlap stays high and translations repeat themselves, try `coverage=0.1`. If the entropy
# does not fall at all, the learning rate is too low or too high, or the model needs more training.
# If you have alignments, `guided_attention` shows the model where to look.

# %%
entropy = columns["attention entropy"]
print(
    f"looks at {np.exp(entropy[0]):.1f} tokens in the first epoch, {np.exp(entropy[-1]):.1f} last"
)

# %% [markdown]
# ## Learning rates
# *Scalars of the run `steps`: `loss`, `gradient_norm`, `weight_norm`, `learning_rate`; by optimizer
# step.* We repeat the training with a tenth of the learning rate above, with ten times and with
# thirty times that rate.

# %%
rates = {"rate x 30": 0.1} if small else {"rate x 0.1": 3e-4, "rate x 10": 0.03, "rate x 30": 0.1}
for run, rate in rates.items():
    trained(run, pairs, rate, 1 if small else 2)

runs = ["base", *rates]
figure = Figure(figsize=(10, 3.4), dpi=110, layout="constrained")
for axes, tag in zip(figure.subplots(1, 3), ("loss", "gradient_norm", "weight_norm"), strict=True):
    for run in runs:
        axes.plot(*curve(run, "steps", tag), label=run, linewidth=1.2)
    axes.set_title(tag, loc="left", fontsize=11)
    axes.set_xlabel("step")
    axes.set_yscale("log")
    axes.spines[["top", "right"]].set_visible(False)
figure.axes[0].legend(frameon=False)
figure.savefig(folder / "learning_rates.png")
print(folder / "learning_rates.png")
figure

# %%
for run in runs:
    loss, gradient, weight = (
        curve(run, "steps", tag)[1] for tag in ("loss", "gradient_norm", "weight_norm")
    )
    print(
        f"{run:10}  loss {loss[-1]:6.2f}  gradient norm {np.median(gradient):7.2f}, at most "
        f"{max(gradient):8.2g}  weight norm {weight[0]:5.0f} to {weight[-1]:5.0f}"
    )

# %% [markdown]
# - **Too low**: the loss falls smoothly and slowly, the gradient norm looks normal, and the weight
#   norm hardly changes. Nothing looks broken, so this is easy to miss. Compare with three times the
#   rate.
# - **Too high**: the loss falls for a moment, then stays at a level that a lower rate passes within
#   an epoch. The gradient norm may look harmless, because Adam and clipping hide the size of the
#   steps. The weight norm climbs steadily.
# - **Far too high**: the loss jumps up in the first steps, and the gradient norm rises by orders of
#   magnitude. Clipping to 1 keeps the numbers finite, but cannot save the training.
#
# In recurrent models the gradient norm jumps once in a while, which is why we clip it. If it jumps
# only in the first few hundred steps, use a warm-up (`warmup_steps` in a recipe). If it jumps
# later, lower the rate, or use a cosine schedule. If it is always above the clipping norm, clipping
# sets the size of every step: raise the clipping norm. NaN never goes away by itself.

# %% [markdown]
# ## Overfitting
# We train the same model on a twentieth of the data.

# %%
few = pairs[: len(pairs) // 20]
trained("overfitting", few, 0.003, 2 if small else 30)

figure = Figure(figsize=(8, 3.4), dpi=110, layout="constrained")
for axes, run in zip(figure.subplots(1, 2, sharey=True), ("base", "overfitting"), strict=True):
    for part in ("train", "validation"):
        axes.plot(*curve(run, part, "epoch_perplexity"), label=part)
    axes.set_yscale("log")
    axes.set_title(run, loc="left", fontsize=11)
    axes.set_xlabel("epoch")
    axes.spines[["top", "right"]].set_visible(False)
figure.axes[0].set_ylabel("perplexity")
figure.axes[0].legend(frameon=False)
figure.savefig(folder / "overfitting.png")
print(folder / "overfitting.png")
figure

# %%
for part in ("train", "validation"):
    _, values = curve("overfitting", part, "epoch_perplexity")
    best = int(np.argmin(values))
    print(
        f"{part}: lowest perplexity {values[best]:.2f} in epoch {best + 1}, last {values[-1]:.2f}"
    )

# %% [markdown]
# The curves separate: the training perplexity keeps falling toward 1, while the validation
# perplexity turns and rises. From there on, the model memorizes its training sentences. (A *gap* is
# not yet overfitting; the turn is. With dropout, training may even look worse than validation.)
# More data helps most; then dropout, a smaller model or vocabulary, or more label smoothing.
#
# Stopping at the turn only saves time, because `BestModel`, and so every recipe, keeps the best
# epoch anyway. It keeps the epoch with the best BLEU, which may come after the turn of the
# perplexity: a model that is too confident has a higher perplexity, but translates as well as
# before.
#
# If both curves are high and flat, use a larger model or train longer.

# %% [markdown]
# ## Translations and embeddings
# *Text: `translations`.* The same sentences after every epoch show what numbers hide: a lone "."
# for every source (too little training), one phrase over and over (no attention, or overlap),
# everything right except names (see the tutorial on copying).

# %%
first, *_, last = read("base", "translations").Tensors("translations")
for event in (first, last):
    print(f"epoch {event.step + 1}")
    _, _, *rows = event.tensor_proto.string_val[0].decode().splitlines()  # a table with a heading
    for row in rows:
        _, source, reference, translation, _ = row.split("|")
        print(f"  source     {source}\n  reference  {reference}\n  translation{translation}\n")

# %% [markdown]
# *HParams:* one row for each run, with columns for the hyperparameters and for the last value of
# each curve. Sort it by BLEU. *Projector:* the embeddings, with one labeled point for each token.
# Similar words are close together. The nearest tokens by cosine, much as the projector finds them:

# %%
write_projector(folder / "logs" / "base", model, tokens=1000)
vectors = np.loadtxt(folder / "logs" / "base" / "target.tsv")
vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
labels = (folder / "logs" / "base" / "target_tokens.tsv").read_text().splitlines()[1:]
labels = [label.split("\t")[0] for label in labels]
for word in ("▁Hund", "▁klein", "▁gestern", "▁der"):
    if word in labels:
        nearest = np.argsort(-vectors @ vectors[labels.index(word)])[1:6]
        print(word, "-", *(labels[i] for i in nearest))

# %% [markdown]
# ![TensorBoard: the projector, with the nearest tokens to a word](images/tensorboard_projector.png)
#
# ## Where the time goes
# `keras.callbacks.TensorBoard(logs, profile_batch=(50, 60))` writes a profile of these steps, with
# the time of each operation. To see it, run `pip install xprof` in a separate environment, and
# start `tensorboard` there.
#
# ## Summary
#
# | what you see | what it means | what to do |
# |---|---|---|
# | lengths: long tail, second peak | some lines are not sentences | check the data; `max_length` |
# | loss falls slowly, weight norm hardly changes | rate too low | three times the rate |
# | loss stays high, weight norm climbs | rate too high | a third of the rate |
# | gradient norm jumps by orders of magnitude, NaN | rate far too high | a tenth of it; warm-up |
# | perplexity falls, BLEU stays 0, entropy flat | no attention yet | longer; guided attention |
# | BLEU rises, translations repeat or omit words | repeated attention | `coverage=0.1` |
# | training falls, validation turns | overfitting | more data, dropout, a smaller model |
# | both high and flat | underfitting | a larger model, more epochs |
# | all right except names and numbers | outside the vocabulary | SentencePiece, or copying |
