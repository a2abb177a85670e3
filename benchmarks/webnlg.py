"""Copying of unseen names in WebNLG, from `init` to scores.

    python benchmarks/webnlg.py DATA tokenizer.shared.vocabulary_size=800

DATA is a folder with `train.tsv.gz` and `dev.tsv.gz`: entry, category, number of triples, number
and comment of the reference, triples and reference. The categories Astronaut and University are
left out of training, so their names are unseen. In the sources, names have spaces instead of
underscores, as in the references. The benchmark proposes a recipe by `kerasnmt init`, changes it
by the overrides, trains it, and translates entries of the other categories in `dev.tsv.gz` (seen)
and entries of the two categories (unseen). It prints a JSON line with the vocabulary, the seconds
of training, BLEU with all references of an entry, the percentage of subjects that the translation
contains as they are written, of those that a reference contains, and the number of "⁇" per
translation.
"""

import argparse
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from itertools import zip_longest
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import sacrebleu

UNSEEN = {"Astronaut", "University"}
MODEL, EPOCHS = "pointer_generator_gru", 4


def source_text(triples: str) -> str:
    """Return triples as a text, with names as they are written in the references."""
    return " ".join(triples.replace("_", " ").replace('"', "").split())


def subjects(triples: str) -> set[str]:
    """Return the subjects of triples."""
    return {triple.split("|")[0].strip() for triple in source_text(triples).split(" && ")}


def read(path: Path) -> tuple[list[tuple[str, str]], dict[str, tuple[str, list[str]]]]:
    """Read a file.

    Returns:
        The pairs of the seen categories; and the category and references of each source.
    """
    pairs, entries = [], {}
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            _, category, _, _, _, triples, text = line.rstrip("\n").split("\t")
            entries.setdefault(triples, (category, []))[1].append(" ".join(text.split()))
            if category not in UNSEEN:
                pairs.append((source_text(triples), entries[triples][1][-1]))
    return pairs, entries


def scores(entries: list[tuple[str, list[str]]], translations: list[str]) -> dict[str, float]:
    """Return the scores of translations of `(triples, references)`."""
    references = list(zip_longest(*(references for _, references in entries)))
    copied = [
        subject in translation
        for (triples, references_), translation in zip(entries, translations, strict=True)
        for subject in sorted(subjects(triples))
        if any(subject in reference for reference in references_)
    ]
    return {
        "bleu": round(sacrebleu.corpus_bleu(translations, references).score, 1),
        "subjects": len(copied),
        "copied": round(100 * sum(copied) / len(copied), 1),
        "unknown": round(sum(text.count("⁇") for text in translations) / len(translations), 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("overrides", nargs="*")
    parser.add_argument("--entries", type=int, default=400, help="entries of each test set")
    parser.add_argument("--output", type=Path, help="folder that keeps the run and its texts")
    arguments = parser.parse_args()

    train, entries = read(arguments.data / "train.tsv.gz")
    _, dev = read(arguments.data / "dev.tsv.gz")
    tests = {
        "seen": [entry for entry in dev.items() if entry[1][0] not in UNSEEN],
        "unseen": [entry for entry in (entries | dev).items() if entry[1][0] in UNSEEN],
    }
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.output or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        pairs, recipe, run = folder / "train.tsv", folder / "recipe.yaml", folder / "run"
        pairs.write_text("".join(f"{source}\t{target}\n" for source, target in train))
        program = [sys.executable, "-m", "kerasnmt.cli"]
        init = [*program, "init", "--pairs", pairs, "--model", MODEL, "--output", recipe]
        subprocess.run(init, check=True, stdout=sys.stderr)
        began = time.perf_counter()
        overrides = [f"training.epochs={EPOCHS}", *arguments.overrides]
        subprocess.run(
            [*program, "train", recipe, *overrides, "--output", run],
            check=True,
            stdout=sys.stderr,
        )
        result = {"overrides": overrides, "seconds": round(time.perf_counter() - began)}
        for name, test in tests.items():
            test = random.Random(1).sample(test, min(arguments.entries, len(test)))
            test = [(triples, references) for triples, (_, references) in test]
            sources = "\n".join(source_text(triples) for triples, _ in test)
            answer = subprocess.run(
                [*program, "translate", run],
                check=True,
                input=sources,
                text=True,
                stdout=subprocess.PIPE,
            )
            (folder / f"{name}.txt").write_text(answer.stdout)
            result[name] = scores(test, answer.stdout.splitlines())
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
