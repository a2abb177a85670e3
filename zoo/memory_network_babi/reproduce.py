"""Train a memory network on all 20 bAbI tasks together, and score it on each.

    python reproduce.py DATA OUTPUT
    python reproduce.py DATA --score babi_memory

DATA is the folder `en` of the tasks (`qa1_single-supporting-fact_train.txt`, …). The script trains
several random starts on the first nine tenths of every task's training questions. The start with
the fewest errors on the last tenth is scored on the test questions, which are not used otherwise.
OUTPUT contains `start-N.keras` and `start-N.json` for each start; existing starts are not trained
again. `results.json` has the test error of each task in percent. With `--score`, the script only
scores a preset.

The schedule is the one for joint training of Sukhbaatar et al. (2015), section 4.2, as in the
authors' code. Stochastic gradient descent in batches of 32 runs for a linear start of 30 epochs,
regardless of the validation loss. It then runs for 60 epochs at a learning rate of 0.005, which is
halved every 15 epochs. Gradients with a norm above 40 are scaled down. (In the paper, the rate is
0.01, and the validation loss ends the linear start.) The authors sum gradients over a batch. This
script averages them, so its rates are 32 times as high and its norm is 32 times as low. As in the
authors' code, the position encoding is twice the paper's equation, and the softmax includes the
empty places of a memory for 50 sentences. There are four differences from that code:

- The learning rate of the linear start is a third of 0.005, because the loss jumps at 0.005.
- The position encoding of a sentence depends on its own length, not on the longest sentence.
- Noise follows each sentence with the paper's probability of 10%.
- An epoch uses each question once.
"""

import argparse
import json
import os
import re
import sys
import time
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras

from kerasnmt.atomic_write import atomic_write
from kerasnmt.data import StoryQuestion, read_babi, story_batches
from kerasnmt.models import MemoryNetwork
from kerasnmt.text import PlainWordTokenizer
from kerasnmt.training import GradientNorm, LinearStart
from kerasnmt.zoo import from_preset, memory_network

BATCH_SIZE = 32
RATE, LINEAR_RATE, NORM = 0.005 * BATCH_SIZE, 0.05, 40 / BATCH_SIZE
EPOCHS, ANNEALED_EVERY, LINEAR_EPOCHS = 60, 15, 30


class SGD(GradientNorm, keras.optimizers.SGD):
    """SGD on dense gradients, because the norm of an embedding's gradient slices is too low."""


class Annealing(keras.callbacks.Callback):
    """Halves the learning rate at regular intervals after the linear start, and ends training.

    Args:
        start: The linear start; it comes before this callback in the list of callbacks.
        epochs: Number of epochs after the linear start.
    """

    def __init__(self, start: LinearStart, epochs: int) -> None:
        super().__init__()
        self.start = start
        self.epochs = epochs

    def on_epoch_begin(self, epoch: int, logs: dict | None = None) -> None:
        """Set the learning rate."""
        ended = self.start.ended
        rate = LINEAR_RATE if ended is None else RATE / 2 ** ((epoch - ended) // ANNEALED_EVERY)
        self.model.optimizer.learning_rate.assign(rate)

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        """Write the logs, and stop after the last epoch."""
        numbers = {name: round(value, 4) for name, value in (logs or {}).items()}
        print(f"epoch {epoch + 1}", json.dumps(numbers), file=sys.stderr, flush=True)
        if self.start.ended is not None and epoch + 1 - self.start.ended >= self.epochs:
            self.model.stop_training = True


def read_tasks(folder: Path, split: str) -> dict[int, list[StoryQuestion]]:
    """Read the questions of each task, by its number; `split` is `train` or `test`."""
    files = {
        int(re.match(r"qa(\d+)_", path.name)[1]): path
        for path in folder.glob("qa*.txt")
        if re.fullmatch(rf"qa\d+_.*_{split}\.txt", path.name)
    }
    if not files:
        raise SystemExit(f"Expected files such as qa1_…_{split}.txt. Received: {folder}")
    return {number: read_babi(files[number]) for number in sorted(files)}


def split_tasks(
    tasks: dict[int, list[StoryQuestion]],
) -> tuple[list[StoryQuestion], list[StoryQuestion]]:
    """Return the first nine tenths of every task, for training, and the last, for validation."""
    train, validation = [], []
    for questions in tasks.values():
        kept = len(questions) * 9 // 10
        train += questions[:kept]
        validation += questions[kept:]
    return train, validation


def train_start(
    number: int,
    train: list[StoryQuestion],
    validation: list[StoryQuestion],
    tokenizer: PlainWordTokenizer,
    epochs: int,
) -> tuple[MemoryNetwork, dict]:
    """Train one random start; return the model and its results."""
    keras.utils.set_random_seed(number)
    model = memory_network(tokenizer)
    model.compile(SGD(LINEAR_RATE, clipnorm=NORM))
    sizes = {"batch_size": BATCH_SIZE, "max_sentences": model.max_sentences}
    start = LinearStart(patience=LINEAR_EPOCHS, max_epochs=LINEAR_EPOCHS)
    wall, cpu = time.perf_counter(), time.process_time()
    history = model.fit(
        story_batches(train, tokenizer, seed=number, **sizes),
        validation_data=story_batches(validation, tokenizer, shuffle=False, **sizes),
        epochs=LINEAR_EPOCHS + epochs,
        shuffle=False,
        callbacks=[start, Annealing(start, epochs)],
        verbose=0,
    ).history
    return model, {
        "start": number,
        "linear_epochs": start.ended,
        "train_loss": history["loss"][-1],
        "validation_loss": history["val_loss"][-1],
        "validation_error": 100 * (1 - history["val_accuracy"][-1]),
        "train_seconds": round(time.perf_counter() - wall),
        "train_cpu_seconds": round(time.process_time() - cpu),
        "history": history["val_loss"],
    }


def error_of(model: MemoryNetwork, questions: list[StoryQuestion]) -> float:
    """Return the percentage of wrong answers."""
    answers = model.answer([one.story for one in questions], [one.question for one in questions])
    wrong = [answer != one.answer.lower() for answer, one in zip(answers, questions, strict=True)]
    return 100 * sum(wrong) / len(wrong)


def errors_of(
    model: MemoryNetwork, tests: dict[int, list[StoryQuestion]]
) -> dict[str, dict | float]:
    """Return the test error of each task, and their mean."""
    errors = {str(number): error_of(model, questions) for number, questions in tests.items()}
    return {"test_error": errors, "mean_test_error": sum(errors.values()) / len(errors)}


def write_json(path: Path, document: dict) -> None:
    """Write a document atomically."""
    with atomic_write(path) as temporary:
        temporary.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def main() -> None:
    """Train all starts, select one, and score it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("data", type=Path, help="folder with the files of the tasks")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("output", type=Path, nargs="?", help="folder for models and results.json")
    what.add_argument("--score", metavar="PRESET", help="a preset to score")
    parser.add_argument("--starts", type=int, default=3, help="number of random starts")
    parser.add_argument("--epochs", type=int, default=EPOCHS, help="epochs after the linear start")
    arguments = parser.parse_args()
    tests = read_tasks(arguments.data, "test")
    if arguments.score is not None:
        print(json.dumps(errors_of(from_preset(arguments.score), tests)))
        return
    tasks = read_tasks(arguments.data, "train")
    train, validation = split_tasks(tasks)
    tokenizer = PlainWordTokenizer.train(
        text for questions in tasks.values() for one in questions for text in one.texts
    )
    starts = []
    for number in range(1, arguments.starts + 1):
        summary = arguments.output / f"start-{number}.json"
        if not summary.exists():
            model, found = train_start(number, train, validation, tokenizer, arguments.epochs)
            with atomic_write(summary.with_suffix(".keras")) as path:
                model.save(path)
            write_json(summary, found)
        starts.append(json.loads(summary.read_text(encoding="utf-8")))
        shown = {key: value for key, value in starts[-1].items() if key != "history"}
        print(json.dumps(shown), flush=True)
    chosen = min(starts, key=lambda one: (one["validation_error"], one["validation_loss"]))
    path = arguments.output / f"start-{chosen['start']}.keras"
    model = keras.saving.load_model(path, compile=False)
    results = {
        "model": model.name,
        "parameters": model.count_params(),
        "chosen_start": chosen["start"],
        **errors_of(model, tests),
        "starts": starts,
    }
    write_json(arguments.output / "results.json", results)
    print(json.dumps({key: results[key] for key in ("test_error", "mean_test_error")}))


if __name__ == "__main__":
    main()
