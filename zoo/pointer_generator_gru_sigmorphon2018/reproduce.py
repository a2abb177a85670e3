"""Train and score the pointer-generator and Bahdanau's model on every language.

    python reproduce.py data runs

The first folder was written by `prepare.py`. The second folder gets a run for each model and
language. An interrupted run is resumed; a finished run is only scored. `results.json` contains what
the script prints: exact-match accuracy and mean Levenshtein distance on the test data.
"""

import argparse
import json
import os
from collections import Counter
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
from rich.console import Console

from kerasnmt.training import Recipe, train

MODELS, PARTS = ("pointer_generator_gru", "bahdanau_gru"), ("train", "validation", "test")


def vocabulary_size(train: Path) -> int:
    """Return the number of symbols that occur more than once, plus four reserved ids.

    Symbols that occur once stay outside the vocabulary. They train the unknown word, and copying.
    """
    counts = Counter(train.read_text(encoding="utf-8").split())
    return 4 + sum(count > 1 for count in counts.values())


def distance(one: str, other: str) -> int:
    """Return the Levenshtein distance between two texts."""
    row = list(range(len(other) + 1))
    for i, character in enumerate(one, 1):
        before, row[0] = row[0], i
        for j, wanted in enumerate(other, 1):
            best = min(row[j] + 1, row[j - 1] + 1, before + (character != wanted))
            before, row[j] = row[j], best
    return row[-1]


def score(run: Path, test: Path, options: dict) -> dict[str, float]:
    """Return accuracy and distance of a run's best model."""
    model = keras.saving.load_model(run / "model.keras", compile=False)
    lines = test.read_text(encoding="utf-8").splitlines()
    sources, forms = zip(*(line.split("\t") for line in lines), strict=True)
    answers = model.translate(sources, **options)
    pairs = [
        (answer.replace(" ", ""), form.replace(" ", ""))
        for answer, form in zip(answers, forms, strict=True)
    ]
    return {
        "accuracy": 100 * sum(answer == form for answer, form in pairs) / len(pairs),
        "distance": sum(distance(*pair) for pair in pairs) / len(pairs),
    }


def main() -> None:
    """Train and score all models on all languages."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("data", type=Path, help="folder that prepare.py wrote")
    parser.add_argument("runs", type=Path, help="folder for the runs and results.json")
    parser.add_argument("--models", nargs="*", default=MODELS, metavar="MODEL")
    parser.add_argument("--languages", nargs="*", metavar="LANGUAGE")
    arguments = parser.parse_args()
    languages = arguments.languages or sorted(path.name for path in arguments.data.iterdir())
    results = {}
    for name in arguments.models:
        for language in languages:
            folder, run = arguments.data / language, arguments.runs / f"{name}-{language}"
            overrides = [
                f"model.name={name}",
                f"tokenizer.shared.vocabulary_size={vocabulary_size(folder / 'train.tsv')}",
                *(f"data.{part}.pairs={folder / part}.tsv" for part in PARTS),
            ]
            recipe = Recipe.load(Path(__file__).with_name("recipe.yaml"), overrides)
            started = (run / "recipe.yaml").exists()
            trained = train(recipe, run, resume=started, console=Console(stderr=True))
            results[f"{name} {language}"] = {
                **score(run, folder / "test.tsv", recipe.search.options),
                **{key: trained[key] for key in ("parameters", "train_seconds")},
                "train_cpu_seconds": trained["train_cpu_seconds"],
            }
            print(f"{name} {language}", json.dumps(results[f"{name} {language}"]), flush=True)
    text = json.dumps(results, indent=2) + "\n"
    (arguments.runs / "results.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
