"""Write dates as people write them in ten languages, and the same dates in ISO 8601.

    pip install babel
    python prepare.py OUTPUT

The script writes `train.tsv` (30,000 dates), `validation.tsv` (500) and `test.tsv` (2,000) to
OUTPUT, with dates from 1900 to 2099. Babel writes each date in a random language and form. No day
is in more than one file.

    jeudi 3 mai 1979   ->   1979-05-03
"""

import argparse
from datetime import date, timedelta
from pathlib import Path
from random import Random

from babel.dates import format_date

LOCALES = ("cs", "de", "en", "es", "fr", "it", "nl", "pl", "pt", "sv")
FORMS = ("full", "long", "medium")  # in some languages, two days have the same short form
SIZES = {"validation": 500, "test": 2_000, "train": 30_000}


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("output", type=Path, help="folder for the files")
    output = parser.parse_args().output
    output.mkdir(parents=True, exist_ok=True)
    random, first = Random(1), date(1900, 1, 1)
    offsets = list(range((date(2100, 1, 1) - first).days))
    random.shuffle(offsets)
    for split, size in SIZES.items():
        rows = []
        for offset in (offsets.pop() for _ in range(size)):
            day = first + timedelta(offset)
            text = format_date(day, random.choice(FORMS), locale=random.choice(LOCALES))
            text = text.replace("\u00a0", " ")
            rows.append(f"{text}\t{day.isoformat()}\n")
        (output / f"{split}.tsv").write_text("".join(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
