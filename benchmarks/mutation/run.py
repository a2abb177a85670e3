"""Put small faults into the library, one at a time, and check whether the tests notice them.

    make mutants                                  # the sample of seed 1
    python benchmarks/mutation/run.py --seed 2 --rooms text data
    python benchmarks/mutation/run.py --again benchmarks/mutation/results/seed_1.jsonl

The sample has one fault of each file of five packages. For a fault in `kerasnmt/ROOM/`, the tests
of `tests/ROOM/` that `make test` runs are run, starting with the tests that name what the file
defines. The first failure kills the fault. A run that takes far longer than without a fault also
kills it. Each result is a line of JSON. `--again` runs the survivors of an earlier file again, and
writes the new outcomes.
"""

import argparse
import ast
import concurrent.futures
import contextlib
import json
import multiprocessing
import os
import queue
import random
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from mutations import Mutation, find_mutations

PROJECT = Path(__file__).parents[2]
ROOMS = ("speed", "layers", "decoding", "models", "text", "data")
# Room whose tests run next if a room's own tests do not notice a fault, because it builds on it.
NEXT = {
    "speed": "layers",
    "layers": "models",
    "decoding": "models",
    "models": "tasks",
    "text": "models",
    "data": "training",
}
# A fault can cause an endless loop. Tests are stopped after this multiple of their usual time.
MOST_TIMES = 5
PYTEST = ["--exitfirst", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:randomly"]
# Each run is a process forked from one that has imported TensorFlow, which takes seconds.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["keras", "tensorflow_text", "pytest"])


def sample(seed: int, rooms: Sequence[str] = ROOMS) -> list[tuple[str, Mutation]]:
    """Return one fault of each file. All kinds of faults in a file are equally likely."""
    faults = []
    folders = [PROJECT / "kerasnmt" / room for room in rooms]
    for path in (path for folder in folders for path in sorted(folder.rglob("*.py"))):
        name = str(path.relative_to(PROJECT))
        kinds: dict[str, list[Mutation]] = {}
        for mutation in find_mutations(path.read_text(encoding="utf-8")):
            kinds.setdefault(mutation.kind, []).append(mutation)
        if kinds:
            rng = random.Random(f"{seed} {name}")  # of its own, so that a room has the same faults
            faults.append((name, rng.choice(kinds[rng.choice(sorted(kinds))])))
    return faults


def files_to_run(copy: Path, path: str, room: str) -> list[str]:
    """Return the test files of a room, sorted by how much of a module they name."""
    tree = ast.parse((copy / path).read_text(encoding="utf-8"))
    names = [node.name for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)]
    words = re.compile("|".join(rf"\b{name}\b" for name in [Path(path).stem, *names]))
    files = sorted((copy / "tests" / room).rglob("test_*.py"))

    def mentions(file: Path) -> tuple[bool, int]:
        return file.stem != f"test_{Path(path).stem}", -len(words.findall(file.read_text()))

    return [str(file.relative_to(copy)) for file in sorted(files, key=mentions)]


def run_tests(copy: Path, files: list[str], seconds: float | None = None) -> tuple[str, str]:
    """Return `survived`, `killed` or `timed out` after `seconds`, and the test that failed."""
    log = copy / "pytest.log"
    process = FORKS.Process(target=run_pytest, args=(copy, files, log))
    process.start()
    process.join(seconds)
    if process.is_alive():
        os.killpg(process.pid, signal.SIGKILL)
        return "timed out", ""
    if process.exitcode == 0:
        return "survived", ""
    printed = log.read_text(encoding="utf-8", errors="replace")
    if process.exitcode < 0:
        return "killed", signal.Signals(-process.exitcode).name
    if process.exitcode not in (pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED):
        raise RuntimeError(f"pytest ended with code {process.exitcode}:\n{printed[-2000:]}")
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", printed, re.MULTILINE)
    return "killed", failed[1] if failed else printed.strip()[-200:]


def run_pytest(copy: Path, files: list[str], log: Path) -> None:
    """Run the tests of a copy of the project. This process has already imported TensorFlow."""
    os.setsid()
    os.chdir(copy)
    sys.path.insert(0, str(copy))
    output = os.open(log, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(output, stream)
    sys.exit(int(pytest.main([*PYTEST, "-m", "not thorough", *files])))


def copy_project(folder: Path) -> Path:
    """Copy the project without its history and environment."""
    ignore = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", "demo")
    return Path(shutil.copytree(PROJECT, folder / "kerasnmt", ignore=ignore))


def results(faults: list[tuple[str, Mutation]], processes: int) -> Iterator[dict]:
    """Yield the outcome of each fault when its run ends. Each process has a copy of the project."""
    with (
        tempfile.TemporaryDirectory() as folder,
        concurrent.futures.ThreadPoolExecutor(processes) as pool,
    ):
        copies: queue.Queue[Path] = queue.Queue()
        for number in range(processes):
            copies.put(copy_project(Path(folder) / str(number)))

        @contextlib.contextmanager
        def borrowed_copy() -> Iterator[Path]:
            copy = copies.get()
            try:
                yield copy
            finally:
                copies.put(copy)

        def without_fault(room: str) -> float:
            with borrowed_copy() as copy:
                begun = time.perf_counter()
                outcome, test = run_tests(copy, [f"tests/{room}"])
            if outcome != "survived":
                raise RuntimeError(f"Expected tests/{room} to pass without a fault: {test}")
            return time.perf_counter() - begun

        def with_fault(path: str, mutation: Mutation) -> dict:
            begun = time.perf_counter()
            with borrowed_copy() as copy:
                source = (copy / path).read_text(encoding="utf-8")
                (copy / path).write_text(mutation.apply(source), encoding="utf-8")
                room: str | None = Path(path).parts[1]
                outcome, test = "survived", ""
                while room and outcome == "survived":
                    files = files_to_run(copy, path, room)
                    outcome, test = run_tests(copy, files, MOST_TIMES * sound[room])
                    room = NEXT.get(room)
                (copy / path).write_text(source, encoding="utf-8")
            seconds = round(time.perf_counter() - begun, 1)
            fields = {"file": path, **mutation._asdict()}
            return {**fields, "outcome": outcome, "test": test, "seconds": seconds}

        rooms = {Path(path).parts[1] for path, _ in faults}
        while further := {NEXT.get(room) for room in rooms} - rooms - {None}:
            rooms |= further
        sound = dict(zip(rooms, pool.map(without_fault, rooms), strict=True))
        runs = [pool.submit(with_fault, *fault) for fault in faults]
        for done in concurrent.futures.as_completed(runs):
            yield done.result()


def survivors(file: Path) -> list[tuple[str, Mutation]]:
    """Return the faults of an earlier results file that survived."""
    faults = []
    for line in file.read_text(encoding="utf-8").splitlines():
        fields = json.loads(line)
        if fields["outcome"] == "survived":
            mutation = Mutation(*(fields[name] for name in Mutation._fields))
            text = (PROJECT / fields["file"]).read_bytes()[mutation.start : mutation.end].decode()
            if text != mutation.old:
                sys.exit(f"{file}: {fields['file']} has changed since: {text!r}, {mutation.old!r}")
            faults.append((fields["file"], mutation))
    return faults


def main() -> None:
    """Run the sample, write the outcomes, and count them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1, help="seed of the sample")
    parser.add_argument("--rooms", nargs="+", default=ROOMS, choices=ROOMS)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--again", type=Path, help="results file whose survivors are run again")
    parser.add_argument("--output", type=Path, help="results file, by default next to this program")
    given = parser.parse_args()
    faults = survivors(given.again) if given.again else sample(given.seed, given.rooms)
    name = f"{given.again.stem}_again" if given.again else f"seed_{given.seed}"
    output = given.output or Path(__file__).parent / "results" / f"{name}.jsonl"
    output.parent.mkdir(exist_ok=True)
    killed = 0
    with output.open("w", encoding="utf-8") as lines:
        for number, result in enumerate(results(faults, given.processes), 1):
            killed += result["outcome"] != "survived"
            lines.write(json.dumps(result, ensure_ascii=False) + "\n")
            lines.flush()
            place = f"{result['file']}:{result['line']}"
            change = f"{result['old'][:40]!r} -> {result['new'][:40]!r}"
            print(f"{number}/{len(faults)} {result['outcome']:9} {place} {change}", flush=True)
    print(f"{killed} of {len(faults)} faults were noticed ({killed / max(len(faults), 1):.1%})")


if __name__ == "__main__":
    main()
