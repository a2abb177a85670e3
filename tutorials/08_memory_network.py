# %% [markdown]
# # 8. Questions about stories, and where the hops look
#
# An end-to-end memory network (Sukhbaatar et al., 2015): a question looks into a story, is changed
# by what it read there, and looks again. We write stories in which an answer follows from one
# sentence or from two, train a network on questions and answers alone, and see whether its looks
# find these sentences.
#
# Run it as a script, or cell by cell in an editor that knows `# %%`. It trains one small model, for
# a minute or so on one core; with `KERASNMT_SMALL=1` in the environment it runs on little data, to
# show that it runs.

# %%
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
# People walk between rooms, and pass a bottle of milk around. Where somebody is follows from one
# sentence, the last walk. Where the milk is follows from two: who got it last, and where that one
# went last. The files have the format of the bAbI tasks (Weston et al., 2015): each line has its
# number in the story, and a question has its answer and the numbers of the sentences that it
# follows from. (The network is not told these. We shall compare its looks with them.)

# %%
PEOPLE = ["Mary", "John", "Sandra", "Daniel"]
ROOMS = ["kitchen", "garden", "office", "hallway", "bathroom"]


def story(random, events=10):
    """The lines of a story, with two questions after every five things that happen."""
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
print(*test[3], sep="\n  ")

# %% [markdown]
# ## The network
# Each sentence i becomes two vectors, a key m_i and a value c_i: sums of its words' embeddings, in
# which the word's place counts ("John gave the milk to Mary" is not "Mary gave the milk to John"),
# and a vector for the sentence's age is added. The question becomes u. A hop is attention:
#
#     p_i = softmax_i(u · m_i),    o = sum_i p_i c_i,    u <- u + o
#
# and after the last one the word nearest to u answers. Every hop has embeddings of its own, tied
# to its neighbours': the values of one hop are the keys of the next. The memory has as many places
# as `max_sentences`; those that a story leaves empty have the score 0, and hold nothing.
#
# The softmax makes such a network hard to train from nothing: if the first hop looks at the wrong
# sentences, the second has nothing to go on. In a *linear start* the hops have no softmax, and
# p_i = u · m_i, until the loss on other data stops falling; then it is put in, by a callback.

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
# ## Does it know?
# By chance one of five answers is right. To name the room of the last walk is right more often, as
# this may be the walk that was asked about.

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
# `model.attend` returns p for every hop. For the questions about the milk we count how often each
# hop looks most at the sentence that says who got it, at the walk of that one, or at another.

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
# Nobody told it to, but in a full run the hops divide the work: the second finds who got the milk,
# which makes of the question one about that person, and the last finds that one's last walk.
#
# A picture of one story, a column for each hop; the sentences that the answer follows from are
# marked with a triangle.

# %%
place = max(
    range(len(milk)), key=lambda place: (len(milk[place].story), got[place] < walked[place])
)
one = milk[place]
picture = folder / "hops.png"
memory_figure(
    looks[place, :, : len(one.story)],
    one.story,
    f"{one.question} {model.answer([one.story], [one.question])[0]}",
    supporting=one.supporting,
).savefig(picture)
print(picture)

# %% [markdown]
# ## Asking an export
# The SavedModel takes a story, a sentence a line, and a question, both strings, and returns the
# answer and its log-probability. `kerasnmt check` proves it for TF Serving, and
# `kerasnmt serve` answers over REST.

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
# `zoo/memory_network_babi/reproduce.py` trains one network on the twenty bAbI tasks together, with
# the paper's sizes and the schedule of its authors' code.
