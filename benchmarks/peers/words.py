r"""Compare kerasnmt with yoyodyne on words: pronunciation, and inflection with `--tags`.

    python benchmarks/peers/words.py HOME --epochs 20 --train bul_train.tsv \
        --validation bul_dev.tsv --test bul_test.tsv
    python benchmarks/peers/words.py HOME --epochs 20 --tags --train german_train.tsv \
        --validation german_validation.tsv --test german_test.tsv

HOME is a folder outside the project. The first call creates an environment there, with yoyodyne
0.5.27 on PyTorch 2.13.0. Each line of a file has a word, a tab and its phones, as in SIGMORPHON
2020, task 1. With `--tags`, it has a lemma, a form and its tags, as
`zoo/hard_monotonic_lstm_conll2017/prepare.py` writes them.

All systems have 256 units and embeddings of 128, a dropout rate of 0.3, batches of 32, and no label
smoothing. Adam has a learning rate that falls from 0.001 to zero with the cosine, and gradients
have a norm of 1 at most. Search is greedy. Each system runs on one core, and the epoch with the
most exact matches on the validation words is kept. Prints a JSON line for each system. The CPU
seconds of training include compilation, but no validation. Those of translation are for the test
words, after the validation words.

- `yoyodyne_soft_attention_lstm` has an additive score before the cell, as `bahdanau_lstm`, but no
  bridge: its first states are weights. It encodes tags and letters one after the other, with one
  encoder, and attends to both. kerasnmt reads tags in front of the letters.
- `yoyodyne_hard_attention_lstm` is monotonic, as `hard_monotonic_lstm` of order 0. Each direction
  of both encoders has 128 units. It appends the mean of the tags to each annotation, kerasnmt to
  each letter. Its loss divides a batch by its longest target, not by its tokens.
- `yoyodyne_pointer_generator_lstm` has a second attention for tags. Unlike
  `pointer_generator_lstm`, it does not copy letters that are not in the training data.
- `yoyodyne_transducer_lstm` predicts edits, and has no counterpart. The driver trains the costs of
  edits on ids, because those of `maxwell-train` are for characters, which the transducer does not
  look up. It translates only words with targets, and asks its expert about them, which costs time.

What else differs: yoyodyne shares embeddings between both sides, has dropout at fewer places, and
pads random batches. Its schedules change after an epoch, so the driver sets the learning rate. Its
batches are made in the process of training, so that all CPU time counts. kerasnmt batches words of
similar lengths, so that an epoch has a few batches more, and uses oneDNN.
"""

import argparse
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import common
import compare

HERE = Path(__file__).parent
SYSTEMS = [
    *("bahdanau_gru", "bahdanau_lstm", "luong_general_lstm", "yoyodyne_soft_attention_lstm"),
    *("hard_monotonic_lstm", "yoyodyne_hard_attention_lstm"),
    *("pointer_generator_lstm", "yoyodyne_pointer_generator_lstm", "yoyodyne_transducer_lstm"),
]
PARTS = ("train", "validation", "test")
UNITS, EMBEDDINGS, DROPOUT, CLIP_NORM = 256, 128, 0.3, 1.0
BATCH_SIZE, MAX_LENGTH = 32, 100


class Course:
    """Course of a training, which counts its time, and keeps the weights of the best epoch."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.rows = {
            part: [line.split("\t") for line in common.lines(getattr(options, part))]
            for part in PARTS
        }
        self.updates_per_epoch = math.ceil(len(self.rows["train"]) / BATCH_SIZE)
        self.updates = options.epochs * self.updates_per_epoch
        self.scores: list[float] = []
        self.best: Any = None
        self.clock = common.Clock()

    def exact(self, part: str, translate: Callable[[str], list[str]]) -> float:
        """Return the percentage of words that are exactly right."""
        pairs = zip(translate(part), self.rows[part], strict=True)
        right = [found == row[1] for found, row in pairs]
        return 100 * sum(right) / len(right)

    def validate(self, translate: Callable[[str], list[str]], weights: Callable[[], Any]) -> None:
        """Score an epoch, and keep its weights if it is the best so far."""
        self.clock.stop()
        self.scores.append(self.exact("validation", translate))
        if self.scores[-1] > max(self.scores[:-1], default=-1.0):
            self.best = weights()
        self.clock.resume()

    def result(
        self, parameters: int, translate: Callable[[str], list[str]], *packages: str
    ) -> dict:
        """Return the answer of a driver, whose model has the best weights."""
        self.clock.stop()
        search = common.Clock()
        exact = self.exact("test", translate)
        search.stop()
        return {
            "parameters": parameters,
            "updates": self.updates,
            "train_cpu_seconds": self.clock.cpu_seconds,
            "best_epoch": self.scores.index(max(self.scores)) + 1,
            "validation_exact": max(self.scores),
            "test_exact": exact,
            "translate_cpu_seconds": search.cpu_seconds,
            "versions": {package: version(package) for package in packages},
        }


def arguments() -> argparse.Namespace:
    """Return the arguments of this script, which a driver gets with one system."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("home", type=Path, help="folder outside the project")
    for part in PARTS:
        parser.add_argument(f"--{part}", type=Path, required=True, help="file of words")
    parser.add_argument("--tags", action="store_true", help="inflection, with tags in column 3")
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=SYSTEMS)
    parser.add_argument("--epochs", type=int, required=True)
    parser.add_argument("--learning-rate", type=float, default=0.001)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def drive(home: Path, system: str) -> dict:
    """Run a driver, and read its answer."""
    peer = compare.peer_of(system)
    python = home.absolute() / peer / "bin/python" if peer else sys.executable
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    if not peer:
        environment |= {"PYTHONPATH": str(HERE.parents[1]), "TF_ENABLE_ONEDNN_OPTS": "1"}
    log = home / f"{system}.log"
    with log.open("w") as errors:
        done = subprocess.run(
            [python, HERE / f"words_{peer or 'kerasnmt'}.py", *sys.argv[1:], "--systems", system],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=environment,
            preexec_fn=lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}),
        )
    answers = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    if not answers:
        raise SystemExit(f"{system} failed; see {log}")
    return json.loads(answers[-1].removeprefix("RESULT "))


def main() -> None:
    options = arguments()
    options.home.mkdir(parents=True, exist_ok=True)
    for peer in {*map(compare.peer_of, options.systems)} - {None}:
        compare.install(options.home.absolute(), peer)
    for system in options.systems:
        print(json.dumps({"system": system} | drive(options.home, system)), flush=True)


if __name__ == "__main__":
    main()
