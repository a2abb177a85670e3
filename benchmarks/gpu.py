"""Speed of training and search on a GPU with JAX, as a JSON file and a table, within a time limit.

    PYTHONUNBUFFERED=1 python benchmarks/gpu.py --output gpu.json
    python benchmarks/gpu.py --small --output gpu.json     # in small, also on a CPU

The ids are random, with a fixed seed: a vocabulary of 32,000, and 8 to 32 tokens on each side.
Recurrent models have embeddings and states of the size 1,000; transformers have their own sizes.
Each model runs in two child processes, in float32 and in bfloat16 (with float32 weights). A child
measures these rows:

- **losses**, in float32: ten steps of a small model on this device and on the CPU, with products in
  full precision. The relative difference of each loss is at most `TOLERANCE`.
- **fit**, at two batch sizes: the compile time is the first step without the mean time of a step.
  The tokens are real target tokens, without padding. The memory is the peak of the device so far,
  on a CPU the peak of the whole process.
- **greedy** and **beam 5**: the search of 32 tokens for each source; a step is a whole search. The
  memory is what the compiled program needs.

"Matrix products" is their share of the time of the GPU's kernels, by the names of the kernels. It
is empty on a CPU, whose profile does not separate the products. A row that fails says why. After
`--seconds`, compilation included, the benchmark stops; `--models` and `--dtypes` select the rest
for another call. The JSON file and the table beside it (`gpu.md`) are written after each row.
TensorFlow is not imported. On a GPU, it has not been run yet.

For scale: the published GNMT v2 trains on 66,050 target tokens a second in float16 and 21,346 in
float32, on one V100 (NVIDIA, DeepLearningExamples).

On a machine that has JAX and NumPy, but neither Keras nor internet, first collect the rest where
pip works, with the Python version of that machine. The archive has 10 MB; unpacked, it has 44 MB:

    pip install --no-compile --no-deps --target packages keras namex optree h5py ml_dtypes \\
        absl-py lazy_loader packaging rich markdown-it-py mdurl pygments typing_extensions
    tar czf gpu.tgz --exclude=kerasnmt/presets packages benchmarks/gpu.py kerasnmt
    # On that machine:
    tar xzf gpu.tgz
    PYTHONUNBUFFERED=1 PYTHONPATH=packages python benchmarks/gpu.py --output gpu.json

For another version or processor, add `--python-version 3.12 --platform manylinux_2_28_aarch64
--only-binary :all:`. Delete from `packages` what the machine has.
"""

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

PUBLISHED = {
    "model": "GNMT v2 on one V100, published",
    "float16": {"tokens_per_second": 66050},
    "float32": {"tokens_per_second": 21346},
}
LARGE = {"embedding_dim": 1000, "units": 1000}
TINY = {"embedding_dim": 16, "units": 16}
TINY_TRANSFORMER = {"units": 16, "num_heads": 2, "hidden_units": 32}
TINY_TRANSFORMER |= {"encoder_layers": 1, "decoder_layers": 1}
# The options of each model, and of the small model.
MODELS: dict[str, tuple[dict, dict]] = {
    "bahdanau_gru": (LARGE, TINY),
    "luong_general_lstm": ({**LARGE, "fused": True}, {**TINY, "fused": True}),
    "transformer_tiny": ({}, TINY_TRANSFORMER),
    "transformer_base": ({}, TINY_TRANSFORMER),
}
DTYPES = ("float32", "bfloat16")
TOLERANCE = 1e-3
PRODUCTS = re.compile(r"gemm|matmul|cutlass|nvjet|xmma|_dot", re.IGNORECASE)
COLUMNS = {
    "model": "model",
    "dtype": "dtype",
    "measured": "measured",
    "batch_size": "batch",
    "compile_seconds": "compile s",
    "step_ms": "step ms",
    "tokens_per_second": "target tokens/s",
    "memory_mb": "memory MB",
    "matmul_share": "matrix products",
    "note": "note",
}


def table(result: dict[str, Any]) -> str:
    """Return the rows as a table in Markdown, with the device above it."""
    lines = [result["device"] + "; " + result["state"] + ".", ""]
    lines += ["| " + " | ".join(COLUMNS.values()) + " |", "|" + "---|" * len(COLUMNS)]
    published = [
        {"model": PUBLISHED["model"], "dtype": dtype, "measured": "fit", **numbers}
        for dtype, numbers in PUBLISHED.items()
        if dtype != "model"
    ]
    for row in [*result["rows"], *published]:
        cells = (row.get(column) for column in COLUMNS)
        lines.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _cell(value: Any) -> str:
    """Return a value as text: nothing for None, and numbers with three digits."""
    if value is None or isinstance(value, str):
        return value or ""
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"


def write(result: dict[str, Any], output: Path) -> None:
    """Write the JSON file and the table."""
    output.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    output.with_suffix(".md").write_text(table(result), encoding="utf-8")


# The child process, which measures one model in one dtype.


def measure(name: str, dtype: str, small: bool) -> Iterator[dict[str, Any]]:
    """Yield the rows of a model."""
    import jax
    import keras

    device = jax.devices()[0]
    yield {"device": f"{device.device_kind} ({device.platform}), JAX {jax.__version__}"}
    vocabulary, length, steps = (50, 6, 3) if small else (32_000, 32, 20)
    few, many = (2, 4) if small else (128, 512)
    if dtype != "float32":
        keras.config.set_dtype_policy(f"mixed_{dtype}")

    def row(measured: str, batch_size: int, function: Callable, *arguments: Any) -> dict[str, Any]:
        kind = {"model": name, "dtype": dtype, "measured": measured, "batch_size": batch_size}
        batch = made_batch(batch_size, length, vocabulary)
        try:
            model = made(name, vocabulary, MODELS[name][small])
            return kind | function(model, batch, *arguments)
        except Exception as error:  # such as too little memory
            return kind | {"note": f"{type(error).__name__}: {error}".split("\n")[0][:200]}

    if dtype == "float32":
        yield row("losses", few, lambda *_: compared_losses(name, device))
    for batch_size in (few, many):
        yield row("fit", batch_size, timed_fit, steps)
    for measured, beam_size in (("greedy", 1), ("beam 5", 5)):
        yield row(measured, few, timed_search, beam_size)


def made(name: str, vocabulary: int, options: dict[str, Any]) -> Any:
    """Return a compiled model."""
    import keras

    from kerasnmt import zoo
    from kerasnmt.training.optimizers import Adam

    keras.utils.set_random_seed(1)
    model = zoo.get_model(name)(vocabulary, vocabulary, **options)
    model.compile(Adam(1e-3, global_clipnorm=1.0), label_smoothing=0.1)
    return model


def made_batch(batch_size: int, length: int, vocabulary: int) -> tuple[dict[str, Any], Any]:
    """Return a batch of random ids, whose lengths differ."""
    import numpy as np

    rng = np.random.default_rng(1)

    def side() -> Any:
        ids = rng.integers(4, vocabulary, size=(batch_size, length), dtype=np.int32)
        ends = rng.integers(length // 4, length, size=(batch_size, 1))
        ends[0] = length - 1
        places = np.arange(length)
        return np.where(places < ends, ids, np.where(places == ends, 3, 0)).astype("int32")

    source_ids, targets = side(), side()
    shifted = np.where(targets == 3, 0, targets)[:, :-1]
    target_ids = np.pad(shifted, [(0, 0), (1, 0)], constant_values=2)
    return {"source_ids": source_ids, "target_ids": target_ids}, targets


def compared_losses(name: str, device: Any) -> dict[str, Any]:
    """Compare the losses of ten steps of a small model on the device and on the CPU."""
    import jax
    import numpy as np

    losses = []
    batch = made_batch(8, 6, 50)
    for one in (device, jax.devices("cpu")[0]):
        with jax.default_device(one), jax.default_matmul_precision("highest"):
            model = made(name, 50, MODELS[name][1])
            losses.append([loss for loss, _ in fit(model, batch, 10)])
    difference = float(np.max(np.abs(np.divide(*losses) - 1)))
    verdict = "equal to the CPU's" if difference <= TOLERANCE else "DIFFERENT from the CPU's"
    return {
        "losses": losses[0],
        "cpu_losses": losses[1],
        "note": f"ten losses {verdict}, largest relative difference {difference:.1g}",
    }


def timed_fit(model: Any, batch: tuple[dict[str, Any], Any], steps: int) -> dict[str, Any]:
    """Measure `fit` on a batch that comes again and again, and then profile three steps."""
    begin = time.perf_counter()
    ends = [end for _, end in fit(model, batch, steps + 3)]
    step = (ends[-1] - ends[2]) / steps  # the second and third step warm up
    return {
        "compile_seconds": ends[0] - begin - step,
        "step_ms": 1000 * step,
        "tokens_per_second": float((batch[1] != 0).sum() / step),
        "memory_mb": memory(),
        "matmul_share": matmul_share(lambda: fit(model, batch, 3)),
    }


def fit(model: Any, batch: tuple[dict[str, Any], Any], steps: int) -> list[tuple[float, float]]:
    """Return the loss and the time of the end of each step."""
    import keras

    ends: list[tuple[float, float]] = []

    class Ends(keras.callbacks.Callback):
        def on_train_batch_end(self, batch: int, logs: dict | None = None) -> None:
            loss = float((logs or {})["loss"])  # waits for the step
            ends.append((loss, time.perf_counter()))

    options = {"batch_size": len(batch[1]), "epochs": steps, "shuffle": False, "verbose": 0}
    model.fit(*batch, callbacks=[Ends()], **options)
    return ends


def timed_search(model: Any, batch: tuple[dict[str, Any], Any], beam_size: int) -> dict[str, Any]:
    """Measure the search of as many tokens as the sources are long."""
    import jax
    import keras

    source_ids = batch[0]["source_ids"]
    length = source_ids.shape[1]

    def search(values: list[Any], source_ids: Any) -> Any:
        state = list(zip(model.variables, values, strict=True))
        with keras.StatelessScope(state_mapping=state):
            found = model.search(
                source_ids, beam_size=beam_size, max_length=length, min_length=length
            )
        return found.ids

    values = [variable.value for variable in model.variables]
    begin = time.perf_counter()
    program = jax.jit(search).lower(values, source_ids).compile()
    compiled = time.perf_counter() - begin

    def run() -> float:
        begin = time.perf_counter()
        jax.block_until_ready(program(values, source_ids))
        return time.perf_counter() - begin

    run()
    step = min(run() for _ in range(3))
    sizes = program.memory_analysis()
    return {
        "compile_seconds": compiled,
        "step_ms": 1000 * step,
        "tokens_per_second": source_ids.size / step,
        "memory_mb": (sizes.argument_size_in_bytes + sizes.temp_size_in_bytes) / 1e6,
        "matmul_share": matmul_share(run),
    }


def memory() -> float:
    """Return the peak of the device's memory, or of this process on a CPU, in MB."""
    import jax

    statistics = jax.devices()[0].memory_stats() or {}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return statistics.get("peak_bytes_in_use", peak) / 1e6


def matmul_share(run: Callable[[], Any]) -> float | None:
    """Return the share of the GPU's time in matrix products, or None without such a profile."""
    import jax

    if jax.devices()[0].platform == "cpu" or not hasattr(jax.profiler, "ProfileData"):
        return None
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder):
            run()
        profile = next(Path(folder).rglob("*.xplane.pb"))
        return share_of_products(jax.profiler.ProfileData.from_file(str(profile)))


def share_of_products(profile: Any) -> float | None:
    """Return the share of matrix products in the time of the kernels of a profile."""
    spent = {True: 0.0, False: 0.0}
    for plane in profile.planes:
        for line in plane.lines if plane.name.startswith("/device:GPU") else ():
            for event in line.events if line.name.startswith("Stream") else ():
                spent[bool(PRODUCTS.search(event.name))] += event.duration_ns
    return spent[True] / sum(spent.values()) if any(spent.values()) else None


# The parent process, which collects the rows of the children.


def run(arguments: argparse.Namespace, begin: float) -> dict[str, Any]:
    """Run the children one after the other until the time is over, and write each row."""
    result: dict[str, Any] = {"device": "no device yet", "state": "running", "rows": []}
    result |= {"tolerance": TOLERANCE, "published": PUBLISHED}
    write(result, arguments.output)
    late = threading.Event()
    for name, dtype in [(name, dtype) for dtype in arguments.dtypes for name in arguments.models]:
        left = begin + arguments.seconds - time.perf_counter()
        if left <= 0 or late.is_set():
            late.set()
            break
        command = [sys.executable, __file__, "--row", name, dtype]
        command += ["--small"] * arguments.small
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:

            def stop(child: subprocess.Popen = child) -> None:
                late.set()
                child.kill()

            timer = threading.Timer(left, stop)
            timer.start()
            for line in child.stdout or ():
                if not line.startswith("{"):
                    continue
                row = json.loads(line)
                if "device" in row:
                    result |= row
                else:
                    result["rows"].append(row)
                    print(f"{time.perf_counter() - begin:4.0f} s  {line}", end="", flush=True)
                write(result, arguments.output)
            status = child.wait()
            timer.cancel()
        if status and not late.is_set():
            note = f"the process ended with status {status}"
            result["rows"].append({"model": name, "dtype": dtype, "note": note})
            write(result, arguments.output)
    seconds = f"{time.perf_counter() - begin:.0f} s"
    result["state"] = f"stopped after {seconds}" if late.is_set() else f"complete in {seconds}"
    write(result, arguments.output)
    return result


def main() -> None:
    begin = time.perf_counter()
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--output", type=Path, default=Path("gpu.json"), help="JSON file")
    parser.add_argument("--seconds", type=float, default=480, help="time limit")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--dtypes", nargs="+", choices=DTYPES, default=list(DTYPES))
    parser.add_argument("--small", action="store_true", help="use small models and batches")
    parser.add_argument("--row", nargs=2, help=argparse.SUPPRESS)  # for the child processes
    arguments = parser.parse_args()
    if not arguments.row:
        print(table(run(arguments, begin)))
        return
    os.environ["KERAS_BACKEND"] = "jax"
    sys.modules["tensorflow"] = None  # type: ignore[assignment]  # Keras would import it
    sys.path.insert(0, str(Path(__file__).parents[1]))
    for row in measure(*arguments.row, arguments.small):
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
