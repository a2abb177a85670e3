"""Score a model of pronunciation on the test words of each language.

    python zoo/bahdanau_gru_wikipron/languages.py g2p zoo/bahdanau_gru_wikipron/data languages.json

The data are the files `deu_test.tsv` of `prepare.py`. A word is right if the answer is one of its
pronunciations. The phone error rate is the edit distance to the nearest pronunciation, by phones,
of all words together, relative to the number of phones of these pronunciations. With `--spelling
in_capitals`, or another function of `spellings.py`, only words that have this spelling are scored,
in this spelling.
"""

import argparse
import json
import os
from collections.abc import Sequence
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from spellings import SPELLINGS

from kerasnmt.cli.loading import load_run
from kerasnmt.data import read_tsv
from kerasnmt.training import grouped, texts


def distance(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the Levenshtein distance between two sequences."""
    row = [*range(len(other) + 1)]
    for i, unit in enumerate(one, 1):
        before, row[0] = row[0], i
        for j, wanted in enumerate(other, 1):
            best = min(row[j] + 1, row[j - 1] + 1, before + (unit != wanted))
            before, row[j] = row[j], best
    return row[-1]


def errors(answers: Sequence[str], references: Sequence[Sequence[str]]) -> dict[str, float]:
    """Return the word error rate and the phone error rate, in percent."""
    wrong = distances = phones = 0
    for answer, right in zip(answers, references, strict=True):
        wrong += answer not in right
        nearest = min((distance(answer.split(), one.split()), -len(one.split())) for one in right)
        distances, phones = distances + nearest[0], phones - nearest[1]
    return {"wer": 100 * wrong / len(answers), "per": 100 * distances / phones}


def main() -> None:
    """Score all languages, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("model", help="a run or a preset")
    parser.add_argument("data", type=Path, help="folder of the test words")
    parser.add_argument("output", type=Path, help="JSON file to write")
    parser.add_argument("--spelling", choices=SPELLINGS, help="see spellings.py")
    arguments = parser.parse_args()
    model, options = load_run(arguments.model)
    options["split_words"] = False  # the apostrophes around a word of the data belong to it
    found = {}
    print("| language | words | word errors | phone errors |\n|---|---|---|---|")
    for path in sorted(arguments.data.glob("???_test.tsv")):
        sources, references = grouped(texts(read_tsv(path, [1, 2], tags=3)))
        language = path.name[:3]
        if arguments.spelling:
            tag = f"<{language}>"
            spell = SPELLINGS[arguments.spelling]
            spelled = [spell(word.removeprefix(tag), language) for word in sources]
            chosen = [row for row, word in enumerate(spelled) if word]
            if not chosen:
                continue
            sources = [f"{tag}{spelled[row]}" for row in chosen]
            references = [references[row] for row in chosen]
        scores = errors(model.translate(sources, **options), references)
        found[language] = {"words": len(sources), **scores}
        print(f"| {language} | {len(sources):,} | {scores['wer']:.1f} | {scores['per']:.1f} |")
    if not found:
        parser.error("no test words, or none that can be spelled so")
    mean = {name: sum(one[name] for one in found.values()) / len(found) for name in ("wer", "per")}
    print(f"| mean | | {mean['wer']:.1f} | {mean['per']:.1f} |")
    document = {"model": arguments.model, "spelling": arguments.spelling, "mean": mean}
    document["languages"] = found
    arguments.output.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
