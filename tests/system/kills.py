"""Kill training at random moments, resume it, and compare it with uninterrupted training.

    python tests/system/kills.py --runs 12 --kills 60

Each recipe has other options, which are drawn with a fixed seed. One run is not interrupted. A
second run is killed repeatedly, by SIGKILL or SIGTERM, at random moments, and resumed each time. At
the end, both runs must have the same history, except for the times, and exactly the same weights.
Each process gets one core.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import yaml

PROGRAM = [sys.executable, "-c", "from kerasnmt.cli.main import main; main()", "train"]
# The times differ.
TIMES = ("seconds", "cpu_seconds", "target_tokens_per_second")


def recipe(rng: random.Random) -> dict:
    """Return a small recipe with options of all kinds."""
    schedule = rng.choice(["constant", "cosine", "inverse_sqrt", "plateau"])
    warmup = {"inverse_sqrt": 10, "plateau": 0}.get(schedule, rng.choice([0, 10]))
    average = rng.choice(["moving_average", "average_epochs", None])
    training = {
        "epochs": 4,
        "checkpoint_every": rng.choice([1, 3, 7]),
        "learning_rate": 0.01,
        "learning_rate_schedule": schedule,
        "warmup_steps": warmup,
        "plateau_patience": 1,
        "precision": rng.choice(["float32", "bfloat16", "float16"]),
        "accumulate_batches": rng.choice([1, 2]),
        "scheduled_sampling": rng.choice([0.0, 0.3]),
        "r_drop": rng.choice([0.0, 1.0]),
        "word_dropout": rng.choice([0.0, 0.1]),
        "guided_attention": rng.choice([None, 1.0]),
        "few_shapes": rng.choice([True, False]),
        "monitor": rng.choice(["bleu", "chrf", "exact", "loss"]),
        "early_stopping": rng.choice([None, 2]),
        **({"moving_average": 0.9} if average == "moving_average" else {}),
        **({"average_epochs": 2} if average == "average_epochs" else {}),
        **rng.choice([{"batch_size": 16}, {"tokens_per_batch": 300}]),
    }
    model = rng.choice(["bahdanau_gru", "luong_general_lstm", "pointer_generator_gru"])
    return {
        "model": {"name": model, "units": 16, "embedding_dim": 16, "state_dropout": 0.1},
        "tokenizer": {"shared": {"kind": "words", "vocabulary_size": 200}},
        "data": {"train": {"builtin": 300}, "validation": {"builtin": 10}},
        "training": training,
        "search": {"beam_size": 1, "max_length": 10},
    }


def start(path: Path, run: Path, core: int, log: Path) -> subprocess.Popen:
    """Start training, or resume it if there is a run."""
    resume = ["--resume"] if (run / "data.json").exists() and (run / "recipe.yaml").exists() else []
    with log.open("ab") as file:
        return subprocess.Popen(
            [*PROGRAM, str(path), "--output", str(run), *resume],
            stdout=file,
            stderr=file,
            preexec_fn=lambda: os.sched_setaffinity(0, {core}),
        )


def outcome(run: Path) -> tuple[list[dict], dict[str, bytes]]:
    """Return the history without its times, and the weights of the best model on disk."""
    records = [json.loads(line) for line in (run / "history.jsonl").read_text().splitlines()]
    history = [{k: v for k, v in record.items() if k not in TIMES} for record in records]
    import h5py  # of Keras

    with zipfile.ZipFile(run / "model.keras") as archive:
        archive.extract("model.weights.h5", run / "weights")
    weights: dict[str, bytes] = {}

    def note(name: str, item: object) -> None:
        if isinstance(item, h5py.Dataset):
            weights[name] = item[()].tobytes()

    with h5py.File(run / "weights" / "model.weights.h5") as file:
        file.visititems(note)
    return history, weights


def difference(found: tuple[list, dict], expected: tuple[list, dict]) -> str:
    """Return the first difference between two outcomes."""
    if len(found[0]) != len(expected[0]):
        return f"{len(found[0])} epochs in place of {len(expected[0])}"
    for epoch, (one, other) in enumerate(zip(found[0], expected[0], strict=True), start=1):
        for name in other:
            if one.get(name) != other[name]:
                return f"epoch {epoch}: {name} {one.get(name)} in place of {other[name]}"
    names = [name for name, weight in expected[1].items() if found[1].get(name) != weight]
    return f"weights {', '.join(names)}"


def killed(path: Path, run: Path, core: int, kills: int, seconds: float, rng: random.Random) -> str:
    """Kill and resume training a number of times, and let it end; return a log."""
    done = []
    for _ in range(kills):
        process = start(path, run, core, run.with_suffix(".log"))
        number = rng.choice([signal.SIGKILL, signal.SIGTERM])
        try:
            process.wait(rng.uniform(0.3, 1.0) * seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(number)
            process.wait(60)
            done.append(f"{number.name}:{process.returncode}")
        else:
            if process.returncode:
                raise RuntimeError(run.with_suffix(".log").read_text()[-2000:])
            # It was finished before the kill, so start again.
            run.rename(run.with_name(f"{run.name}_{len(done)}_{time.monotonic_ns()}"))
    process = start(path, run, core, run.with_suffix(".log"))
    if process.wait():
        raise RuntimeError(run.with_suffix(".log").read_text()[-2000:])
    return " ".join(done)


def main() -> None:
    """Compare all runs, and print which differ."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=12)
    parser.add_argument("--kills", type=int, default=60, help="of all runs together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--core", type=int, default=0)
    given = parser.parse_args()
    equal, kills = 0, 0
    for number in range(given.runs):
        rng = random.Random(f"{given.seed} {number}")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "recipe.yaml"
            document = recipe(rng)
            path.write_text(yaml.safe_dump(document))
            whole, run = Path(folder) / "whole", Path(folder) / "run"
            begun = time.perf_counter()
            process = start(path, whole, given.core, whole.with_suffix(".log"))
            if process.wait():
                raise RuntimeError(whole.with_suffix(".log").read_text()[-2000:])
            seconds = time.perf_counter() - begun
            done = killed(path, run, given.core, given.kills // given.runs, seconds, rng)
            found, expected = outcome(run), outcome(whole)
            same = found == expected
        equal += same
        kills += len(done.split())
        options = {k: v for k, v in document["training"].items() if v not in (None, 0.0)}
        verdict = "equal" if same else "DIFFERS"
        print(f"{number + 1}/{given.runs} {verdict}: {done}", flush=True)
        print(f"  {document['model']['name']} {json.dumps(options)}", flush=True)
        if not same:
            print(f"  {difference(found, expected)}", flush=True)
    print(f"{equal} of {given.runs} runs equal after {kills} kills")
    sys.exit(equal < given.runs)


if __name__ == "__main__":
    main()
