"""Write Multi30k in lower case, with the punctuation and tokens of Moses, as most systems read it.

    pip install sacremoses
    python prepare.py MULTI30K data

MULTI30K has the files `train`, `val` and `test_2016_flickr`, each as `.en.gz` and `.de.gz`. The
German references of test_2016_flickr then have 12,103 tokens, as in the published scores.
"""

import argparse
import gzip
from pathlib import Path

from sacremoses import MosesPunctNormalizer, MosesTokenizer

PARTS = ("train", "val", "test_2016_flickr")


def main() -> None:
    """Write the files of both languages."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("multi30k", type=Path, help="folder with the files")
    parser.add_argument("data", type=Path, help="folder to write")
    arguments = parser.parse_args()
    arguments.data.mkdir(parents=True, exist_ok=True)
    for language in ("en", "de"):
        normalizer, tokenizer = MosesPunctNormalizer(language), MosesTokenizer(language)
        for part in PARTS:
            path = arguments.multi30k / f"{part}.{language}.gz"
            with gzip.open(path, "rt", encoding="utf-8") as file:
                lines = [normalizer.normalize(line.rstrip("\n").lower()) for line in file]
            texts = [tokenizer.tokenize(line, return_str=True, escape=False) for line in lines]
            path = arguments.data / f"{part}.{language}"
            path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")


if __name__ == "__main__":
    main()
