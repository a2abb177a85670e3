import json
import os
import subprocess
import sys
import textwrap
from importlib.util import find_spec

import keras
import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.data import SavedBatches, batches, describe_batches, save_batches
from kerasnmt.text import CharacterTokenizer, WordTokenizer
from kerasnmt.zoo import luong_dot_lstm

TOKENIZER = CharacterTokenizer("abcdefgh ")
# All pairs differ. The shortest come first, so that the first batches have the same width.
WORDS = [x + y + z for x in "abcdefgh" for y in "abcde" for z in "abcde"]
PAIRS = [(word + "abc" * (n // 50), word + "c" * (n // 25)) for n, word in enumerate(WORDS)]


@pytest.fixture(scope="module")
def dataset():
    return batches(PAIRS, TOKENIZER, batch_size=8, shuffle=False, max_length=30)


@pytest.fixture(scope="module")
def path(dataset, tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "train.npz"
    save_batches(dataset, path)
    return path


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    """A dataset of four batches with two shapes, and the path of their file."""
    dataset = batches(PAIRS[84:116], TOKENIZER, batch_size=8, shuffle=False)
    path = tmp_path_factory.mktemp("saved") / "few.npz"
    save_batches(dataset, path)
    return dataset, path


def as_text(batch):
    """Return a batch, with dtypes and shapes, as a value that can be compared and sorted."""
    inputs, targets, weight = batch
    arrays = {**inputs, "targets": targets, "sample_weight": weight}
    return repr([(k, v.dtype, v.shape, v.tolist()) for k, v in sorted(arrays.items())])


def assert_same(dataset, path):
    expected = [as_text(batch) for batch in dataset.as_numpy_iterator()]
    saved = SavedBatches(path, shuffle=False)
    assert len(saved) == len(expected)
    assert sorted(as_text(batch) for batch in saved) == sorted(expected)
    return expected, [as_text(batch) for batch in saved]


def test_the_batches_of_the_dataset(dataset, path):
    expected, saved = assert_same(dataset, path)
    assert len(set(expected)) == len(expected) >= 25
    # In the order of the file, except for the second entry and the entry that it replaces.
    assert sum(one != other for one, other in zip(expected, saved, strict=True)) == 2


def test_alignments_and_extended_ids(tmp_path):
    links = [[(0, 0), (1, 0)] if n % 2 else [(0, 0)] for n in range(4)]
    words = WordTokenizer(["a", "b"])
    made = batches(
        [("a x", "x"), ("b y z", "z b"), ("a b", "a"), ("y a", "y y")],
        words,
        alignments=links,
        extended_vocabulary=True,
        batch_size=2,
        shuffle=False,
    )
    save_batches(made, tmp_path / "some.npz")
    assert_same(made, tmp_path / "some.npz")
    inputs, targets, weight = SavedBatches(tmp_path / "some.npz")[0]
    assert set(inputs) == {"source_ids", "target_ids", "extended_source_ids", "alignments"}
    assert inputs["alignments"].dtype == weight.dtype == np.float32
    assert targets.max() >= words.vocabulary_size


def test_orders_of_the_epochs(path):
    first, second, other = (SavedBatches(path, seed=seed) for seed in (1, 1, 2))
    epochs = []
    for _ in range(2):
        epochs.append([as_text(batch) for batch in first])
        assert epochs[-1] == [as_text(batch) for batch in second]
        assert epochs[-1] != [as_text(batch) for batch in other]
        for saved in (first, second, other):
            saved.on_epoch_end()
    assert epochs[0] != epochs[1]
    assert sorted(epochs[0]) == sorted(epochs[1])


@pytest.mark.parametrize("seed", range(3))
def test_the_first_two_batches_differ_in_width(path, seed):
    saved = SavedBatches(path, seed=seed)
    widths = {name: [saved[n][0][name].shape[1] for n in (0, 1)] for name in saved[0][0]}
    for name, (one, other) in widths.items():
        assert one != other, name


@pytest.mark.thorough("trains twice; test_the_batches_of_the_dataset compares the batches")
def test_tensorflow_trains_on_them_as_on_the_dataset(few):
    dataset, path = few
    histories = []
    saved = SavedBatches(path, shuffle=False)
    order = [as_text(batch) for batch in saved]
    elements = sorted(dataset.as_numpy_iterator(), key=lambda batch: order.index(as_text(batch)))
    again = tf.data.Dataset.from_generator(
        lambda: iter(elements), output_signature=dataset.element_spec
    )
    for data in (saved, again):
        keras.utils.set_random_seed(1)
        model = luong_dot_lstm(TOKENIZER, embedding_dim=4, units=4, dropout=0.0)
        model.compile(keras.optimizers.SGD(0.1), run_eagerly=True)
        histories.append(model.fit(data, epochs=2, verbose=0, shuffle=False).history)
    np.testing.assert_allclose(histories[0]["loss"], histories[1]["loss"], rtol=1e-5)
    assert histories[0]["loss"][1] < histories[0]["loss"][0]


SCRIPT = """
import json
import sys

sys.modules["tensorflow"] = sys.modules["tensorflow_text"] = None

import keras

from kerasnmt.data import SavedBatches
from kerasnmt.zoo import luong_dot_lstm

keras.utils.set_random_seed(1)
saved = SavedBatches(sys.argv[1], seed=3)
model = luong_dot_lstm(13, embedding_dim=6, units=6, dropout=0.0)
model.compile(keras.optimizers.Adam(0.03))
history = model.fit(saved, epochs=15, verbose=0, shuffle=False).history
print(json.dumps({
    "backend": keras.backend.backend(),
    "text": "kerasnmt.text" in sys.modules,
    "shapes": sorted(targets.shape for _, targets, _ in saved),
    "perplexity": history["perplexity"],
}))
"""


@pytest.mark.thorough("starts JAX and compiles; tests/models trains on JAX")
def test_without_tensorflow_a_model_fits(few):
    if find_spec("jax") is None:
        pytest.skip("jax is not installed")
    _, path = few  # each shape is compiled
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT), path],
        env={**os.environ, "KERAS_BACKEND": "jax", "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["backend"] == "jax"
    assert said["text"] is False
    assert said["shapes"] == [[8, 8], [8, 8], [8, 10], [8, 10]]
    assert said["perplexity"][-1] < said["perplexity"][0] / 2


def test_whole_or_not_at_all(dataset, tmp_path):
    path = tmp_path / "new" / "train.npz"

    def fail(*batch):
        tf.debugging.assert_equal(tf.shape(batch[1])[0], 0)
        return batch

    with pytest.raises(tf.errors.InvalidArgumentError):
        save_batches(dataset.map(fail), path)
    with pytest.raises(ValueError, match=r"at least one batch\. Received: an empty dataset"):
        save_batches(dataset.take(0), path)
    assert list(path.parent.iterdir()) == []


def test_what_cannot_be_saved(dataset, tmp_path):
    with pytest.raises(ValueError, match=r"ends with \.npz\. Received: path='train\.h5'"):
        save_batches(dataset, "train.h5")
    with pytest.raises(ValueError, match=r"Received: an infinite dataset"):
        save_batches(dataset.repeat(), tmp_path / "train.npz")
    endless = batches(PAIRS, TOKENIZER, first_epoch=0)
    for read in (describe_batches, lambda data: save_batches(data, tmp_path / "train.npz")):
        with pytest.raises(ValueError, match=r"infinite dataset\. Remove repeat\(\) and first_ep"):
            read(endless)


def test_what_cannot_be_read(tmp_path):
    files = {name: tmp_path / name for name in ("missing", "empty", "text", "npy.npy", "other.npz")}
    files["empty"].write_bytes(b"")
    files["text"].write_text("a b c\n")
    np.save(files["npy.npy"], np.zeros(3))
    np.savez(files["other.npz"], a=np.zeros(3))
    for name, path in files.items():
        with pytest.raises(ValueError, match=rf"save_batches wrote\. Received: path='.*{name}'"):
            SavedBatches(path)
