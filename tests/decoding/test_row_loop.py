"""Searches in graphs with a variable number of rows drop finished rows."""

import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.decoding import SearchOptions, search
from kerasnmt.decoding.row_loop import row_loop
from kerasnmt.layers import TimeCache

END, START, PAD, VOCABULARY, LENGTH, SOURCE = 3, 4, 0, 9, 20, 6
RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(VOCABULARY, VOCABULARY), scale=2.0).astype("float32")
ROWS = 13
# The probability of the end of each row, and its attention.
MEMORY = {
    "end": np.linspace(-6.0, 4.0, ROWS, dtype="float32"),
    "weights": RNG.dirichlet(np.ones(SOURCE), ROWS).astype("float32"),
}
SOURCES = RNG.integers(4, 9, (ROWS, SOURCE)).astype("int32")


class Model:
    """A step that depends on the previous token, on the row and on the time."""

    def __init__(self):
        self.rows = tf.Variable(0, dtype=tf.int64)

    def states(self, rows):
        return {"time": tf.zeros([rows], tf.int32)}

    def step(self, ids, states, memory):
        self.rows.assign_add(tf.shape(ids, tf.int64)[0])
        end = tf.one_hot(END, VOCABULARY) * memory["end"][:, None, None]
        time = tf.cast(states["time"], tf.float32)[..., None]
        logits = tf.gather(TABLE, ids) * (1 + 0.1 * time) + end
        records = {"weights": memory["weights"][:, None] + tf.zeros_like(time)}
        return tf.nn.log_softmax(logits), records, {"time": states["time"] + 1}


class Remembering(Model):
    """A step that depends on all earlier tokens."""

    def __init__(self):
        super().__init__()
        self.places = tf.Variable(0, dtype=tf.int64)

    def states(self, rows):
        kept = TimeCache.allocate(tf.zeros([rows, VOCABULARY]), LENGTH)
        return {**super().states(rows), "kept": kept}

    def step(self, ids, states, memory):
        kept = states["kept"].write(tf.one_hot(ids, VOCABULARY))
        self.places.assign_add(tf.shape(kept.written, tf.int64)[-1])
        logits, records, following = super().step(ids, {"time": states["time"]}, memory)
        times = tf.range(1.0, tf.cast(kept.room, tf.float32) + 1)
        seen = tf.einsum("bhtv,t->bhv", kept.values, tf.sin(times))
        return tf.nn.log_softmax(logits + seen), records, {**following, "kept": kept}


def found(model, sources, memory, options, **arguments):
    rows = tf.shape(sources)[0] if sources.shape[0] is None else sources.shape[0]
    return search(
        model.step,
        model.states(rows),
        memory,
        tf.fill([rows], START),
        tf.convert_to_tensor(sources) != PAD,
        SearchOptions(**{"max_length": LENGTH, **options}),
        end_id=END,
        never_ids=(PAD, START),
        sampled_from=tf.convert_to_tensor(sources),
        **arguments,
    )


OPTIONS = [
    {"beam_size": 1},
    {"beam_size": 1, "max_length_ratio": 1.5, "max_length_margin": 1},
    {"beam_size": 3},
    {"beam_size": 3, "coverage_penalty": 0.3, "no_repeat_ngram": 2, "min_length": 4},
    {"samples": 3, "top_k": 4, "seed": 5},
]


def marks(kind, options):
    """Return the marks of a search. Only some pairs of kinds and options run by default."""
    plain = len(options) == 1
    if plain is (kind is Model) and options != {"beam_size": 3} and "samples" not in options:
        return []
    return [pytest.mark.thorough("the other kind, or other options, show it")]


@pytest.mark.graph
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        pytest.param(kind, options, marks=marks(kind, options), id=f"{kind.__name__}-{options}")
        for kind in (Model, Remembering)
        for options in OPTIONS
    ],
)
@pytest.mark.parametrize(
    "prefix",
    [pytest.param(False, marks=pytest.mark.thorough("with a prefix it is shown too")), True],
)
def test_what_is_found_is_the_same(options, prefix, kind):
    n_best = options.get("samples", options.get("beam_size"))
    prefix_ids = RNG.integers(5, 9, (ROWS, 2)) * (np.arange(ROWS) % 2)[:, None]
    arguments = {"prefix_ids": prefix_ids.astype("int32")} if prefix else {}
    fixed = kind()
    expected = found(fixed, SOURCES, MEMORY, options, n_best=n_best, **arguments)

    model = kind()
    inputs = (SOURCES, MEMORY, arguments)
    signature = tf.nest.map_structure(
        lambda array: tf.TensorSpec([None, *array.shape[1:]], tf.as_dtype(array.dtype)), inputs
    )

    @tf.function(input_signature=signature, autograph=False)
    def graph(sources, memory, arguments):
        return found(model, sources, memory, options, n_best=n_best, **arguments)

    given = tf.nest.map_structure(tf.convert_to_tensor, inputs)
    answer = graph(*given)
    np.testing.assert_array_equal(answer.ids, expected.ids)
    np.testing.assert_allclose(answer.scores, expected.scores, rtol=1e-5)
    np.testing.assert_allclose(answer.records["weights"], expected.records["weights"], rtol=1e-5)
    steps, rest = divmod(int(fixed.rows), ROWS)
    assert rest == 0 and steps >= 6
    assert int(model.rows) < 0.9 * steps * ROWS
    if kind is Remembering:  # after the first step, room for 8 steps, for 16, and for all
        assert int(fixed.places) == LENGTH * steps
        rooms = [8 if time < 8 else 16 if time < 16 else LENGTH for time in range(1, steps)]
        assert int(model.places) == LENGTH + sum(rooms)

    none = graph(*tf.nest.map_structure(lambda value: value[:0], given))
    assert none.ids.shape == (0, n_best, LENGTH)
    one = graph(*tf.nest.map_structure(lambda value: value[4:5], given))
    np.testing.assert_array_equal(one.ids[0], expected.ids[4])


@pytest.mark.graph
@pytest.mark.parametrize(
    "beam_size", [1, pytest.param(3, marks=pytest.mark.thorough("the greedy search shows it"))]
)
def test_less_room_than_steps(beam_size):
    """Steps without room are not written, and the search continues."""
    model, small = Remembering(), 10
    signature = [tf.TensorSpec([None, SOURCE], tf.int32), tf.TensorSpec([None], tf.float32)]

    def run(sources, end, room):
        rows = tf.shape(sources)[0] if sources.shape[0] is None else sources.shape[0]
        kept = TimeCache.allocate(tf.zeros([rows, VOCABULARY]), room)
        weights = tf.zeros([rows, SOURCE])
        return search(
            model.step,
            {**Model.states(model, rows), "kept": kept},
            {"end": end, "weights": weights},
            tf.fill([rows], START),
            sources != PAD,
            SearchOptions(max_length=LENGTH, beam_size=beam_size),
            end_id=END,
        )

    sources, end = tf.constant(SOURCES), tf.constant(MEMORY["end"])
    graph = tf.function(lambda *given: run(*given, small), signature, autograph=False)
    answer, expected = graph(sources, end), run(sources, end, small)
    np.testing.assert_array_equal(answer.ids, expected.ids)
    assert np.count_nonzero(answer.ids, axis=-1).max() > 16


@pytest.mark.graph
def test_different_rooms_are_refused():
    @tf.function(input_signature=[tf.TensorSpec([None, 1], tf.int32)], autograph=False)
    def graph(ids):
        states = [TimeCache.allocate(ids, room) for room in (5, 20)]
        return row_loop(None, None, {"ids": ids, "states": states})

    with pytest.raises(
        ValueError, match=r"Expected states with room for the same.*room for \[5, 20\] steps"
    ):
        graph.get_concrete_function()
