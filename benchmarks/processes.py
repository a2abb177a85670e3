"""Time of a training step in one and in two processes, and a model of it.

    python benchmarks/processes.py --output processes.json

Each process has one thread and one core. For each size (units, rows of a process), the benchmark
measures the step of two processes that train together, and of two that train the same alone at the
same time, so that both have the same share of the machine. Rows have 20 source and 20 target
tokens, the vocabulary has 4,000 ids, and the model is `bahdanau_gru`. It prints

- strong scaling: the time of a step of one process, divided by the time of two that share its rows;
- weak scaling: the time of a step alone, divided by the time of two together with as many rows
  each;
- the bytes that a step sends through the loopback device, beside a ring all-reduce;
- the model, fitted on every other size, and its errors on the other sizes:

      alone    = a + b * floating-point operations + c * parameters
      together = alone + d + parameters * 4 bytes / bandwidth

`--paper` measures nothing. It computes with the same model, and the assumptions below, what GPUs
would do.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import time
from itertools import product
from pathlib import Path

UNITS, ROWS, LENGTH, VOCABULARY = (128, 256, 384), (16, 32, 64), 20, 4000
SIZES = list(product(UNITS, ROWS))
ONE_THREAD = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"


def work(index, count, port, steps):
    """Measure the steps of all sizes in one process, and print them as JSON lines."""
    import keras
    import numpy as np

    from kerasnmt.training import Adam, Processes, join_processes
    from kerasnmt.training.devices import training_devices
    from kerasnmt.zoo import bahdanau_gru

    if count > 1:
        join_processes(f"localhost:{port}", count, index)
    devices = training_devices(1, Processes())
    for units, rows in SIZES:
        keras.utils.set_random_seed(1)
        random = np.random.default_rng(index)
        source = random.integers(4, VOCABULARY, (rows, LENGTH)).astype("int32")
        inputs = {"source_ids": source, "target_ids": source}

        def data(inputs=inputs, source=source):
            while True:
                yield inputs, source

        with devices.scope():
            model = bahdanau_gru(
                VOCABULARY, VOCABULARY, units=units, embedding_dim=units, dropout=0.2
            )
            model.compile(Adam(0.001, global_clipnorm=1.0))
            timer = epoch_timer()
            model.fit(data(), steps_per_epoch=steps, epochs=3, verbose=0, callbacks=[timer])
        seconds, sent = timer.best
        record = {
            "units": units,
            "rows": rows,
            "parameters": model.count_params(),
            "embedding": 2 * VOCABULARY * units,
            "seconds": seconds / steps,
            "sent": sent / steps,
        }
        print(json.dumps(record), flush=True)


def epoch_timer():
    """Return a callback whose `best` is the shortest epoch after the first: seconds, and bytes."""
    import keras

    class Timer(keras.callbacks.Callback):
        best = (float("inf"), 0)

        def on_epoch_begin(self, epoch, logs=None):
            self.begin = time.perf_counter(), loopback_bytes()

        def on_epoch_end(self, epoch, logs=None):
            if epoch:  # the first epoch compiles
                seconds, sent = time.perf_counter() - self.begin[0], loopback_bytes()
                self.best = min(self.best, (seconds, sent - self.begin[1]))

    return Timer()


def loopback_bytes():
    """Return how many bytes the loopback device has carried."""
    for line in Path("/proc/net/dev").read_text().splitlines():
        if line.strip().startswith("lo:"):
            return int(line.split(":")[1].split()[0])
    return 0


def measure(together, steps):
    """Return the records of two processes, the mean of both."""
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        port = probe.getsockname()[1]
    environment = os.environ | {"KERAS_BACKEND": "jax", "XLA_FLAGS": ONE_THREAD}
    children = []
    for index in range(2):
        arguments = map(str, (index, 2 if together else 1, port, steps))
        command = ["taskset", "-c", str(index), sys.executable, __file__, "--work", *arguments]
        children.append(
            subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        )
    outputs = [child.communicate()[0] for child in children]
    if any(child.returncode for child in children):
        raise RuntimeError("A process has failed.")
    both = [
        [json.loads(line) for line in output.splitlines() if line.startswith("{")]
        for output in outputs
    ]
    return [
        left | {"seconds": (left["seconds"] + right["seconds"]) / 2}
        for left, right in zip(*both, strict=True)
    ]


def operations(record):
    """Return the floating-point operations of a step: forward, and twice as many backward."""
    weights = record["parameters"] - record["embedding"]
    return 6 * weights * record["rows"] * LENGTH


def fitted(rows, values):
    """Return the coefficients, at least 0, with the smallest relative errors."""
    import numpy as np
    from scipy.optimize import nnls

    rows, values = np.array(rows, "float64"), np.array(values)
    scale = rows.max(axis=0)
    return nnls(rows / scale / values[:, None], np.ones(len(values)))[0] / scale


def report(alone, together):
    """Print the scaling, and how well the model predicts the sizes that it was not fitted on."""
    by_size = {(one["units"], one["rows"]): one["seconds"] for one in alone}
    print(f"{'units':>5} {'rows':>4} {'parameters':>10} {'alone ms':>8} {'together':>8} "
          f"{'weak':>5} {'strong':>6} {'MB sent':>7} {'ring':>5}")  # fmt: skip
    for one, two in zip(alone, together, strict=True):
        whole = by_size.get((one["units"], 2 * one["rows"]))
        strong = f"{whole / two['seconds']:6.2f}" if whole else f"{'':6}"
        print(
            f"{one['units']:5} {one['rows']:4} {one['parameters']:10,} "
            f"{1e3 * one['seconds']:8.1f} {1e3 * two['seconds']:8.1f} "
            f"{one['seconds'] / two['seconds']:5.2f} {strong} {two['sent'] / 1e6:7.2f} "
            f"{2 * 4 * one['parameters'] / 1e6:5.1f}"  # both processes send all parameters once
        )
    compute = [[1.0, operations(one), one["parameters"]] for one in alone]
    a, b, c = fitted(compute[::2], [one["seconds"] for one in alone[::2]])
    rest = [
        max(two["seconds"] - one["seconds"], 1e-9) for one, two in zip(alone, together, strict=True)
    ]
    exchange = [[1.0, 4 * one["parameters"]] for one in alone]
    d, e = fitted(exchange[::2], rest[::2])
    print(f"a = {1e3 * a:.1f} ms, {1e-9 / b if b else 0:.1f} GFLOP/s, c = {1e9 * c:.2f} ns, "
          f"d = {1e3 * d:.1f} ms, bandwidth {1e-9 / e if e else 0:.2f} GB/s")  # fmt: skip
    for number, (one, two) in enumerate(zip(alone, together, strict=True)):
        predicted = a + b * compute[number][1] + c * compute[number][2]
        with_exchange = predicted + d + e * exchange[number][1]
        print(
            f"{one['units']:5} {one['rows']:4} {'fitted' if number % 2 == 0 else 'predicted':9} "
            f"alone {predicted / one['seconds'] - 1:+.0%}  "
            f"together {with_exchange / two['seconds'] - 1:+.0%}"
        )


# Assumptions about a GPU with 989 TFLOP/s in bfloat16, in servers of 8. None was measured here.
GPUS = {
    # name: parameters, of them embeddings that are only looked up, rate in FLOP/s, fixed seconds of
    # a step of 30 tokens (launches of kernels: most for a recurrent model, which loops over them)
    "bahdanau_gru, 1,000 units": (88e6, 40e6, 0.15 * 989e12, 15e-3),
    "transformer_base": (77e6, 33e6, 0.35 * 989e12, 4e-3),
}
TOKENS = 30  # of a side
WITHIN, BETWEEN = 200e9, 40e9  # bytes a second of an all-reduce, within a server and between
LATENCY, STRAGGLER = 30e-6, 1.03  # seconds of a round; the slowest of many compared with the mean


def gpu_step(count, rows, parameters, embedding, rate, fixed):
    """Return the seconds of a step of some GPUs, and the part in which they compute."""
    compute = fixed + 6 * (parameters - embedding) * rows * TOKENS / rate
    if count == 1:
        return compute, compute
    exchange = 2 * (count - 1) / count * 4 * parameters / (WITHIN if count <= 8 else BETWEEN)
    rounds = LATENCY * 2 * (count - 1).bit_length()
    return STRAGGLER * compute + exchange + rounds, compute


def on_paper():
    """Print what 1, 8, 64 and 512 GPUs would do."""
    print("rows of a GPU from which it computes 80% of the time; with 512 rows of each GPU, "
          "sentences a second, and the share of a linear speed")  # fmt: skip
    for name, model in GPUS.items():
        for count in (1, 8, 64, 512):
            rows = 1
            while True:
                seconds, compute = gpu_step(count, rows, *model)
                if compute >= 0.8 * seconds:
                    break
                rows += 1
            speed = count * 512 / gpu_step(count, 512, *model)[0]
            linear = count * 512 / gpu_step(1, 512, *model)[0]
            print(f"{name}, {count:3} GPUs: {rows:5,} rows; "
                  f"{speed:10,.0f} sentences/s, {speed / linear:.0%}")  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=10, help="steps of an epoch; two are measured")
    parser.add_argument("--output", type=Path, help="file for the measurements, as JSON")
    parser.add_argument("--work", nargs=4, type=int, help=argparse.SUPPRESS)
    parser.add_argument("--paper", action="store_true", help="compute what GPUs would do")
    arguments = parser.parse_args()
    if arguments.paper:
        on_paper()
        return
    if arguments.work:
        work(*arguments.work)
        return
    alone, together = measure(False, arguments.steps), measure(True, arguments.steps)
    if arguments.output:
        arguments.output.write_text(json.dumps({"alone": alone, "together": together}, indent=1))
    report(alone, together)


if __name__ == "__main__":
    main()
