"""Turn the Tatoeba pairs into training, validation and test files for both directions.

    python prepare.py DATA OUTPUT

DATA has `train.tsv.gz`, `val.tsv.gz` and `test.tsv.gz`: English, a tab and French in each line.
OUTPUT gets `en_fr` and `fr_en`, each with `train.tsv`, `validation.tsv` and `test.tsv`, source
first. No English sentence of one file is in another. The test of `fr_en` leaves out the pairs whose
French sentence is in the training data.

French typography puts a no-break space before some punctuation marks. The pairs have it, an
ordinary space or none; here it is always one ordinary space. Typographic apostrophes become plain.
"""

import argparse
import gzip
import re
from pathlib import Path

PARTS = {"train": "train", "val": "validation", "test": "test"}


def normalized(text: str) -> str:
    """Return a text with plain spaces and apostrophes."""
    text = re.sub(r"[\u200b\u00ad]", "", text)
    text = re.sub(r"[\u00a0\u2009\u202f]", " ", text).replace("’", "'").replace("‘", "'")
    return " ".join(text.split())


def normalized_french(text: str) -> str:
    """Return a French text with one space before ? ! ; » and after «."""
    text = re.sub(r"(?<=[^\s?!])([?!;»])", r" \1", normalized(text))
    return " ".join(text.replace("«", "« ").split())


def write(path: Path, pairs: list[tuple[str, str]]) -> None:
    """Write a pair per line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join("\t".join(pair) + "\n" for pair in pairs), encoding="utf-8")


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("data", type=Path, help="folder with train.tsv.gz, val.tsv.gz, test.tsv.gz")
    parser.add_argument("output", type=Path, help="folder for en_fr and fr_en")
    arguments = parser.parse_args()
    trained_on: set[str] = set()
    for part, name in PARTS.items():
        with gzip.open(arguments.data / f"{part}.tsv.gz", "rt", encoding="utf-8") as file:
            rows = [line.rstrip("\n").split("\t") for line in file]
        pairs = [(normalized(english), normalized_french(french)) for english, french in rows]
        write(arguments.output / "en_fr" / f"{name}.tsv", pairs)
        reverse = [(french, english) for english, french in pairs]
        if name == "train":
            trained_on = {french for french, _ in reverse}
        if name == "test":
            reverse = [pair for pair in reverse if pair[0] not in trained_on]
        write(arguments.output / "fr_en" / f"{name}.tsv", reverse)


if __name__ == "__main__":
    main()
