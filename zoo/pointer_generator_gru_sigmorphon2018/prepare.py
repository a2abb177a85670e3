"""Turn files of SIGMORPHON 2018, task 1, into pairs for `kerasnmt train`.

    python prepare.py sigmorphon2018 data

The first folder holds the published files, `german-train-medium` and so on, with a lemma, its
inflected form and the form's tags on each line. For each language a folder is written, with
`train.tsv`, `validation.tsv` and `test.tsv`: the source is the tags, each one symbol in brackets,
then the characters of the lemma; the target the characters of the form; all with spaces between.
A space within a lemma or a form is written "▁".

    aufgehen  ging auf  V;IND;PST   ->   [V] [IND] [PST] a u f g e h e n  TAB  g i n g ▁ a u f
"""

import argparse
from pathlib import Path

LANGUAGES = ("arabic", "english", "finnish", "german", "spanish", "turkish")
SPLITS = {"train": "train-medium", "validation": "dev", "test": "test"}


def symbols(text: str) -> str:
    """The characters of a text with spaces between."""
    return " ".join(text.replace(" ", "▁"))


def pair(line: str) -> tuple[str, str]:
    """Source and target of a line, `lemma TAB form TAB tag;tag;tag`."""
    lemma, form, tags = line.split("\t")
    source = " ".join([*(f"[{tag}]" for tag in tags.split(";")), symbols(lemma)])
    return source, symbols(form)


def main() -> None:
    """Write the pairs of each language."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("published", type=Path, help="folder of the published files")
    parser.add_argument("output", type=Path, help="folder to write into")
    parser.add_argument("--languages", nargs="*", default=LANGUAGES, metavar="LANGUAGE")
    arguments = parser.parse_args()
    for language in arguments.languages:
        folder = arguments.output / language
        folder.mkdir(parents=True, exist_ok=True)
        for split, ending in SPLITS.items():
            published = arguments.published / f"{language}-{ending}"
            lines = published.read_text(encoding="utf-8").splitlines()
            pairs = [pair(line) for line in lines]
            written = "".join(f"{source}\t{target}\n" for source, target in pairs)
            (folder / f"{split}.tsv").write_text(written, encoding="utf-8")
        print(f"{folder}: {', '.join(f'{split}.tsv' for split in SPLITS)}")


if __name__ == "__main__":
    main()
