"""Compare a glossary in the search with words that are replaced afterwards, on Tatoeba.

    python benchmarks/terms.py PAIRS [--model PRESET] [--beam-size N]

PAIRS is a file of English, a tab and French, such as `test.tsv` of `zoo/bahdanau_gru_tatoeba`. The
glossary has 20 everyday words and their inflected forms. For the sentences that contain one, each
line says the share of target terms that are in the translations, their BLEU, the CPU seconds, and
how many warnings there were. "replaced" puts a missing term in the place of the words that attend
most to its source term.
"""

import argparse
import gzip
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import sacrebleu

from kerasnmt.tasks import TranslationTask, Translator
from kerasnmt.text import Glossary
from kerasnmt.text.term_lines import parse_terms
from kerasnmt.text.whole_words import occurs
from kerasnmt.zoo import from_preset

TERMS = {
    "dog": ["chien", "chienne", "chiens"],
    "car": ["voiture", "voitures"],
    "house": ["maison", "maisons"],
    "book": ["livre", "livres"],
    "money": ["argent"],
    "doctor": ["médecin", "docteur"],
    "train": ["train", "trains"],
    "train station": ["gare"],
    "water": ["eau"],
    "friend": ["ami", "amie", "amis"],
    "school": ["école"],
    "letter": ["lettre", "lettres"],
    "father": ["père"],
    "window": ["fenêtre", "fenêtres"],
    "police": ["police"],
    "table": ["table", "tables"],
    "child": ["enfant"],
    "phone": ["téléphone"],
    "movie": ["film"],
    "question": ["question", "questions"],
}


def read(path: Path) -> dict[str, list[str]]:
    """Return the references of each source."""
    references: dict[str, list[str]] = {}
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        for line in file:
            source, target = line.rstrip("\n").split("\t")[:2]
            references.setdefault(source, []).append(target)
    return references


def replaced(translator: Translator, text: str, translation: str, line: str) -> str:
    """Put missing terms in the place of the words that attend most to their source terms."""
    words = translation.split()
    (attention,) = translator.attention([text])
    links = attention.alignment("sentencepiece", "sentencepiece")
    for source, targets in TERMS.items():
        term = next((t for t in parse_terms(line) if t.alternatives == tuple(targets)), None)
        if term and not any(occurs(one, " ".join(words)) for one in targets):
            folded = [word.strip(".,?!").casefold() for word in text.split()]
            last = source.split()[-1]
            if last in folded:
                place = folded.index(last)
                linked = [target for origin, target in links if origin == place]
                if linked and linked[0] < len(words):
                    words[linked[0]] = targets[0]
    return " ".join(words)


def main() -> None:
    """Translate the sentences in three ways, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--model", default="tatoeba_en_fr_gru")
    parser.add_argument("--beam-size", type=int, default=5)
    arguments = parser.parse_args()
    model = from_preset(arguments.model)
    translator = Translator(TranslationTask(model, beam_size=arguments.beam_size, max_length=80))
    glossary = Glossary(TERMS, ignore_case=True)
    references = {s: r for s, r in read(arguments.pairs).items() if glossary.line(s)}
    texts, lines = [*references], [*map(glossary.line, references)]
    columns = [
        [row[min(number, len(row) - 1)] for row in references.values()]
        for number in range(max(map(len, references.values())))
    ]

    def report(name: str, translate: Callable[[], list[str]]) -> list[str]:
        translate()  # traces the graph
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            start = time.process_time()
            found = translate()
            seconds = time.process_time() - start
        met = [
            any(occurs(one, text) for one in term.alternatives)
            for line, text in zip(lines, found, strict=True)
            for term in parse_terms(line)
        ]
        result = {
            "way": name,
            "sentences": len(texts),
            "terms": len(met),
            "met": round(sum(met) / len(met), 4),
            "bleu": round(sacrebleu.corpus_bleu(found, columns).score, 2),
            "cpu_seconds": round(seconds, 2),
            "warnings": len(told),
        }
        print(json.dumps(result), flush=True)
        return found

    plain = report("plain", lambda: translator.translate(texts))
    report(
        "replaced",
        lambda: [replaced(translator, *row) for row in zip(texts, plain, lines, strict=True)],
    )
    report("terms", lambda: translator.translate(texts, glossary=glossary))


if __name__ == "__main__":
    main()
