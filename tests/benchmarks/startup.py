"""Start of the command line: the first translation, and the first step of training.

    python tests/benchmarks/startup.py

Runs `kerasnmt translate` with each of `--presets` on one line, and `kerasnmt demo` until the first
step of training is done, `--rounds` times in turns. Prints the medians of the wall seconds until
the first line or step, of the wall seconds until the process has ended, and of its CPU seconds.
`demo` is ended after the first step.
"""

import argparse
import os
import pty
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PRESETS = ["g2p_dutch", "tatoeba_en_fr_gru", "tatoeba_en_fr_transformer"]
COMMAND = [sys.executable, "-m", "kerasnmt.cli"]
# The progress bar shows the loss when a step is done.
STEP_DONE = b"loss "


def measured(
    command: list[str], stream: str, until: bytes, *, stop: bool = False
) -> tuple[float, float, float]:
    """Run a command with a terminal.

    Args:
        command: Command.
        stream: Stream that is the terminal, `stdout` or `stderr`.
        until: Output that the first time waits for.
        stop: Whether to end the command then.

    Returns:
        The wall seconds until this output, the wall seconds until the end, and the CPU seconds.
    """
    terminal, output = pty.openpty()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, stream: output}
    process = subprocess.Popen(command, **streams)
    os.close(output)
    process.stdin.write(b"I love you.\n")
    process.stdin.close()
    written = b""
    try:
        while until not in written:
            written += os.read(terminal, 4096)
    except OSError:
        raise SystemExit(f"{' '.join(command)} has ended too early:\n{written.decode()}") from None
    first = time.perf_counter() - begin
    if stop:
        process.send_signal(signal.SIGKILL)
    process.wait()
    end = time.perf_counter() - begin
    os.close(terminal)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return first, end, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--presets", nargs="*", default=PRESETS, help="presets that translate")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()

    results = {}
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder, "demo")
        for _ in range(arguments.rounds):
            for preset in arguments.presets:
                found = measured([*COMMAND, "translate", preset], "stdout", b"\n")
                results.setdefault(f"translate {preset}", []).append(found)
            demo = [*COMMAND, "demo", "--output", str(run)]
            found = measured(demo, "stderr", STEP_DONE, stop=True)
            results.setdefault("demo", []).append(found)
            shutil.rmtree(run)
    print(f"{'command':38}  first  end  CPU seconds")
    for name, found in results.items():
        first, end, cpu = map(statistics.median, zip(*found, strict=True))
        print(f"{name:38}  {first:5.2f}  {end:5.2f}  {cpu:5.2f}")


if __name__ == "__main__":
    main()
