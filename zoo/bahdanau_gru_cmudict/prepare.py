"""Turn the CMU Pronouncing Dictionary into pairs for `kerasnmt train`.

    python prepare.py cmudict.dict data

`cmudict.dict` has a word and its phones on each line (https://github.com/cmusphinx/cmudict). The
pairs have no stress marks. A word with several pronunciations makes several pairs. The words are
split at random: 2,000 for validation, 10,000 for the test, and the rest for training.

    research(2) R IY1 S ER0 CH   ->   research TAB R IY S ER CH
"""

import argparse
import random
import re
from pathlib import Path

HELD_OUT = {"validation": 2_000, "test": 10_000}


def pronunciations(text: str) -> dict[str, list[str]]:
    """Return the pronunciations of each word, without stress marks.

    Only words that consist of letters and apostrophes are read.
    """
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        word, _, phones = line.split("#")[0].strip().partition(" ")
        word = re.sub(r"\(\d+\)$", "", word)
        phones = re.sub(r"\d", "", phones).strip()
        if re.fullmatch(r"[a-z']*[a-z][a-z']*", word) and phones not in found.setdefault(word, []):
            found[word].append(phones)
    return {word: several for word, several in found.items() if several}


def split(words: list[str], seed: int = 1) -> dict[str, list[str]]:
    """Split words at random into training, validation and test."""
    shuffled = sorted(words)
    random.Random(seed).shuffle(shuffled)
    parts = {}
    for name, count in HELD_OUT.items():
        parts[name], shuffled = shuffled[:count], shuffled[count:]
    return {"train": shuffled, **parts}


def main() -> None:
    """Write the pairs."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("dictionary", type=Path, help="the published cmudict.dict")
    parser.add_argument("output", type=Path, help="folder to write into")
    arguments = parser.parse_args()
    found = pronunciations(arguments.dictionary.read_text(encoding="utf-8"))
    arguments.output.mkdir(parents=True, exist_ok=True)
    for name, words in split(list(found)).items():
        pairs = [f"{word}\t{phones}\n" for word in words for phones in found[word]]
        (arguments.output / f"{name}.tsv").write_text("".join(pairs), encoding="utf-8")
        print(f"{arguments.output / name}.tsv: {len(words):,} words, {len(pairs):,} pairs")


if __name__ == "__main__":
    main()
