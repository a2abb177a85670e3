"""What smaller weights save and cost: exports of one run with float32, float16 and int8 weights.

    python tests/benchmarks/small_weights.py RUN

Exports the run with each, and translates held-out sentences of the built-in corpus, or of
`--source` and `--reference`, with the search options of its recipe. One after the other takes its
turn, several times over, so that all meet the same load of the machine; the median turn is shown.
Prints the size of the folder and of its weights, BLEU, CPU seconds by batches of 64, and CPU and
elapsed milliseconds for one sentence alone.
"""

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from kerasnmt.cli.loading import load_run
from kerasnmt.data import builtin_corpus, read_parallel
from kerasnmt.serving import Translator, export_model, load_export
from kerasnmt.training import texts, translation_scores

KINDS = ("float32", "float16", "int8")


def megabytes(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("run", type=Path, help="folder of a run")
    parser.add_argument("--source", type=Path)
    parser.add_argument("--reference", type=Path)
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--alone", type=int, default=100, help="sentences translated one by one")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()

    if arguments.source:
        sources, references = texts(read_parallel(arguments.source, arguments.reference))
        sources, references = sources[: arguments.sentences], references[: arguments.sentences]
    else:
        pairs = builtin_corpus(arguments.sentences, "test")
        sources, references = [pair.source for pair in pairs], [pair.target for pair in pairs]
    alone = sources[: arguments.alone]
    model, options = load_run(arguments.run)
    with tempfile.TemporaryDirectory() as folder:
        sizes, translators, bleu = {}, {}, {}
        for kind in KINDS:
            version = Path(export_model(model, Path(folder, kind, "1"), weights=kind, **options))
            sizes[kind] = megabytes(version), megabytes(version / "variables")
            translators[kind] = Translator(load_export(version))
            translations = translators[kind].translate(sources)
            bleu[kind] = translation_scores(translations, references)["bleu"]
            translators[kind].translate(alone[:10], batch_size=1)
        batches = {kind: [] for kind in KINDS}
        singles = {kind: [] for kind in KINDS}
        cpu_of_singles = {kind: [] for kind in KINDS}
        for _ in range(arguments.rounds):
            for kind in KINDS:
                cpu = time.process_time()
                translators[kind].translate(sources)
                batches[kind].append(time.process_time() - cpu)
            for text in alone:
                for kind in KINDS:
                    cpu, begin = time.process_time(), time.perf_counter()
                    translators[kind].translate([text])
                    singles[kind].append(1e3 * (time.perf_counter() - begin))
                    cpu_of_singles[kind].append(1e3 * (time.process_time() - cpu))
    print("weights | MB | of which weights | BLEU | CPU s | CPU ms alone | ms alone")
    for kind in KINDS:
        figures = [
            *(f"{size:.1f}" for size in sizes[kind]),
            f"{bleu[kind]:.2f}",
            f"{statistics.median(batches[kind]):.2f}",
            f"{statistics.median(cpu_of_singles[kind]):.1f}",
            f"{statistics.median(singles[kind]):.1f}",
        ]
        print(" | ".join([kind, *figures]))


if __name__ == "__main__":
    main()
