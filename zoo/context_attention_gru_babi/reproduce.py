"""Train attention over context on bAbI tasks, one model per task, and score each on its test set.

    python reproduce.py DATA OUTPUT --tasks 1 6 2
    python reproduce.py DATA --score PRESET --tasks 6

DATA is the folder `en` of the tasks (`qa1_single-supporting-fact_train.txt`, …). The question is
the source and the story is the context. The model generates the answer, or copies it from either.

A random start trains on the first nine tenths of a task's training questions. Training stops when
the errors on the last tenth have not decreased for some epochs. The epoch with the fewest errors is
kept, or among equal epochs the one with the lowest loss. (The loss alone would stop too early,
because a few wrong answers with high confidence raise it while the errors still decrease.) If more
than one percent of the answers are wrong, the script trains another start. The start with the
fewest errors on the last tenth is scored on the test questions, which are not used otherwise.

OUTPUT contains `task-T-start-N.keras` and `task-T-start-N.json` for each start; existing starts are
not trained again. `results.json` has the test error of each task in percent, also of earlier runs.
With `--score`, the script only scores a preset on each task.
"""

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf

from kerasnmt.atomic_write import atomic_write
from kerasnmt.data import StoryQuestion, batches, read_babi
from kerasnmt.ids import extended
from kerasnmt.models import Seq2Seq
from kerasnmt.text import WordTokenizer
from kerasnmt.training import BestModel
from kerasnmt.zoo import context_attention_gru, from_preset

UNITS, DROPOUT, RATE, NORM = 48, 0.1, 0.005, 5.0
BATCH_SIZE, MAX_LENGTH = 32, 600
# Batch widths are multiples of these, so they are few.
MULTIPLES = {"source_ids": 4, "context_ids": 16}
MULTIPLES |= {extended(name): multiple for name, multiple in MULTIPLES.items()}
GOOD = 1.0  # with at most this error on the last tenth, in percent, no further start is trained


class RightAnswers(keras.callbacks.Callback):
    """Adds `val_right` to the logs, the percentage of right answers."""

    def __init__(self, questions: Sequence[StoryQuestion]) -> None:
        super().__init__()
        self.questions = questions

    def on_epoch_end(self, epoch: int, logs: dict) -> None:
        """Answer the questions, and write a line."""
        logs["val_right"] = 100 - error_of(self.model, self.questions)
        numbers = {name: round(value, 4) for name, value in logs.items()}
        print(f"epoch {epoch + 1}", json.dumps(numbers), file=sys.stderr, flush=True)


def spaced(text: str) -> str:
    """Lowercase a text, and put spaces between words and punctuation."""
    return " ".join(re.findall(r"[^\s.?]+|[.?]", text.lower()))


def columns(questions: Sequence[StoryQuestion]) -> tuple[list[str], list[str], list[str]]:
    """Return the questions, the stories and the answers."""
    return (
        [spaced(one.question) for one in questions],
        [spaced(" ".join(one.story)) for one in questions],
        [spaced(one.answer) for one in questions],
    )


def read_task(folder: Path, number: int, split: str) -> list[StoryQuestion]:
    """Read the questions of a task; `split` is `train` or `test`."""
    paths = [*folder.glob(f"qa{number}_*_{split}.txt")]
    if len(paths) != 1:
        raise SystemExit(f"Expected a file qa{number}_…_{split}.txt. Received: {folder}")
    return read_babi(paths[0])


def error_of(model: Seq2Seq, questions: Sequence[StoryQuestion]) -> float:
    """Return the percentage of wrong answers."""
    asked, stories, answers = columns(questions)
    found = model.translate(asked, contexts=stories, beam_size=1, max_length=12)
    wrong = [one != answer for one, answer in zip(found, answers, strict=True)]
    return 100 * sum(wrong) / len(wrong)


def question_batches(
    questions: Sequence[StoryQuestion], tokenizer: WordTokenizer, seed: int | None = None
) -> tf.data.Dataset:
    """Return batches for `fit`. With a seed, every epoch has another order.

    `batches` groups questions of similar length. With few questions, this gives many small batches
    and uneven steps. So `batches` makes only the rows here.
    """
    asked, stories, answers = columns(questions)
    dataset = batches(
        list(zip(asked, answers, strict=True)),
        tokenizer,
        contexts=stories,
        extended_vocabulary=True,
        batch_size=1,
        max_length=MAX_LENGTH,
        shuffle=False,
    )
    rows = list(dataset.unbatch().as_numpy_iterator())
    orders = np.random.default_rng(seed)

    def epoch() -> Iterator[tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]]:
        order = range(len(rows)) if seed is None else orders.permutation(len(rows))
        for first in range(0, len(rows), BATCH_SIZE):
            some = [rows[number] for number in order[first : first + BATCH_SIZE]]
            inputs = {
                name: padded([row[0][name] for row in some], MULTIPLES.get(name, 1))
                for name in some[0][0]
            }
            targets = padded([row[1] for row in some])
            yield inputs, targets, np.float32(targets != 0)

    dataset = tf.data.Dataset.from_generator(epoch, output_signature=dataset.element_spec)
    return dataset.apply(tf.data.experimental.assert_cardinality(-(-len(rows) // BATCH_SIZE)))


def padded(rows: Sequence[np.ndarray], multiple: int = 1) -> np.ndarray:
    """Pad rows of ids to one width, a multiple of `multiple`; earlier padding is dropped."""
    ids = [row[row != 0] for row in rows]
    width = -(-max(map(len, ids)) // multiple) * multiple
    return keras.utils.pad_sequences(ids, width, padding="post")


def train_start(
    number: int, questions: list[StoryQuestion], epochs: int, patience: int, path: Path
) -> dict:
    """Train one random start and write the model of the best epoch; return its results."""
    keras.utils.set_random_seed(number)
    kept = len(questions) * 9 // 10
    train, validation = questions[:kept], questions[kept:]
    words = {word for column in columns(questions) for text in column for word in text.split()}
    # A tokenizer without word frequencies, because a new model initializes its output bias from
    # them. The words of the stories are not as frequent in the answers.
    tokenizer = WordTokenizer(sorted(words))
    model = context_attention_gru(tokenizer, embedding_dim=UNITS, units=UNITS, dropout=DROPOUT)
    model.compile(keras.optimizers.Adam(RATE, clipnorm=NORM), label_smoothing=0.0)
    wall, cpu = time.perf_counter(), time.process_time()
    history = model.fit(
        question_batches(train, tokenizer, seed=number),
        validation_data=question_batches(validation, tokenizer),
        epochs=epochs,
        shuffle=False,
        callbacks=[
            RightAnswers(validation),
            BestModel(path, monitor="val_right"),
            keras.callbacks.EarlyStopping("val_right", mode="max", patience=patience),
        ],
        verbose=0,
    ).history
    curve = [
        {"validation_error": 100 - right, "validation_loss": loss}
        for right, loss in zip(history["val_right"], history["val_loss"], strict=True)
    ]
    best = min(curve, key=rank)
    return {
        "start": number,
        "epochs": len(curve),
        "best_epoch": curve.index(best) + 1,
        **best,
        "train_seconds": round(time.perf_counter() - wall),
        "train_cpu_seconds": round(time.process_time() - cpu),
        "history": curve,
    }


def rank(one: dict) -> tuple[float, float]:
    """Return the key by which epochs and starts are compared; lower is better."""
    return one["validation_error"], one["validation_loss"]


def write_json(path: Path, document: dict) -> None:
    """Write a document atomically."""
    with atomic_write(path) as temporary:
        temporary.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def main() -> None:
    """Train the starts of each task, select one, and score it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("data", type=Path, help="folder with the files of the tasks")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("output", type=Path, nargs="?", help="folder for models and results.json")
    what.add_argument("--score", metavar="PRESET", help="a preset to score")
    parser.add_argument("--tasks", type=int, nargs="+", default=[1, 2, 6])
    parser.add_argument("--starts", type=int, default=3, help="maximum number of random starts")
    parser.add_argument("--epochs", type=int, default=100, help="maximum number of epochs")
    parser.add_argument("--patience", type=int, default=40, help="epochs without improvement")
    arguments = parser.parse_args()
    if arguments.score is not None:
        model = from_preset(arguments.score)
        for task in arguments.tasks:
            error = error_of(model, read_task(arguments.data, task, "test"))
            print(json.dumps({"task": task, "test_error": error}))
        return
    results = arguments.output / "results.json"
    found = json.loads(results.read_text(encoding="utf-8"))["tasks"] if results.exists() else {}
    for task in arguments.tasks:
        questions = read_task(arguments.data, task, "train")
        starts = []
        for number in range(1, arguments.starts + 1):
            summary = arguments.output / f"task-{task}-start-{number}.json"
            if not summary.exists():
                path = summary.with_suffix(".keras")
                how = train_start(number, questions, arguments.epochs, arguments.patience, path)
                write_json(summary, how)
            starts.append(json.loads(summary.read_text(encoding="utf-8")))
            shown = {key: value for key, value in starts[-1].items() if key != "history"}
            print(json.dumps({"task": task, **shown}), flush=True)
            if starts[-1]["validation_error"] <= GOOD:
                break
        chosen = min(starts, key=rank)
        path = arguments.output / f"task-{task}-start-{chosen['start']}.keras"
        model = keras.saving.load_model(path, compile=False)
        found[str(task)] = {
            "test_error": error_of(model, read_task(arguments.data, task, "test")),
            "parameters": model.count_params(),
            "chosen_start": chosen["start"],
            "starts": starts,
        }
        write_json(results, {"model": model.name, "tasks": found})
        print(json.dumps({"task": task, "test_error": found[str(task)]["test_error"]}), flush=True)


if __name__ == "__main__":
    main()
