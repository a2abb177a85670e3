# %% [markdown]
# # 2. Attention by hand
#
# This tutorial computes attention with numbers that are small enough to check by hand. Then it
# shows why attention helps, and compares five trained models.
#
# Open it as a notebook (`.ipynb`), or run it as a script (`.py`). The first half takes seconds. The
# second half trains five small models, which takes a few minutes on two cores. With
# `KERASNMT_SMALL=1` in the environment it runs on very little data, as a quick check.

# %%
# %matplotlib inline
import os
import tempfile
from pathlib import Path

import keras
import numpy as np
from matplotlib.figure import Figure

from kerasnmt.alignment import IBMModel1, alignment_error_rate
from kerasnmt.data import batches, builtin_corpus
from kerasnmt.layers import (
    AdditiveScore,
    Attention,
    CosineScore,
    DotScore,
    GeneralScore,
    LocalMonotonicWindow,
    LocalPredictiveWindow,
    LocationScore,
    ScaledDotScore,
    TimeDistributedDenseScorer,
)
from kerasnmt.text import WordTokenizer
from kerasnmt.training import translation_scores
from kerasnmt.zoo import get_model

small = os.environ.get("KERASNMT_SMALL") == "1"
folder = Path(tempfile.mkdtemp(prefix="kerasnmt-"))

# %% [markdown]
# ## A sentence of three words
# An encoder has turned each word into an annotation h_i, here a vector of two features. To predict
# its next word, a decoder compares its state s with each annotation. Below, `s` holds two states.

# %%
words = ["two", "dogs", "run"]
h = np.array([[1, 0], [0, 1], [1, 1]], "float32")
s = np.array([[1, 2], [-2, 1]], "float32")

# %% [markdown]
# A **score** e_i says how well annotation h_i matches the state. A softmax turns the scores into
# weights, which sum to 1. The **context** is the sum of the annotations, multiplied by these
# weights. With the dot product, e_i = s · h_i, the first state scores the words 1, 2 and 3.


# %%
def softmax(scores):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


print("scores ", s @ h.T)
print("weights", softmax(s @ h.T).round(3))
print("context", (softmax(s @ h.T) @ h).round(3))

# %% [markdown]
# The layers of the library compute the same. `attention(queries, values=annotations)` takes a batch
# of sentences, here a batch of one, and any number of queries for each sentence. Below, `agrees`
# compares every score of the library with its equation in NumPy.

# %%
table = {}


def made(score, window=None):
    """Make an attention and its weights, so that they can be set."""
    attention = Attention(score, window)
    attention.build((1, 2, 2), values_shape=(1, 3, 2))
    return attention


def agrees(name, attention, expected, **history):
    context, weights = attention(s[None], values=h[None], **history)
    np.testing.assert_allclose(weights[0], expected, atol=1e-6)
    np.testing.assert_allclose(context[0], expected @ h, atol=1e-6)
    table[name] = expected
    print(f"{name:12}", *(np.array2string(row, precision=3, floatmode="fixed") for row in expected))


# %% [markdown]
# **Dot** (Luong et al., 2015): e_i = s · h_i.

# %%
agrees("dot", made(DotScore()), softmax(s @ h.T))

# %% [markdown]
# **Scaled dot** (Vaswani et al., 2017): e_i = s · h_i / √n, for n features. Without the scale,
# vectors with many features put nearly all weight on one word.

# %%
agrees("scaled dot", made(ScaledDotScore()), softmax(s @ h.T / np.sqrt(2)))

# %% [markdown]
# **Cosine** (Graves et al., 2014): e_i = g cos(s, h_i). Only the directions of the vectors count. A
# cosine is at most 1, so a learned sharpness g scales it.

# %%
cosine = (s @ h.T) / np.outer(np.linalg.norm(s, axis=1), np.linalg.norm(h, axis=1))
agrees("cosine", made(CosineScore(sharpness=5)), softmax(5 * cosine))

# %% [markdown]
# **General** (Luong et al., 2015): e_i = s · W h_i. W is learned, so annotations and states may
# have different sizes, and their features may have different meanings. The weights of the layer are
# √n W, which makes training more stable.

# %%
W = np.array([[2, 0], [0, -1]], "float32")
general = made(GeneralScore(2))
general.score.memory_projection.set_weights([np.sqrt(2) * W.T])
agrees("general", general, softmax(s @ W @ h.T))

# %% [markdown]
# **Additive** (Bahdanau et al., 2015): e_i = v · tanh(W h_i + U s + b), a small network that
# compares state and annotation.

# %%
W, U = np.array([[2, 0], [0, 2]], "float32"), np.array([[1, 0], [0, -1]], "float32")
b, v = np.zeros(2, "float32"), np.array([3, 3], "float32")
additive = made(AdditiveScore(2))
additive.score.memory_projection.set_weights([W.T, b])
additive.score.query_projection.set_weights([U.T])
additive.score.energy.assign(v[:, None])
hidden = np.tanh((h @ W.T + b)[None] + (s @ U.T)[:, None])  # [queries, words, features]
agrees("additive", additive, softmax(hidden @ v))

# %% [markdown]
# **Location** (Luong et al., 2015): e = W s, one score for each position, whatever the word at that
# position. The layer needs a maximum length.

# %%
W = np.array([[1, 0], [0, 1], [0, 0]], "float32")
location = made(LocationScore(max_length=3))
location.score.query_projection.set_weights([W.T])
agrees("location", location, softmax(s @ W.T))

# %% [markdown]
# ## A linear score ignores the state
# Many tutorials compute the score with a single neuron, **e_i = w · h_i + u · s + c**. But
# u · s + c is the same for every word, and adding the same number to all scores does not change a
# softmax. So every state gets the same weights: the two rows below are equal.

# %%
w, u, c = np.array([1, -1]), np.array([0.5, 2]), np.array([0.25])
linear = made(TimeDistributedDenseScorer())
linear.score.memory_projection.set_weights([w[:, None], c])
linear.score.query_projection.set_weights([u[:, None]])
agrees("linear", linear, softmax(h @ w + (s @ u)[:, None] + c))
np.testing.assert_allclose(table["linear"], [softmax(h @ w)] * 2, atol=1e-6)

# %% [markdown]
# This holds for all annotations and all states. The scores depend on the state, but the weights do
# not.

# %%
rng = np.random.default_rng(1)
memory, states = rng.normal(size=(1, 7, 2)), rng.normal(size=(1, 100, 2))
keys = linear.score.project(memory)  # independent of the state, so once per sentence
scores = np.array(linear.score(states, keys))[0]
_, weights = linear(states, keys, values=memory)
print("over 100 states the scores of a word spread by", np.ptp(scores, axis=0).max().round(2))
print("and its weights by", np.ptp(weights[0], axis=0).max())
assert np.ptp(scores, axis=0).min() > 1 and np.ptp(weights[0], axis=0).max() < 1e-6

# %% [markdown]
# With a hidden layer, the weights do depend on the state: **e_i = v · tanh(W h_i + U s + b) + c**.
# This is the additive score plus c, which does not change the softmax. With the weights of the
# additive score above, the layer gives the same attention weights.

# %%
dense = made(TimeDistributedDenseScorer(hidden_units=2))
dense.score.memory_projection.set_weights(additive.score.memory_projection.get_weights())
dense.score.query_projection.set_weights(additive.score.query_projection.get_weights())
dense.score.output_layer.set_weights([v[:, None], c])
agrees("hidden", dense, softmax(hidden @ v + c))
np.testing.assert_allclose(table["hidden"], table["additive"], atol=1e-6)

# %% [markdown]
# ## Windows
# Local attention (Luong et al., 2015, section 3.2) looks only at the positions [p_t − D, p_t + D].
# The monotonic window sets p_t = t. With D = 1, the first target word sees the first two source
# words, and the second target word sees all three.

# %%
monotonic = made(DotScore(), LocalMonotonicWindow(width=1))
scores = s @ h.T
scores[0, 2] = -np.inf
agrees("local-m", monotonic, softmax(scores), position=np.array([[0, 1]]))

# %% [markdown]
# The predictive window computes the position from the state: p_t = S · sigmoid(v · tanh(W s_t)),
# where S is the number of words. It multiplies the weights by exp(−(i − p_t)² / 2σ²) with
# σ = D / 2. Through this factor it learns the position. The weights then sum to less than 1.

# %%
W, v = np.eye(2, dtype="float32"), np.array([1, -1], "float32")
predictive = made(DotScore(), LocalPredictiveWindow(units=2, width=1))
predictive.window.hidden.set_weights([W.T])
predictive.window.place.set_weights([v[:, None]])
place = 3 / (1 + np.exp(-np.tanh(s @ W.T) @ v))
distance = np.arange(3) - place[:, None]
scores = np.where(abs(distance) <= 1, s @ h.T, -np.inf)
print("looks around", place.round(2))
agrees("local-p", predictive, softmax(scores) * np.exp(-(distance**2) / (2 * 0.5**2)))

# %% [markdown]
# The picture shows all results: a panel for each state, and a row for each kind of attention. The
# row of the linear score is the same in both panels.


# %%
def heat_map(axes, weights, columns, rows, title):
    axes.imshow(weights, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    axes.set_xticks(range(len(columns)), columns, rotation=45, ha="left", rotation_mode="anchor")
    axes.set_yticks(range(len(rows)), rows)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_title(title, loc="left", fontsize=11)


figure = Figure(figsize=(7, 4.5), dpi=150, layout="constrained")
for number, axes in enumerate(figure.subplots(1, 2)):
    weights = np.array([rows[number] for rows in table.values()])
    heat_map(axes, weights, words, list(table), f"s = ({s[number, 0]:g}, {s[number, 1]:g})")
    for (row, column), weight in np.ndenumerate(weights):
        colour = "white" if weight > 0.5 else "black"
        axes.text(column, row, f"{weight:.2f}", ha="center", va="center", color=colour)
figure.savefig(folder / "scores.png")
print(folder / "scores.png")
figure

# %% [markdown]
# ## The bottleneck
# Without attention, the decoder sees the whole source as one vector, the thought vector. This
# vector can hold a short sentence, but hardly a long one. The data is the built-in corpus. We use
# its shorter sentences without made-up names, so a vocabulary of words is enough.


# %%
def corpus(size, split):
    pairs = builtin_corpus(size, split)
    return [pair for pair in pairs if not pair.names and len(pair.source.split()) <= 12]


pairs = corpus(800 if small else 32_000, "train")
test = corpus(200 if small else 3000, "test")
tokenizer = WordTokenizer.train(pairs, vocabulary_size=500 if small else 1800)
train_batches = batches(pairs, tokenizer, batch_size=32, seed=1, cache=True)
epochs, size = (1, 16) if small else (5, 64)
print(len(pairs), "pairs of sentences to learn from,", len(test), "to test with")


def trained(name, **options):
    keras.utils.set_random_seed(1)
    model = get_model(name)(tokenizer, units=size, embedding_dim=size, dropout=0.1, **options)
    schedule = keras.optimizers.schedules.CosineDecay(
        0.0, epochs * len(pairs) // 32, alpha=0.05, warmup_target=0.01, warmup_steps=100
    )
    model.compile(keras.optimizers.Adam(schedule, global_clipnorm=1.0))
    print(name)
    model.fit(train_batches, epochs=epochs, verbose=2, shuffle=False)
    return model


# %% [markdown]
# Both models get the same training. The encoder-decoder of Cho et al. (2014) reads its thought
# vector at every word. The model of Bahdanau et al. (2015) adds attention, and its encoder reads
# the source in both directions.

# %%
without = trained("encoder_decoder_gru")
models = {"bahdanau_gru": trained("bahdanau_gru")}

# %% [markdown]
# We compute BLEU separately for sources of up to 6 words, 7 to 8, 9 to 10, and 11 to 12 words.

# %%
buckets = [(1, 6), (7, 8), (9, 10), (11, 12)]
figure = Figure(figsize=(6, 3.6), dpi=150, layout="constrained")
axes = figure.subplots()
for model in (without, models["bahdanau_gru"]):
    translations = model.translate([pair.source for pair in test], beam_size=1, max_length=30)
    bleu = []
    for shortest, longest in buckets:
        chosen = [
            (translation, pair.target)
            for translation, pair in zip(translations, test, strict=True)
            if shortest <= len(pair.source.split()) <= longest
        ]
        bleu.append(translation_scores(*zip(*chosen, strict=True))["bleu"])
    print(f"{model.name:20}", *(f"{score:5.1f}" for score in bleu))
    axes.plot([f"{a} to {b}" for a, b in buckets], bleu, "o-", label=model.name)
axes.set_xlabel("words of the source")
axes.set_ylabel("BLEU")
axes.set_ylim(0, 100)
axes.spines[["top", "right"]].set_visible(False)
axes.legend(frameon=False)
figure.savefig(folder / "bottleneck.png")
print(folder / "bottleneck.png")
figure

# %% [markdown]
# ## One sentence, four models
# We train three more models with attention in the same way. The first attends after its recurrent
# cell instead of before it. The second attends within a window. The third uses the dense scorer
# from above, with a hidden layer.

# %%
models["luong_general_lstm"] = trained("luong_general_lstm")
models["luong_local_p_lstm"] = trained("luong_local_p_lstm", width=5)
models["dense_scorer_gru"] = trained("dense_scorer_gru")

# %% [markdown]
# All models read the same reference translation. Of the first hundred pairs, we take the one whose
# words move furthest. Circles mark the gold alignment of the corpus. The last column and the last
# row are the end of the sentence.

# %%
pair = max(test[:100], key=lambda pair: sum(abs(i - j) for i, j in pair.alignment))
source, target = pair.source.split(), pair.target.split()
((inputs, _, _),) = batches([pair], tokenizer, shuffle=False)
attended = {
    name: np.array(model.attend(inputs)["weights"])[0, : len(target) + 1, : len(source) + 1]
    for name, model in models.items()
}


def panels(path, weights_of, last_column):
    """Draw a heat map for each name, with the gold alignment."""
    figure = Figure(figsize=(4.2 * len(weights_of), 4.4), dpi=120, layout="constrained")
    for axes, (name, weights) in zip(
        figure.subplots(1, len(weights_of)), weights_of.items(), strict=True
    ):
        rows = [*target, "</s>"][: len(weights)]
        heat_map(axes, weights, [*source, last_column[name]], rows, name)
        axes.plot(*zip(*pair.alignment, strict=True), "o", mec="tab:orange", mfc="none")
    figure.savefig(path)
    print(path)
    return figure


panels(folder / "attention.png", attended, dict.fromkeys(models, "</s>"))

# %% [markdown]
# ## Attention and alignment
# IBM model 1 (Brown et al., 1993) is much older than attention. It learns which words translate
# each other: it estimates t(target word | source word) by EM, in seconds. The model ignores word
# order and neighboring words, so it cannot tell two equal source words apart. But it says which
# source word a target word comes from. Attention says what the decoder looked at when it wrote the
# word.

# %%
ibm = IBMModel1(iterations=10).fit(pairs)
print("log-likelihoods", [round(value) for value in ibm.log_likelihoods])
print("t(Hund | dog) =", round(ibm.probability("Hund", "dog"), 3))

# %% [markdown]
# The next picture shows both for the same sentence: the weights of `bahdanau_gru`, and the shares
# of IBM model 1. A share is the part of a target word's probability that comes from one source
# word, or from the null word.

# %%
t = np.array([[ibm.probability(f, e) for e in [*source, None]] for f in target])
shares = t / np.maximum(t.sum(axis=1, keepdims=True), 1e-9)
panels(
    folder / "alignment.png",
    {"bahdanau_gru": attended["bahdanau_gru"], "IBM model 1": shares},
    {"bahdanau_gru": "</s>", "IBM model 1": "(null)"},
)

# %% [markdown]
# Last, we compute the alignment error rate (Och and Ney, 2003) over all test sentences; 0 is best.
# Each target word is linked to the source word with the largest weight. Attention is not trained to
# align, and a model may translate well with a higher error rate than IBM model 1. For the period,
# it may look at the end of the sentence; for an article, at its noun.

# %%
sources, targets, gold, _ = zip(*test, strict=True)
predicted = {name: model.align(sources, targets) for name, model in models.items()}
predicted["IBM model 1"] = [ibm.align(*sides) for sides in zip(sources, targets, strict=True)]
for name, links in predicted.items():
    print(f"{name:20} {alignment_error_rate(links, gold):.3f}")
