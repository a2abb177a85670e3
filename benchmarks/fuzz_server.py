"""Test `kerasnmt serve` with random lines of eight clients at once, and stop it during requests.

    python benchmarks/fuzz_server.py saved_models/en_de

The lines come from `fuzz.py`, with texts that are too long for the server. Eight threads send
them in requests of 1 to 32 lines. Every request must have an answer: translations in UTF-8 with
finite scores, which are the same for a line alone, or an error with the code 400. The mean memory
over the last tenth of the requests must be within 5% of the mean over the first tenth. Then five
clients start requests that they never finish, and SIGTERM must stop the server within ten seconds.
The exit code is 1 if a check fails.
"""

import argparse
import base64
import itertools
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import requests
from fuzz import line

PROGRAM = [sys.executable, "-c", "from kerasnmt.cli.main import main; main()", "serve"]
LONG = b"x" * 70_000  # above the server's default of 65,536 bytes


def memory_of(process: subprocess.Popen) -> float:
    """Return the resident memory of a process in MB."""
    pages = int(Path(f"/proc/{process.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def ask(url: str, texts: list[bytes]) -> tuple[int, list[tuple[str, float]]]:
    """Send texts, and return the code and the answers."""
    inputs = [{"b64": base64.b64encode(text).decode()} for text in texts]
    answer = requests.post(url, json={"inputs": inputs}, timeout=300)
    found = answer.json()
    if answer.status_code != 200:
        assert found.keys() == {"error"}, found
        return answer.status_code, []
    columns = found["outputs"]
    return 200, [*zip(columns["translation"], columns["score"], strict=True)]


def drip(url: str, stop: threading.Event) -> None:
    """Start a request, and send a byte of it from time to time."""
    with socket.create_connection((urlsplit(url).hostname, urlsplit(url).port)) as client:
        client.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n")
        while not stop.wait(0.2):
            try:
                client.sendall(b"x")
            except OSError:
                return


def main() -> None:
    """Send all lines, stop the server and print the results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("export", type=Path, help="<name> or <name>/<version>")
    parser.add_argument("--lines", type=int, default=10_000)
    given = parser.parse_args()
    rng = random.Random(1)
    lines = [line(rng) for _ in range(given.lines)]
    for place in range(0, len(lines), 500):
        lines[place] = LONG
    starts = [0]
    while starts[-1] < len(lines):
        starts.append(min(starts[-1] + rng.randint(1, 32), len(lines)))
    batches = [lines[one:other] for one, other in itertools.pairwise(starts)]

    process = subprocess.Popen(
        [*PROGRAM, str(given.export), "--port", "0"],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "TF_ENABLE_ONEDNN_OPTS": "0"},
        text=True,
    )
    # Messages of TensorFlow may come first.
    found = (re.search(r"http://\S+(?=;)", line) for line in process.stderr)
    url = next(match[0] for match in found if match) + ":predict"
    threading.Thread(target=process.stderr.read, daemon=True).start()
    memory: list[float] = []

    def send(batch: list[bytes]) -> tuple[int, list[tuple[str, float]]]:
        found = ask(url, batch)
        memory.append(memory_of(process))
        return found

    begun = time.perf_counter()
    with ThreadPoolExecutor(8) as clients:
        answers = list(clients.map(send, batches))
    seconds = time.perf_counter() - begun
    refused = wrong = answered = 0
    for batch, (code, found) in zip(batches, answers, strict=True):
        if LONG in batch:
            refused += len(batch)
            wrong += code != 400
        else:
            answered += len(found)
            wrong += code != 200 or len(found) != len(batch)
            wrong += not all(np.isfinite(score) for _, score in found)
    places = rng.sample([n for n, (code, _) in enumerate(answers) if code == 200], 100)
    others = 0
    for place in places:  # the same alone
        _, ((translation, _),) = ask(url, batches[place][:1])
        others += translation != answers[place][1][0][0]

    stop = threading.Event()
    slow = [threading.Thread(target=drip, args=(url, stop)) for _ in range(5)]
    for client in slow:
        client.start()
    time.sleep(1)
    begun = time.perf_counter()
    process.send_signal(signal.SIGTERM)
    code = process.wait(60)
    end = time.perf_counter() - begun
    stop.set()
    tenth = max(len(memory) // 10, 1)
    first, last = np.mean(memory[:tenth]), np.mean(memory[-tenth:])
    result = {
        "lines": len(lines),
        "requests": len(batches),
        "answered": answered,
        "refused_with_a_text_too_long": refused,
        "wrong": wrong,
        "sent_again_alone": len(places),
        "other_translation_alone": others,
        "first_tenth_mb": round(first, 1),
        "last_tenth_mb": round(last, 1),
        "memory_ratio": round(last / first, 4),
        "seconds": round(seconds, 1),
        "seconds_to_stop": round(end, 1),
        "exit_code": code,
    }
    print(json.dumps(result))
    flat = abs(result["memory_ratio"] - 1) < 0.05
    sys.exit(bool(wrong) or not flat or end > 10 or code != 0)


if __name__ == "__main__":
    main()
