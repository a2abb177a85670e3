"""The search one step at a time, on the toy alphabet of `test_search`."""

import numpy as np
import pytest
from keras import ops

from kerasnmt.decoding import SearchOptions, Stepwise
from tests.decoding.test_search import END, LENGTH, PAD, SOURCE_LENGTH, START, Toy, sequences

OPTIONS = [
    {"beam_size": 1},
    {"beam_size": 3},
    {"beam_size": 3, "length_penalty": 1.0},
    {"beam_size": 4, "coverage_penalty": 0.4, "length_penalty": 0.6},
    {"beam_size": 2, "min_length": 3, "no_repeat_ngram": 2},
    {"beam_size": 3, "max_length_ratio": 1.0, "max_length_margin": 0},
    {"samples": 1, "top_k": 3, "seed": 4},
]


def begin(toy, prefix_ids=None, **options):
    """Begin the search with sources of one."""
    steps = Stepwise(
        toy.step,
        SearchOptions(**{"max_length": LENGTH, "length_penalty": 0.0, **options}),
        end_id=END,
        pad_id=PAD,
    )
    sources = np.ones((toy.rows, SOURCE_LENGTH), "int32")
    begun = steps.begin(
        toy.states,
        {},
        ops.full((toy.rows,), START, dtype="int32"),
        ops.convert_to_tensor(sources != PAD),
        prefix_ids=prefix_ids,
        sampled_from=ops.convert_to_tensor(sources),
    )
    return steps, *begun


def stepwise(toy, prefix_ids=None, **options):
    """Yield the sequences of row 0 that are live after each step, and at last the best one."""
    steps, now, told = begin(toy, prefix_ids, **options)
    kept = [()] * told.ids.shape[1]
    while True:
        ids, parents = np.asarray(told.ids)[0].tolist(), np.asarray(told.parents)[0].tolist()
        kept = [
            kept[parent] + ((token,) if token != PAD else ())
            for token, parent in zip(ids, parents, strict=True)
        ]
        if not np.asarray(told.unfinished)[0]:
            ranks = np.asarray(told.ranks)[0]
            yield kept[ranks.argmax()], ranks.max()
            return
        yield [kept[slot] for slot in np.flatnonzero(np.asarray(told.live)[0])]
        now, told = steps.advance(now)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("seed", range(5))
def test_steps_find_what_the_search_finds_and_never_drop_it(options, seed):
    toy = Toy(rows=1, seed=seed)
    *lives, (best, score) = stepwise(toy, **options)
    whole = toy.search(**options)
    assert [best] == sequences(whole.ids[0])
    np.testing.assert_allclose(score, np.asarray(whole.scores)[0, 0], rtol=1e-6)
    for live in lives:
        assert any(best[: len(one)] == one for one in live)


def test_a_sequence_that_cannot_win_is_not_live():
    """In a beam as large as all sequences, the live ones are those that brute force leaves."""
    toy = Toy(rows=1, seed=3)
    *lives, _ = stepwise(toy, beam_size=ALL)
    everything = [*toy.all_sequences()]
    for time, live in enumerate(lives, start=1):
        begun = {one[:time] for one in everything}
        ended = [one for one in begun if one[-1] == END]
        best = max(ended, key=lambda one: toy.log_probability(0, one), default=None)
        least = -np.inf if best is None else toy.log_probability(0, best)
        expected = {
            one for one in begun if one[-1] != END and toy.log_probability(0, one) >= least
        } | ({best} if best else set())
        assert {*live} == expected


ALL = 3**LENGTH + 100


def test_an_empty_batch():
    _, _, told = begin(Toy(rows=0), beam_size=3)
    assert told.live.shape == (0, 3)
    assert told.unfinished.shape == (0,)


def test_a_forced_prefix_is_live_alone():
    lives = [*stepwise(Toy(rows=1), prefix_ids=ops.convert_to_tensor([[2, 1]]), beam_size=3)]
    assert lives[0] == [(2,)]
    assert lives[1] == [(2, 1)]
