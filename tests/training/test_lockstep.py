"""Processes that read their own data have batches of the same shapes, with all their pairs."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from threading import Barrier
from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf
from rich.console import Console

from kerasnmt.text import WordTokenizer
from kerasnmt.training import Progress, Recipe
from kerasnmt.training import lockstep as module
from kerasnmt.training.batches import ShardBatches
from kerasnmt.training.corpora import Corpora
from kerasnmt.training.devices import Devices
from kerasnmt.training.lockstep import lockstep

ROWS = 2


class Together:
    """Processes in threads, which gather what `Processes` gathers."""

    def __init__(self, count):
        self.count = count
        self.values = [None] * count
        self.barrier = Barrier(count, timeout=60)

    def one(self, index):
        return One(self, index)


class One:
    """One of the processes."""

    def __init__(self, together, index):
        self.together, self.index, self.turns = together, index, 0
        self.count = together.count

    def gather(self, make):
        self.together.values[self.index] = make()
        self.together.barrier.wait()
        values = list(self.together.values)
        self.together.barrier.wait()
        self.turns += 1
        return values


def batch(number, source, target):
    """Return a batch whose ids are its number."""
    inputs = {
        "source_ids": np.full((ROWS, source), number, "int32"),
        "context_ids": np.full((ROWS, source + 2), number, "int32"),
        "target_ids": np.full((ROWS, target), number, "int32"),
    }
    return inputs, np.full((ROWS, target), number, "int32"), np.ones((ROWS, target), "float32")


def dataset(batches):
    ids = tf.TensorSpec((None, None), tf.int32)
    structure = (
        {"source_ids": ids, "context_ids": ids, "target_ids": ids},
        ids,
        tf.TensorSpec((None, None), tf.float32),
    )
    return tf.data.Dataset.from_generator(lambda: iter(batches), output_signature=structure)


def in_threads(function, count):
    """Call `function(index)` for each process at the same time, and return the results."""
    with ThreadPoolExecutor(count) as threads:
        return list(threads.map(function, range(count)))


def run(data, seed=(1, 0)):
    """Iterate in all processes at the same time, and return their batches and the processes."""
    together = Together(len(data))
    processes = [together.one(index) for index in range(len(data))]

    def iterate(index):
        return list(lockstep(dataset(data[index]), processes[index], list(seed)))

    return in_threads(iterate, len(data)), processes


def shapes(batches):
    return [(*inputs["source_ids"].shape, targets.shape[1]) for inputs, targets, _ in batches]


def numbers(batches):
    """Return the numbers of the batches, except padding, sorted."""
    return sorted(int(targets[0, 0]) for _, targets, _ in batches if targets.any())


@pytest.fixture(scope="module")
def data():
    """Batches of three processes, of two shapes; the third has fewer."""
    rng = np.random.default_rng(3)
    sizes = [40, 40, 25]
    return [
        [batch(n + 1, *[(3, 4), (5, 2)][rng.integers(2)]) for n in range(size)] for size in sizes
    ]


NUMBERS = pytest.mark.thorough("takes other turns")
FURTHER_NUMBERS = (7, 1000), (1, 1000), (5, 1), (64, 1)


@pytest.mark.parametrize(
    ("turn", "waiting"),
    [(64, 1000), (7, 10), *(pytest.param(*numbers, marks=NUMBERS) for numbers in FURTHER_NUMBERS)],
)
def test_shapes_are_equal_and_each_batch_comes_once(monkeypatch, data, turn, waiting):
    monkeypatch.setattr(module, "_TURN", turn)
    monkeypatch.setattr(module, "_MOST_WAITING", waiting)
    found, _ = run(data)
    assert shapes(found[0]) == shapes(found[1]) == shapes(found[2])
    for batches, own in zip(found, data, strict=True):
        assert numbers(batches) == [n + 1 for n in range(len(own))]
    if waiting == 1000:  # no batch of padding more than needed
        counts = [Counter(shapes(own)) for own in data]
        assert Counter(shapes(found[0])) == counts[0] | counts[1] | counts[2]


def test_padding_has_no_weight(monkeypatch, data):
    found, _ = run(data)
    padding = [one for one in found[2] if not one[1].any()]
    assert len(padding) == len(found[0]) - 25
    for inputs, targets, weights in padding:
        assert not weights.any() and not inputs["source_ids"].any()
        assert inputs["context_ids"].shape == (ROWS, inputs["source_ids"].shape[1] + 2)
        assert targets.dtype == inputs["target_ids"].dtype == "int32"
        assert weights.dtype == "float32"


def test_the_order_depends_on_the_seed_alone(data):
    orders = [shapes(run(data, seed)[0][0]) for seed in ((1, 0), (1, 0), (1, 1), (2, 0))]
    assert orders[0] == orders[1]
    assert orders[0] != orders[2] and orders[0] != orders[3]


def test_few_batches_wait(monkeypatch):
    """One process has only short sentences at first, the other only long ones."""
    monkeypatch.setattr(module, "_TURN", 4)
    monkeypatch.setattr(module, "_MOST_WAITING", 20)
    short, long = ([batch(n + 1, *shape) for n in range(30)] for shape in ((3, 3), (9, 9)))
    found, processes = run([short + long, long + short])
    assert [numbers(batches) for batches in found] == [sorted([*range(1, 31)] * 2)] * 2
    assert shapes(found[0]) == shapes(found[1])
    # Up to 20 rows wait, and a turn adds 8: 14 batches of each side go out before others come.
    assert len(found[0]) > 60
    assert processes[0].turns == processes[1].turns


def test_an_empty_part(data):
    found, _ = run([data[0], []])
    assert len(found[1]) == len(found[0]) == 40
    assert not any(targets.any() for _, targets, _ in found[1])
    assert run([[], []])[0] == [[], []]


RECIPE = """
model: {name: bahdanau_gru}
tokenizer: {shared: {kind: words, vocabulary_size: 60}}
data: {train: {pairs: shard-*.tsv}, validation: {builtin: 4}}
training: {batch_size: 4, few_shapes: false, word_dropout: 0.1}
"""


def test_all_epochs_have_the_same_number_of_batches(tmp_path):
    """Without few shapes, the shapes of an epoch depend on its order."""
    (tmp_path / "recipe.yaml").write_text(RECIPE)
    rng = np.random.default_rng(1)
    for number in range(2):
        sides = (rng.choice(["a", "b", "c"], rng.integers(1, 8)) for _ in range(150))
        lines = (f"{' '.join(words)}\t{' '.join(words)}\n" for words in sides)
        (tmp_path / f"shard-{number}.tsv").write_text("".join(lines))
    recipe = Recipe.load(tmp_path / "recipe.yaml")
    tokenizer = WordTokenizer.train(["a b c"])
    model = SimpleNamespace(source_tokenizer=tokenizer, target_tokenizer=tokenizer, copies=False)
    together = Together(2)

    def read(index):
        process = together.one(index)
        batches = ShardBatches(recipe, Corpora(recipe.data, process), model)
        size = batches.statistics(Console(quiet=True)).batches
        whole = list(islice(batches.rest(Progress(), size, Devices()), 2 * size))
        later = list(islice(batches.rest(Progress(1, 5), size, Devices()), size - 5))
        return size, whole, later

    (size, *one), (_, *other) = in_threads(read, 2)
    for mine, others in zip(one, other, strict=True):
        assert shapes(mine) == shapes(others)
    for whole, later in (one, other):
        for left, right in zip(whole[size + 5 :], later, strict=True):
            np.testing.assert_array_equal(left[0]["source_ids"], right[0]["source_ids"])
