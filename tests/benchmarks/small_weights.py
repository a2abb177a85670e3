"""Size, quality and speed of exports with float32, float16 and int8 weights, and of LiteRT.

    python tests/benchmarks/small_weights.py RUN

Exports the run in each format, and translates held-out sentences of the built-in corpus, or of
`--source` and `--reference`, with the search options of the recipe. The exports take turns, several
times, so that the load of the machine is the same for all. The results are medians. Prints the size
of the folder and of the weights, BLEU, the CPU seconds for all sentences (in batches of 64, or one
by one with LiteRT), and the CPU and wall milliseconds for a single sentence.
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
from kerasnmt.serving import Translator, export_lite, export_model, load_export, load_lite
from kerasnmt.training import texts, translation_scores

FORMS = {
    f"{name} {weights}": (write, load, files, weights)
    for name, write, load, files in (
        ("SavedModel", export_model, load_export, "variables/*"),
        ("LiteRT", export_lite, load_lite, "model.tflite"),
    )
    for weights in ("float32", "float16", "int8")
}


def megabytes(folder: Path, files: str) -> float:
    return sum(path.stat().st_size for path in folder.rglob(files) if path.is_file()) / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("run", type=Path, help="folder of a run")
    parser.add_argument("--source", type=Path)
    parser.add_argument("--reference", type=Path)
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--alone", type=int, default=100, help="number of single sentences")
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
    options.pop("replace_unknown", None)  # LiteRT does not support it
    with tempfile.TemporaryDirectory() as folder:
        sizes, translators, bleu = {}, {}, {}
        for form, (write, load, files, weights) in FORMS.items():
            version = Path(write(model, Path(folder, form, "1"), weights=weights, **options))
            sizes[form] = megabytes(version, "*"), megabytes(version, files)
            translators[form] = Translator(load(version))
            translations = translators[form].translate(sources)
            bleu[form] = translation_scores(translations, references)["bleu"]
            translators[form].translate(alone[:10], batch_size=1)
        all_cpu, cpu, elapsed = ({form: [] for form in FORMS} for _ in range(3))
        for _ in range(arguments.rounds):
            for form in FORMS:
                begin = time.process_time()
                translators[form].translate(sources)
                all_cpu[form].append(time.process_time() - begin)
            for text in alone:
                for form in FORMS:
                    begin = time.process_time(), time.perf_counter()
                    translators[form].translate([text])
                    elapsed[form].append(1e3 * (time.perf_counter() - begin[1]))
                    cpu[form].append(1e3 * (time.process_time() - begin[0]))
    print("export | MB | weights MB | BLEU | CPU s | CPU ms single | ms single")
    for form in FORMS:
        figures = [
            *(f"{size:.1f}" for size in sizes[form]),
            f"{bleu[form]:.2f}",
            f"{statistics.median(all_cpu[form]):.2f}",
            f"{statistics.median(cpu[form]):.1f}",
            f"{statistics.median(elapsed[form]):.1f}",
        ]
        print(" | ".join([form, *figures]))


if __name__ == "__main__":
    main()
