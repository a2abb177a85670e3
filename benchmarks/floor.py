"""Share of the matrix products in the time of a training step.

    python benchmarks/floor.py

The benchmark compares two functions of each model:

- a training step of `fit`: forward pass, loss, gradients, clipping, and Adam of
  `kerasnmt.training`, for a batch of 64 sentences of 18 source tokens and 18 target tokens. The
  vocabulary has 8,000 entries. The embeddings and the units have the size 256, or the sizes of
  `transformer_tiny`.
- a function that computes only the matrix products of that step, with the same shapes: the product
  of each layer and the two products of its gradient. Products that depend on each other in the step
  also run one after another here. Embeddings are lookups, not products.

Both run in turns in this process, `--rounds` times. CPU seconds (of all threads) and wall seconds
of a step are medians over the rounds. `share` is the CPU time of the products divided by the CPU
time of the step. Prints one JSON line per model.
"""

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable, Iterator

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")  # like `kerasnmt train`

import keras
import numpy as np
import tensorflow as tf

from kerasnmt.training import Adam
from kerasnmt.zoo import get_model

BATCH, SOURCE, TARGET, UNITS, VOCABULARY = 64, 18, 18, 256, 8000


class Product:
    """Product `left @ right` in each step of a loop, with the two products of its gradient.

    The right factor is the same in all steps: a kernel, or a projected source.
    """

    def __init__(self, left: tuple[int, ...], right: tuple[int, ...], steps: int = 1) -> None:
        self.flops = 6 * steps * int(np.prod(left)) * right[-1]
        result = (*left[:-1], right[-1])
        self.left, self.gradient = (
            [tf.Variable(tf.random.normal(shape)) for _ in range(steps)] for shape in (left, result)
        )
        self.right = tf.Variable(tf.random.normal(right))

    def forward(self, step: int) -> list[tf.Tensor]:
        return [tf.matmul(self.left[step], self.right)]

    def backward(self, step: int) -> list[tf.Tensor]:
        return [
            tf.matmul(self.gradient[step], self.right, transpose_b=True),
            tf.matmul(self.left[step], self.gradient[step], transpose_a=True),
        ]


# A chain is a list of products that depend on each other, once or in every step of a loop. A part
# of a step has one or more chains, which do not depend on each other.
Chain = list[Product]
Part = list[Chain]


def encoder(gates: int, units: int) -> Iterator[Part]:
    """Yield the products of a bidirectional layer."""
    yield [[Product((BATCH * SOURCE, UNITS), (UNITS, 2 * gates * units))]]
    yield [[Product((BATCH, units), (units, gates * units), SOURCE)] for _ in range(2)]


def bahdanau_gru() -> Iterator[Part]:
    yield from encoder(3, UNITS)
    yield [[Product((BATCH, UNITS), (UNITS, UNITS))]]  # bridge
    rows = (BATCH * SOURCE, 2 * UNITS)
    yield [
        [Product(rows, (2 * UNITS, UNITS))],  # keys
        [Product(rows, (2 * UNITS, 3 * UNITS))],  # values, C h_i
        [Product((BATCH * TARGET, UNITS), (UNITS, 3 * UNITS))],  # words
    ]
    query = Product((BATCH, UNITS), (UNITS, UNITS), TARGET)
    energy = Product((BATCH * SOURCE, UNITS), (UNITS, 1), TARGET)
    context = Product((BATCH, 1, SOURCE), (BATCH, SOURCE, 3 * UNITS), TARGET)
    recurrent = Product((BATCH, UNITS), (UNITS, 3 * UNITS), TARGET)
    yield [[query, energy, context, recurrent]]
    yield [[Product((BATCH, TARGET, SOURCE), (BATCH, SOURCE, 2 * UNITS))]]  # contexts
    yield [[Product((BATCH * TARGET, 4 * UNITS), (4 * UNITS, 2 * UNITS))]]  # readout
    yield [[Product((BATCH * TARGET, UNITS), (UNITS, VOCABULARY))]]


def luong_general_gru_with_input_feeding() -> Iterator[Part]:
    yield from encoder(3, UNITS // 2)
    rows = (BATCH * SOURCE, UNITS)
    yield [
        [Product(rows, (UNITS, UNITS))],  # keys
        [Product(rows, (UNITS, UNITS))],  # values, C h_i
        [Product((BATCH * TARGET, UNITS), (UNITS, 3 * UNITS))],  # words
    ]
    feeding, recurrent = (Product((BATCH, UNITS), (UNITS, 3 * UNITS), TARGET) for _ in range(2))
    score = Product((BATCH, SOURCE, UNITS), (BATCH, UNITS, 1), TARGET)
    context = Product((BATCH, 1, SOURCE), (BATCH, SOURCE, UNITS), TARGET)
    state = Product((BATCH, UNITS), (UNITS, UNITS), TARGET)
    yield [[feeding, recurrent, score, context, state]]
    yield [[Product((BATCH * TARGET, UNITS), (UNITS, VOCABULARY))]]


def luong_general_lstm() -> Iterator[Part]:
    yield from encoder(4, UNITS // 2)
    yield [
        [Product((BATCH * SOURCE, UNITS), (UNITS, UNITS))],  # keys
        [Product((BATCH * TARGET, UNITS), (UNITS, 4 * UNITS))],  # words
    ]
    yield [[Product((BATCH, UNITS), (UNITS, 4 * UNITS), TARGET)]]
    yield [[Product((BATCH, TARGET, UNITS), (BATCH, UNITS, SOURCE))]]  # scores
    yield [[Product((BATCH, TARGET, SOURCE), (BATCH, SOURCE, UNITS))]]  # contexts
    yield [[Product((BATCH * TARGET, 2 * UNITS), (2 * UNITS, UNITS))]]  # readout
    yield [[Product((BATCH * TARGET, UNITS), (UNITS, VOCABULARY))]]


def transformer_tiny(units: int = 128, heads: int = 4, hidden: int = 256) -> Iterator[Part]:
    def attention(rows: int, length: int) -> Iterator[Part]:
        """Yield the products of the scores, the sums of the values and the output layer."""
        each = BATCH * heads
        yield [[Product((each, rows, units // heads), (each, units // heads, length))]]
        yield [[Product((each, rows, length), (each, length, units // heads))]]
        yield [[Product((BATCH * rows, units), (units, units))]]

    def feed_forward(rows: int) -> Iterator[Part]:
        yield [[Product((BATCH * rows, units), (units, hidden))]]
        yield [[Product((BATCH * rows, hidden), (hidden, units))]]

    for _ in range(4):
        yield [[Product((BATCH * SOURCE, units), (units, 3 * units))]]  # queries, keys, values
        yield from attention(SOURCE, SOURCE)
        yield from feed_forward(SOURCE)
    for _ in range(4):
        yield [[Product((BATCH * TARGET, units), (units, 3 * units))]]
        yield from attention(TARGET, TARGET)
        yield [
            [Product((BATCH * TARGET, units), (units, units))],  # queries
            [Product((BATCH * SOURCE, units), (units, 2 * units))],  # keys and values
        ]
        yield from attention(TARGET, SOURCE)
        yield from feed_forward(TARGET)
    yield [[Product((BATCH * TARGET, units), (units, VOCABULARY))]]


RECURRENT = {"embedding_dim": UNITS, "units": UNITS}
MODELS = {
    "bahdanau_gru": (bahdanau_gru, "bahdanau_gru", RECURRENT),
    "luong_general_gru:input_feeding=true": (
        luong_general_gru_with_input_feeding,
        "luong_general_gru",
        {**RECURRENT, "input_feeding": True},
    ),
    "luong_general_lstm": (luong_general_lstm, "luong_general_lstm", RECURRENT),
    "transformer_tiny": (transformer_tiny, "transformer_tiny", {}),
}


def floor_of(parts: list[Part]) -> Callable[[], list[tf.Tensor]]:
    """Return a compiled function that computes the products, forward and then backward."""

    @tf.function
    def run() -> list[tf.Tensor]:
        # All products are returned, so that TensorFlow computes them.
        made, last = [], []

        def make(chains: list[list[Callable[[], list[tf.Tensor]]]]) -> None:
            nonlocal last
            ends = []
            for chain in chains:
                before = last
                for products in chain:
                    with tf.control_dependencies(before):
                        before = products()
                    made.extend(before)
                ends += before
            last = ends

        for part in parts:
            steps = [range(len(chain[0].left)) for chain in part]
            make(
                [
                    [lambda p=product, t=step: p.forward(t) for step in own for product in chain]
                    for chain, own in zip(part, steps, strict=True)
                ]
            )
        for part in reversed(parts):
            steps = [reversed(range(len(chain[0].left))) for chain in part]
            make(
                [
                    [
                        lambda p=product, t=step: p.backward(t)
                        for step in own
                        for product in reversed(chain)
                    ]
                    for chain, own in zip(part, steps, strict=True)
                ]
            )
        return made

    return run


def step_of(name: str, options: dict, loss: str | None = None) -> Callable[[], dict]:
    """Return a training step as in `fit`, traced for batches of any size."""
    model = get_model(name)(VOCABULARY, **options)
    model.compile(Adam(1e-3, global_clipnorm=1.0), loss=loss, label_smoothing=0.1)
    rng = np.random.default_rng(1)
    source, target = (
        tf.constant(rng.integers(4, VOCABULARY, size=(BATCH, length)), tf.int32)
        for length in (SOURCE, TARGET + 1)
    )
    inputs = {"source_ids": source, "target_ids": target[:, :-1]}
    batch = inputs, target[:, 1:], tf.ones((BATCH, TARGET))
    signature = tf.nest.map_structure(
        lambda tensor: tf.TensorSpec([None, None], tensor.dtype), batch
    )
    step = tf.function(model.train_step, input_signature=[signature])
    return lambda: step(batch)


def spent(run: Callable, times: int) -> tuple[float, float]:
    """Return the mean CPU and wall seconds of a number of runs."""
    cpu, wall = time.process_time(), time.perf_counter()
    for _ in range(times):
        result = run()
    tf.nest.map_structure(lambda tensor: tensor.numpy(), tf.nest.flatten(result)[-1])
    return (time.process_time() - cpu) / times, (time.perf_counter() - wall) / times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument(
        "models", nargs="*", default=list(MODELS), help=f"some of {', '.join(MODELS)}"
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=5, help="number of steps in a round")
    arguments = parser.parse_args()
    for specification in arguments.models:
        parts, name, options = MODELS[specification]
        keras.utils.set_random_seed(1)
        parts = list(parts())
        runs = {"products": floor_of(parts), "step": step_of(name, options)}
        rounds = {name: [] for name in runs}
        for run in runs.values():
            spent(run, 2)
        for _ in range(arguments.rounds):
            for name, run in runs.items():
                rounds[name].append(spent(run, arguments.steps))
        found = {"model": specification}
        for name, seconds in rounds.items():
            cpu, wall = (statistics.median(column) for column in zip(*seconds, strict=True))
            found[f"{name}_cpu_ms"] = round(1000 * cpu, 1)
            found[f"{name}_wall_ms"] = round(1000 * wall, 1)
        shares = [p[0] / s[0] for p, s in zip(*rounds.values(), strict=True)]
        found["share"] = round(statistics.median(shares), 3)
        found["gigaflops"] = round(
            sum(p.flops for part in parts for chain in part for p in chain) / 1e9, 2
        )
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
