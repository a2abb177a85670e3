# %% [markdown]
# # 3. Copying rare words
#
# A vocabulary ends somewhere, and names, numbers and rare words lie beyond. What a model does with
# a word that it has never seen: lose it, put it back afterwards, or copy it, as a pointer-generator
# does (See, Liu and Manning, 2017); and a model that does nothing but point.
#
# Run it as a script, or cell by cell in an editor that knows `# %%`. It trains three models, some
# ten minutes on two cores; with `KERASNMT_SMALL=1` in the environment it runs on little data, to
# show that it runs.

# %%
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
# The built-in corpus makes names up as it goes. A vocabulary of the 3,000 most frequent words, of
# both languages, holds next to all other words and few of the names.

# %%
pairs = builtin_corpus(400 if small else 16_000)
test = builtin_corpus(40 if small else 500, "unseen_names")  # none of their names is in `pairs`
tokenizer = WordTokenizer.train(pairs, vocabulary_size=300 if small else 3000)
names = {name for pair in pairs for name in pair.names}
known = sum(tokenizer.tokenize(sorted(names)).values.numpy() != 1)
print(f"{known} of {len(names):,} names are in the vocabulary")

# %% [markdown]
# What is outside becomes the unknown word, id 1, and cannot be told from any other such word; back
# in text it is written "⁇".

# %%
sentence, translation = test[0].source, test[0].target
print(sentence)
print(tokenizer.detokenize(tokenizer.tokenize([sentence]))[0].numpy().decode())

# %% [markdown]
# ## An extended vocabulary
# A model that copies gives each word that the vocabulary lacks an id of its own, from the
# vocabulary's size on, for this one sentence. The encoder still reads the unknown word; but the
# target can now say which of the source's words it takes, and the ids can be written again.

# %%
source = tokenizer.tokenize_source([sentence])
print("read by the encoder", source.ids.to_list()[0])
print("as words to copy   ", source.extended_ids.to_list()[0])
target = tokenizer.tokenize_target([translation], source.unknown_words)
print("the target         ", target.to_list()[0])
print(tokenizer.detokenize(target, source.unknown_words)[0].numpy().decode())

# %% [markdown]
# `batches(…, extended_vocabulary=True)` does this in the input pipeline: the inputs hold
# `extended_source_ids` beside `source_ids`, and the targets extended ids. What the decoder reads,
# `target_ids`, stays in the vocabulary.

# %%
((inputs, targets, _),) = batches(
    [test[0]], tokenizer, batch_size=1, shuffle=False, extended_vocabulary=True
)
for name, ids in {**inputs, "targets": targets}.items():
    print(f"{name:20}", ids[0].numpy())

# %% [markdown]
# ## The mixture, by hand
# At each word the decoder has three things: a distribution over the vocabulary, weights on the
# source's words, which are the pointer, and a gate that shares the probability out between them:
#
# p(w) = p_gen · p_vocab(w) + p_copy · Σ a_i, over the positions i whose word is w
#
# In NumPy, for a model whose weights are still random:

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
# The layer's own numbers are the same. (Training never makes this long vector: of the copied part
# it needs the gold word alone, and that is a sum over the source's positions.)

# %%
np.testing.assert_allclose(np.exp(model.decoder.next_log_probability(outputs))[0, 0], p, atol=1e-6)

# %% [markdown]
# ## Two models
# The same training for Bahdanau's model and for the pointer-generator, which is Bahdanau's with the
# gate: it has but `2 · units` weights more.


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
# The log of the second has a column `generate_probability`: the mean of p_gen over the words of the
# targets. It falls as the model learns that names are to be copied, and stays high, as most words
# are not names.
#
# Now sentences with names that neither model has ever seen. Bahdanau's model knows where a name
# belongs, and writes "⁇" there, or a name that it knows. **Replacement** puts in the place of "⁇"
# the word that it looked at while it wrote that (Luong, Sutskever, Le, Vinyals and Zaremba, 2015).

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
# How many of all names stand at their place: the first name of the reference first among the names
# of the translation, and so on. Attention is where the decoder looks, and mostly that is the word
# it translates; the pointer is trained to be that word.


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
# What should not be copied as it stands is a matter for a **dictionary**: replacement looks the
# word up there first.

# %%
name = test[several].names[0]
(line,) = plain.translate(
    [sources[several]], max_length=60, replace_unknown=True, dictionary={name: name.upper()}
)
print(line)

# %% [markdown]
# ## When does it copy?
# The last column of the picture is p_gen, beside the attention.

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

# %% [markdown]
# ## The export copies too
# Ids from the vocabulary's size on, and the spelling that they stand for, are made in the graph: a
# server is given text and answers with text.

# %%
copying.export(folder / "export" / "1", beam_size=2, max_length=60)
served = Translator(load_export(folder / "export"))
assert served.translate(sources) == translations["pointer-generator"]
print(served.translate(["yesterday Zyxwurimo saw the old dog ."]))

# %% [markdown]
# ## Nothing but pointing
# A **pointer network** (Vinyals, Fortunato and Jaitly, 2015) has no words of its own: each word of
# its output is one of the source, and it ends by pointing at the source's end. So it can learn what
# to do with words, whatever their number; here, to sort. `tests/benchmarks/sorting.py` does it with
# numbers below 1,000 and longer lists.


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
