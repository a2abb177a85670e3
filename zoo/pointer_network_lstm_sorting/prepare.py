"""Write lists of numbers and the same numbers in order, for a pointer network.

    python prepare.py OUTPUT

The script writes `train.tsv` (20,000 lists), `validation.tsv` (500) and `test.tsv` (1,000) to
OUTPUT. Each line has 2 to 10 different numbers from 0 to 99, a tab, and the same numbers from the
smallest to the largest. No list is in more than one file.
"""

import argparse
from pathlib import Path
from random import Random

SIZES = {"train": 20_000, "validation": 500, "test": 1_000}


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("output", type=Path, help="folder for the files")
    output = parser.parse_args().output
    output.mkdir(parents=True, exist_ok=True)
    random, seen = Random(1), set()
    for split, size in SIZES.items():
        rows = []
        while len(rows) < size:
            numbers = random.sample(range(100), random.randint(2, 10))
            if tuple(numbers) not in seen:
                seen.add(tuple(numbers))
                sides = (" ".join(map(str, order)) for order in (numbers, sorted(numbers)))
                rows.append("\t".join(sides) + "\n")
        (output / f"{split}.tsv").write_text("".join(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
