"""Translation speed of a run or an export, as one JSON line.

    python benchmarks/translate.py RUN --source test.en.gz --beam-size 5 --batch-size 64

Some batches are translated before the clock starts, so that tracing is not measured. With
KERAS_BACKEND=jax, all batches are translated first, because JAX compiles each shape. The time for
this is `warmup_cpu_seconds`. `cpu_seconds` is the time of all threads of this process. With
`--batch-size 1`, the benchmark also prints the median time of one sentence.
"""

import argparse
import gzip
import json
import os
import resource
import statistics
import time
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from kerasnmt.cli.loading import SearchChanges, load_translator


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("run", type=Path, help="folder of a run or of an export")
    parser.add_argument("--source", type=Path, required=True, help="file of sources")
    parser.add_argument("--beam-size", type=int, default=5)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--sentences", type=int, help="number of sentences, by default all")
    arguments = parser.parse_args()

    opened = gzip.open if arguments.source.suffix == ".gz" else open
    with opened(arguments.source, "rt", encoding="utf-8", newline="\n") as file:
        texts = [line.rstrip("\r\n") for line in file][: arguments.sentences]
    translator = load_translator(arguments.run, SearchChanges(arguments.beam_size))
    batch_size = arguments.batch_size
    on_jax = os.environ.get("KERAS_BACKEND") == "jax"
    warmup = time.process_time()
    translator.translate(texts[: None if on_jax else 4 * batch_size], batch_size=batch_size)
    warmup = time.process_time() - warmup

    times = []
    cpu = time.process_time()
    if batch_size == 1:
        translations = []
        for text in texts:
            begin = time.perf_counter()
            translations += translator.translate([text], batch_size=1)
            times.append(time.perf_counter() - begin)
    else:
        begin = time.perf_counter()
        translations = translator.translate(texts, batch_size=batch_size)
        times.append(time.perf_counter() - begin)
    cpu, seconds = time.process_time() - cpu, sum(times)

    peak_rss_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024

    attended = translator.attention(texts, batch_size=64)
    tokens = sum(len(sentence.target_tokens) for sentence in attended)
    result = {
        "beam_size": arguments.beam_size,
        "batch_size": batch_size,
        "sentences": len(texts),
        "warmup_cpu_seconds": round(warmup, 1),
        "words": sum(len(text.split()) for text in translations),
        "seconds": round(seconds, 3),
        "cpu_seconds": round(cpu, 3),
        "sentences_per_second": round(len(texts) / seconds, 1),
        "sentences_per_cpu_second": round(len(texts) / cpu, 1),
        "target_tokens_per_second": round(tokens / seconds),
        "target_tokens_per_cpu_second": round(tokens / cpu),
        "peak_rss_mb": peak_rss_mb,
    }
    if batch_size == 1:
        result["median_ms"] = round(statistics.median(times) * 1e3, 1)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
