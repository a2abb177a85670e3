# %% [markdown]
# # 5. Reading a training
#
# What TensorBoard shows of a training, what it means, and what to do about it: losses, perplexity
# and BLEU; learning rates that are too low or too high; overfitting; attention that sharpens.
#
# Run it as a script, or cell by cell in an editor that knows `# %%`. It trains five small models,
# some fifteen minutes on two cores; with `KERASNMT_SMALL=1` in the environment it runs on little
# data, to show that it runs.

# %%
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
# ## What is written down
# Each line below is one more thing to see. The order matters in one respect: what adds to an
# epoch's logs (`TranslationQuality`, `AttentionStatistics`) comes before Keras' own `TensorBoard`,
# which writes them. `Adam` is Keras' own, but remembers how large its gradient was before clipping.

# %%
pairs = builtin_corpus(400 if small else 8000)
validation = builtin_corpus(50 if small else 300, "validation")
sources, references = [pair.source for pair in validation], [pair.target for pair in validation]
tokenizer = SentencePieceTokenizer.train(pairs, vocabulary_size=250 if small else 1000)
size, batch_size = (16, 64) if small else (96, 32)


def trained(run, pairs, rate, epochs):
    """A model, and the logs of its training in a folder of its own."""
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
            keras.callbacks.TensorBoard(logs, write_graph=False),  # what the epochs' logs hold
            StepScalars(logs, every=2 if small else 20),  # loss and norms, within the epochs
            LengthHistograms(logs, train_batches),  # the data
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
# `tensorboard --logdir …/logs` shows it in a browser, all trainings beside each other, while they
# run as well. A recipe's training writes the same to `RUN/logs`.
#
# ![TensorBoard: curves of the trainings below](images/tensorboard_scalars.png)

# %%
print(f"tensorboard --logdir {folder / 'logs'}")

# %% [markdown]
# The files can be read in Python, too, which is what the rest of this page does.


# %%
def read(run, part):
    """What TensorBoard knows of one run; 0 is for all, where it would draw a sample."""
    return EventAccumulator(str(folder / "logs" / run / part), {"tensors": 0}).Reload()


def curve(run, part, tag):
    """The steps and the values of a curve."""
    events = read(run, part).Tensors(tag)
    values = [float(tf.make_ndarray(event.tensor_proto)) for event in events]
    return [event.step for event in events], values


# %% [markdown]
# ## The data, before anything else
# *Histograms: `length/source`, `length/target`.* One bar for each number of tokens. Look for a
# second hump (lines that hold several sentences, lines in another language, which fall apart into
# many pieces), for a long tail (`max_length` cuts it off: what share is lost?), and for sides that
# differ much: then the pairs may be misaligned. Sentences longer than those of the training are
# translated badly, whatever the curves say.

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
# The **loss** is what training minimises. With label smoothing it never comes near 0: a tenth of
# the probability is asked for on wrong words, and even a perfect model pays for it.

# %%
smoothing, vocabulary = 0.1, tokenizer.vocabulary_size
wrong = smoothing / vocabulary
right = 1 - smoothing + wrong
least = -right * np.log(right) - (vocabulary - 1) * wrong * np.log(wrong)
print(f"least loss with label smoothing {smoothing} and {vocabulary} words: {least:.3f}")

# %% [markdown]
# **Perplexity** is measured without the smoothing: among how many equally likely tokens the model
# chooses, on average, when it has read the right ones before. 1 is certainty. A model that knows
# only how frequent the tokens are has about two hundred here. It compares epochs and models with
# *the same tokens*, never models with different vocabularies. (The numbers of training are means
# over an epoch in which the model was still learning, those of validation are taken at its end: so
# validation may look better at first.)
#
# **BLEU** is about whole translations, which the model wrote itself, so that one wrong word leads
# to the next. It stays near 0 until the model attends, long after the perplexity has begun to fall,
# and it goes on rising when the loss is nearly flat. Choose the model by BLEU; judge by perplexity
# in the first epochs, when BLEU says nothing.

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
# ## Attention that sharpens
# *Scalars: `epoch_attention_entropy`, `epoch_attention_overlap`; images: `attention/1`, …*
#
# The entropy of the weights falls from ln n, all n source tokens alike, towards 0, one of them. In
# the table above it falls in the same epochs in which BLEU leaves 0: until then the decoder writes
# likely German that has nothing to do with the source. In the images, even rows become a path of
# dark cells. Below each image stands the coverage: a bar far above 1 is a word that was translated
# several times, one at 0 a word that was left out. If the overlap stays high and translations
# repeat themselves, try `coverage=0.1`; if the entropy does not fall at all, the learning rate is
# too low or too high, or the model has to be trained longer; where alignments are to be had,
# `guided_attention` shows it where to look.

# %%
entropy = columns["attention entropy"]
print(
    f"looks at {np.exp(entropy[0]):.1f} tokens in the first epoch, {np.exp(entropy[-1]):.1f} last"
)

# %% [markdown]
# ## Learning rates
# *Scalars of the run `steps`: `loss`, `gradient_norm`, `weight_norm`, `learning_rate`; along the
# optimizer's steps.* The same training with a tenth of the rate above, with ten times and with
# thirty times as much.

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
# - **Too low**: the loss falls smoothly and slowly, the gradient norm is as usual, and the weight
#   norm stands still: the model hardly leaves the place where it began. Nothing looks broken, which
#   is what makes it easy to miss. Compare with a rate three times as high.
# - **Too high**: the loss falls for a moment and stays on a level that a lower rate leaves behind
#   within an epoch. The gradient norm may look harmless, since Adam and clipping hide the size of
#   the steps; the weight norm does not, it climbs steadily.
# - **Far too high**: the loss jumps up in the first steps, and the gradient norm rises by orders of
#   magnitude. Clipping to 1 keeps the numbers finite, and cannot save the training.
#
# A gradient norm that jumps once in a while is common in recurrent models, and what clipping is
# for. If it jumps in the first hundreds of steps only, warm up (`warmup_steps` in a recipe); if
# later, lower the rate, or let it fall along a cosine. If it is above the clipping norm all the
# time, clipping sets the size of every step: raise the norm. NaN never goes away by itself.

# %% [markdown]
# ## Overfitting
# The same model on a twentieth of the data.

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

# %%
for part in ("train", "validation"):
    _, values = curve("overfitting", part, "epoch_perplexity")
    best = int(np.argmin(values))
    print(
        f"{part}: lowest perplexity {values[best]:.2f} in epoch {best + 1}, last {values[-1]:.2f}"
    )

# %% [markdown]
# The curves part: on the training data perplexity goes on falling towards 1, on the validation data
# it turns and rises. From there on the model learns its sentences by heart. (A *gap* is not yet
# overfitting; the turn is. With dropout, training may even look worse than validation.) What helps
# most is more data; then dropout, a smaller model or vocabulary, more label smoothing. Stopping at
# the turn saves time only, as `BestModel`, and so every recipe, keeps the best epoch anyway; and it
# keeps that of the best BLEU, which may come after the turn of the perplexity: a model that is too
# sure of itself is punished by perplexity, and translates as before.
#
# If both curves are high and flat, it is the other way round: a larger model, or longer training.

# %% [markdown]
# ## What it writes, and what it learned
# *Text: `translations`.* The same sentences after every epoch. Numbers hide what one look shows:
# a lone "." for every source (trained too little), one phrase over and over (no attention, or
# overlap), all right but for names (see the tutorial on copying).

# %%
first, *_, last = read("base", "translations").Tensors("translations")
for event in (first, last):
    print(f"epoch {event.step + 1}")
    print(event.tensor_proto.string_val[0].decode())

# %% [markdown]
# *HParams:* a row for each training, a column for each hyperparameter and each curve's last value;
# sort it by BLEU. *Projector:* the embeddings, each point with its token: words of a kind lie
# together. The nearest by cosine, much as the projector finds them:

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
# `keras.callbacks.TensorBoard(logs, profile_batch=(50, 60))` writes a profile of these steps, each
# operation with its time. To see it, `pip install xprof` in an environment of its own, and start
# that environment's `tensorboard`.
#
# ## In short
#
# | what shows | what it means | what to do |
# |---|---|---|
# | a long tail or second hump of lengths | some lines are no sentences | look; `max_length` |
# | loss falls slowly, weight norm stands still | rate too low | three times as much |
# | loss stays high, weight norm climbs | rate too high | a third of it |
# | gradient norm jumps by orders of magnitude, NaN | rate far too high | a tenth of it; warm-up |
# | perplexity falls, BLEU stays 0, entropy flat | does not attend yet | longer; guided attention |
# | BLEU rises, translations repeat or leave out words | attends to words again | `coverage=0.1` |
# | training falls, validation turns | overfitting | more data, dropout, a smaller model |
# | both high and flat | too small, or too short | a larger model, more epochs |
# | all good but for names and numbers | outside the vocabulary | SentencePiece, or copying |
