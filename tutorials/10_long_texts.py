# %% [markdown]
# # 10. Texts that are longer than those of training
#
# An attention that compares contents has no idea of order: which of many equal letters is the next
# one? It learns this only for lengths that it has seen. Attentions that know where they were, and
# move on from there, do not have this problem. This tutorial trains five attentions to write
# short texts in capitals, and then gives them texts that are 5 and 10 times as long.
#
# Open it as a notebook (`.ipynb`), or run it as a script (`.py`). It trains five small models, in
# about five minutes on one core. With `KERASNMT_SMALL=1` in the environment it runs on very little
# data, as a quick check.

# %%
# %matplotlib inline
import os
import random
import tempfile
from pathlib import Path

import keras
from matplotlib.figure import Figure

from kerasnmt.data import batches
from kerasnmt.text import CharacterTokenizer
from kerasnmt.zoo import bahdanau_gru

small = os.environ.get("KERASNMT_SMALL") == "1"
folder = Path(tempfile.mkdtemp(prefix="kerasnmt-"))
rng = random.Random(1)


def pairs(count, shortest, longest):
    """Draw random texts of the letters a to j, and the same texts in capitals."""
    lengths = [rng.randint(shortest, longest) for _ in range(count)]
    texts = ["".join(rng.choices("abcdefghij", k=length)) for length in lengths]
    return [(text, text.upper()) for text in texts]


training = pairs(64 if small else 6000, 2, 10)
test = {length: pairs(2 if small else 50, length, length) for length in (10, 50, 100)}
tokenizer = CharacterTokenizer.train(training)
print(training[:3])

# %% [markdown]
# ## Five attentions
# All models are `bahdanau_gru` with other parts. `attention` chooses among them:
#
# - `"global"`: Bahdanau's attention, which compares the state with each annotation.
# - `"location_sensitive"`: The same, and each position also has features of the weights that it
#   and its neighbors got before (Chorowski et al. 2015; Tacotron 2).
# - `"monotonic"`: From its last position, it looks at one position after the other, and stops at
#   one of them. It never goes back (Raffel et al. 2017).
# - `"chunkwise"`: A softmax over the three positions before such a stop (Chiu and Raffel 2018).
# - `"gaussian"`: A mixture of Gaussians, whose means move on with each word. It does not read the
#   source at all to find its place (Graves 2013; Battenberg et al. 2020).

# %%
KINDS = ["global", "location_sensitive", "monotonic", "chunkwise", "gaussian"]
models = {}
for kind in KINDS:
    keras.utils.set_random_seed(1)
    model = bahdanau_gru(tokenizer, units=64, embedding_dim=32, attention=kind, dropout=0.0)
    model.compile(keras.optimizers.Adam(0.003, global_clipnorm=1.0))
    data = batches(training, tokenizer, batch_size=64, seed=1)
    model.fit(data, epochs=1 if small else 10, verbose=0, shuffle=False)
    models[kind] = model

# %% [markdown]
# ## How many letters are right?
# A letter is right if it is the letter at this position of the source, in capitals.

# %%
print(f"{'letters':20}" + "".join(f"{length:>8}" for length in test))
for kind, model in models.items():
    shares = []
    for length, examples in test.items():
        texts = [source for source, _ in examples]
        written = model.translate(texts, beam_size=1, max_length=2 * length)
        right = [
            sum(one == other for one, other in zip(text, target, strict=False))
            for text, (_, target) in zip(written, examples, strict=True)
        ]
        shares.append(sum(right) / (length * len(examples)))
    print(f"{kind:20}" + "".join(f"{100 * share:7.1f}%" for share in shares))

# %% [markdown]
# ## Where they look
# The weights of one text of 50 letters. Each row is a letter that the model writes, each column a
# letter of the source. A diagonal is right.

# %%
figure = Figure(figsize=(14, 3.2), layout="constrained")
axes = figure.subplots(1, len(KINDS))
for axis, (kind, model) in zip(axes, models.items(), strict=True):
    (attention,) = model.attention([test[50][0][0]], max_length=60)
    axis.imshow(attention.weights, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    axis.set(title=kind, xlabel="letter of the source", ylabel="letter that is written")
figure.savefig(folder / "diagonals.png")
print(folder / "diagonals.png")
figure

# %% [markdown]
# All attentions but the global one write texts of the trained lengths without a mistake. In longer
# texts, only the Gaussian attention goes on to the end: it moves by one letter with each word,
# whatever it reads. Location-sensitive attention follows the order until its state, which has only
# seen short texts, ends the text. The monotonic attentions lose their place when many positions
# look alike, and then continue at the end of the text.
