"""Score a translator on texts as people type them, and on names and numbers that it has not seen.

    python robustness.py tatoeba_en_de_gru --pairs data/en_de/test.tsv --languages en de

The script prints a table: BLEU on each kind of text, without regard to case, and the share of the
names, numbers and addresses that are whole in the translation.
"""

import argparse
import random
import re
import subprocess
import sys
from pathlib import Path

import noise
from sacrebleu.metrics import BLEU

# None of these is in the training data of Tatoeba.
NAMES = """Okonkwo Zielinski Menlo Prabhakaran Wojciechowska Quillfeather Ndlovu Bjarkason Xiulan
Thistlewood Oyelaran Dragomir Kvamme Ferrante Mbeki Ostrander Villanueva Ziegelbauer Hathersage
Ravindra Szymborska Tamsin Uwimana Yevgenia Abernathy Castellanos Dunmore Eszter Fitzwilliam Gorecki
Hjelmslev Iglesias Jovanovic Kowalczyk Lindqvist Mukherjee Nakahara Oppenheim Pemberton Quiroga
Rosenqvist Sandoval Takeshita Underhill Vasiliev Wetherby Ximena Yamazaki Zubiri Lovelace"""
FRAMES = {
    "en": ["{} is my friend.", "I live in {}.", "Do you know {}?", "I met {} in Boston.",
           "I want to talk with {} today."],
    "de": ["{} ist mein Freund.", "Ich wohne in {}.", "Kennst du {}?", "Ich traf {} in Boston.",
           "Ich will heute mit {} sprechen."],
    "fr": ["{} est mon ami.", "J'habite à {}.", "Connais-tu {} ?", "J'ai rencontré {} à Boston.",
           "Je veux parler avec {} aujourd'hui."],
}  # fmt: skip
NUMBERS = {
    "en": ["I have {} books.", "The room has the number {}.", "It costs {} dollars.",
           "We drove {} kilometers.", "There were {} people in the park."],
    "de": ["Ich habe {} Bücher.", "Das Zimmer hat die Nummer {}.", "Es kostet {} Dollar.",
           "Wir sind {} Kilometer gefahren.", "Im Park waren {} Menschen."],
    "fr": ["J'ai {} livres.", "La chambre porte le numéro {}.", "Ça coûte {} dollars.",
           "Nous avons roulé {} kilomètres.", "Il y avait {} personnes dans le parc."],
}  # fmt: skip


def translate(model: str, texts: list[str]) -> list[str]:
    """Translate texts by the command line."""
    command = [sys.executable, "-m", "kerasnmt.cli", "translate", model]
    done = subprocess.run(
        command, input="\n".join(texts) + "\n", text=True, stdout=subprocess.PIPE, check=True
    )
    return done.stdout.removesuffix("\n").split("\n")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("model", help="run, preset or export")
    parser.add_argument("--pairs", type=Path, required=True, help="test pairs")
    parser.add_argument("--languages", nargs=2, required=True, choices=noise.NUMBER_WORDS)
    parser.add_argument("--sentences", type=int, default=1000)
    arguments = parser.parse_args()
    lines = arguments.pairs.read_text(encoding="utf-8").splitlines()
    pairs = list(
        {one: (one, other) for one, other in (line.split("\t") for line in lines)}.values()
    )
    rng = random.Random(1)
    rng.shuffle(pairs)
    pairs = pairs[: arguments.sentences]
    two, three = (
        [noise.joined(pairs[row : row + size]) for row in range(0, len(pairs) - size + 1, size)]
        for size in (2, 3)
    )
    kinds = {
        "as they are": pairs,
        "in lower case": [noise.lower(pair) for pair in pairs],
        "IN CAPITALS": [noise.upper(pair) for pair in pairs],
        "no mark at the end": [noise.without_mark(pair) or pair for pair in pairs],
        "doubled spaces": [(one.replace(" ", "  "), other) for one, other in pairs],
        "typographic quotes": [noise.other_quotes(pair, rng) or pair for pair in pairs],
        "two sentences": [pair for pair in two if pair],
        "three sentences": [pair for pair in three if pair],
    }
    language = arguments.languages[0]
    copies = noise.Copies(pairs, arguments.languages)
    numbers = [copies.number(rng) for _ in range(100)]
    copied = {
        "names": [
            (frame.format(name), name) for name in NAMES.split() for frame in FRAMES[language]
        ],
        "numbers": [(frame.format(one), one) for one in numbers for frame in NUMBERS[language]],
        "addresses": [
            (frame.format(one), one)
            for one in [copies.address(rng) for _ in range(20)]
            for frame in FRAMES[language]
        ],
    }
    sources = [one for rows in (kinds | copied).values() for one, _ in rows]
    translations = iter(translate(arguments.model, sources))
    print("| texts | number | BLEU, any case |\n|---|---|---|")
    for kind, rows in kinds.items():
        found = [next(translations) for _ in rows]
        score = BLEU(lowercase=True).corpus_score(found, [[other for _, other in rows]]).score
        print(f"| {kind} | {len(rows)} | {score:.2f} |")
    print("\n| copied whole | number | share |\n|---|---|---|")
    for kind, rows in copied.items():
        found = [next(translations) for _ in rows]
        whole = [
            re.search(rf"(?<![\w@]){re.escape(expected)}(?![\w@])", text) is not None
            for text, (_, expected) in zip(found, rows, strict=True)
        ]
        print(f"| {kind} | {len(rows)} | {100 * sum(whole) / len(whole):.1f}% |")


if __name__ == "__main__":
    main()
