# %% [markdown]
# # 7. Captions, and where the model looks
#
# The decoder of "Show, attend and tell" (Xu et al., 2015) attends to the regions of an image
# instead of words. We draw scenes of colored shapes, train a model to describe them, and see where
# it looks for each word. We drew the scenes, so we know where it should look.
#
# Open it as a notebook (`.ipynb`), or run it as a script (`.py`). It trains one small model, in
# about two minutes on one core. With `KERASNMT_SMALL=1` in the environment it runs on very little
# data, as a quick check.

# %%
# %matplotlib inline
import os
import tempfile
from pathlib import Path

import keras
import numpy as np

from kerasnmt.data import builtin_scenes, caption_batches
from kerasnmt.text import WordTokenizer
from kerasnmt.training import learning_rate_schedule
from kerasnmt.viz import image_attention_figure
from kerasnmt.zoo import show_attend_tell_lstm

small = os.environ.get("KERASNMT_SMALL") == "1"
folder = Path(tempfile.mkdtemp(prefix="kerasnmt-"))

# %% [markdown]
# ## Scenes
# A scene has one to three shapes on a grid of 4 by 4 cells, in an image of 64 by 64 pixels. It has
# one correct caption in each language, and says which word names which object. No scene of "test"
# is in "train".

# %%
scenes = builtin_scenes(200 if small else 8000)
test = builtin_scenes(20 if small else 500, "test")
for scene in test[:3]:
    print(scene.captions["en"].text, "|", scene.captions["de"].text)
scene = test[0]
print("image", scene.image.shape, scene.image.dtype)
print("objects", *scene.objects, sep="\n  ")
print("the objects that its words name", scene.captions["de"].named)

# %% [markdown]
# We use the German captions, because a German article depends on its noun: "ein Kreis" but "eine
# Raute", "von einem Kreis" but "von einer Raute". So the model must look before it writes the
# article. With English captions it could wait.
#
# ## The model
# Four convolutions halve the image four times. This leaves 4 by 4 regions with 64 features a_i
# each. A learned vector for each region encodes its position. For each word, the decoder attends to
# the regions with its state h:
#
#     e_i = v · tanh(W a_i + U h + b),    alpha = softmax(e),    z = beta sum_i alpha_i a_i
#
# The gate beta = sigmoid(f(h)) says how much the word depends on the image. The LSTM reads z and
# the previous word. Its first states come from the mean of the regions. This is the decoder of the
# translation models with a gate; training, search and export are the same.

# %%
language = "de"
pairs = [(scene.image, scene.captions[language].text) for scene in scenes]
captions = [caption for _, caption in pairs]
words = {word for caption in captions for word in caption.split()}
tokenizer = WordTokenizer.train(captions, vocabulary_size=len(words) + 4)
keras.utils.set_random_seed(1)
size = 16 if small else 128
model = show_attend_tell_lstm(tokenizer, units=size, embedding_dim=size // 2, dropout=0.1)
print(f"{len(words)} words, {model.count_params():,} weights")
print("regions", model.encoder.grid, "features", model.encoder.memory_units)

# %%
epochs = 1 if small else 8
rate = learning_rate_schedule(
    0.003, epochs * (len(pairs) // 32), schedule="cosine", warmup_steps=5 if small else 100
)
model.compile(keras.optimizers.Adam(rate, global_clipnorm=1.0), label_smoothing=0.0)
data = caption_batches(pairs, tokenizer, batch_size=32, seed=1)
history = model.fit(data, epochs=epochs, verbose=2, shuffle=False)

# %% [markdown]
# ## Are the captions right?
# A caption counts only if every word is right.

# %%
found = model.caption([scene.image for scene in test], beam_size=1, max_length=30)
right = [one == scene.captions[language].text for one, scene in zip(found, test, strict=True)]
print(f"{np.mean(right):.1%} of {len(test)} captions are exact")
for one, scene in zip(found[:3], test, strict=False):
    print(f"  {one}   (right: {scene.captions[language].text})")

# %% [markdown]
# ## Does the model look at what it names?
# Nobody told the model where to look: it learned from captions alone. `model.attend` returns the
# weights for given captions, a row for each word. For words that name an object (colors and
# shapes), we check whether the region with the largest weight is the object's.

# %%
test_pairs = [(scene.image, scene.captions[language].text) for scene in test]
looks = []
for inputs, _, _ in caption_batches(test_pairs, tokenizer, batch_size=50, shuffle=False):
    looks += list(np.asarray(model.attend(inputs)["weights"]))
hits = {"colors": [], "shapes": []}
for scene, weights in zip(test, looks, strict=True):
    regions = scene.regions(*model.encoder.grid)
    before = None
    for word, named in enumerate(scene.captions[language].named):
        if named is not None:
            kind = "colors" if before is None else "shapes"
            hits[kind].append(regions[named, weights[word].argmax()])
        before = named
for kind, hit in hits.items():
    print(f"of {len(hit)} {kind} {np.mean(hit):.1%} look at their object most")

# %% [markdown]
# The picture shows a scene with three objects. For each word, the image is bright where the model
# looks, the number is the largest weight, and the frame marks the object that the word names. If a
# word follows from the words before it, the model may look ahead. For example, "Raute" is the only
# feminine noun among our shapes, so after "einer" the model does not need to look.

# %%
place = max(range(len(test)), key=lambda place: (len(test[place].objects), -place))
scene, caption = test[place], test[place].captions[language]
shown = caption.text.split()
marked = np.zeros((len(shown), np.prod(model.encoder.grid)), bool)
for word, named in enumerate(caption.named):
    if named is not None:
        marked[word] = scene.regions(*model.encoder.grid)[named]
figure = image_attention_figure(
    scene.image,
    looks[place][: len(shown)],
    shown,
    model.encoder.grid,
    caption.text,
    marked=marked,
)
figure.savefig(folder / "looks.png")
print(folder / "looks.png")
figure

# %% [markdown]
# ## The model's own captions
# `search` returns the weights for the captions that it finds.

# %%
beam = model.search(
    {"images": scene.image[None]}, beam_size=3, n_best=3, max_length=30, with_records=True
)
for text, score in zip(tokenizer.detokenize(beam.ids[0]).numpy(), beam.scores[0], strict=True):
    print(f"{float(score):7.2f}  {text.decode()}")
print("weights", beam.records["weights"].shape, "(batch, beam, words, regions)")

# %% [markdown]
# ## Files
# `caption` and the export decode PNG and JPEG in the graph, and resize images to the model's size.
# A file that cannot be read gets an empty caption and does not affect the others.
# `model.export("saved_models/captions/1")` writes a model for a server. `kerasnmt check` tests it,
# also with broken files.

# %%
import tensorflow as tf

png = tf.io.encode_png(scene.image).numpy()
jpeg = tf.io.encode_jpeg(np.kron(scene.image, np.ones((3, 3, 1), "uint8"))).numpy()
for one in model.caption([png, jpeg, b"no image"], beam_size=1, max_length=30):
    print(repr(one))

# %% [markdown]
# ## Photographs
# The small network above is made for small scenes. For photographs, use a network that was trained
# to classify photographs, and freeze its weights, as the paper does:
#
#     backbone = keras.applications.EfficientNetV2B0(include_top=False, input_shape=(224, 224, 3))
#     backbone.trainable = False
#     model = show_attend_tell_lstm(tokenizer, backbone=backbone, units=512)
#
# The paper also uses a penalty, lambda sum_i (1 - sum_t alpha_ti)^2, so that every region gets its
# share of attention: `doubly_stochastic=1.0`. It is meant for captions that describe the whole
# image. In our scenes most regions are empty, and the model does not need to look at them. With the
# penalty the captions stay as good, but only half of the words look at their object most.
