"""Start of the command line: the first translation, and the first step of training.

    python benchmarks/startup.py

Runs `kerasnmt translate` on one line with each of `--presets`, and `kerasnmt demo` until the first
step of training is done. They take turns, `--rounds` times. Prints medians: the wall seconds until
the first line or step, the wall seconds until the end of the process, and its CPU seconds. The demo
is killed after the first step. Nothing else should run on the machine.

It measures the package in the current folder, so `cd` into another checkout to compare with it.
"""

import argparse
import os
import pty
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PRESETS = ["g2p_dutch", "tatoeba_en_fr_gru", "tatoeba_en_fr_transformer"]
COMMAND = [sys.executable, "-m", "kerasnmt.cli"]


def measured(command: list[str], stream: str, until: bytes, *, kill: bool = False) -> list[float]:
    """Run a command where one of the streams is a terminal, and the other one is discarded.

    Args:
        command: Command, which reads one line.
        stream: Stream that is the terminal, `stdout` or `stderr`.
        until: Output that the first time waits for.
        kill: Whether to kill the process then. Otherwise, it should not write much more.

    Returns:
        The wall seconds until this output, the wall seconds until the end, and the CPU seconds.
    """
    terminal, output = pty.openpty()
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, stream: output}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdin=subprocess.PIPE, **streams)
    os.close(output)
    process.stdin.write(b"I love you.\n")
    process.stdin.close()
    written = b""
    try:
        while until not in written:
            written += os.read(terminal, 4096)
    except OSError:  # the end of the output
        raise SystemExit(f"{' '.join(command)} has failed:\n{written.decode()}") from None
    first = time.perf_counter() - begin
    if kill:
        process.kill()
    process.wait()
    end = time.perf_counter() - begin
    os.close(terminal)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return [first, end, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--presets", nargs="*", default=PRESETS, help="presets that translate")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()

    results = {}
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder, "demo")
        demo = [*COMMAND, "demo", "--output", str(run)]
        for _ in range(arguments.rounds):
            for preset in arguments.presets:
                found = measured([*COMMAND, "translate", preset], "stdout", b"\n")
                results.setdefault(f"translate {preset}", []).append(found)
            # The progress bar shows the loss after a step.
            found = measured(demo, "stderr", b"loss ", kill=True)
            results.setdefault("demo", []).append(found)
            shutil.rmtree(run)
    print(f"{'command':38}  first    end  CPU s")
    for name, found in results.items():
        first, end, cpu = map(statistics.median, zip(*found, strict=True))
        print(f"{name:38}  {first:5.2f}  {end:5.2f}  {cpu:5.2f}")


if __name__ == "__main__":
    main()
