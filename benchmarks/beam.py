"""Bulk translation with Apache Beam compared with `kerasnmt translate`, as JSON lines.

    python benchmarks/beam.py g2p_dutch --source words.txt

The benchmark exports a preset, and samples `--lines` lines from a file, or takes as many built-in
sentences. They repeat after 50,000 lines, with a number in front. With `--broken`, some lines are
not UTF-8. In turns, `--rounds` times:

- `kerasnmt translate EXPORT --input` translates the file without broken lines in one process.
- `kerasnmt translate-files` translates four files of all lines in `--workers` processes.

CPU seconds cover all processes, with their start. `ratio` is the number of lines per CPU
second of Beam divided by the number of `translate`. Then `translate-files` is killed when about
half of the lines are translated, and runs again. Both outputs must have each line once, in order,
and `broken.tsv` each broken line.
"""

import argparse
import ctypes
import json
import os
import random
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FILES = 4
PR_SET_CHILD_SUBREAPER = 36
PROGRAM = [sys.executable, "-c", "from kerasnmt.cli.main import main; main()"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("preset", nargs="?", default="demo_en_de", help="name of a preset")
    parser.add_argument("--source", type=Path, help="file of lines to sample from")
    parser.add_argument("--lines", type=int, default=200_000)
    parser.add_argument("--broken", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=1)
    arguments = parser.parse_args()
    # The workers of a killed process become children of this process, so their time is counted.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    with tempfile.TemporaryDirectory() as folder:
        compare(arguments, Path(folder))


def compare(arguments: argparse.Namespace, folder: Path) -> None:
    export, one = folder / "export", folder / "lines.txt"
    run("export", arguments.preset, export)
    lines, broken = written(arguments, folder / "in", one)
    files = ("translate-files", export, "--input", folder / "in" / "*.txt")
    beam = ("--direct_num_workers", arguments.workers)

    seconds: dict[str, list[float]] = {"translate": [], "translate-files": []}
    for number in range(arguments.rounds):
        with (folder / "expected.txt").open("wb") as expected:
            seconds["translate"].append(run("translate", export, "--input", one, stdout=expected))
        output = folder / f"out{number}"
        seconds["translate-files"].append(run(*files, "--output", output, *beam))
        check(output, folder, lines, broken)
    rates = {
        "translate": (lines - len(broken)) / statistics.median(seconds["translate"]),
        "translate-files": lines / statistics.median(seconds["translate-files"]),
    }
    result = {
        "lines": lines,
        "cpu_seconds": {name: [round(one, 1) for one in each] for name, each in seconds.items()},
        "lines_per_cpu_second": {name: round(rate, 1) for name, rate in rates.items()},
        "ratio": round(rates["translate-files"] / rates["translate"], 3),
    }
    print(json.dumps(result), flush=True)

    output = folder / "killed"
    parts = killed(output, lines, *files, "--output", output, *beam)
    rerun = run(*files, "--output", output, *beam)
    check(output, folder, lines, broken)
    result = {"parts_at_kill": parts, "rerun_cpu_seconds": round(rerun, 1), "broken": len(broken)}
    print(json.dumps(result), flush=True)


def written(
    arguments: argparse.Namespace, folder: Path, one: Path
) -> tuple[int, set[tuple[str, int]]]:
    """Write the lines to files, and those that can be read to one file.

    Returns:
        The number of lines, and the name of the file and the number of each broken line.
    """
    rng = random.Random(1)
    if arguments.source:
        pool = arguments.source.read_text(encoding="utf-8").splitlines()
        texts = rng.choices(pool, k=arguments.lines)
    else:
        from kerasnmt.data import builtin_corpus

        pool = [pair.source for pair in builtin_corpus(min(arguments.lines, 50_000))]
        times = (divmod(number, len(pool)) for number in range(arguments.lines))
        texts = [f"{time} {pool[place]}" if time else pool[place] for time, place in times]
    places = {*rng.sample(range(len(texts)), arguments.broken)}
    kept = [text for place, text in enumerate(texts) if place not in places]
    one.write_text("".join(f"{text}\n" for text in kept), encoding="utf-8")
    folder.mkdir()
    size, broken = -(-len(texts) // FILES), set()
    for number in range(FILES):
        name = f"{number}.txt"
        with (folder / name).open("wb") as file:
            for line, place in enumerate(range(len(texts))[number * size :][:size], start=1):
                if place in places:
                    broken.add((name, line))
                file.write((b"\xff" if place in places else b"") + texts[place].encode() + b"\n")
    return len(texts), broken


def check(output: Path, folder: Path, lines: int, broken: set[tuple[str, int]]) -> None:
    """Check that the outputs have each line once, in order, and the list each broken line."""
    expected = (folder / "expected.txt").read_text(encoding="utf-8").splitlines()
    found, kept = 0, []
    for number in range(FILES):
        name = f"{number}.txt"
        rows = (output / name).read_text(encoding="utf-8").removesuffix("\n").split("\n")
        found += len(rows)
        kept += [row for line, row in enumerate(rows, 1) if (name, line) not in broken]
        assert not any(row for line, row in enumerate(rows, 1) if (name, line) in broken)
    assert found == lines, (found, lines)
    assert len(kept) == len(expected)
    # The batches have other sizes, so a float may be rounded differently.
    changed = sum(one != other for one, other in zip(kept, expected, strict=True))
    assert changed <= lines / 1000, changed
    listed = [line.split("\t") for line in (output / "broken.tsv").read_text().splitlines()]
    assert len(listed) == len(broken)
    assert {(Path(path).name, int(line)) for path, line, _ in listed} == broken


def killed(output: Path, lines: int, *command: object) -> int:
    """Kill the program when about half of the lines are translated; return the number of parts."""
    process = subprocess.Popen(nice(*command), stderr=subprocess.DEVNULL)
    while True:
        parts = [json.loads(one.read_bytes()) for one in output.glob(".parts/*/*/*.json")]
        if sum(len(part["translation"]) for part in parts) >= lines / 2:
            break
        assert process.poll() is None, "the program ended before it was killed"
        time.sleep(2)
    process.send_signal(signal.SIGKILL)
    reap()
    assert not [*output.glob("*.txt")]
    return len(parts)


def run(*command: object, stdout: object = None) -> float:
    """Run the program; return the CPU seconds of all its processes."""
    before = cpu_seconds()
    done = subprocess.run(nice(*command), stdout=stdout, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr
    reap()
    return cpu_seconds() - before


def nice(*command: object) -> list[str]:
    return ["nice", "-n", "10", *PROGRAM, *map(str, command)]


def reap() -> None:
    """Wait for all processes, also for the children of processes that have ended."""
    try:
        while True:
            os.wait()
    except ChildProcessError:
        pass


def cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
