"""Time and memory of a training step and of a search, as the work grows.

    python benchmarks/growth.py --plot benchmarks/results

The work grows along one axis at a time: the length of the source, the length of the target, the
batch, the vocabulary, the units, or the beam. `Sizes` has the other sizes. The models are
`bahdanau_gru`, with embeddings of the same size as the units, and `transformer_tiny` with these
units; `--models transformer_tiny:ssru` has an SSRU in place of the decoder's self-attention.
Nothing is padded. Each runs on one thread:

- `step` is a training step of `fit`, as in `floor.py`.
- `search` is `model.search` in a graph, as in `translate` and in an export. `min_length` and
  `max_length` are the length of the target, so the search makes every step of it.

Prints a JSON line for each point. A function first runs on one row, so that neither tracing nor
TensorFlow's optimizer is measured. `cpu_ms` is the CPU time of the fastest run. `mb` is the memory
that the function needs in addition to the weights: the growth of the peak of the resident memory
since the run on one row. If free memory is left from the initialization of the weights, this is too
little; then it is the peak of all tensors above 256 KB, which TensorFlow's allocator counts if
oneDNN is on. Each graph has a process of its own. The points of a graph are measured from the
smallest to the largest, because the allocator keeps what it frees.

Then prints a line for each axis. `slope` is the exponent of the time: the slope of a line through
the logarithms of the upper half of the points. `expected` is the slope of the operations that
`Sizes` counts, the products of matrices and the values that pass through other functions, and `mb`
is the memory at the end of the axis. A slope above `expected` shows work that the equations do not
need.
"""

import argparse
import json
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")  # like `kerasnmt train`

import keras
import numpy as np
import tensorflow as tf

from kerasnmt.training import Adam
from kerasnmt.zoo import get_model

MODELS = ("bahdanau_gru", "transformer_tiny")
SSRU = "transformer_tiny:ssru"
AXES = {
    "source": [8, 16, 32, 64, 128, 256, 512],
    "target": [8, 16, 32, 64, 128, 256, 512],
    "batch": [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
    "vocabulary": [1_000, 4_000, 16_000, 64_000],
    "units": [64, 128, 256, 512, 1024],
    "beam": [1, 4, 16, 64],
}
TITLES = {
    "source": "source tokens",
    "target": "target tokens",
    "batch": "sentences in a batch",
    "vocabulary": "vocabulary",
    "units": "units",
    "beam": "beam",
}
LAYERS, HEADS = 4, 4  # of transformer_tiny
# Multiply-adds of a product in the time that a value takes in another function. On one core with
# AVX512, TensorFlow makes 75 billion multiply-adds or 1.4 billion such values in a second.
VALUE = 50


@dataclass(frozen=True)
class Sizes:
    """Sizes of the work, and its operations in multiply-adds.

    A method counts for one word, or for one pair of words of an attention. The numbers that are not
    sizes of a matrix count functions that each value passes: those of a cell, a normalization, a
    softmax.
    """

    source: int = 16
    target: int = 16
    batch: int = 16
    vocabulary: int = 4000
    units: int = 128
    beam: int = 4

    def step(self, model: str, parameters: int) -> float:
        """Return the operations of a training step."""
        forward = self.batch * (
            self._reading(model)
            + self.target * (self._word(model) + self._prediction(2))
            + self.target * self.source * self._attention(model)
            + self.target**2 * self._history(model, cached=0)
        )
        # The gradient of a product consists of two products. Adam reads four values of a weight.
        return 3 * forward + 4 * VALUE * parameters

    def search(self, model: str, parameters: int) -> float:
        """Return the operations of a search, which attends to the words so far, half of all."""
        hypotheses = (
            self.target * (self._word(model) + self._prediction(6))
            + self.target * self.source * self._attention(model)
            + self.target**2 / 2 * self._history(model, cached=2 * self.units)
        )
        return self.batch * (self._reading(model) + self.beam * hypotheses)

    def _reading(self, model: str) -> float:
        """Return the operations for a whole source, with its keys and values."""
        units = self.units
        if model == "bahdanau_gru":
            return self.source * (20 * units**2 + VALUE * 16 * units)
        word = LAYERS * (10 * units**2 + VALUE * 12 * units)
        return self.source * word + self.source**2 * self._attention(model)

    def _word(self, model: str) -> float:
        """Return the operations of a decoder for a word, without attention and prediction."""
        units = self.units
        if model == "bahdanau_gru":
            return 15 * units**2 + VALUE * 12 * units
        products = 8 if model == SSRU else 10  # two for the unit, four for self-attention
        return LAYERS * (products * units**2 + VALUE * 18 * units)

    def _attention(self, model: str) -> float:
        """Return the operations for a pair of words."""
        units = self.units
        if model == "bahdanau_gru":
            return 5 * units + VALUE * (3 * units + 4)
        return LAYERS * (2 * units + VALUE * 6 * HEADS)

    def _history(self, model: str, cached: int) -> float:
        """Return the operations of self-attention for a word of the target and an earlier one."""
        if model in ("bahdanau_gru", SSRU):
            return 0
        return self._attention(model) + LAYERS * VALUE * cached

    def _prediction(self, functions: int) -> float:
        """Return the operations for a distribution over the vocabulary."""
        return self.vocabulary * (self.units + VALUE * functions)


def model_of(name: str, sizes: Sizes) -> keras.Model:
    units = sizes.units
    name, _, decoder = name.partition(":")
    options = {"embedding_dim": units}
    if name == "transformer_tiny":
        options = {"hidden_units": 2 * units, "decoder": decoder or "self_attention"}
    return get_model(name)(sizes.vocabulary, units=units, **options)


def ids_of(rows: int, length: int, vocabulary: int) -> tf.Tensor:
    rng = np.random.default_rng(1)
    return tf.constant(rng.integers(4, vocabulary, size=(rows, length)), tf.int32)


def step_of(model: keras.Model, sizes: Sizes) -> Callable[[Sizes], Callable]:
    """Return a function from sizes to a training step for a batch of these sizes."""
    model.compile(Adam(1e-3, global_clipnorm=1.0), label_smoothing=0.1)

    def batch_of(sizes: Sizes) -> tuple:
        source = ids_of(sizes.batch, sizes.source, sizes.vocabulary)
        target = ids_of(sizes.batch, sizes.target + 1, sizes.vocabulary)
        inputs = {"source_ids": source, "target_ids": target[:, :-1]}
        return inputs, target[:, 1:], tf.ones((sizes.batch, sizes.target))

    signature = tf.nest.map_structure(
        lambda tensor: tf.TensorSpec([None, None], tensor.dtype), batch_of(sizes)
    )
    step = tf.function(model.train_step, input_signature=[signature])

    def prepared(sizes: Sizes) -> Callable:
        batch = batch_of(sizes)
        return lambda: step(batch)

    return prepared


def search_of(model: keras.Model, sizes: Sizes) -> Callable[[Sizes], Callable]:
    """Return a function from sizes to a search for sources of these sizes."""

    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.int32)], autograph=False)
    def search(source: tf.Tensor) -> tf.Tensor:
        # Like `kerasnmt.tasks`, read the weights once, before the loop.
        values = [(weight, tf.convert_to_tensor(weight.value)) for weight in model.weights]
        with keras.StatelessScope(state_mapping=values):
            found = model.search(
                source,
                beam_size=sizes.beam,
                min_length=sizes.target,
                max_length=sizes.target,
            )
        return found.scores

    def prepared(sizes: Sizes) -> Callable:
        source = ids_of(sizes.batch, sizes.source, sizes.vocabulary)
        return lambda: search(source)

    return prepared


FUNCTIONS = {"step": step_of, "search": search_of}
# Axes whose points share a graph.
IN_ONE_GRAPH = {"step": ("source", "target", "batch"), "search": ("source", "batch")}


def fastest(run: Callable) -> float:
    """Return the CPU seconds of the fastest of five runs, or of fewer if they take a second.

    The first run of a size is slow, because it takes memory from the system.
    """
    spent = []
    while len(spent) < 2 or (len(spent) < 5 and sum(spent) < 1):
        begin = time.process_time()
        tf.nest.map_structure(lambda tensor: tensor.numpy(), tf.nest.flatten(run())[-1])
        spent.append(time.process_time() - begin)
    return min(spent)


def megabytes(key: str) -> float:
    """Return a memory of this process: VmRSS, the resident memory, or VmHWM, its peak."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(key)) / 1024


def measured(work: str, name: str, points: list[Sizes]) -> list[dict]:
    """Measure points that share a graph, from the smallest to the largest."""
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    keras.utils.set_random_seed(1)
    model = model_of(name, points[0])
    prepared = FUNCTIONS[work](model, points[0])
    prepared(replace(points[0], batch=1))()
    statistics = tf.config.experimental
    before, weights = megabytes("VmRSS"), statistics.get_memory_info("CPU:0")["current"]
    statistics.reset_memory_stats("CPU:0")
    found = []
    for sizes in points:
        seconds = fastest(prepared(sizes))
        counted = (statistics.get_memory_info("CPU:0")["peak"] - weights) / 2**20
        found.append(
            {
                "cpu_ms": round(1000 * seconds, 2),
                "mb": round(max(counted, megabytes("VmHWM") - before), 1),
                "operations": round(getattr(sizes, work)(name, model.count_params())),
            }
        )
    return found


def points_of(work: str, name: str, axes: list[str]) -> Iterator[dict]:
    """Yield the points of a model, axis by axis. The center, on all axes, is measured once."""
    known: dict[Sizes, dict] = {}
    # TensorFlow starts only in the children.
    with multiprocessing.get_context("fork").Pool(1, maxtasksperchild=1) as pool:
        for axis in axes:
            points = [replace(Sizes(), **{axis: value}) for value in AXES[axis]]
            unknown = [sizes for sizes in points if sizes not in known]
            graphs = [unknown] if axis in IN_ONE_GRAPH[work] else [[sizes] for sizes in unknown]
            for graph in graphs:
                results = pool.apply(measured, (work, name, graph))
                known |= zip(graph, results, strict=True)
            for sizes in points:
                point = {"work": work, "model": name, "axis": axis, "value": getattr(sizes, axis)}
                yield point | known[sizes]


def slope(points: list[dict], key: str) -> float:
    """Return the slope of the logarithms over the upper half of the points."""
    upper = points[(len(points) - 1) // 2 :]
    x, y = (np.log([point[column] for point in upper]) for column in ("value", key))
    return round(float(np.polyfit(x, y, 1)[0]), 2)


def curves_of(points: list[dict]) -> dict[tuple[str, str, str], list[dict]]:
    """Group the points by work, model and axis."""
    curves: dict[tuple[str, str, str], list[dict]] = {}
    for point in points:
        curves.setdefault((point["work"], point["model"], point["axis"]), []).append(point)
    return curves


def draw(work: str, points: list[dict], path: Path) -> None:
    """Draw the time and the memory along each axis, on logarithmic scales.

    Dotted lines show the operations, scaled to the time of the last point.
    """
    from matplotlib.figure import Figure

    colors = dict(zip((*MODELS, SSRU), ("#1f66a8", "#d9792b", "#3d8b5f"), strict=True))
    ink, grey = "#1f2933", "#9aa5b1"
    curves = {key: curve for key, curve in curves_of(points).items() if key[0] == work}
    axes_names = list(dict.fromkeys(axis for _, _, axis in curves))
    figure = Figure(figsize=(2.1 * len(axes_names), 4.6), dpi=110, layout="constrained")
    panels = figure.subplots(2, len(axes_names), sharex="col", sharey="row", squeeze=False)
    for (_, model, axis), curve in curves.items():
        column = axes_names.index(axis)
        values, seconds, memory, operations = (
            np.array([point[key] for point in curve])
            for key in ("value", "cpu_ms", "mb", "operations")
        )
        color, label = colors[model], model if column == 0 else None
        style = {"color": color, "marker": "o", "markersize": 3, "linewidth": 1.4}
        panels[0, column].plot(values, seconds / 1000, label=label, **style)
        expected = operations * seconds[-1] / operations[-1] / 1000
        panels[0, column].plot(values, expected, ":", color=color, linewidth=1)
        panels[1, column].plot(values[memory >= 1], memory[memory >= 1], **style)
    for (row, column), panel in np.ndenumerate(panels):
        axis = axes_names[column]
        ticks = AXES[axis][:: len(AXES[axis]) // 3]
        panel.set_xscale("log", base=2)
        panel.set_yscale("log")
        panel.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
        panel.yaxis.set_major_formatter("{x:g}")
        if row == 0:
            panel.set_title(TITLES[axis], color=ink, fontsize=10)
        panel.spines[["top", "right"]].set_visible(False)
        panel.spines[["left", "bottom"]].set_color(grey)
        panel.tick_params(which="both", color=grey, labelcolor=ink, labelsize=8)
        panel.grid(color="#e4e7eb", linewidth=0.8)
        panel.set_axisbelow(True)
    panels[0, 0].set_ylabel(f"CPU s of a {work}", color=ink)
    panels[1, 0].set_ylabel("MB while it runs", color=ink)
    figure.legend(loc="outside upper center", ncols=3, frameon=False, labelcolor=ink)
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--models", nargs="*", default=MODELS, choices=[*MODELS, SSRU])
    parser.add_argument("--work", nargs="*", default=list(FUNCTIONS), choices=FUNCTIONS)
    parser.add_argument("--axes", nargs="*", default=list(AXES), choices=AXES)
    parser.add_argument("--plot", type=Path, metavar="FOLDER", help="folder of the pictures")
    parser.add_argument("--points", type=Path, help="file of an earlier output, to measure nothing")
    arguments = parser.parse_args()

    points = []
    if arguments.points:
        lines = [json.loads(line) for line in arguments.points.read_text().splitlines()]
        points = [line for line in lines if "value" in line]
    for work in [] if arguments.points else arguments.work:
        axes = [axis for axis in arguments.axes if work == "search" or axis != "beam"]
        for model in arguments.models:
            for point in points_of(work, model, axes):
                points.append(point)
                print(json.dumps(point), flush=True)
    for (work, model, axis), curve in curves_of(points).items():
        found = {
            "work": work,
            "model": model,
            "axis": axis,
            "from": curve[(len(curve) - 1) // 2]["value"],
            "to": curve[-1]["value"],
            "slope": slope(curve, "cpu_ms"),
            "expected": slope(curve, "operations"),
            "mb": curve[-1]["mb"],
        }
        print(json.dumps(found))
    if arguments.plot:
        for work in dict.fromkeys(point["work"] for point in points):
            draw(work, points, arguments.plot / f"growth_{work}.png")


if __name__ == "__main__":
    main()
