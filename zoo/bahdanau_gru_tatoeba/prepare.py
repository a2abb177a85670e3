"""Turn the Tatoeba pairs into training, validation and test files for both directions.

    python prepare.py DATA OUTPUT --language fr --noise 0.4

DATA has `train.tsv.gz`, `val.tsv.gz` and `test.tsv.gz`: English, a tab and French, or another
language, in each line. OUTPUT gets `en_fr` and `fr_en`, each with `train.tsv`, `validation.tsv` and
`test.tsv`, source first. No English sentence of one file is in another. The test of `fr_en` leaves
out the pairs whose French sentence is in the training data. `--noise` adds noisy training pairs,
relative to the number of pairs; see `noise.py`. `--phrases` adds short phrases, dates, times and
prices; see `phrases.py`.

French typography puts a no-break space before some punctuation marks. The pairs have it, an
ordinary space or none; here it is always one ordinary space. Typographic apostrophes and quotes
become plain.
"""

import argparse
import gzip
import re
from pathlib import Path

import noise
from phrases import phrases

PARTS = {"train": "train", "val": "validation", "test": "test"}


def normalized(text: str) -> str:
    """Return a text with plain spaces, apostrophes and quotes."""
    text = re.sub(r"[\u200b\u00ad]", "", text)
    text = re.sub(r"[\u00a0\u2009\u202f]", " ", text)
    text = re.sub("[’‘‚]", "'", text)
    return " ".join(re.sub("[“”„]", '"', text).split())


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
    parser.add_argument("output", type=Path, help="folder for both directions")
    parser.add_argument("--language", choices=noise.NUMBER_WORDS, default="fr")
    parser.add_argument("--noise", type=float, default=0.0, help="noisy pairs per pair")
    parser.add_argument("--phrases", type=int, default=0, help="how often a short phrase comes")
    arguments = parser.parse_args()
    languages = ("en", arguments.language)
    normalize = {"fr": normalized_french}.get(arguments.language, normalized)
    trained_on: set[str] = set()
    for part, name in PARTS.items():
        with gzip.open(arguments.data / f"{part}.tsv.gz", "rt", encoding="utf-8") as file:
            rows = [line.rstrip("\n").split("\t") for line in file]
        pairs = [(normalized(english), normalize(other)) for english, other in rows]
        reverse = [(other, english) for english, other in pairs]
        if name == "train":
            trained_on = {source for source, _ in reverse}
        if name == "test":
            reverse = [pair for pair in reverse if pair[0] not in trained_on]
        for direction, both in ((languages, pairs), (languages[::-1], reverse)):
            if name == "train":
                both = both + noise.noisy_pairs(both, direction, arguments.noise, seed=1)
                both = both + phrases(direction, arguments.phrases, seed=1)
            write(arguments.output / "_".join(direction) / f"{name}.tsv", both)


if __name__ == "__main__":
    main()
