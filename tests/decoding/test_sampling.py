"""The frequencies of samples, and what they depend on."""

from collections import Counter

import numpy as np
import pytest
from keras import ops

from kerasnmt.decoding import SearchOptions, search
from kerasnmt.decoding.random_numbers import row_keys, uniforms

END, START, PAD, ROWS = 3, 4, 0, 4000
FIRST = np.array([0.0, 0.5, 0.3, 0.2])  # of tokens 0 to 3; what follows depends on the first
SECOND = np.array([[0.25] * 4, [0.0, 0.1, 0.0, 0.9], [0.0, 0.6, 0.2, 0.2], [0.25] * 4])
SOURCES = np.stack([np.arange(ROWS) + 5, np.full(ROWS, 3)], axis=1).astype("int32")


def step(ids, states, memory):
    log = np.log(np.maximum(np.concatenate([SECOND, FIRST[None]]), 1e-30))
    # Ids 0 to 3, and the start as row 4; after the second token comes the end.
    table = np.concatenate([log, np.log([[1e-30, 1e-30, 1e-30, 1.0]])])
    row = ops.where(states["time"] > 1, 5, ids)
    log_probabilities = ops.take(ops.convert_to_tensor(table, "float32"), row, axis=0)
    return log_probabilities, {"time": states["time"]}, {"time": states["time"] + 1}


def draw(sources=SOURCES, never_ids=(), **options):
    n_best = options.get("samples", 1)
    found = search(
        step,
        {"time": ops.zeros((len(sources),), dtype="int32")},
        {},
        ops.full((len(sources),), START, dtype="int32"),
        ops.convert_to_tensor(sources != PAD),
        SearchOptions(**{"samples": 1, "max_length": 4, "length_penalty": 0.0, **options}),
        end_id=END,
        pad_id=PAD,
        never_ids=never_ids,
        n_best=n_best,
        sampled_from=ops.convert_to_tensor(sources),
    )
    return np.array(found.ids), np.array(found.scores), found.records


def close(counts, expected):
    """Return whether counts of ROWS draws fit probabilities, within four standard deviations."""
    assert set(counts) <= set(expected)
    for outcome, probability in expected.items():
        deviation = 4 * np.sqrt(ROWS * probability * (1 - probability)) + 1e-9
        assert abs(counts[outcome] - ROWS * probability) <= deviation, outcome


def sharpened(probabilities, temperature=1.0, kept=None):
    powered = np.where(probabilities > 0, probabilities ** (1 / temperature), 0.0)
    if kept is not None:
        powered[[i for i in range(4) if i not in kept]] = 0.0
    return powered / powered.sum()


@pytest.mark.parametrize(
    ("options", "first", "second_of_2"),
    [
        ({}, FIRST, SECOND[2]),
        ({"seed": 9}, FIRST, SECOND[2]),
        ({"temperature": 0.5}, sharpened(FIRST, 0.5), sharpened(SECOND[2], 0.5)),
        ({"temperature": 2.0}, sharpened(FIRST, 2.0), sharpened(SECOND[2], 2.0)),
        ({"top_k": 2}, sharpened(FIRST, kept=[1, 2]), sharpened(SECOND[2], kept=[1, 2])),
        ({"top_k": 9}, FIRST, SECOND[2]),
        # 0.5 is less than 0.59, 0.5 and 0.3 are more; the one token of 0.6 is enough.
        ({"top_p": 0.59}, sharpened(FIRST, kept=[1, 2]), sharpened(SECOND[2], kept=[1])),
        ({"top_k": 2, "top_p": 0.01}, np.eye(4)[1], None),
    ],
    ids=str,
)
def test_frequencies(options, first, second_of_2):
    ids, scores, _ = draw(**options)
    ids = ids[:, 0]
    close(Counter(ids[:, 0].tolist()), {t: p for t, p in enumerate(first) if p})
    if second_of_2 is not None:
        drawn = ids[ids[:, 0] == 2, 1]
        frequencies = np.bincount(drawn, minlength=4) / len(drawn)
        np.testing.assert_allclose(frequencies, second_of_2, atol=4 * 0.5 / np.sqrt(len(drawn)))
    for row in range(20):  # the score is the model's own, whatever the temperature
        own = np.log(FIRST[ids[row, 0]])
        own += 0.0 if ids[row, 0] == END else np.log(SECOND[ids[row, 0], ids[row, 1]])
        np.testing.assert_allclose(scores[row, 0], own, rtol=1e-5)


def test_a_high_temperature_draws_nothing_impossible():
    """The temperature would make a log-probability of -1e9 as likely as any other."""
    ids, _, _ = draw(never_ids=(0, 1), temperature=1e10)
    close(Counter(ids[:, 0, 0].tolist()), {2: 0.5, 3: 0.5})


def test_a_sample_depends_on_seed_and_source_alone():
    ids, scores, _ = draw()
    again, _, _ = draw()
    np.testing.assert_array_equal(ids, again)
    other, _, _ = draw(seed=1)
    assert 0.2 < np.mean(np.any(ids != other, axis=-1)) < 0.9
    backwards, _, _ = draw(SOURCES[::-1])
    np.testing.assert_array_equal(backwards, ids[::-1])
    padded = np.pad(SOURCES, ((0, 0), (0, 3)))
    np.testing.assert_array_equal(draw(padded)[0], ids)
    for row in range(5):
        alone, score, _ = draw(SOURCES[row : row + 1])
        np.testing.assert_array_equal(alone[0], ids[row])
        np.testing.assert_allclose(score[0], scores[row], rtol=1e-6)


def test_several_samples_are_merged_and_ranked():
    ids, scores, records = draw(SOURCES[:50], samples=12)
    assert ids.shape == (50, 12, 4)
    absent = 0
    for row in range(50):
        sequences = [tuple(sequence) for sequence in ids[row].tolist() if any(sequence)]
        assert len(set(sequences)) == len(sequences) > 1
        missing = 12 - len(sequences)
        assert not ids[row, 12 - missing :].any()
        assert np.all(scores[row, 12 - missing :] == np.float32(-1e9))
        assert np.all(np.diff(scores[row]) <= 0)
        for place, sequence in enumerate(sequences):
            length = sequence.index(END) + 1
            steps = [*range(length), *[0] * (4 - length)]
            assert np.array(records["time"])[row, place].tolist() == steps
        absent += missing
    assert absent > 0


def test_numbers_are_uniform_and_differ():
    keys = row_keys(ops.convert_to_tensor(SOURCES[:1000]), PAD)
    numbers = np.array(uniforms(keys, 3, (4, 25)), "float64")
    assert numbers.shape == (1000, 4, 25)
    assert numbers.min() >= 0.0 and numbers.max() < 1.0
    flat = numbers.reshape(-1)
    assert len(np.unique(flat)) > 0.99 * flat.size
    # Standard deviations of the mean and of the variance of 100,000 uniform numbers.
    assert abs(flat.mean() - 0.5) < 4 * np.sqrt(1 / 12 / flat.size)
    assert abs(flat.var() - 1 / 12) < 4 * np.sqrt(1 / 180 / flat.size)
    assert flat[np.argsort(flat)][::10_000].round(2).tolist() == [k / 10 for k in range(10)]
    for one, other in (  # next to each other: in time, of samples, of sources, of seeds
        (numbers[:, :, 1:], numbers[:, :, :-1]),
        (numbers[:, 1:], numbers[:, :-1]),
        (numbers[1:], numbers[:-1]),
        (numbers, np.array(uniforms(keys, 4, (4, 25)), "float64")),
    ):
        correlation = np.corrcoef(one.reshape(-1), other.reshape(-1))[0, 1]
        assert abs(correlation) < 4 / np.sqrt(one.size)
    # The places of ids count.
    turned = row_keys(ops.convert_to_tensor(SOURCES[:, ::-1].copy()), PAD)
    assert not np.any(np.array(turned)[:1000] == np.array(keys))
