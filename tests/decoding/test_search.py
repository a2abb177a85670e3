"""Both searches with a toy alphabet, whose sequences can all be enumerated."""

import itertools

import numpy as np
import pytest
import tensorflow as tf
from keras import ops

from kerasnmt.decoding import SearchOptions, length_penalty, search
from kerasnmt.decoding.penalties import coverage_penalty

ALPHABET, END, START, PAD, LENGTH = 4, 3, 4, -1, 5
SOURCE_LENGTH = 3
NODES = sum(ALPHABET**depth for depth in range(LENGTH + 1))
IMPOSSIBLE = -1e9


class Toy:
    """Random log-probabilities of the next token, which differ for each prefix and each row.

    A prefix is a node of a tree. The children of node n are 4 n + 1, ..., 4 n + 4.
    """

    def __init__(self, rows=3, seed=0, spread=1.5, end_bias=0.0):
        logits = spread * np.random.default_rng(seed).normal(size=(rows, NODES, ALPHABET))
        logits[..., END] += end_bias
        self.table = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
        attention = np.random.default_rng(seed + 100).uniform(size=(rows, NODES, SOURCE_LENGTH))
        attention = attention**4  # some words are hardly looked at
        self.attention = attention / attention.sum(-1, keepdims=True)
        self.rows = rows
        self.calls = 0

    def step(self, ids, states, memory):
        self.calls += 1
        node = ops.where(ids == START, 0, ALPHABET * states["node"] + ids + 1)
        node = ops.minimum(ops.maximum(node, 0), NODES - 1)  # where a sequence has ended
        table = ops.convert_to_tensor(self.table.reshape(-1, ALPHABET), "float32")
        log_probabilities = ops.take(table, states["row"] * NODES + node, axis=0)
        attention = ops.convert_to_tensor(self.attention.reshape(-1, SOURCE_LENGTH), "float32")
        records = {
            "node": node,
            "pair": ops.stack([node, states["row"]], axis=-1),
            "weights": ops.take(attention, states["row"] * NODES + node, axis=0),
        }
        return log_probabilities, records, {"node": node, "row": states["row"]}

    @property
    def states(self):
        rows = np.arange(self.rows, dtype="int32")
        return {"node": ops.convert_to_tensor(0 * rows), "row": ops.convert_to_tensor(rows)}

    def search(
        self,
        n_best=1,
        prefix_ids=None,
        sources=None,
        with_records=True,
        with_tree=False,
        terms=None,
        **options,
    ):
        start = ops.full((self.rows,), START, dtype="int32")
        sources = np.ones((self.rows, SOURCE_LENGTH), "int32") if sources is None else sources
        return search(
            self.step,
            self.states,
            {},
            start,
            ops.convert_to_tensor(sources != PAD),
            SearchOptions(**{"max_length": LENGTH, "length_penalty": 0.0, **options}),
            end_id=END,
            pad_id=PAD,
            n_best=n_best,
            prefix_ids=prefix_ids,
            terms=terms,
            with_records=with_records,
            with_tree=with_tree,
            sampled_from=ops.convert_to_tensor(sources),
        )

    def beam(self, **options):
        return self.search(**options)

    def greedy(self, **options):
        return self.search(beam_size=1, **options)

    def log_probability(self, row, sequence):
        node, total = 0, 0.0
        for token in sequence:
            total += self.table[row, node, token]
            node = ALPHABET * node + token + 1
        return total

    def all_sequences(self, max_length=LENGTH):
        for length in range(1, max_length + 1):
            for sequence in itertools.product(range(ALPHABET), repeat=length):
                ended = sequence[-1] == END
                if END not in sequence[:-1] and (ended or length == max_length):
                    yield sequence


def penalised(score, length, alpha):
    return score / ((5 + length) / 6) ** alpha


def sequences(ids):
    """Return the sequences of one row, without padding."""
    return [tuple(token for token in row if token != PAD) for row in np.asarray(ids).tolist()]


def ranked(toy, row, found, alpha):
    scored = [(penalised(toy.log_probability(row, s), len(s), alpha), s) for s in found]
    return sorted(scored, reverse=True)


def python_beam(toy, row, beam_size, alpha, max_length=LENGTH):
    """Beam search in plain Python, where ended sequences keep their places."""
    beam = [()]
    for _ in range(max_length):
        ended = [s for s in beam if s and s[-1] == END]
        longer = [(*s, t) for s in beam if s not in ended for t in range(ALPHABET)]
        longer.sort(key=lambda s: toy.log_probability(row, s), reverse=True)
        beam = ended + longer[: beam_size - len(ended)]
    return ranked(toy, row, beam, alpha)


def test_length_penalty_by_hand():
    # (5 + 1) / 6 = 1, (5 + 7) / 6 = 2, (5 + 19) / 6 = 4.
    lengths = np.array([1, 7, 19])
    np.testing.assert_allclose(length_penalty(lengths, 0.0), [1, 1, 1])
    np.testing.assert_allclose(length_penalty(lengths, 1.0), [1, 2, 4])
    np.testing.assert_allclose(length_penalty(lengths, 0.5), [1, 2**0.5, 2], rtol=1e-6)
    plain = length_penalty(np.array([1, 4, 9]), 0.5, "length")
    np.testing.assert_allclose(plain, [1, 2, 3], rtol=1e-6)


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0, 3.0])
def test_wide_beam_equals_brute_force(alpha):
    toy = Toy(seed=1)
    everything = list(toy.all_sequences())
    assert len(everything) == 1 + 3 + 9 + 27 + 81 + 243
    beam_size = len(everything) + 6  # six places stay empty
    found = toy.beam(beam_size=beam_size, n_best=beam_size, length_penalty=alpha)
    assert found.ids.shape == (3, beam_size, LENGTH)
    for row in range(3):
        scores, expected = zip(*ranked(toy, row, everything, alpha), strict=True)
        received = sequences(found.ids[row])
        assert sorted(received[:-6]) == sorted(expected)  # each once
        # float32 may swap two whose scores are the same to seven digits.
        np.testing.assert_allclose(found.scores[row, :-6], scores, rtol=1e-5)
        assert received[:20] == list(expected[:20])
        assert np.all(np.diff(found.scores[row]) <= 0)
        np.testing.assert_array_equal(found.scores[row, -6:], np.float32(IMPOSSIBLE))
        assert received[-6:] == [()] * 6
        assert not np.any(found.records["pair"][row, -6:])


# The third source is padded.
SOURCES = np.array([[7, 8, 9], [7, 7, 9], [8, 9, PAD]], "int32")
PREFIXES = np.array([[0, 1, PAD], [2, PAD, PAD], [PAD, PAD, PAD]], "int32")
CONSTRAINTS = {
    "length": {"length_penalty": 1.0, "length_normalization": "length"},
    "coverage": {"length_penalty": 0.6, "coverage_penalty": 0.7},
    "min_length": {"min_length": 3},
    "max_length_ratio": {"max_length_ratio": 1.5, "max_length_margin": 0, "length_penalty": 1.0},
    "no_repeat_1": {"no_repeat_ngram": 1},
    "no_repeat_2": {"no_repeat_ngram": 2, "length_penalty": 1.0},
    "no_repeat_3": {"no_repeat_ngram": 3},
    "prefix": {"prefix": True, "length_penalty": 1.0},
    "all": {
        "prefix": True,
        "no_repeat_ngram": 2,
        "min_length": 3,
        "max_length_ratio": 1.5,
        "max_length_margin": 1,
        "coverage_penalty": 0.3,
        "length_penalty": 0.8,
        "length_normalization": "length",
    },
}


def brute_force(toy, row, options):
    """Return all sequences that the options allow, with their scores, best first."""
    source = SOURCES[row] != PAD
    limit = LENGTH
    if "max_length_ratio" in options:
        tokens = options["max_length_ratio"] * source.sum() + options["max_length_margin"]
        limit = min(LENGTH, int(np.ceil(tokens)))
    prefix = tuple(t for t in PREFIXES[row].tolist() if t != PAD) if "prefix" in options else ()
    size, least = options.get("no_repeat_ngram", 0), options.get("min_length", 1)
    alpha, beta = options.get("length_penalty", 0.0), options.get("coverage_penalty", 0.0)
    plain = options.get("length_normalization") == "length"
    scored = []
    for sequence in toy.all_sequences(limit):
        if sequence[: len(prefix)] != prefix or (sequence[-1] == END and len(sequence) < least):
            continue
        grams = [sequence[i : i + size] for i in range(len(sequence) - size + 1)] if size else []
        if len(set(grams)) < len(grams):
            continue
        node, attended = 0, np.zeros(SOURCE_LENGTH)
        for token in sequence:
            attended += toy.attention[row, node]
            node = ALPHABET * node + token + 1
        length = len(sequence) if plain else (5 + len(sequence)) / 6
        score = toy.log_probability(row, sequence) / length**alpha
        score += beta * np.log(np.minimum(attended, 1.0))[source].sum()
        scored.append((score, sequence))
    return sorted(scored, reverse=True)


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_every_option_equals_brute_force(name):
    toy = Toy(seed=12)
    options = dict(CONSTRAINTS[name])
    found = toy.search(
        beam_size=370,
        n_best=370,
        sources=SOURCES,
        prefix_ids=PREFIXES if options.pop("prefix", False) else None,
        **options,
    )
    counts = set()
    for row in range(3):
        scores, expected = zip(*brute_force(toy, row, CONSTRAINTS[name]), strict=True)
        received = [sequence for sequence in sequences(found.ids[row]) if sequence]
        assert sorted(received) == sorted(expected)  # each once, and no other
        np.testing.assert_allclose(found.scores[row, : len(scores)], scores, rtol=2e-5)
        assert np.all(found.scores[row, len(scores) :] == np.float32(IMPOSSIBLE))
        assert received[:5] == list(expected[:5])
        counts.add(len(expected))
    assert min(counts) < 364 or name in ("length", "coverage")  # something was forbidden


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name,
            marks=[]
            if name in ("length", "coverage", "max_length_ratio", "all")
            else pytest.mark.thorough("`all` has this option too"),
        )
        for name in CONSTRAINTS
    ],
)
def test_early_exit_and_greedy_under_every_option(name):
    toy = Toy(seed=13, end_bias=0.5)
    options = dict(CONSTRAINTS[name], sources=SOURCES)
    options["prefix_ids"] = PREFIXES if options.pop("prefix", False) else None
    certain = toy.search(beam_size=4, n_best=4, **options)
    early = toy.search(beam_size=4, **options)
    np.testing.assert_array_equal(early.ids, certain.ids[:, :1])
    np.testing.assert_allclose(early.scores, certain.scores[:, :1], rtol=1e-6)
    options.pop("coverage_penalty", None)
    greedy = toy.search(beam_size=1, **options)
    beam = toy.search(beam_size=1, coverage_penalty=1e-12, **options)
    np.testing.assert_array_equal(greedy.ids, beam.ids)
    np.testing.assert_allclose(greedy.scores, beam.scores, rtol=1e-5)


def test_one_hypothesis_is_ranked_by_its_coverage_too():
    toy = Toy(seed=3)
    greedy, covered = toy.greedy(), toy.greedy(coverage_penalty=0.7)
    np.testing.assert_array_equal(covered.ids, greedy.ids)
    attended = ops.sum(greedy.records["weights"], axis=2)
    everywhere = np.ones((toy.rows, SOURCE_LENGTH), bool)
    added = coverage_penalty(attended, everywhere, 0.7)
    np.testing.assert_allclose(covered.scores, greedy.scores + added, rtol=1e-5)
    assert np.asarray(added).min() < -0.1


def test_a_prefix_overrules_other_options():
    toy = Toy(seed=14)
    prefix = np.array([[1, 1]] * 3, "int32")
    options = {"no_repeat_ngram": 1, "prefix_ids": prefix, "n_best": 3, "beam_size": 370}
    for row, ids in enumerate(toy.search(**options).ids):
        # No token is repeated after the prefix: 0 and 2 occur once each, then the end token.
        tails = [(END,)]
        for first, second in ((0, 2), (2, 0)):
            tails += [(first, END), (first, second, END)]
        scored = ranked(toy, row, [(1, 1, *tail) for tail in tails], 0.0)
        assert sequences(ids) == [sequence for _, sequence in scored[:3]]


@pytest.mark.parametrize("options", [{"beam_size": 1}, {"beam_size": 3}, {"samples": 3}], ids=str)
def test_what_is_impossible_is_absent(options):
    prefix = np.array([[0, 99], [0, 1], [PAD, PAD]], "int32")  # 99 is outside the vocabulary
    n_best = 1 if options.get("beam_size") == 1 else 3
    found = Toy(seed=15).search(n_best=n_best, prefix_ids=prefix, length_penalty=3.0, **options)
    assert sequences(found.ids[0]) == [()] * n_best
    np.testing.assert_array_equal(found.scores[0], np.float32([IMPOSSIBLE] * n_best))
    assert not np.any(found.records["node"][0])
    assert sequences(found.ids[1])[0][:2] == (0, 1)
    assert np.all(found.scores[1:, 0] > -100)


def test_coverage_penalty_by_hand():
    attended = np.array([[[0.5, 1.7, 0.0], [1.0, 0.25, 9.0]]], "float32")
    positions = np.array([[True, True, False]])
    expected = [[0.5 * np.log(0.5), 0.5 * np.log(0.25)]]
    np.testing.assert_allclose(coverage_penalty(attended, positions, 0.5), expected, rtol=1e-6)
    nothing = coverage_penalty(0 * attended, positions, 1.0)
    np.testing.assert_allclose(nothing, [[2 * np.log(1e-10)] * 2], rtol=1e-6)


another_width = pytest.mark.thorough("a beam of another width, or another penalty")


@pytest.mark.parametrize(
    ("beam_size", "alpha"),
    [
        *((2, 0.0), (3, 1.0), (5, 0.0), (9, 1.0)),
        *(
            pytest.param(beam_size, alpha, marks=another_width)
            for beam_size, alpha in ((2, 1.0), (3, 0.0), (5, 1.0), (9, 0.0))
        ),
    ],
)
def test_narrow_beam_equals_plain_python(beam_size, alpha):
    toy = Toy(rows=12, seed=2)
    found = toy.beam(beam_size=beam_size, n_best=beam_size, length_penalty=alpha)
    for row in range(toy.rows):
        expected = python_beam(toy, row, beam_size, alpha)
        assert sequences(found.ids[row]) == [sequence for _, sequence in expected]
        np.testing.assert_allclose(found.scores[row], [score for score, _ in expected], rtol=1e-5)
        # The score of a sequence that ended early depends only on its own tokens.
        for sequence, score in zip(sequences(found.ids[row]), found.scores[row], strict=True):
            own = penalised(toy.log_probability(row, sequence), len(sequence), alpha)
            np.testing.assert_allclose(score, own, rtol=1e-5)


def python_beams(toy, row, beam_size):
    """Return the sequences that a beam search keeps after each step."""
    return [
        {sequence for _, sequence in python_beam(toy, row, beam_size, 0.0, max_length)}
        for max_length in range(1, LENGTH + 1)
    ]


def test_tree_has_every_sequence_that_the_search_kept():
    toy = Toy(rows=12, seed=2)
    # With all places wanted, no row stops before its places are certain.
    found, tree = toy.beam(beam_size=3, n_best=3, with_tree=True)
    tree = [np.asarray(one) for one in tree]
    for row in range(toy.rows):
        ids, parents, log_probabilities = (one[row] for one in tree)
        before = [()] * 3
        for time, expected in enumerate(python_beams(toy, row, 3)):
            if np.all(ids[:, time] == PAD):  # the search has ended
                assert time == max(map(len, sequences(found.ids[row])))
                break
            tokens = [(token,) if token != PAD else () for token in ids[:, time].tolist()]
            kept = [before[k] + tokens[place] for place, k in enumerate(parents[:, time])]
            assert set(kept) == expected
            for place, sequence in enumerate(kept):
                own = toy.log_probability(row, sequence)
                np.testing.assert_allclose(log_probabilities[place, time], own, rtol=1e-5)
            before = kept
        assert set(sequences(found.ids[row])) == set(before)


def test_tree_of_a_beam_of_one_is_the_greedy_path():
    found, tree = Toy().greedy(with_tree=True)
    np.testing.assert_array_equal(tree.ids, found.ids)
    assert not np.any(tree.parents)


def test_samples_have_no_tree():
    with pytest.raises(ValueError, match=r"samples=0 with with_tree=True, .* Received: samples=2"):
        Toy().search(samples=2, beam_size=1, with_tree=True)


def test_beam_of_one_equals_greedy():
    toy = Toy(rows=12, seed=3)
    # With a coverage penalty, a beam of 1 is not greedy search. This penalty is negligible.
    beam = toy.beam(beam_size=1, length_penalty=0.6, coverage_penalty=1e-12)
    greedy = toy.greedy(length_penalty=0.6)
    np.testing.assert_array_equal(beam.ids, greedy.ids)
    np.testing.assert_allclose(beam.scores, greedy.scores, rtol=1e-6)
    np.testing.assert_array_equal(beam.records["pair"], greedy.records["pair"])


def test_greedy_takes_the_best_token_each_time():
    toy = Toy(rows=12, seed=4)
    found = toy.greedy(length_penalty=1.0)
    assert found.ids.shape == (12, 1, LENGTH)
    lengths = set()
    for row in range(toy.rows):
        expected = ()
        while len(expected) < LENGTH and END not in expected:
            node = 0
            for token in expected:
                node = ALPHABET * node + token + 1
            expected = (*expected, int(np.argmax(toy.table[row, node])))
        assert sequences(found.ids[row]) == [expected]
        own = penalised(toy.log_probability(row, expected), len(expected), 1.0)
        np.testing.assert_allclose(found.scores[row, 0], own, rtol=1e-5)
        lengths.add(len(expected))
    assert len(lengths) > 2  # early ends, late ends


@pytest.mark.parametrize(
    "alpha", [0.0, pytest.param(0.6, marks=pytest.mark.thorough("another penalty")), 2.0]
)
def test_early_exit_changes_nothing(alpha):
    toy = Toy(rows=8, seed=5, end_bias=1.0)
    certain = toy.beam(beam_size=4, n_best=4, length_penalty=alpha)
    for n_best in (1, 2):
        early = toy.beam(beam_size=4, n_best=n_best, length_penalty=alpha)
        np.testing.assert_array_equal(early.ids, certain.ids[:, :n_best])
        np.testing.assert_allclose(early.scores, certain.scores[:, :n_best], rtol=1e-6)
        np.testing.assert_array_equal(early.records["node"], certain.records["node"][:, :n_best])


def test_loop_ends_early():
    # The end is almost certain, so there are one or two steps. The eager loop calls each.
    toy = Toy(seed=6, end_bias=20.0)
    found = toy.beam(beam_size=3)
    assert toy.calls == 1
    assert [sequences(row) for row in found.ids] == [[(END,)]] * 3
    toy.calls = 0
    toy.beam(beam_size=3, n_best=3)  # the second and third are longer by a token
    assert toy.calls == 2
    toy.calls = 0
    toy.greedy()
    assert toy.calls == 1
    toy = Toy(seed=6, end_bias=-20.0)
    toy.beam(beam_size=3)
    assert toy.calls == LENGTH


def test_rows_do_not_see_each_other():
    toy = Toy(rows=3, seed=7)
    together = toy.beam(beam_size=3, n_best=3, length_penalty=0.6)
    for row in range(3):
        alone = Toy(rows=1)
        alone.table = toy.table[row : row + 1]
        found = alone.beam(beam_size=3, n_best=3, length_penalty=0.6)
        np.testing.assert_array_equal(found.ids[0], together.ids[row])
        np.testing.assert_allclose(found.scores[0], together.scores[row], rtol=1e-6)


@pytest.mark.parametrize("search", ["beam", "greedy"])
def test_records_follow_the_sequences(search):
    toy = Toy(rows=6, seed=8)
    found = toy.greedy() if search == "greedy" else toy.beam(beam_size=4, n_best=4)
    for row in range(6):
        for k, sequence in enumerate(sequences(found.ids[row])):
            node, nodes = 0, []
            for token in sequence:  # the record of a token is of the prefix before it
                nodes.append(node)
                node = ALPHABET * node + token + 1
            padding = [0] * (LENGTH - len(sequence))
            assert found.records["node"][row, k].numpy().tolist() == nodes + padding
            pairs = [[node, row] for node in nodes] + [[0, 0] for _ in padding]
            assert found.records["pair"][row, k].numpy().tolist() == pairs


@pytest.mark.parametrize("alpha", [0.0, 3.0])
def test_fewer_sequences_than_places(alpha):
    # There are four sequences of one token, so two places of a beam of six stay empty.
    toy = Toy(seed=9)
    found = toy.beam(beam_size=6, n_best=6, max_length=1, length_penalty=alpha)
    for row in range(3):
        order = np.argsort(-toy.table[row, 0])
        assert sequences(found.ids[row]) == [*((token,) for token in order.tolist()), (), ()]
        np.testing.assert_array_equal(found.scores[row, 4:], np.float32([IMPOSSIBLE] * 2))
    # Empty places are refilled as soon as there are enough sequences, and none is blocked.
    found = toy.beam(beam_size=8, n_best=8, max_length=3, length_penalty=alpha)
    for row in range(3):
        expected = python_beam(toy, row, 8, alpha, max_length=3)
        assert sequences(found.ids[row]) == [sequence for _, sequence in expected]


@pytest.mark.graph
@pytest.mark.parametrize(
    "jit_compile",
    [pytest.param(False, marks=pytest.mark.thorough("XLA compiles the same graph")), True],
)
def test_in_graph(jit_compile):
    toy = Toy(seed=10)
    options = {"beam_size": 4, "n_best": 4, "length_penalty": 0.6}
    expected, expected_greedy = toy.beam(**options), toy.greedy()
    beam, greedy = tf.function(
        lambda: (toy.beam(**options), toy.greedy()), jit_compile=jit_compile, autograph=False
    )()
    np.testing.assert_array_equal(beam.ids, expected.ids)
    np.testing.assert_allclose(beam.scores, expected.scores, rtol=1e-5)
    np.testing.assert_array_equal(beam.records["pair"], expected.records["pair"])
    np.testing.assert_array_equal(greedy.ids, expected_greedy.ids)
    np.testing.assert_array_equal(greedy.records["node"], expected_greedy.records["node"])


def test_records_may_be_left_out():
    toy = Toy(seed=11)
    for beam_size in (1, 3):
        bare = toy.beam(beam_size=beam_size, with_records=False)
        np.testing.assert_array_equal(bare.ids, toy.beam(beam_size=beam_size).ids)
        assert bare.records == {}
