# %% [markdown]
# # 2. Attention by hand
#
# What attention computes, in numbers that a pencil can follow; then why it is there, and what five
# trained models make of it.
#
# Run it as a script, or cell by cell in an editor that knows `# %%`. The first half takes seconds;
# the second trains five small models, some minutes on two cores. With `KERASNMT_SMALL=1` in the
# environment it runs on little data, to show that it runs.

# %%
import os
import tempfile
from pathlib import Path

import keras
import numpy as np
from matplotlib.figure import Figure

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
from kerasnmt.viz import IBMModel1, alignment_error_rate
from kerasnmt.zoo import get_model

small = os.environ.get("KERASNMT_SMALL") == "1"
folder = Path(tempfile.mkdtemp(prefix="kerasnmt-"))

# %% [markdown]
# ## A sentence of three words
# An encoder has turned each word into an annotation h_i, here of two features. A decoder that is
# about to write its next word asks with its state s. We ask twice, with two states.

# %%
words = ["two", "dogs", "run"]
h = np.array([[1, 0], [0, 1], [1, 1]], "float32")
s = np.array([[1, 2], [-2, 1]], "float32")

# %% [markdown]
# A **score** says how well each annotation answers, e_i; a softmax makes weights of the scores,
# which sum to 1; and the **context** is the sum of the annotations by these weights. With the dot
# product, e_i = s · h_i, the first state scores the words 1, 2 and 3.


# %%
def softmax(scores):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


print("scores ", s @ h.T)
print("weights", softmax(s @ h.T).round(3))
print("context", (softmax(s @ h.T) @ h).round(3))

# %% [markdown]
# The layers do the same. `attention(queries, values=annotations)` takes a batch of sentences, here
# of one, and any number of queries to each. Below, every score of the library stands beside its
# equation in NumPy, and `agrees` checks that they are the same.

# %%
table = {}


def made(score, window=None):
    """An attention whose weights are there to be set."""
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
# **Scaled dot** (Vaswani et al., 2017): e_i = s · h_i / √n, for n features. It keeps large vectors
# from throwing all weight onto one word.

# %%
agrees("scaled dot", made(ScaledDotScore()), softmax(s @ h.T / np.sqrt(2)))

# %% [markdown]
# **Cosine** (Graves et al., 2014): e_i = g cos(s, h_i). Only directions count; the sharpness g,
# which is learned, makes up for a cosine being 1 at most.

# %%
cosine = (s @ h.T) / np.outer(np.linalg.norm(s, axis=1), np.linalg.norm(h, axis=1))
agrees("cosine", made(CosineScore(sharpness=5)), softmax(5 * cosine))

# %% [markdown]
# **General** (Luong et al., 2015): e_i = s · W h_i. W is learned, so that annotations and states
# need neither mean the same by a feature nor have as many. The layer's own weights are √n W, which
# makes its training steadier.

# %%
W = np.array([[2, 0], [0, -1]], "float32")
general = made(GeneralScore(2))
general.score.memory_projection.set_weights([np.sqrt(2) * W.T])
agrees("general", general, softmax(s @ W @ h.T))

# %% [markdown]
# **Additive** (Bahdanau et al., 2015): e_i = v · tanh(W h_i + U s + b), a small network that
# compares.

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
# **Location** (Luong et al., 2015): e = W s, a score for each place, whatever word stands there. It
# has to fix a greatest length.

# %%
W = np.array([[1, 0], [0, 1], [0, 0]], "float32")
location = made(LocationScore(max_length=3))
location.score.query_projection.set_weights([W.T])
agrees("location", location, softmax(s @ W.T))

# %% [markdown]
# ## The linear scorer does not listen
# Many tutorials score with a single neuron over both, **e_i = w · h_i + u · s + c**. But u · s + c
# is the same for every word, and a softmax does not see what is added to all scores. So every state
# gets the same weights: below, those of both are equal.

# %%
w, u, c = np.array([1, -1]), np.array([0.5, 2]), np.array([0.25])
linear = made(TimeDistributedDenseScorer())
linear.score.memory_projection.set_weights([w[:, None], c])
linear.score.query_projection.set_weights([u[:, None]])
agrees("linear", linear, softmax(h @ w + (s @ u)[:, None] + c))
np.testing.assert_allclose(table["linear"], [softmax(h @ w)] * 2, atol=1e-6)

# %% [markdown]
# It is so for every memory and every state. The scores differ, the weights do not.

# %%
rng = np.random.default_rng(1)
memory, states = rng.normal(size=(1, 7, 2)), rng.normal(size=(1, 100, 2))
keys = linear.score.project(memory)  # what does not depend on the state, once a sentence
scores = np.array(linear.score(states, keys))[0]
_, weights = linear(states, keys, values=memory)
print("over 100 states the scores of a word spread by", np.ptp(scores, axis=0).max().round(2))
print("and its weights by", np.ptp(weights[0], axis=0).max())
assert np.ptp(scores, axis=0).min() > 1 and np.ptp(weights[0], axis=0).max() < 1e-6

# %% [markdown]
# A hidden layer between makes it listen, **e_i = v · tanh(W h_i + U s + b) + c**. And that is the
# additive score: with its weights of above the same weights come out, as the softmax drops c.

# %%
dense = made(TimeDistributedDenseScorer(hidden_units=2))
dense.score.memory_projection.set_weights(additive.score.memory_projection.get_weights())
dense.score.query_projection.set_weights(additive.score.query_projection.get_weights())
dense.score.output_layer.set_weights([v[:, None], c])
agrees("hidden", dense, softmax(hidden @ v + c))
np.testing.assert_allclose(table["hidden"], table["additive"], atol=1e-6)

# %% [markdown]
# ## Windows
# Local attention (Luong et al., 2015, section 3.2) looks at [p_t − D, p_t + D] only. The monotonic
# window takes p_t = t: with D = 1 the first target word sees the first two source words, the second
# all three.

# %%
monotonic = made(DotScore(), LocalMonotonicWindow(width=1))
scores = s @ h.T
scores[0, 2] = -np.inf
agrees("local-m", monotonic, softmax(scores), position=np.array([[0, 1]]))

# %% [markdown]
# The predictive window asks the state where to look, p_t = S σ(v · tanh(W s_t)), S the number of
# words, and multiplies the weights with exp(−(i − p_t)² / 2σ²), σ = D / 2, through which it learns.
# So they sum to less than 1.

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
# All of it as one picture: a panel for each state, a row for each kind of attention. The row of the
# linear scorer is the same in both.


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

# %% [markdown]
# ## The bottleneck
# Without attention the decoder has one vector for all of the source, the thought vector. Short
# sentences may fit, long ones hardly. The data is the built-in corpus: its shorter sentences, and
# those without made-up names, so that a vocabulary of words is enough.


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
# The same training for both: the encoder-decoder of Cho et al. (2014), fed its thought vector at
# every word, and the model of Bahdanau et al. (2015), which differs from it by the attention (and
# by reading the source in both directions).

# %%
without = trained("encoder_decoder_gru")
models = {"bahdanau_gru": trained("bahdanau_gru")}

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

# %% [markdown]
# ## One sentence, four models
# Three more models with attention, trained likewise: after the cell instead of before it, within a
# window, and with the dense scorer of above (with a hidden layer, of course).

# %%
models["luong_general_lstm"] = trained("luong_general_lstm")
models["luong_local_p_lstm"] = trained("luong_local_p_lstm", width=5)
models["dense_scorer_gru"] = trained("dense_scorer_gru")

# %% [markdown]
# All read the same translation, as if each had written it: the one of the first hundred whose words
# move furthest. Circles mark the alignment that the corpus is made with; the last column and row
# are the end of the sentence.

# %%
pair = max(test[:100], key=lambda pair: sum(abs(i - j) for i, j in pair.alignment))
source, target = pair.source.split(), pair.target.split()
((inputs, _, _),) = batches([pair], tokenizer, shuffle=False)
attended = {
    name: np.array(model.attend(inputs)["weights"])[0, : len(target) + 1, : len(source) + 1]
    for name, model in models.items()
}


def panels(path, weights_of, last_column):
    """A heat map for each name, with the corpus' own alignment."""
    figure = Figure(figsize=(4.2 * len(weights_of), 4.4), dpi=120, layout="constrained")
    for axes, (name, weights) in zip(
        figure.subplots(1, len(weights_of)), weights_of.items(), strict=True
    ):
        rows = [*target, "</s>"][: len(weights)]
        heat_map(axes, weights, [*source, last_column[name]], rows, name)
        axes.plot(*zip(*pair.alignment, strict=True), "o", mec="tab:orange", mfc="none")
    figure.savefig(path)
    print(path)


panels(folder / "attention.png", attended, dict.fromkeys(models, "</s>"))

# %% [markdown]
# ## Attention and alignment
# Long before attention, IBM model 1 (Brown et al., 1993) learned which words translate each other
# by counting: t(target word | source word), by EM, in seconds. It knows neither order nor
# neighbours, so of two equal words it cannot tell which one is meant; but it says what a word comes
# from, where attention says what the decoder looked at to write it.

# %%
ibm = IBMModel1(iterations=10).fit(pairs)
print("log-likelihoods", [round(value) for value in ibm.log_likelihoods])
print("t(Hund | dog) =", round(ibm.probability("Hund", "dog"), 3))

# %% [markdown]
# Beside each other, for the same sentence: the weights of `bahdanau_gru`, and for each target word
# the share of every source word, or of the null word, in its probability under IBM model 1.

# %%
t = np.array([[ibm.probability(f, e) for e in [*source, None]] for f in target])
shares = t / np.maximum(t.sum(axis=1, keepdims=True), 1e-9)
panels(
    folder / "alignment.png",
    {"bahdanau_gru": attended["bahdanau_gru"], "IBM model 1": shares},
    {"bahdanau_gru": "</s>", "IBM model 1": "(null)"},
)

# %% [markdown]
# Over all test sentences: the alignment error rate (Och and Ney, 2003), 0 at best, with each target
# word linked to where its weight is largest. Attention is not trained to align, and a model may
# translate well with an error rate above that of IBM model 1: for the full stop it may look at the
# end of the sentence, for an article at the noun that it belongs to.

# %%
sources, targets, gold, _ = zip(*test, strict=True)
predicted = {name: model.align(sources, targets) for name, model in models.items()}
predicted["IBM model 1"] = [ibm.align(*sides) for sides in zip(sources, targets, strict=True)]
for name, links in predicted.items():
    print(f"{name:20} {alignment_error_rate(links, gold):.3f}")
