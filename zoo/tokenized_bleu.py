"""BLEU of lowercased, tokenized text, as published for Multi30k.

    pip install sacremoses
    zcat test_2016_flickr.en.gz | kerasnmt translate RUN > translations.de
    python zoo/tokenized_bleu.py translations.de test_2016_flickr.de.gz --language de

Translations and references are lowercased and split by the tokenizer of Moses. The German reference
of test_2016_flickr has 12,103 tokens, as in the published scores.
"""

import argparse
import gzip
from collections.abc import Iterable
from pathlib import Path

from sacrebleu.metrics import BLEU
from sacremoses import MosesTokenizer


def read(path: Path) -> list[str]:
    """Return the lines of a text file, which may be compressed by gzip."""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as file:
        return [line.rstrip("\n") for line in file]


def tokenized(lines: Iterable[str], language: str) -> list[str]:
    """Lowercase lines and put spaces between their tokens."""
    tokenizer = MosesTokenizer(language)
    return [tokenizer.tokenize(line.lower(), return_str=True) for line in lines]


def main() -> None:
    """Print the score."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("translations", type=Path)
    parser.add_argument("references", type=Path)
    parser.add_argument("--language", required=True, help="code of the target language")
    arguments = parser.parse_args()
    found, expected = (
        tokenized(read(path), arguments.language)
        for path in (arguments.translations, arguments.references)
    )
    if len(found) != len(expected):
        raise SystemExit(
            "Expected as many translations as references. Received: "
            f"{len(found):,} translations, {len(expected):,} references"
        )
    metric = BLEU(tokenize="none", force=True)
    print(metric.corpus_score(found, [expected]))
    print(metric.get_signature())
    print(f"{sum(len(line.split()) for line in expected):,} tokens in the references")


if __name__ == "__main__":
    main()
