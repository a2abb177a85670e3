# %% [markdown]
# # 7. Captions, and where the model looks
#
# Show, attend and tell (Xu et al., 2015): a decoder that attends not to words but to the regions
# of an image. We draw scenes of coloured shapes, train a model to describe them, and see where it
# looks at each word. As we drew the scenes, we know where it should.
#
# Run it as a script, or cell by cell in an editor that knows `# %%`. It trains one small model,
# some two minutes on one core; with `KERASNMT_SMALL=1` in the environment it runs on little data,
# to show that it runs.

# %%
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
# One to three shapes on a grid of 4 by 4 cells, in images of 64 by 64 pixels. A scene has one right
# caption in each language, and says which word names which of its objects. No scene of "test" is
# among those of "train".

# %%
scenes = builtin_scenes(200 if small else 8000)
test = builtin_scenes(20 if small else 500, "test")
for scene in test[:3]:
    print(scene.captions["en"].text, "|", scene.captions["de"].text)
scene = test[0]
print("image", scene.image.shape, scene.image.dtype)
print("objects", *scene.objects, sep="\n  ")
print("the words name", scene.captions["de"].named)

# %% [markdown]
# We take the German captions, because a German article has to know its noun: "ein Kreis" but "eine
# Raute", "von einem Kreis" but "von einer Raute". So the model has to have looked before it writes
# the article, where an English one could wait.
#
# ## The model
# Four convolutions halve the image four times: 4 by 4 regions are left, each with 64 features a_i,
# and each told by a learned vector where it is. At each word the decoder asks them with its state,
#
#     e_i = v · tanh(W a_i + U h + b),    alpha = softmax(e),    z = beta sum_i alpha_i a_i
#
# where the gate beta = sigmoid(f(h)) says how much of what it sees the word needs. The LSTM hears z
# with the word before; its first states come from the mean of the regions. It is the decoder of the
# translators with the gate added: training, search and export are theirs.

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
model.fit(data, epochs=epochs, verbose=2, shuffle=False)

# %% [markdown]
# ## Does it say what is there?
# A caption counts only where every word is right.

# %%
found = model.caption([scene.image for scene in test], beam_size=1, max_length=30)
right = [one == scene.captions[language].text for one, scene in zip(found, test, strict=True)]
print(f"{np.mean(right):.1%} of {len(test)} captions are exact")
for one, scene in zip(found[:3], test, strict=False):
    print(f"  {one}   (right: {scene.captions[language].text})")

# %% [markdown]
# ## Does it look at what it says?
# Nobody told it where to look: it learned from captions alone. `model.attend` gives the weights for
# given captions, a row for each word; we ask for the words that name an object, colours and shapes,
# whether the region of the largest weight is the object's.

# %%
test_pairs = [(scene.image, scene.captions[language].text) for scene in test]
looks = []
for inputs, _, _ in caption_batches(test_pairs, tokenizer, batch_size=50, shuffle=False):
    looks += list(np.asarray(model.attend(inputs)["weights"]))
hits = {"colours": [], "shapes": []}
for scene, weights in zip(test, looks, strict=True):
    regions = scene.regions(*model.encoder.grid)
    before = None
    for word, named in enumerate(scene.captions[language].named):
        if named is not None:
            kind = "colours" if before is None else "shapes"
            hits[kind].append(regions[named, weights[word].argmax()])
        before = named
for kind, hit in hits.items():
    print(f"of {len(hit)} {kind} {np.mean(hit):.1%} look at their object most")

# %% [markdown]
# A picture for a scene with three objects: the image is lit where the word looks, the number is
# the largest weight, and the frame is the object that the word names. Where a word follows from
# those before it, the model may look ahead: of our shapes only "Raute" is feminine, so after
# "einer" there is nothing left to see.

# %%
place = max(range(len(test)), key=lambda place: (len(test[place].objects), -place))
scene, caption = test[place], test[place].captions[language]
shown = caption.text.split()
marked = np.zeros((len(shown), np.prod(model.encoder.grid)), bool)
for word, named in enumerate(caption.named):
    if named is not None:
        marked[word] = scene.regions(*model.encoder.grid)[named]
picture = folder / "looks.png"
image_attention_figure(
    scene.image,
    looks[place][: len(shown)],
    shown,
    model.encoder.grid,
    caption.text,
    marked=marked,
).savefig(picture)
print(picture)

# %% [markdown]
# ## Its own words
# In search the weights come with what is found, for captions that nobody gave.

# %%
beam = model.search(
    {"images": scene.image[None]}, beam_size=3, n_best=3, max_length=30, with_records=True
)
for text, score in zip(tokenizer.detokenize(beam.ids[0]).numpy(), beam.scores[0], strict=True):
    print(f"{float(score):7.2f}  {text.decode()}")
print("weights", beam.records["weights"].shape, "(batch, beam, words, regions)")

# %% [markdown]
# ## Files
# `caption` and the export decode PNG and JPEG in graph and stretch any size to the model's. What
# cannot be read has an empty caption, and spoils no other. A model for a server is one line,
# `model.export("saved_models/captions/1")`, and `kerasnmt check` proves it, with broken files among
# its requests.

# %%
import tensorflow as tf

png = tf.io.encode_png(scene.image).numpy()
jpeg = tf.io.encode_jpeg(np.kron(scene.image, np.ones((3, 3, 1), "uint8"))).numpy()
print(model.caption([png, jpeg, b"no image"], beam_size=1, max_length=30))

# %% [markdown]
# ## Photographs
# The small network above is for small scenes. For photographs take one that was trained to name
# what they show, and leave its weights as they are, as the paper does:
#
#     backbone = keras.applications.EfficientNetV2B0(include_top=False, input_shape=(224, 224, 3))
#     backbone.trainable = False
#     model = show_attend_tell_lstm(tokenizer, backbone=backbone, units=512)
#
# The paper has one thing more, a penalty lambda sum_i (1 - sum_t alpha_ti)^2 by which every region
# gets its share of looks: `doubly_stochastic=1.0`. It is for captions about all of an image. In our
# scenes most regions are empty, and there is no need to look at them: with it the captions stay
# as good, but only half of the words look at their object most.
