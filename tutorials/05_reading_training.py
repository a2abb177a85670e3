# %% [markdown]
# # 5. Reading a training
#
# What TensorBoard shows of a training, what it means, and what to do about it: losses, perplexity
# and BLEU; learning rates that are too low or too high; overfitting; attention that sharpens.
#
# Run it as a script, or cell by cell in an editor that knows `# %%`. It trains four small models,
# some ten minutes on two cores; with `KERASNMT_SMALL=1` in the environment it runs on little data,
# to show that it runs.

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
            TranslationQuality(sources, references, max_length=50),  # BLEU and chrF
            AttentionStatistics(validation_batches),  # how sharp the attention is
            keras.callbacks.TensorBoard(logs, write_graph=False),  # what the epochs' logs hold
            StepScalars(logs, every=2 if small else 20),  # loss and norms, within the epochs
            LengthHistograms(logs, train_batches),  # the data
            SampleTranslations(logs, sources[:5], references[:5], max_length=50),
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
# ![TensorBoard: loss, gradient norm and BLEU of four trainings](images/tensorboard_scalars.png)

# %%
print(f"tensorboard --logdir {folder / 'logs'}")

# %% [markdown]
# The files can be read in Python, too, which is what the rest of this page does.


# %%
def curve(run, part, tag):
    """The steps and the values of a curve."""
    events = EventAccumulator(str(folder / "logs" / run / part)).Reload().Tensors(tag)
    return [event.step for event in events], [
        float(tf.make_ndarray(event.tensor_proto)) for event in events
    ]


def plot(axes, run, part, tag, **options):
    axes.plot(*curve(run, part, tag), label=run, **options)


# %% [markdown]
# ## The data, before anything else
# *Histograms: `length/source`, `length/target`.* One bar for each number of tokens. Look for a
# second hump (lines that hold several sentences, lines in another language, which fall apart into
# many pieces), for a long tail (`max_length` cuts it off: what share is lost?), and for sides that
# differ much: then the pairs may be misaligned. Sentences longer than those of the training are
# translated badly, whatever the curves say.

# %%
events = EventAccumulator(str(folder / "logs" / "base" / "data")).Reload()
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
# only how frequent the tokens are begins in the hundreds. It compares epochs and models with *the
# same tokens*, never models with different vocabularies.
#
# **BLEU** is about whole translations, which the model wrote itself, so that one wrong word leads
# to the next. It stays near 0 until the model attends, long after the perplexity has begun to fall,
# and it goes on rising when the loss is flat. Choose the model by BLEU; judge by perplexity in the
# first epochs, when BLEU says nothing.

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
# optimizer's steps.* A tenth of the rate above, and thirty times as much.

# %%
epochs = 1 if small else 3
trained("rate too low", pairs, 0.0003, epochs)
trained("rate too high", pairs, 0.1, epochs)

figure = Figure(figsize=(10, 3.4), dpi=110, layout="constrained")
for axes, tag in zip(figure.subplots(1, 3), ("loss", "gradient_norm", "weight_norm"), strict=True):
    for run in ("base", "rate too low", "rate too high"):
        plot(axes, run, "steps", tag, linewidth=1.2)
    axes.set_title(tag, loc="left", fontsize=11)
    axes.set_xlabel("step")
    axes.spines[["top", "right"]].set_visible(False)
    if tag != "loss":
        axes.set_yscale("log")
figure.axes[0].legend(frameon=False)
figure.savefig(folder / "learning_rates.png")
print(folder / "learning_rates.png")

# %% [markdown]
# PLACEHOLDER RATES

# %%
for run in ("rate too low", "base", "rate too high"):
    (_, norms), (_, weights) = (
        curve(run, "steps", name) for name in ("gradient_norm", "weight_norm")
    )
    (_, losses), (_, bleu) = curve(run, "steps", "loss"), curve(run, "validation", "epoch_bleu")
    print(
        f"{run:14} loss {losses[-1]:6.2f}  gradient norm {np.median(norms):8.3f} (largest "
        f"{max(norms):8.3f})  weights {weights[0]:6.1f} to {weights[-1]:8.1f}  BLEU {bleu[-1]:5.1f}"
    )

# %% [markdown]
# ## Overfitting
# The same model on a twentieth of the data, for as many steps.

# %%
few = pairs[: len(pairs) // 20]
trained("overfitting", few, 0.003, 2 if small else 60)

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

# %% [markdown]
# PLACEHOLDER OVERFITTING

# %%
for part in ("train", "validation"):
    _, values = curve("overfitting", part, "epoch_perplexity")
    best = int(np.argmin(values))
    print(
        f"{part}: lowest perplexity {values[best]:.2f} in epoch {best + 1}, last {values[-1]:.2f}"
    )

# %% [markdown]
# ## What it writes, and what it learned
# *Text: `translations`.* The same sentences after every epoch. Numbers hide what one look shows:
# a lone "." for every source (trained too little), one phrase over and over (no attention, or
# overlap), all right but for names (see the tutorial on copying).

# %%
events = EventAccumulator(str(folder / "logs" / "base" / "translations")).Reload()
first, *_, last = events.Tensors("translations")
for event in (first, last):
    print(f"epoch {event.step + 1}")
    print(event.tensor_proto.string_val[0].decode())

# %% [markdown]
# *HParams:* a row for each training, a column for each hyperparameter and each curve's last value;
# sort it by BLEU. *Projector:* the embeddings, each point with its token: words of a kind lie
# together. Nearest by cosine, as the projector has them:

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
# ![TensorBoard: the projector, with the neighbours of a word](images/tensorboard_projector.png)
#
# ## In short
# PLACEHOLDER TABLE
