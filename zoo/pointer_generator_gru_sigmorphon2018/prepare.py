"""Turn files of SIGMORPHON 2018, task 1, into pairs for `kerasnmt train`.

    python prepare.py sigmorphon2018 data

The first folder contains the published files, `german-train-medium` and so on. Each line has a
lemma, its inflected form and the tags of the form. For each language, the script writes a folder
with `train.tsv`, `validation.tsv` and `test.tsv`. The source is the tags, each as one symbol in
brackets, and then the characters of the lemma. The target is the characters of the form. Spaces
separate all symbols. A space within a lemma or a form is written "▁".

    aufgehen  ging auf  V;IND;PST   ->   [V] [IND] [PST] a u f g e h e n  TAB  g i n g ▁ a u f

`--invented 3000` adds 3,000 pairs to the training pairs. They are copies with other letters in the
stem, which is the part that lemma and form share. Source: Anastasopoulos and Neubig (2019),
"Pushing the limits of low-resource morphological inflection", section 3.
"""

import argparse
import random
from difflib import SequenceMatcher
from pathlib import Path

LANGUAGES = ("arabic", "english", "finnish", "german", "spanish", "turkish")
SPLITS = {"train": "train-medium", "validation": "dev", "test": "test"}
SHORTEST_STEM = 3  # consecutive letters that lemma and form share


def symbols(text: str) -> str:
    """Return the characters of a text, separated by spaces."""
    return " ".join(text.replace(" ", "▁"))


def pair(line: str) -> tuple[str, str]:
    """Return source and target of a line, `lemma TAB form TAB tag;tag;tag`."""
    lemma, form, tags = line.split("\t")
    source = " ".join([*(f"[{tag}]" for tag in tags.split(";")), symbols(lemma)])
    return source, symbols(form)


def with_other_stem(line: str, letters: list[str], rng: random.Random) -> str | None:
    """Return a line with random letters in its stem, or None if lemma and form share no stem.

    The first and the last letter of each common part stay, because they are next to the letters
    that differ. Spaces and hyphens stay too.
    """
    lemma, form, tags = line.split("\t")
    blocks = SequenceMatcher(None, lemma, form, autojunk=False).get_matching_blocks()
    old, new = list(lemma), list(form)
    found = False
    for in_lemma, in_form, size in blocks:
        for offset in range(1, size - 1) if size >= SHORTEST_STEM else ():
            if old[in_lemma + offset].isalpha():
                old[in_lemma + offset] = new[in_form + offset] = rng.choice(letters)
                found = True
    return "\t".join(["".join(old), "".join(new), tags]) if found else None


def invented(lines: list[str], count: int, seed: int = 1) -> list[str]:
    """Return lines with other stems, which are made from the given lines in turn."""
    rng = random.Random(seed)
    lemmas = "".join(line.split("\t")[0] for line in lines)
    letters = sorted({letter for letter in lemmas if letter.isalpha() and not letter.isupper()})
    found: list[str] = []
    while len(found) < count:
        made = [with_other_stem(line, letters, rng) for line in rng.sample(lines, len(lines))]
        if not any(made):
            raise SystemExit("expected lemmas and forms that share a stem of three letters")
        found += [line for line in made if line]
    return found[:count]


def main() -> None:
    """Write the pairs of each language."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("published", type=Path, help="folder of the published files")
    parser.add_argument("output", type=Path, help="folder for the pairs")
    parser.add_argument("--languages", nargs="*", default=LANGUAGES, metavar="LANGUAGE")
    parser.add_argument(
        "--invented", type=int, default=0, metavar="COUNT", help="number of pairs to invent"
    )
    arguments = parser.parse_args()
    for language in arguments.languages:
        folder = arguments.output / language
        folder.mkdir(parents=True, exist_ok=True)
        for split, ending in SPLITS.items():
            published = arguments.published / f"{language}-{ending}"
            lines = published.read_text(encoding="utf-8").splitlines()
            if split == "train":
                lines += invented(lines, arguments.invented)
            pairs = [pair(line) for line in lines]
            written = "".join(f"{source}\t{target}\n" for source, target in pairs)
            (folder / f"{split}.tsv").write_text(written, encoding="utf-8")
        print(f"{folder}: {', '.join(f'{split}.tsv' for split in SPLITS)}")


if __name__ == "__main__":
    main()
