"""`kerasnmt launch`."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Annotated, Any

import typer

from kerasnmt.cli.console import progress_console, say

_REQUIRED: Any = ...
_PROGRAM = [sys.executable, "-m", "kerasnmt.cli"]


def launch(
    words: Annotated[
        list[str],
        typer.Argument(metavar="train RECIPE [OPTIONS]", help="Command that each process runs."),
    ],
    count: Annotated[
        int, typer.Option("-n", "--processes", min=1, help="Number of processes.")
    ] = _REQUIRED,
) -> None:
    """Train in several processes on this machine, which share each batch.

    All processes run `kerasnmt train` on JAX. Process 0 writes the run, and prints. If a process
    dies, `launch` kills the others, and `kerasnmt launch … train … --resume` continues from the
    latest checkpoint. Ctrl-C writes a checkpoint first.

    The processes use CPUs. For several GPUs of one machine, use one process with training.devices.
    For several machines, start `kerasnmt train` on each of them with --coordinator, --processes
    and --process.
    """
    if words[0] != "train":
        raise ValueError(f"Expected the command train, with its arguments. Received: {words[0]}")
    console = progress_console()
    with tempfile.TemporaryDirectory() as folder:
        group = _Group(count, Path(folder))
        try:
            with _passed_on(group):
                group.start(words)
                ended, code = group.first_end()
        finally:
            group.kill()
            console.show_cursor()  # the progress bar of a killed process has hidden it
        if code < 0 or ended > 0:
            how = f"with exit code {code}" if code > 0 else f"by {signal.Signals(-code).name}"
            say(console, f"process {ended} of {count} has ended {how}, and the others are killed")
            if ended > 0:
                say(console, group.last_words(ended))
        raise typer.Exit(code if code >= 0 else 128 - code)


class _Group:
    """Processes of one training run.

    Args:
        count: Number of processes.
        folder: Folder for the output of the processes, except the first one.
    """

    def __init__(self, count: int, folder: Path) -> None:
        self.outputs = [folder / f"{index}.log" for index in range(count)]
        self.processes: list[subprocess.Popen[bytes]] = []

    def start(self, words: list[str]) -> None:
        """Start the processes, with these arguments of the program `kerasnmt`."""
        environment = (
            {"JAX_PLATFORMS": "cpu"}
            | os.environ
            | {
                "KERAS_BACKEND": "jax",
                "KERAS_DISTRIBUTION_JOB_ADDRESSES": f"localhost:{_free_port()}",
                "KERAS_DISTRIBUTION_NUM_PROCESSES": str(len(self.outputs)),
            }
        )
        for index, path in enumerate(self.outputs):
            with path.open("wb") as output:
                own: Any = {"stdout": output, "stderr": output} if index else {}
                process: Any = subprocess.Popen(
                    [*_PROGRAM, *words],
                    env=environment | {"KERAS_DISTRIBUTION_PROCESS_ID": str(index)},
                    # A signal of the terminal reaches only this program, which passes it on.
                    process_group=0,
                    **own,
                )
            self.processes.append(process)

    def first_end(self) -> tuple[int, int]:
        """Wait until a process fails or all have ended.

        Returns:
            The number and the exit code of a process that has failed, or of process 0.
        """
        while True:
            codes = [process.poll() for process in self.processes]
            failed = [(code, index) for index, code in enumerate(codes) if code]
            if failed:
                # Those that ended because they lost another process come last.
                lost = (1, -signal.SIGABRT)
                code, index = min(failed, key=lambda end: (end[0] in lost, end[1]))
                return index, code
            if None not in codes:
                return 0, 0
            time.sleep(0.05)

    def kill(self) -> None:
        """Kill all processes that have not ended. They have nothing left to write."""
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait()

    def last_words(self, index: int) -> str:
        """Return the last lines that a process wrote."""
        lines = self.outputs[index].read_text("utf-8", "replace").splitlines()
        return "\n".join(lines[-5:])


@contextmanager
def _passed_on(group: _Group) -> Iterator[None]:
    """Pass signals to process 0, which writes a checkpoint and ends."""

    def handle(number: int, frame: FrameType | None) -> None:
        for process in group.processes[:1]:
            process.send_signal(signal.SIGTERM if number == signal.SIGHUP else number)

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    ignored = [number for number in numbers if signal.getsignal(number) is signal.SIG_IGN]
    before = {n: signal.signal(n, handle) for n in numbers if n not in ignored}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return probe.getsockname()[1]
