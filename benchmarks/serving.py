"""Time of an export compared with `model.translate`, as one JSON line per batch size.

    python benchmarks/serving.py RUN --source test.en.gz
    python benchmarks/serving.py           # an untrained model of the usual size

The same batches of texts are translated in three ways: by `Translator.translate` with a traced
`ExportModule`, by the export with the TensorFlow C API in this process, and by the export in a
child process, including the pipe. In each round, each batch is translated in the three ways, in
random order. The printed ratios are the medians over the rounds. `p50` and `p95` are the median and
the 95th percentile of the time of a request. `process_mb` is the resident memory of the child.
"""

import argparse
import gzip
import json
import os
import random
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np

from kerasnmt.cli.loading import load_run
from kerasnmt.serving.check.session_process import SessionProcess
from kerasnmt.serving.runtimes.saved_model.session import SavedModelSession


def untrained(vocabulary_size: int) -> tuple[Any, dict[str, Any]]:
    """Return an untrained model, whose search ends at the maximum length."""
    from kerasnmt.data import builtin_corpus
    from kerasnmt.text import SentencePieceTokenizer
    from kerasnmt.zoo import bahdanau_gru

    tokenizer = SentencePieceTokenizer.train(builtin_corpus(20_000), vocabulary_size)
    return bahdanau_gru(tokenizer, units=256), {"max_length": 30}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("run", type=Path, nargs="?", help="folder of a run")
    parser.add_argument(
        "--source", type=Path, help="file of sources, by default the built-in corpus"
    )
    parser.add_argument("--sentences", type=int, default=128, help="number of texts")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--beam-size", type=int)
    parser.add_argument("--vocabulary-size", type=int, default=1000, help="for the untrained model")
    arguments = parser.parse_args()

    if arguments.source:
        opened = gzip.open if arguments.source.suffix == ".gz" else open
        with opened(arguments.source, "rt", encoding="utf-8", newline="\n") as file:
            texts = [line.rstrip("\r\n") for line in file]
    else:
        from kerasnmt.data import builtin_corpus

        texts = [pair.source for pair in builtin_corpus(arguments.sentences, "test")]
    texts = sorted(
        texts[: arguments.sentences], key=len
    )  # batches of similar lengths, like translate
    model, options = (
        load_run(arguments.run) if arguments.run else untrained(arguments.vocabulary_size)
    )
    if arguments.beam_size:
        options["beam_size"] = arguments.beam_size
    from kerasnmt.serving import ExportModule, Translator

    warnings.simplefilter("ignore")  # warnings about truncated texts
    translator = Translator(ExportModule(model, **options))
    with tempfile.TemporaryDirectory() as folder:
        version = model.export(Path(folder) / "model" / "1", **options)
        with SavedModelSession(version) as session, SessionProcess(version) as process:

            def in_this_process(batch: list[str]) -> list[str]:
                found = session.run("serving_default", {"text": batch})["translation"]
                return [text.decode() for text in found]

            def in_another(batch: list[str]) -> list[str]:
                found = process.run("serving_default", {"text": batch})["translation"]
                return [text.decode() for text in found]

            def translate(batch: list[str]) -> list[str]:
                return translator.translate(batch, batch_size=len(batch))

            ways = {"translate": translate, "c_api": in_this_process, "process": in_another}
            for batch_size in (32, 1):
                result = {"batch_size": batch_size, "sentences": len(texts)}
                result |= {"beam_size": translator.description["beam_size"]}
                result |= compared(ways, texts, batch_size, arguments.rounds)
                result["process_mb"] = round(process.resident_memory() / 1e6)
                print(json.dumps(result), flush=True)


def compared(
    ways: dict[str, Callable[[list[str]], list[str]]],
    texts: list[str],
    batch_size: int,
    rounds: int,
) -> dict[str, Any]:
    """Measure the time of each way for all texts, in several rounds."""
    batches = [texts[start : start + batch_size] for start in range(0, len(texts), batch_size)]
    rng = random.Random(1)
    seconds = {name: [] for name in ways}
    requests = {name: [] for name in ways}
    answers = {}
    for name, way in ways.items():  # also traces, and excludes the first runs from the measurement
        answers[name] = [text for batch in batches for text in way(batch)]
    for _ in range(rounds):
        spent = dict.fromkeys(ways, 0.0)
        for batch in batches:
            for name in rng.sample([*ways], len(ways)):
                begin = time.perf_counter()
                ways[name](batch)
                requests[name].append(time.perf_counter() - begin)
                spent[name] += requests[name][-1]
        for name in ways:
            seconds[name].append(spent[name])
    result = {
        "rounds": rounds,
        "equal": all(found == answers["c_api"] for found in answers.values()),
    }
    for name, times in requests.items():
        p50, p95 = np.percentile(times, [50, 95]) * 1e3
        result |= {f"{name}_p50_ms": round(p50, 2), f"{name}_p95_ms": round(p95, 2)}
    for name in ("c_api", "process"):
        ratios = [a / b for a, b in zip(seconds[name], seconds["translate"], strict=True)]
        result[f"{name}_to_translate"] = round(statistics.median(ratios), 3)
        result[f"{name}_to_translate_least_and_most"] = [round(f(ratios), 3) for f in (min, max)]
    return result


if __name__ == "__main__":
    main()
