# %% [markdown]
# # 4. Searching and serving
#
# This tutorial covers what comes after training: search options, scores of given translations,
# ensembles, and an export behind a server.
#
# Open it as a notebook (`.ipynb`), or run it as a script (`.py`). It trains three small models, in
# about five minutes on two cores. With `KERASNMT_SMALL=1` in the environment it runs on very little
# data, as a quick check.

# %%
import logging
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import keras

from kerasnmt.data import batches, builtin_corpus
from kerasnmt.models import Ensemble
from kerasnmt.serving import ExportModule, RestClient, Translator, check_export, load_export
from kerasnmt.text import SentencePieceTokenizer
from kerasnmt.training import translation_scores
from kerasnmt.zoo import bahdanau_gru, luong_general_lstm

small = os.environ.get("KERASNMT_SMALL") == "1"
folder = Path(tempfile.mkdtemp(prefix="kerasnmt-"))
# Each set of options needs its own graph. After five graphs, TensorFlow warns.
logging.getLogger("tensorflow").setLevel(logging.ERROR)

# %% [markdown]
# ## Two models
# The first model translates from English to German, the second from German to English. We need the
# second one to rank translations.

# %%
pairs = builtin_corpus(300 if small else 8000)
test = builtin_corpus(8 if small else 300, "test")
sources, references = [pair.source for pair in test], [pair.target for pair in test]
tokenizer = SentencePieceTokenizer.train(pairs, vocabulary_size=200 if small else 1000)


def trained(constructor, pairs):
    keras.utils.set_random_seed(1)
    size, epochs = (16, 1) if small else (96, 5)
    model = constructor(tokenizer, units=size, embedding_dim=size, dropout=0.1)
    model.compile(keras.optimizers.Adam(0.002, global_clipnorm=1.0))
    data = batches(pairs, tokenizer, batch_size=32, seed=1, cache=True)
    model.fit(data, epochs=epochs, verbose=2)
    return model


model = trained(bahdanau_gru, pairs)
backwards = trained(bahdanau_gru, [(pair.target, pair.source) for pair in pairs])

# %% [markdown]
# ## Search options
# All commands and methods that translate take the options of `kerasnmt.decoding.SearchOptions`: the
# beam size, length normalization, the minimum and maximum length (also as a multiple of the source
# length), n-grams that must not repeat, and a coverage penalty.

# %%
limit = {"max_length": 80, "max_length_ratio": 2.0}
for options in (
    {"beam_size": 1},
    {"beam_size": 5},
    {"beam_size": 5, "length_normalization": "length", "length_penalty": 1.0},
    {"beam_size": 5, "coverage_penalty": 0.2},
    {"beam_size": 5, "no_repeat_ngram": 3},
):
    bleu = translation_scores(model.translate(sources, **options, **limit), references)["bleu"]
    print(f"BLEU {bleu:5.1f}  {options}")

# %% [markdown]
# With `samples`, the model draws random translations instead of searching for the best one. A
# sample depends only on the seed and the text, not on the rest of the batch. So you can translate a
# corpus twice, or in parts, and get the same result.

# %%
sentence = min(sources, key=len)
for options in ({"seed": 0}, {"seed": 1}, {"seed": 1, "temperature": 0.3}, {"seed": 1, "top_k": 3}):
    print(model.translate([sentence], samples=1, **options, **limit)[0], options)

# %% [markdown]
# `prefixes` fixes the beginning of each translation. For example, a translator types a few words
# and asks the model to continue.

# %%
free = model.translate([sentence], **limit)[0]
for prefix in ("", free.split(" ")[0] if free else "", "Nein"):
    print(f"{prefix!r:12} -> {model.translate([sentence], prefixes=[prefix], **limit)[0]}")

# %% [markdown]
# ## Scores, and the noisy channel
# `score` returns log p(target | source) of given translations. Use it to filter a corpus, or to
# choose among translations. By Bayes' rule,
#
# p(target | source) ∝ p(source | target) · p(target)
#
# so a model of the other direction helps to choose: how likely is the source, given the
# translation? We take the five best translations of each sentence and rank them by the sum of both
# log-probabilities.

# %%
translator = Translator(ExportModule(model, beam_size=5, **limit))
ranked = translator.n_best(sources)
flat = [(s, text) for s, best in zip(sources, ranked, strict=True) for text, _ in best]
forward = model.score(*zip(*flat, strict=True))
channel = backwards.score([text for _, text in flat], [source for source, _ in flat])
total = iter([f + c for f, c in zip(forward, channel, strict=True)])
chosen = [max((next(total), text) for text, _ in best)[1] for best in ranked]
for name, translations in (
    ("the search's best", [best[0][0] for best in ranked]),
    ("both", chosen),
):
    print(f"BLEU {translation_scores(translations, references)['bleu']:5.1f}  {name}")

# %% [markdown]
# ## Ensembles
# An ensemble chooses each word by the mean of its members' probabilities. The members need the same
# tokenizer, but may be different kinds of models.

# %%
other = trained(luong_general_lstm, pairs)
ensemble = Ensemble([model, other], name="ensemble")
for one in (model, other, ensemble):
    bleu = translation_scores(one.translate(sources, **limit), references)["bleu"]
    print(f"BLEU {bleu:5.1f}  {one.name}")

# %% [markdown]
# ## Export and check
# An export contains the tokenizer, the search and the weights. It takes text and returns text, and
# its search options are fixed. `check_export` (on the command line, `kerasnmt check`) loads it in a
# process without the Python package of TensorFlow. It runs the same C++ code as TF Serving, and
# asks for translations.

# %%
version = ensemble.export(folder / "models" / "en_de" / "1", beam_size=3, **limit)
report = check_export(version)
print(report)
assert report.passed

# %% [markdown]
# In Python, `load_export` loads an export. A `Translator` uses it like a model.

# %%
local = Translator(load_export(folder / "models" / "en_de"))
expected = ensemble.translate(sources, beam_size=3, **limit)
assert local.translate(sources) == expected

# %% [markdown]
# ## A server
# `kerasnmt serve` answers the REST routes of TF Serving, and needs no container. The guide
# `guides/serving.md` says when to use TF Serving instead. With `--port 0` it takes a free port and
# prints the address.

# %%
program = Path(sys.executable).with_name("kerasnmt")
command = [program, "serve", folder / "models" / "en_de", "--port", "0"]
server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
try:
    address = next(line for line in server.stderr if "http://" in line)
    url = re.search(r"http://[^/ ]+", address)[0]
    print(url)
    with RestClient(url, "en_de") as client:
        served = Translator(client)
        begin = time.perf_counter()
        assert served.translate(sources) == expected
        print(f"{len(sources)} sentences in {time.perf_counter() - begin:.1f} s, as the model's")
        for translation, score in served.n_best([sentence])[0]:
            print(f"{score:6.2f}  {translation}")
finally:
    server.terminate()
    server.wait()

# %% [markdown]
# From the command line:
#
# ```bash
# kerasnmt export RUN saved_models/en_de --search no_repeat_ngram=3
# kerasnmt check saved_models/en_de
# kerasnmt serve saved_models/en_de
# kerasnmt translate --server http://localhost:8501 --model en_de < source.txt
# ```
