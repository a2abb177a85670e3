"""Shared parts of the drivers: arguments, sizes, a clock, and the line of the answer.

This module uses only the standard library, because each driver has its own environment.
"""

import argparse
import json
import os
import resource
import time
from pathlib import Path

UNITS = 256
DROPOUT = 0.2
LABEL_SMOOTHING = 0.1
LEARNING_RATE = 1e-3
CLIP_NORM = 1.0
BATCH_SIZE = 64
MAX_LENGTH = 60
LENGTH_PENALTY = 1.0
WARMUP_SENTENCES = 128


class Clock:
    """Clock of wall seconds and of CPU seconds of all threads, which can be stopped and resumed."""

    def __init__(self) -> None:
        self.seconds = self.cpu_seconds = 0.0
        self.resume()

    def resume(self) -> None:
        self._begin = time.perf_counter(), time.process_time()

    def stop(self) -> None:
        begin, cpu_begin = self._begin
        self.seconds += time.perf_counter() - begin
        self.cpu_seconds += time.process_time() - cpu_begin


class Curve:
    """Curve of BLEU of the validation data during training, in a file of JSON lines."""

    def __init__(self, path: Path, cpu_minutes: float) -> None:
        self.path, self.cpu_minutes = path, cpu_minutes
        self.points = []
        self.clock = Clock()

    @property
    def done(self) -> bool:
        return self.clock.cpu_seconds >= 60 * self.cpu_minutes

    def add(self, steps: int, translations: list[str], references: list[str]) -> None:
        from sacrebleu.metrics import BLEU

        bleu = BLEU(force=True).corpus_score(translations, [references]).score
        point = {
            "steps": steps,
            "minutes": round(self.clock.seconds / 60, 3),
            "cpu_minutes": round(self.clock.cpu_seconds / 60, 3),
            "val_bleu": round(bleu, 2),
        }
        self.points.append(json.dumps(point) + "\n")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text("".join(self.points))  # replaces an earlier curve


def arguments() -> argparse.Namespace:
    """Return the arguments of a driver."""
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=("steps", "fit", "decode"))
    parser.add_argument(
        "--home", type=Path, required=True, help="folder for the files of compare.py"
    )
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--warmup", type=int, default=10)
    parser.add_argument("--cpu-minutes", type=float, default=30.0, help="CPU time of fit")
    parser.add_argument(
        "--validate-every",
        type=int,
        default=454,
        help="steps of fit between validations; an epoch has 454",
    )
    parser.add_argument("--beam-size", type=int, default=5)
    parser.add_argument("--batch-size", type=int, default=BATCH_SIZE, help="batch size of decode")
    parser.add_argument("--sentences", type=int, default=1000, help="number of sentences of decode")
    parser.add_argument(
        "--system",
        default="bahdanau_gru",
        help="MODEL or MODEL-bfloat16, for the driver of kerasnmt",
    )
    return parser.parse_args()


def warmup_texts(arguments: argparse.Namespace) -> list[str]:
    """Return texts to translate before the clock starts, because libraries compile each length."""
    count = max(4 * arguments.batch_size, WARMUP_SENTENCES)
    return lines(arguments.home / "data" / "val.en")[:count]


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def steps_result(clock: Clock, steps: int, target_tokens: float) -> dict:
    return {
        "steps": steps,
        "seconds": clock.seconds,
        "cpu_seconds_per_step": clock.cpu_seconds / steps,
        "target_tokens_per_second": target_tokens / clock.seconds,
        "target_tokens_per_cpu_second": target_tokens / clock.cpu_seconds,
    }


def decode_result(clock: Clock, times: list[float], translations: list[str], home: Path) -> dict:
    from sacrebleu.metrics import BLEU

    references = lines(home / "data" / "test.de")[: len(translations)]
    return {
        "seconds": clock.seconds,
        "cpu_seconds": clock.cpu_seconds,
        "median_ms": sorted(times)[len(times) // 2] * 1e3 if times else None,
        "words": sum(len(text.split()) for text in translations),
        "bleu": BLEU(force=True).corpus_score(translations, [references]).score,
    }


def answer(result: dict) -> None:
    """Print the line that compare.py reads."""
    result["peak_rss_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    rounded = {k: round(v, 4) if isinstance(v, float) else v for k, v in result.items()}
    print("RESULT " + json.dumps(rounded), flush=True)
    os._exit(0)  # some libraries hang at a normal exit
