"""Write the words of many languages for one model, which reads the language as a tag.

    python prepare.py WIKIPRON data --words 8000

WIKIPRON has files `deu_train.tsv.gz`, `deu_dev.tsv.gz` and `deu_test.tsv.gz` for each language, by
its code of ISO 639-3: a word, a tab and its phones in each line, all pronunciations of a word on
consecutive lines. The files written have the code in a third column: `train.tsv`, `validation.tsv`,
`test.tsv` with the first test words of all languages, and `deu_test.tsv` with all of German. A
recipe reads them with `columns: [1, 2], tags: 3`. With `--spellings`, `train.tsv` also has words in
other spellings; see `spellings.py`.
"""

import argparse
import gzip
import random
from itertools import groupby, islice
from pathlib import Path

from spellings import other_spellings

Row = tuple[str, ...]  # word, phones, language


def read(path: Path, words: int | None = None, pronunciations: int | None = None) -> list[Row]:
    """Read the first words of a file, and the first pronunciations of each."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [(*line.rstrip("\n").split("\t"), path.name.split("_")[0]) for line in file]
    groups = (islice(group, pronunciations) for _, group in groupby(rows, key=lambda row: row[0]))
    return [row for group in islice(groups, words) for row in group]


def write(path: Path, rows: list[Row]) -> None:
    """Write a row per line."""
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("wikipron", type=Path, help="folder of the words")
    parser.add_argument("output", type=Path, help="folder to write")
    parser.add_argument("--languages", nargs="+", help="codes; by default, all")
    parser.add_argument("--words", type=int, help="training words of a language; by default, all")
    parser.add_argument("--pronunciations", type=int, default=2, help="of a training word")
    parser.add_argument(
        "--spellings",
        type=float,
        default=0.0,
        help="share of the training words that get another spelling",
    )
    parser.add_argument(
        "--validation-words",
        type=int,
        default=100,
        help="words of a language in validation.tsv and test.tsv",
    )
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    files = sorted(arguments.wikipron.glob("*_train.tsv.gz"))
    rng = random.Random(1)
    train: list[Row] = []
    validation: list[Row] = []
    test: list[Row] = []
    for language in arguments.languages or [file.name.split("_")[0] for file in files]:
        train_file, dev_file, test_file = (
            arguments.wikipron / f"{language}_{part}.tsv.gz" for part in ("train", "dev", "test")
        )
        words = read(train_file, arguments.words, arguments.pronunciations)
        train += words
        if arguments.spellings:
            train += other_spellings(words, arguments.spellings, rng)
        validation += read(dev_file, arguments.validation_words)
        test += read(test_file, arguments.validation_words)
        write(arguments.output / f"{language}_test.tsv", read(test_file))
    write(arguments.output / "train.tsv", train)
    write(arguments.output / "validation.tsv", validation)
    write(arguments.output / "test.tsv", test)
    print(f"{len(train):,} training pairs, {len(validation):,} validation pairs")


if __name__ == "__main__":
    main()
