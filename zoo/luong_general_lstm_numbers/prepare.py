"""Write numbers in digits and in words, in ten languages, in both directions.

    pip install num2words
    python prepare.py OUTPUT

num2words spells the numbers, from 0 to 999,999. The script writes `words_to_numbers/` and
`numbers_to_words/` to OUTPUT, each with `train.tsv` (41,000 pairs), `validation.tsv` (500) and
`test.tsv` (2,000). The training pairs hold the numbers from 0 to 99 in all ten languages. The other
numbers are random; three, four, five and six digits are equally frequent. No number from 100 on is
in more than one file.

    quatre-vingt-dix-sept mille treize   ->   97013
    fr 97013                             ->   quatre-vingt-dix-sept mille treize
"""

import argparse
from pathlib import Path
from random import Random

from num2words import num2words

LANGUAGES = ("cs", "de", "en", "es", "fr", "it", "nl", "pl", "pt", "sv")
SIZES = {"validation": 500, "test": 2_000, "train": 40_000}


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("output", type=Path, help="folder for the files")
    output = parser.parse_args().output
    random, seen = Random(1), set(range(100))
    for split, size in SIZES.items():
        rows = []
        if split == "train":
            rows = [(language, number) for number in range(100) for language in LANGUAGES]
        taken = set()
        for _ in range(size):
            number = 0
            while number in seen:
                digits = random.randint(3, 6)
                number = random.randrange(10 ** (digits - 1), 10**digits)
            taken.add(number)
            rows.append((random.choice(LANGUAGES), number))
        seen |= taken
        words = [num2words(number, lang=language) for language, number in rows]
        sides = {
            "words_to_numbers": [(one, n) for one, (_, n) in zip(words, rows, strict=True)],
            "numbers_to_words": [
                (f"{language} {n}", one) for one, (language, n) in zip(words, rows, strict=True)
            ],
        }
        for direction, pairs in sides.items():
            path = output / direction / f"{split}.tsv"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f"{a}\t{b}\n" for a, b in pairs), encoding="utf-8")


if __name__ == "__main__":
    main()
