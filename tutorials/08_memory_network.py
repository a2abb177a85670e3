# %% [markdown]
# # 8. Questions about stories, and where the hops look
#
# An end-to-end memory network (Sukhbaatar et al., 2015) answers questions about a story in several
# hops. Each hop attends to the sentences of the story and adds what it reads to the question. We
# write stories in which an answer follows from one or two sentences, train a network on questions
# and answers alone, and check whether its attention finds these sentences.
#
# Open it as a notebook (`.ipynb`), or run it as a script (`.py`). It trains one small model, in
# about a minute on one core. With `KERASNMT_SMALL=1` in the environment it runs on very little
# data, as a quick check.

# %%
# %matplotlib inline
import os
import tempfile
from pathlib import Path
from random import Random

import keras
import numpy as np
import tensorflow as tf

from kerasnmt.data import read_babi, story_batches
from kerasnmt.text import PlainWordTokenizer
from kerasnmt.training import Adam, LinearStart
from kerasnmt.viz import memory_figure
from kerasnmt.zoo import memory_network

small = os.environ.get("KERASNMT_SMALL") == "1"
folder = Path(tempfile.mkdtemp(prefix="kerasnmt-"))

# %% [markdown]
# ## Stories
# People walk between rooms and pass a bottle of milk around. A person's room follows from one
# sentence, the last walk. The place of the milk follows from two: who got it last, and where that
# person went last. The files have the format of the bAbI tasks (Weston et al., 2015). Each line has
# its number in the story. A question also has its answer and the numbers of its supporting
# sentences. (The network does not see these numbers. We compare its attention with them.)

# %%
PEOPLE = ["Mary", "John", "Sandra", "Daniel"]
ROOMS = ["kitchen", "garden", "office", "hallway", "bathroom"]


def story(random, events=10):
    """Return the lines of a story, with two questions after every five events."""
    lines, walked, holder, got = [], {}, None, None

    def add(text):
        lines.append(f"{len(lines) + 1} {text}")
        return len(lines)

    def walk(person):
        room = random.choice(ROOMS)
        walked[person] = room, add(f"{person} went to the {room}.")

    for number in range(1, events + 1):
        person = random.choice(PEOPLE)
        if number > 1 and holder is None:
            holder = random.choice(list(walked))
            got = add(f"{holder} took the milk.")
        elif number > 1 and person != holder and person in walked and random.random() < 0.5:
            got = add(f"{holder} gave the milk to {person}.")
            holder = person
        else:
            walk(person)
        if number % 5 == 0:
            asked = random.choice(list(walked))
            room, line = walked[asked]
            add(f"Where is {asked}? \t{room}\t{line}")
            room, line = walked[holder]
            add(f"Where is the milk? \t{room}\t{got} {line}")
    return lines


for split, seed, count in (("train", 1, 60 if small else 2000), ("test", 2, 10 if small else 250)):
    random = Random(seed)
    lines = [line for _ in range(count) for line in story(random)]
    (folder / f"{split}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
print("\n".join(lines[-14:]))

# %%
train, test = read_babi(folder / "train.txt"), read_babi(folder / "test.txt")
print(len(train), "questions to learn from,", len(test), "to test with; one of them:")
one = test[3]
print("", *one.story, one.question, one.answer, sep="\n  ")
print("  supporting sentences, counted from 0:", *one.supporting)

# %% [markdown]
# ## The network
# Each sentence i becomes two vectors, a key m_i and a value c_i. Each is a sum of word embeddings
# in which the position of a word counts ("John gave the milk to Mary" is not "Mary gave the milk to
# John"), plus a vector for the age of the sentence. The question becomes u. A hop is attention:
#
#     p_i = softmax_i(u · m_i),    o = sum_i p_i c_i,    u <- u + o
#
# After the last hop, the answer is the word nearest to u. Every hop has its own embeddings, tied to
# those of its neighbors: the values of one hop are the keys of the next. The memory has
# `max_sentences` places. Places that a story leaves empty have the score 0, and hold nothing.
#
# The softmax makes such a network hard to train from scratch: if the first hop looks at the wrong
# sentences, the second has nothing to build on. In a *linear start* the hops have no softmax, and
# p_i = u · m_i. When the validation loss stops falling, a callback switches the softmax on.

# %%
keras.utils.set_random_seed(1)
tokenizer = PlainWordTokenizer.train(text for one in train for text in one.texts)
model = memory_network(tokenizer, embedding_dim=20, hops=3, max_sentences=20)
print(f"{tokenizer.vocabulary_size} words, {model.count_params():,} weights")
epochs = 3 if small else 40
kept = len(train) * 9 // 10
data = story_batches(train[:kept], tokenizer, batch_size=32, seed=1)
validation = story_batches(train[kept:], tokenizer, batch_size=200, shuffle=False)
steps = epochs * len(data)
model.compile(Adam(keras.optimizers.schedules.CosineDecay(0.005, steps), global_clipnorm=1.0))
start = LinearStart(max_epochs=1 if small else 10)
history = model.fit(
    data, validation_data=validation, epochs=epochs, verbose=2, shuffle=False, callbacks=[start]
).history
print("the softmax came in after epoch", start.ended)

# %% [markdown]
# ## Are the answers right?
# A guess is right one time in five. The room of the last walk is right more often, because the
# question may ask about this walk.

# %%
answers = model.answer([one.story for one in test], [one.question for one in test])
right = np.array([answer == one.answer for answer, one in zip(answers, test, strict=True)])
facts = np.array([len(one.supporting) for one in test])
last_walk = [
    [line for line in one.story if "went" in line][-1].endswith(f"{one.answer}.") for one in test
]
print(f"the room of the last walk: {np.mean(last_walk):.1%} right")
for count, name in ((1, "Where is Mary?"), (2, "Where is the milk?")):
    share = right[facts == count].mean()
    print(f"{name:20} {count} supporting: {share:.1%} of {np.sum(facts == count)} right")

# %% [markdown]
# ## Where does each hop look?
# `model.attend` returns p for every hop. For the questions about the milk, we count where each hop
# has its largest weight: on the sentence that says who got the milk, on that person's walk, or on
# another sentence.

# %%
milk = [one for one in test if len(one.supporting) == 2]
((inputs, _, _),) = story_batches(milk, tokenizer, batch_size=len(milk), shuffle=False)
looks = np.asarray(model.attend(inputs))
print("questions, hops, sentences:", looks.shape)
on_sentences = looks.sum(axis=2).mean(axis=0)
print(
    "on empty places:", *(f"hop {hop} {1 - share:.1%}" for hop, share in enumerate(on_sentences, 1))
)
most = looks.argmax(axis=2)
got, walked = np.array([one.supporting for one in milk]).T
print("      who got it  where that one went  elsewhere")
for hop in range(most.shape[1]):
    who, where = np.mean(most[:, hop] == got), np.mean(most[:, hop] == walked)
    print(f"hop {hop + 1} {who:10.1%} {where:20.1%} {1 - who - where:10.1%}")

# %% [markdown]
# Nobody told the hops what to do, but in a full run they divide the work. The second finds who got
# the milk, which turns the question into one about that person. The last finds that person's last
# walk.
#
# The picture shows one story, with a column for each hop. Triangles mark the supporting sentences.

# %%
place = max(
    range(len(milk)), key=lambda place: (len(milk[place].story), got[place] < walked[place])
)
one = milk[place]
figure = memory_figure(
    looks[place, :, : len(one.story)],
    one.story,
    f"{one.question} {model.answer([one.story], [one.question])[0]}",
    supporting=one.supporting,
)
figure.savefig(folder / "hops.png")
print(folder / "hops.png")
figure

# %% [markdown]
# ## Ask an export
# The SavedModel takes two strings: a story with one sentence per line, and a question. It returns
# the answer and its log-probability. `kerasnmt check` tests it for TF Serving, and `kerasnmt serve`
# answers over REST.

# %%
served = tf.saved_model.load(model.export(str(folder / "stories" / "1")))
stories = ["John went to the office.\nMary went to the garden.\nJohn took the milk."] * 2
stories[1] += "\nJohn gave the milk to Mary."
found = served.signatures["serving_default"](
    story=tf.constant(stories), question=tf.constant(["Where is the milk?"] * 2)
)
for answer, score in zip(found["answer"].numpy(), found["score"].numpy(), strict=True):
    print(f"{answer.decode():10} probability {np.exp(score):.2f}")

# %% [markdown]
# ## All of bAbI
# `zoo/memory_network_babi/reproduce.py` trains one network on all twenty bAbI tasks, with the sizes
# of the paper and the schedule of its authors' code.
