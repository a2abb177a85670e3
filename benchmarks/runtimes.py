"""Size, quality, speed and memory of exports: SavedModel, ONNX, CTranslate2 and LiteRT.

    python benchmarks/runtimes.py MODEL

Exports a run or a preset for each runtime and in each number format, and translates held-out
sentences of the built-in corpus, or of `--pairs`, with the search options of the model. CTranslate2
runs only Transformers. The exports take turns, several times, so that the load of the machine is
the same for all. The results are medians. Prints the size of the folder, BLEU, the CPU and wall
seconds for all sentences (in batches of 64, or one by one with LiteRT), the source tokens in a CPU
second, and the CPU and wall milliseconds for a single sentence. Then `kerasnmt translate`
translates one sentence, and all of them, in a new process: prints its CPU and wall seconds for one,
and its peak memory in MB for all.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from kerasnmt.cli.loading import SearchChanges, load_run
from kerasnmt.data import builtin_corpus, read_tsv
from kerasnmt.runtime import load_onnx
from kerasnmt.serving import (
    Translator,
    export_ctranslate2,
    export_lite,
    export_model,
    export_onnx,
    load_ctranslate2,
    load_export,
    load_lite,
)
from kerasnmt.training import grouped, texts, translation_scores

# Writes the peak memory in kB to a file. `os.wait4` would include the memory before the fork.
PROGRAM = """
import atexit, re, sys
from pathlib import Path
from kerasnmt.cli.main import main

def report(path=sys.argv.pop()):
    peak = re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]
    Path(path).write_text(peak)

atexit.register(report)
main()
"""
RUNTIMES = {
    "SavedModel": (export_model, load_export, ("float32", "float16", "int8")),
    "ONNX": (export_onnx, load_onnx, ("float32", "float16", "int8")),
    "CTranslate2": (export_ctranslate2, load_ctranslate2, ("float32", "int8")),
    "LiteRT": (export_lite, load_lite, ("float32", "float16", "int8")),
}


def in_new_process(folder: Path, lines: list[str]) -> tuple[float, float, float]:
    """Translate lines; return the CPU and wall seconds, and the peak memory in MB."""
    with tempfile.TemporaryDirectory() as place:
        lines_file, peak = Path(place, "lines"), Path(place, "peak")
        lines_file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        begin = time.perf_counter()
        command = [sys.executable, "-c", PROGRAM, "translate", folder, "--input", lines_file, peak]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        elapsed = time.perf_counter() - begin
        assert status == 0
        return used.ru_utime + used.ru_stime, elapsed, int(peak.read_text()) / 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("model", help="run or preset")
    parser.add_argument("--pairs", type=Path, help="file with a source, a tab and a translation")
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--alone", type=int, default=100, help="number of single sentences")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--runtimes", nargs="+", choices=RUNTIMES, default=[*RUNTIMES])
    parser.add_argument("--weights", nargs="+", default=["float32", "float16", "int8"])
    parser.add_argument("--search", nargs="*", default=[], help="such as beam_size=1")
    arguments = parser.parse_args()

    if arguments.pairs:
        sources, references = grouped(texts(read_tsv(arguments.pairs)))
        sources, references = sources[: arguments.sentences], references[: arguments.sentences]
    else:
        pairs = builtin_corpus(arguments.sentences, "test")
        sources, references = [pair.source for pair in pairs], [pair.target for pair in pairs]
    alone = sources[: arguments.alone]
    model, options = load_run(arguments.model, SearchChanges(search=arguments.search))
    for name in (
        "replace_unknown",
        "split_sentences",
        "sentence_case",
    ):  # not all runtimes support them
        options.pop(name, None)
    tokenizer = model.source_tokenizer
    tokens = tokenizer.tokenize(tokenizer.normalize_source(sources)).flat_values.shape[0]
    with tempfile.TemporaryDirectory() as parent:
        folders, translators, bleu = {}, {}, {}
        for runtime in arguments.runtimes:
            write, load, formats = RUNTIMES[runtime]
            for weights in filter(arguments.weights.__contains__, formats):
                form = f"{runtime}, {weights}"
                try:
                    folder = write(model, Path(parent, form, "1"), weights=weights, **options)
                except ValueError as error:  # CTranslate2 runs only Transformers
                    print(f"{form}: {error}")
                    continue
                folders[form] = Path(folder)
                translators[form] = Translator(load(folder))
                translations = translators[form].translate(sources)
                bleu[form] = translation_scores(translations, references)["bleu"]
                translators[form].translate(alone[:10], batch_size=1)
        all_cpu, all_elapsed, cpu, elapsed = ({form: [] for form in folders} for _ in range(4))
        for _ in range(arguments.rounds):
            for form in folders:
                begin = time.process_time(), time.perf_counter()
                translators[form].translate(sources)
                all_elapsed[form].append(time.perf_counter() - begin[1])
                all_cpu[form].append(time.process_time() - begin[0])
            for text in alone:
                for form in folders:
                    begin = time.process_time(), time.perf_counter()
                    translators[form].translate([text])
                    elapsed[form].append(1e3 * (time.perf_counter() - begin[1]))
                    cpu[form].append(1e3 * (time.process_time() - begin[0]))
        print(
            "export | MB | BLEU | CPU s | s | tokens per CPU s | CPU ms alone | ms alone | "
            "start CPU s | start s | peak MB"
        )
        for form, folder in folders.items():
            size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
            starts = [in_new_process(folder, alone[:1])[:2] for _ in range(arguments.rounds)]
            start_cpu, start = map(statistics.median, zip(*starts, strict=True))
            figures = [
                f"{size / 1e6:.1f}",
                f"{bleu[form]:.2f}",
                f"{statistics.median(all_cpu[form]):.2f}",
                f"{statistics.median(all_elapsed[form]):.2f}",
                f"{tokens / statistics.median(all_cpu[form]):,.0f}",
                f"{statistics.median(cpu[form]):.1f}",
                f"{statistics.median(elapsed[form]):.1f}",
                f"{start_cpu:.1f}",
                f"{start:.1f}",
                f"{in_new_process(folder, sources)[2]:.0f}",
            ]
            print(" | ".join([form, *figures]), flush=True)


if __name__ == "__main__":
    main()
