"""Write lists of numbers and the same numbers in order, for a pointer network.

    python prepare.py OUTPUT

OUTPUT gets `train.tsv` (20,000 lists), `validation.tsv` (500) and `test.tsv` (1,000): 2 to 10
different numbers from 0 to 99, a tab, and the numbers from the smallest to the largest. No list of
one file is in another. `test.source` and `test.target` are the columns of `test.tsv`.
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
        columns = [], []
        while len(columns[0]) < size:
            numbers = random.sample(range(100), random.randint(2, 10))
            if tuple(numbers) not in seen:
                seen.add(tuple(numbers))
                for column, order in zip(columns, (numbers, sorted(numbers)), strict=True):
                    column.append(" ".join(map(str, order)))
        rows = "".join(f"{source}\t{target}\n" for source, target in zip(*columns, strict=True))
        (output / f"{split}.tsv").write_text(rows, encoding="utf-8")
        if split == "test":
            for name, column in zip(("source", "target"), columns, strict=True):
                text = "".join(f"{line}\n" for line in column)
                (output / f"{split}.{name}").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
