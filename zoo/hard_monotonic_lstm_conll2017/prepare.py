"""Write the data of inflection: lemma, form and tags, with invented words in the training data.

    python prepare.py CONLL data --languages german turkish

CONLL has the files `LANGUAGE-train-medium`, `LANGUAGE-dev` and `LANGUAGE-test` of CoNLL-SIGMORPHON
2017, task 1. The training data has each of the 1,000 forms twice, and 2,000 forms of invented
words. In these, random letters replace letters inside a part that lemma and form share, each with a
probability of one half. So the model learns to copy stems that it has never seen. The letters are
as frequent as in the lemmas, but one of 20 is any letter of the same Unicode blocks, so that the
model can copy letters which the training data does not have. The first letter of a part and its
last three stay, because endings depend on what is before them, as in vowel harmony.

Source: Anastasopoulos and Neubig (2019), "Pushing the limits of low-resource morphological
inflection", section 3.
"""

import argparse
import random
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from pathlib import Path

RATE, COPIES, KEPT = 0.5, 2, 3
# Share of any letters, and size of the blocks that they are from.
ANY, BLOCK = 0.05, 128
PARTS = {"train": "train-medium", "validation": "dev", "test": "test"}
Row = tuple[str, ...]  # lemma, form, tags


def invented(rows: Sequence[Row], count: int, seed: int = 1) -> list[Row]:
    """Return rows with invented words, made from real rows.

    Raises:
        ValueError: If no row has a shared part.
    """
    rng = random.Random(seed)
    letters = Counter(letter for lemma, *_ in rows for letter in lemma if letter.isalpha())
    any_letters = letters_of_blocks({ord(letter) // BLOCK for letter in letters})
    places = {row: inner_letters(row[0], row[1]) for row in rows}
    usable = [row for row in rows if places[row]]
    if not usable:
        raise ValueError(
            f"Expected a lemma and a form that share {KEPT + 2} letters. Received: none."
        )
    words: list[Row] = []
    while len(words) < count:
        row = rng.choice(usable)
        lemma, form = map(list, row[:2])
        for one, other in places[row]:
            if rng.random() < RATE:
                if rng.random() < ANY:
                    letter = rng.choice(any_letters)
                else:
                    (letter,) = rng.choices([*letters], [*letters.values()])
                lemma[one] = form[other] = letter
        word = "".join(lemma), "".join(form), row[2]
        words += [word] if word != row else []
    return words


def letters_of_blocks(blocks: set[int]) -> list[str]:
    """Return the letters of some blocks of code points."""
    points = (chr(block * BLOCK + number) for block in sorted(blocks) for number in range(BLOCK))
    return [point for point in points if point.isalpha()]


def inner_letters(lemma: str, form: str) -> list[tuple[int, int]]:
    """Return the places in lemma and form of the letters that another letter may replace."""
    blocks = SequenceMatcher(None, lemma, form, autojunk=False).get_matching_blocks()
    return [
        (block.a + number, block.b + number)
        for block in blocks
        for number in range(1, block.size - KEPT)
        if lemma[block.a + number].isalpha()
    ]


def read(path: Path) -> list[Row]:
    """Read the rows of a file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [tuple(line.split("\t")) for line in lines]


def main() -> None:
    """Write the files of each language."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("conll", type=Path, help="folder of the shared task")
    parser.add_argument("data", type=Path, help="folder to write")
    parser.add_argument("--languages", nargs="+", default=["german"])
    parser.add_argument("--invented", type=int, default=2000, help="number of invented words")
    arguments = parser.parse_args()
    arguments.data.mkdir(parents=True, exist_ok=True)
    for language in arguments.languages:
        for part, name in PARTS.items():
            rows = read(arguments.conll / f"{language}-{name}")
            if part == "train":
                rows = COPIES * rows + invented(rows, arguments.invented)
            text = "".join("\t".join(row) + "\n" for row in rows)
            (arguments.data / f"{language}_{part}.tsv").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
