"""What the confidence of presets means: calibration, and the share of wrong words where it is low.

    python benchmarks/confidence.py PRESET VALIDATION.tsv TEST.tsv
    python benchmarks/confidence.py demo_de_en builtin builtin

Translates sentences from all parts of the validation data, fits a calibration to them, and measures
it on the test data. Prints a row of a table:

- the expected calibration error (ECE, ten bins) of words, from the model's own probabilities and
  from the calibrated ones,
- the same of sentences, whose label is the share of their right words; the model's own number is
  the geometric mean of the probabilities of their tokens,
- the share of wrong words, of all words and of the least confident tenth,
- the share of wrong words in sentences of the least confident tenth.
"""

import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np

from kerasnmt.calibration import spread
from kerasnmt.data import builtin_corpus, read_tsv
from kerasnmt.tasks import Confidence, expected_calibration_error, right_words
from kerasnmt.training import texts
from kerasnmt.zoo import from_preset, get_preset


def pairs_of(path: str, split: str, count: int, swap: bool) -> tuple[list[str], list[str]]:
    """Return sources and references from all parts of a file, or of the built-in corpus."""
    if path == "builtin":
        pairs = builtin_corpus(count, split)
        sides = [pair.source for pair in pairs], [pair.target for pair in pairs]
    else:
        sides = texts(read_tsv(path))
    sources, references = ([side[row] for row in spread(len(sides[0]), count)] for side in sides)
    return (references, sources) if swap else (sources, references)


def measured(found: list[Confidence], references: list[str]) -> dict[str, float]:
    """Return the numbers of a row, in percent."""
    pairs = zip(found, references, strict=True)
    rows = [(one, right_words(one.words, one.text, ref)) for one, ref in pairs if one.words]
    right = np.concatenate([words for _, words in rows])
    own = np.concatenate([one.probabilities for one, _ in rows])
    calibrated = np.concatenate([one.of_words for one, _ in rows])
    share = np.array([words.mean() for _, words in rows])
    mean = np.array([np.exp(one.log_probability / one.tokens) for one, _ in rows])
    of_text = np.array([one.of_text for one, _ in rows])
    low = np.argsort(calibrated, kind="stable")[: -(-len(right) // 10)]
    low_rows = np.argsort(of_text, kind="stable")[: -(-len(rows) // 10)]
    wrong = np.concatenate([~rows[row][1] for row in low_rows])
    return {
        "words": len(right) / 100,
        "ece": expected_calibration_error(own, right),
        "calibrated": expected_calibration_error(calibrated, right),
        "text_ece": expected_calibration_error(mean, share),
        "text_calibrated": expected_calibration_error(of_text, share),
        "wrong": 1 - right.mean(),
        "wrong_low": 1 - right[low].mean(),
        "wrong_low_rows": wrong.mean(),
    }


def main() -> None:
    """Print a row of the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("preset")
    parser.add_argument("validation", help="file of pairs, or builtin")
    parser.add_argument("test", help="file of pairs, or builtin")
    parser.add_argument("--swap", action="store_true", help="translate the second column")
    parser.add_argument("--sentences", type=int, default=400, help="of each split")
    parser.add_argument("--pairs", type=int, default=300, help="pairs for the calibration")
    arguments = parser.parse_args()
    preset = get_preset(arguments.preset)
    model, search = from_preset(arguments.preset), preset.search
    validation = pairs_of(arguments.validation, "validation", arguments.pairs, arguments.swap)
    calibration = model.calibrate(*validation, **search)
    sources, references = pairs_of(arguments.test, "test", arguments.sentences, arguments.swap)
    row = {
        name: f"{100 * value:.1f}%" if name != "words" else f"{100 * value:.0f}"
        for name, value in measured(model.confidence(sources, **search), references).items()
    }
    print("|", " | ".join([arguments.preset, *row.values()]), "|")
    print(calibration)


if __name__ == "__main__":
    main()
