"""Test exports with random lines, and print one JSON line per export.

    python benchmarks/fuzz.py saved_models/en_de
    python benchmarks/fuzz.py                      # three untrained models

The lines are the same in every run. They mix scripts, combining marks, emoji and other astral
planes, control characters, null bytes and bytes that are not UTF-8. A process without the Python
package of TensorFlow answers them with `serving_default`, in batches of 1 to 32. Every line must
have an answer in UTF-8 with a finite score. The mean memory over the last tenth of the lines must
be within 5% of the mean over the first tenth. Some lines are sent again, alone. The exit code is 1
if a check fails.

oneDNN caches data for each shape, up to a limit. It is disabled here, because the caches could hide
a leak. With TF_ENABLE_ONEDNN_OPTS=1 in the environment it is enabled, like in a server, and the
memory grows during the first 100,000 lines or so.
"""

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import numpy as np

from kerasnmt.serving.check.session_process import SessionProcess
from kerasnmt.serving.runtimes.version_folder import find_export, read_description

# First and last code points of the ranges from which lines are drawn.
_RANGES = {
    "ascii": (0x20, 0x7E),
    "latin": (0xA0, 0x24F),
    "combining": (0x300, 0x36F),
    "greek and cyrillic": (0x370, 0x52F),
    "hebrew and arabic": (0x590, 0x6FF),
    "indic": (0x900, 0xDFF),
    "thai": (0xE00, 0xE7F),
    "punctuation": (0x2000, 0x206F),  # with zero-width and bidirectional marks
    "cjk": (0x3040, 0x9FFF),
    "hangul": (0xAC00, 0xD7A3),
    "private": (0xE000, 0xF8FF),
    "specials": (0xFE00, 0xFFFF),
    "emoji": (0x1F000, 0x1FAFF),
    "astral": (0x10000, 0x10FFFF),
    "control": (0x00, 0x1F),
}
_WORDS = ("two", "dogs", "run", ".", "a", "man", "who", "reads", "sees", "Lena", "17", ",")
_MOST = 200  # maximum number of parts of a line


def line(rng: random.Random) -> bytes:
    """Return a line of words, of characters of one or several ranges, or of bytes."""
    kinds = rng.sample([*_RANGES], rng.randint(1, 4))
    parts = []
    for _ in range(rng.randint(0, rng.choice([3, 20, _MOST]))):
        what = rng.random()
        if what < 0.3:
            parts.append(f" {rng.choice(_WORDS)}".encode())
        elif what < 0.32:
            parts.append(rng.choice([b"\0", b"\n", b"\r\n", b"\t", b"\xe2\x96\x81", b"</s>"]))
        elif what < 0.34:
            parts.append(rng.randbytes(rng.randint(1, 4)))
        else:
            first, last = _RANGES[rng.choice(kinds)]
            parts.append(chr(rng.randint(first, last)).encode())
    return b"".join(parts)


def untrained() -> Iterator[tuple[str, Path]]:
    """Yield exports of small models with large random weights, whose outputs vary widely."""
    from kerasnmt import zoo
    from kerasnmt.data import builtin_corpus
    from kerasnmt.text import SentencePieceTokenizer, WordTokenizer

    pairs = builtin_corpus(3000)
    words = WordTokenizer.train(pairs, vocabulary_size=300)
    pieces = SentencePieceTokenizer.train(pairs, vocabulary_size=500)
    for name, tokenizer in (
        ("bahdanau_gru", pieces),
        ("bahdanau_gru", words),
        ("pointer_generator_gru", words),
    ):
        model = getattr(zoo, name)(tokenizer, embedding_dim=16, units=24, dropout=0.0)
        rng = np.random.default_rng(1)
        model.set_weights([0.7 * rng.normal(size=w.shape) for w in model.get_weights()])
        with tempfile.TemporaryDirectory() as folder:
            version = model.export(Path(folder) / name / "1", beam_size=1, max_length=30)
            yield f"{name}, {tokenizer.kind}", Path(version)


def fuzz(name: str, version: Path, lines: list[bytes]) -> dict:
    """Send all lines, and check the answers."""
    rng = random.Random(2)
    answers: list[tuple[bytes, float]] = []
    memory = []  # memory of the child after each line
    begin = time.perf_counter()
    with SessionProcess(version) as process:
        while len(answers) < len(lines):
            batch = lines[len(answers) : len(answers) + rng.randint(1, 32)]
            found = process.run("serving_default", {"text": batch})
            assert found["translation"].shape == found["score"].shape == (len(batch),)
            answers += zip(found["translation"], found["score"].tolist(), strict=True)
            memory += [process.resident_memory() / 1e6] * len(batch)
        seconds = time.perf_counter() - begin
        again = rng.sample(range(len(lines)), min(500, len(lines)))
        others = []
        for place in again:
            found = process.run("serving_default", {"text": [lines[place]]})
            if found["translation"][0] != answers[place][0]:
                others.append([place, float(found["score"][0]) - answers[place][1]])
    tenth = max(len(lines) // 10, 1)
    first, last = np.mean(memory[:tenth]), np.mean(memory[-tenth:])
    result = {
        "export": name,
        "beam_size": read_description(version).get("beam_size"),
        "onednn": os.environ["TF_ENABLE_ONEDNN_OPTS"] != "0",
        "lines": len(lines),
        "bytes": sum(map(len, lines)),
        "answers": len(answers),
        "different_answers": len({text for text, _ in answers}),
        "empty_answers": sum(not text for text, _ in answers),
        "not_utf8": sum(text.decode(errors="ignore").encode() != text for text, _ in answers),
        "scores_not_finite": int((~np.isfinite([score for _, score in answers])).sum()),
        "sent_again_alone": len(again),
        "other_translation_alone": len(others),
        "most_difference_of_their_scores": max((abs(d) for _, d in others), default=0.0),
        "first_tenth_mb": round(first, 1),
        "last_tenth_mb": round(last, 1),
        "memory_ratio": round(last / first, 4),
        "seconds": round(seconds, 1),
    }
    result["passed"] = not (
        result["not_utf8"] or result["scores_not_finite"] or abs(result["memory_ratio"] - 1) > 0.05
    )
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("exports", type=Path, nargs="*", help="<name> or <name>/<version>")
    parser.add_argument("--lines", type=int, default=10_000)
    arguments = parser.parse_args()

    rng = random.Random(1)
    lines = [line(rng) for _ in range(arguments.lines)]
    exports = [(str(path), find_export(path)[0]) for path in arguments.exports] or untrained()
    passed = True
    for name, version in exports:
        result = fuzz(name, version, lines)
        passed &= result["passed"]
        print(json.dumps(result), flush=True)
    sys.exit(not passed)


if __name__ == "__main__":
    main()
