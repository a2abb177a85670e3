# %% [markdown]
# # 6. A Transformer and a recurrent model
#
# This tutorial computes self-attention by hand, and shows how a Transformer writes word by word
# without a hidden state. Then it trains a Transformer and a recurrent model on the same sentences,
# and draws the attention of the Transformer's heads.
#
# Open it as a notebook (`.ipynb`), or run it as a script (`.py`). It trains two small models, which
# takes a few minutes each. With `KERASNMT_SMALL=1` in the environment it runs on very little data,
# as a quick check.

# %%
# %matplotlib inline
import os
import tempfile
import time
from pathlib import Path

import keras
import numpy as np

from kerasnmt.data import batches, builtin_corpus
from kerasnmt.layers import MultiHeadSelfAttention, SinusoidalPositions
from kerasnmt.text import SentencePieceTokenizer
from kerasnmt.training import Adam, learning_rate_schedule, translation_scores
from kerasnmt.viz import attention_heads_figure
from kerasnmt.zoo import bahdanau_gru, transformer_tiny

small = os.environ.get("KERASNMT_SMALL") == "1"
folder = Path(tempfile.mkdtemp(prefix="kerasnmt-"))

# %% [markdown]
# ## Self-attention
# Bahdanau's decoder attends to the source once per target word. In a Transformer (Vaswani et al.,
# 2017) every word of a sentence attends to all words of the sentence: with q_i = W_Q x_i,
# k_j = W_K x_j and v_j = W_V x_j,
#
#     y_i = sum_j softmax_j(q_i · k_j / sqrt(d)) v_j
#
# For two words with two features, and identity matrices for W_Q, W_K and W_V:

# %%
words = np.array([[2.0, 0.0], [0.0, 1.0]])
scores = words @ words.T / np.sqrt(2)
weights = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
print("scores", scores.round(3).tolist())
print("weights", weights.round(3).tolist())
print("new words", (weights @ words).round(3).tolist())

# %% [markdown]
# The layer computes the same if its projections are identity matrices.

# %%
attention = MultiHeadSelfAttention(units=2, num_heads=1)
attention(words[None])  # creates the weights
projections = np.concatenate([np.eye(2)] * 3, axis=1)  # to queries, keys and values
attention.set_weights([np.eye(2), projections])  # output layer, then projections
heard, looked = attention(words[None])
np.testing.assert_allclose(looked[0, 0], weights, atol=1e-6)
np.testing.assert_allclose(heard[0], weights @ words, atol=1e-6)

# %% [markdown]
# Self-attention does not depend on the order: if you swap the words, the outputs are swapped, and
# nothing else changes. So a Transformer adds sine and cosine waves to each word, which encode its
# position.

# %%
swapped, _ = attention(words[None, ::-1])
print("in the other order", np.asarray(swapped, float)[0].round(3).tolist())
positions = np.asarray(SinusoidalPositions()(np.zeros((1, 3, 4))), float)[0]
print("waves at places 0, 1, 2:", positions.round(3).tolist())

# %% [markdown]
# ## The future is masked
# In training, a decoder reads the whole target, but must not see the words that it has to predict.
# With `causal=True`, each word sees only itself and the words before it. The first word sees only
# itself.

# %%
causal = MultiHeadSelfAttention(units=2, num_heads=1, causal=True)
causal(words[None])
causal.set_weights(attention.get_weights())
_, looked = causal(words[None])
print("weights, the future masked", np.asarray(looked, float)[0, 0].round(3).tolist())

# %% [markdown]
# So a Transformer trains on all words of a target at once, while a recurrent decoder needs a loop.
# That is why Transformers train fast on a GPU. Writing is different. A word can be predicted only
# after the words before it, and a Transformer has no state that summarizes them: it attends to all
# of them again. Their keys and values do not change, so a cache keeps them, and each step computes
# only those of the new word. With and without the cache, the numbers are the same.
#
# ## Two models, one corpus
# Apart from the embeddings, the two models have about the same number of weights. A Transformer
# needs a learning rate that rises slowly, and then falls with the inverse square root of the number
# of steps. At the start its attention is noise, and large steps ruin it for good.

# %%
pairs = builtin_corpus(400 if small else 16_000)
test = builtin_corpus(20 if small else 500, "test")
sources, references = [pair.source for pair in test], [pair.target for pair in test]
tokenizer = SentencePieceTokenizer.train(pairs, vocabulary_size=250 if small else 1000)
data = batches(pairs, tokenizer, batch_size=32, seed=1, cache=True)
epochs = 1 if small else 6
steps = epochs * (len(pairs) // 32)


def trained(model, rate):
    """Train a model, and print how well it translates."""
    begin = time.process_time()
    model.compile(Adam(rate, global_clipnorm=1.0), label_smoothing=0.1)
    model.fit(data, epochs=epochs, verbose=0, shuffle=False)
    seconds = time.process_time() - begin
    translations = model.translate(sources, beam_size=1)
    bleu = translation_scores(translations, references)["bleu"]
    print(
        f"{model.name}: {model.count_params():,} weights, {seconds:.0f} CPU seconds, "
        f"BLEU {bleu:.1f}"
    )


keras.utils.set_random_seed(1)
units = 16 if small else 96
recurrent = bahdanau_gru(tokenizer, units=units, embedding_dim=units, dropout=0.1)
trained(recurrent, learning_rate_schedule(0.003, steps, schedule="cosine", warmup_steps=10))

keras.utils.set_random_seed(1)
sizes = {"units": units, "hidden_units": 2 * units, "encoder_layers": 2, "decoder_layers": 2}
transformer = transformer_tiny(tokenizer, **sizes, dropout=0.1)
warmup = 10 if small else 400
trained(
    transformer, learning_rate_schedule(0.003, steps, schedule="inverse_sqrt", warmup_steps=warmup)
)

# %% [markdown]
# ## Where the heads look
# The recurrent decoder has one attention. The Transformer has one for each head of each layer, and
# the heads divide the work: some follow the words across the languages, some look at the end of the
# sentence, some at everything. `model.attend` returns the mean of the heads of the second-to-last
# layer, which is closest to a word alignment.

# %%
source = "the son promises to work for a sister ."
target = "der Sohn verspricht , für eine Schwester zu arbeiten ."
((inputs, targets, _),) = batches([(source, target)], tokenizer, batch_size=1, shuffle=False)
heads = np.asarray(transformer.attend_by_head(inputs))[0]
source_tokens = [token.decode() for token in tokenizer.tokens(inputs["source_ids"]).numpy()[0]]
target_tokens = [token.decode() for token in tokenizer.tokens(targets).numpy()[0]]
print("layers, heads, target, source:", heads.shape)
np.testing.assert_allclose(heads.sum(axis=-1), 1.0, atol=1e-5)
figure = attention_heads_figure(heads, source_tokens, target_tokens)
figure.savefig(folder / "heads.png")
print(folder / "heads.png")
figure

# %% [markdown]
# ## What a step costs
# With the cache, the 2nd and the 50th word cost the same matrix products. Only the attention
# itself, which looks at all earlier words, costs more. Without a cache, each word costs a pass over
# all earlier words. Both ways find the same words:

# %%
ids, most = np.asarray(inputs["source_ids"]), 30
found = np.asarray(transformer.search(ids, beam_size=1, max_length=most).ids)[0, 0]
target_ids = np.zeros((1, most), "int32")
target_ids[0, 0] = 2  # the start
for place in range(most):
    logits = transformer({"source_ids": ids, "target_ids": target_ids})
    log_probabilities = np.array(transformer.decoder.next_log_probability(logits))[0, place]
    log_probabilities[[0, 2]] = -np.inf  # search never writes padding or the start
    word = log_probabilities.argmax()
    assert word == found[place]
    if word == 3 or place + 1 == most:  # the end
        break
    target_ids[0, place + 1] = word
text = tokenizer.detokenize(found[None]).numpy()[0].decode()
print(f"the search with caches and {place + 1} full passes write the same: {text!r}")

# %% [markdown]
# ## Which one to choose
# The single attention of the recurrent model is easier to read. The Transformer trains on all words
# of a target at once, which pays off on a GPU. The BLEU scores above compare them on the same
# sentences; with more data and more epochs, the order may change. Both are trained, searched,
# exported and served with the same calls. To try both, change one line of a recipe:
# `model: {name: …}`.
