# %% [markdown]
# # 3. Copying rare words
#
# Every vocabulary is limited: names, numbers and rare words are often missing. This tutorial shows
# what a model can do with a word that it has never seen: lose it, put it back afterwards, or copy
# it, as a pointer-generator does (See, Liu and Manning, 2017). It ends with a model that can only
# point.
#
# Open it as a notebook (`.ipynb`), or run it as a script (`.py`). It trains three models, in about
# ten minutes on two cores. With `KERASNMT_SMALL=1` in the environment it runs on very little data,
# as a quick check.

# %%
# %matplotlib inline
import os
import random
import tempfile
from itertools import zip_longest
from pathlib import Path

import keras
import numpy as np

from kerasnmt.data import batches, builtin_corpus
from kerasnmt.serving import Translator, load_export
from kerasnmt.text import WordTokenizer
from kerasnmt.viz import attention_figure
from kerasnmt.zoo import get_model, pointer_network_lstm

small = os.environ.get("KERASNMT_SMALL") == "1"
folder = Path(tempfile.mkdtemp(prefix="kerasnmt-"))

# %% [markdown]
# ## What a vocabulary leaves out
# The built-in corpus contains made-up names. A vocabulary of the 3,000 most frequent words of both
# languages contains nearly all other words, but few of the names.

# %%
pairs = builtin_corpus(400 if small else 16_000)
test = builtin_corpus(40 if small else 500, "unseen_names")  # its names are not in `pairs`
tokenizer = WordTokenizer.train(pairs, vocabulary_size=300 if small else 3000)
names = {name for pair in pairs for name in pair.names}
known = sum(tokenizer.tokenize(sorted(names)).values.numpy() != 1)
print(f"{known} of {len(names):,} names are in the vocabulary")

# %% [markdown]
# A word outside the vocabulary becomes the unknown word, id 1. All such words look the same to the
# model. In text, the unknown word is written "⁇".

# %%
sentence, translation = test[0].source, test[0].target
print(sentence)
print(tokenizer.detokenize(tokenizer.tokenize([sentence]))[0].numpy().decode())

# %% [markdown]
# ## An extended vocabulary
# For a model that copies, each word outside the vocabulary gets an id of its own, for this one
# sentence. These ids start at the vocabulary size. The encoder still reads the unknown word. But
# the target can now say which source word it copies, and the tokenizer can turn the id back into
# the word.

# %%
source = tokenizer.tokenize_source([sentence])
print("read by the encoder", source.ids.to_list()[0])
print("as words to copy   ", source.extended_ids.to_list()[0])
target = tokenizer.tokenize_target([translation], source.unknown_words)
print("the target         ", target.to_list()[0])
print(tokenizer.detokenize(target, source.unknown_words)[0].numpy().decode())

# %% [markdown]
# `batches(…, extended_vocabulary=True)` does this in the input pipeline. The inputs contain
# `extended_source_ids` in addition to `source_ids`, and the targets contain extended ids. The
# decoder reads `target_ids`, which stay in the vocabulary.

# %%
((inputs, targets, _),) = batches(
    [test[0]], tokenizer, batch_size=1, shuffle=False, extended_vocabulary=True
)
for name, ids in {**inputs, "targets": targets}.items():
    print(f"{name:20}", *ids[0].numpy())

# %% [markdown]
# ## The mixture, by hand
# At each word the decoder computes three things: a distribution over the vocabulary, a pointer
# (weights on the source words), and a gate that divides the probability between the two:
#
# p(w) = p_gen · p_vocab(w) + p_copy · Σ a_i, over the positions i whose word is w
#
# In NumPy, for a model with random weights:

# %%
keras.utils.set_random_seed(1)
model = get_model("pointer_generator_gru")(tokenizer, units=16, embedding_dim=16)
outputs = model(inputs)
p_gen, p_copy = np.exp(outputs["gate"])[0, 0]
logits = np.array(outputs["vocabulary"])[0, 0]
p_vocab = np.exp(logits) / np.exp(logits).sum()
a = np.array(outputs["pointer"])[0, 0]
extended_source_ids = inputs["extended_source_ids"][0].numpy()

p = np.zeros(tokenizer.vocabulary_size + len(extended_source_ids))
p[: tokenizer.vocabulary_size] = p_gen * p_vocab
for i, word in enumerate(extended_source_ids):
    p[word] += p_copy * a[i]
print(f"p_gen {p_gen:.3f}, p_copy {p_copy:.3f}; all together {p.sum():.6f}")
last = extended_source_ids.max()
print(f"{tokenizer.tokens([[last]], source.unknown_words)[0, 0].numpy().decode()}: {p[last]:.4f}")

# %% [markdown]
# The layer computes the same numbers. (Training never builds this long vector. Of the copied part,
# it needs only the probability of the gold word, which is a sum over the source positions.)

# %%
np.testing.assert_allclose(np.exp(model.decoder.next_log_probability(outputs))[0, 0], p, atol=1e-6)

# %% [markdown]
# ## Two models
# Bahdanau's model and the pointer-generator get the same training. The pointer-generator is
# Bahdanau's model with a gate, which adds only `2 · units` weights.


# %%
def trained(name):
    keras.utils.set_random_seed(1)
    size, epochs = (16, 1) if small else (96, 4)
    model = get_model(name)(tokenizer, units=size, embedding_dim=size, dropout=0.1)
    data = batches(
        pairs, tokenizer, batch_size=32, seed=1, cache=True, extended_vocabulary=model.copies
    )
    schedule = keras.optimizers.schedules.CosineDecay(
        0.0, epochs * len(pairs) // 32, alpha=0.05, warmup_target=0.004, warmup_steps=100
    )
    model.compile(keras.optimizers.Adam(schedule, global_clipnorm=1.0))
    print(f"{name}, {model.count_params():,} weights")
    model.fit(data, epochs=epochs, verbose=2, shuffle=False)
    return model


plain, copying = trained("bahdanau_gru"), trained("pointer_generator_gru")

# %% [markdown]
# The log of the second model has a column `generate_probability`, the mean of p_gen over the target
# words. It falls as the model learns to copy names. It stays high because most words are not names.
#
# We now translate sentences with names that neither model has ever seen. Bahdanau's model knows
# where a name belongs, and writes "⁇" there, or a name that it knows. **Replacement** replaces each
# "⁇" with the source word that the model attended to (Luong, Sutskever, Le, Vinyals and Zaremba,
# 2015).

# %%
sources = [pair.source for pair in test]
translations = {
    "Bahdanau's model": plain.translate(sources, beam_size=2, max_length=60),
    "with replacement": plain.translate(sources, beam_size=2, max_length=60, replace_unknown=True),
    "pointer-generator": copying.translate(sources, beam_size=2, max_length=60),
}
several = next(i for i, pair in enumerate(test) if len(pair.names) > 2)
print(f"{'source':18}", sources[several])
print(f"{'reference':18}", test[several].target)
for name, lines in translations.items():
    print(f"{name:18}", lines[several])

# %% [markdown]
# How many names are in the right place? We compare the first name of the translation with the first
# name of the reference, and so on. Attention shows where the decoder looks, which is usually the
# word that it translates. The pointer is trained to find this word.


# %%
names |= {name for pair in test for name in pair.names}


def names_in_place(translation, pair):
    wanted = [word for word in pair.target.split() if word in names]
    found = [word for word in translation.split() if word in names]
    return [name == other for name, other in zip_longest(wanted, found[: len(wanted)])]


for name, lines in translations.items():
    marks = [names_in_place(*both) for both in zip(lines, test, strict=True)]
    everywhere = np.mean([mark for row in marks for mark in row])
    among_several = np.mean([mark for row in marks if len(row) > 1 for mark in row])
    print(f"{name:18} {everywhere:.1%}, in sentences with several {among_several:.1%}")

# %% [markdown]
# Some words should not be copied as they are. Put these in a **dictionary**: replacement looks up
# each word there first.

# %%
name = test[several].names[0]
(line,) = plain.translate(
    [sources[several]], max_length=60, replace_unknown=True, dictionary={name: name.upper()}
)
print(line)

# %% [markdown]
# ## When does it copy?
# The picture shows the attention. Its last column is p_gen.

# %%
((inputs, targets, _),) = batches(
    [test[several]], tokenizer, batch_size=1, shuffle=False, extended_vocabulary=True
)
records = copying.attend(inputs)
source, target = ([*test[several][side].split(), "</s>"] for side in (0, 1))
figure = attention_figure(
    np.array(records["weights"])[0, : len(target), : len(source)],
    source,
    target,
    generate_probability=np.array(records["generate_probability"])[0, : len(target)],
)
figure.savefig(folder / "copying.png")
print(folder / "copying.png")
figure

# %% [markdown]
# ## The export copies too
# The graph creates the extended ids and turns them back into words, so a server takes text and
# returns text.

# %%
copying.export(folder / "export" / "1", beam_size=2, max_length=60)
served = Translator(load_export(folder / "export"))
assert served.translate(sources) == translations["pointer-generator"]
print(served.translate(["yesterday Zyxwurimo saw the old dog ."]))

# %% [markdown]
# ## Pointing only
# A **pointer network** (Vinyals, Fortunato and Jaitly, 2015) has no output vocabulary. Each word of
# its output is a word of the source, and the output ends when the model points at the end of the
# source. So it can learn tasks on any number of words; here, it learns to sort.
# `benchmarks/sorting.py` sorts longer lists of numbers below 1,000.


# %%
def lists(size, seed):
    chance = random.Random(seed)
    drawn = (chance.choices(range(100), k=chance.randint(3, 6)) for _ in range(size))
    return [(" ".join(map(str, some)), " ".join(map(str, sorted(some)))) for some in drawn]


numbers = WordTokenizer([str(number) for number in range(100)])
keras.utils.set_random_seed(1)
sorter = pointer_network_lstm(numbers, units=64, embedding_dim=64, coverage=0.0, dropout=0.0)
sorter.compile(keras.optimizers.Adam(0.008, global_clipnorm=0.5), label_smoothing=0.0)
sorter.fit(
    batches(lists(640 if small else 64_000, 1), numbers, batch_size=64, extended_vocabulary=True),
    verbose=2,
)
questions, answers = zip(*lists(300, 2), strict=True)
given = sorter.translate(questions, beam_size=1, max_length=10)
print(f"{questions[0]} -> {given[0]}")
print(f"sorted without a mistake: {np.mean(np.equal(given, answers)):.1%}")
