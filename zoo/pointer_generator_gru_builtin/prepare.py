"""Write the built-in corpus to files, for evaluation and for training from German to English.

    python prepare.py OUTPUT

The script writes to OUTPUT:

- `test.tsv`: 1,000 pairs.
- `unseen_names.tsv`: 500 pairs with names that occur in no other split.
- A folder `de_en` with German first: `train.tsv` (20,000 pairs), `validation.tsv` (300), `test.tsv`
  and `unseen_names.tsv`.
"""

import argparse
from pathlib import Path

from kerasnmt.data import builtin_corpus

SIZES = {"train": 20_000, "validation": 300, "test": 1_000, "unseen_names": 500}


def write(path: Path, pairs: list[tuple[str, str]]) -> None:
    """Write one pair per line."""
    path.write_text("".join("\t".join(pair) + "\n" for pair in pairs), encoding="utf-8")


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("output", type=Path, help="folder for the files")
    output = parser.parse_args().output
    (output / "de_en").mkdir(parents=True, exist_ok=True)
    for split, size in SIZES.items():
        pairs = [(pair.source, pair.target) for pair in builtin_corpus(size, split)]
        write(output / "de_en" / f"{split}.tsv", [pair[::-1] for pair in pairs])
        if split in ("test", "unseen_names"):
            write(output / f"{split}.tsv", pairs)


if __name__ == "__main__":
    main()
