"""Write test files of the built-in corpus, for `kerasnmt evaluate`.

    python prepare.py OUTPUT

OUTPUT gets `test.tsv`, 1,000 pairs, and `unseen_names.tsv`, 500 pairs with names that occur in no
other split.
"""

import argparse
from pathlib import Path

from kerasnmt.data import builtin_corpus


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("output", type=Path, help="folder for the files")
    output = parser.parse_args().output
    output.mkdir(parents=True, exist_ok=True)
    for split, size in (("test", 1000), ("unseen_names", 500)):
        pairs = builtin_corpus(size, split)
        rows = "".join(f"{pair.source}\t{pair.target}\n" for pair in pairs)
        (output / f"{split}.tsv").write_text(rows, encoding="utf-8")


if __name__ == "__main__":
    main()
