"""`kerasnmt train`."""

import math
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from kerasnmt.cli.console import command, print_table, progress_console, say
from kerasnmt.cli.errors import report
from kerasnmt.cli.quiet import load_tensorflow_to_train, without_talk

_REQUIRED: Any = ...


def train(
    recipe: Annotated[
        Path, typer.Argument(help="Recipe in YAML. Its paths are relative to its folder.")
    ],
    overrides: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[KEY=VALUE]...",
            help="Changes to the recipe, such as model.units=512 data.max_length=50. Their paths "
            "are relative to the working folder.",
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", metavar="RUN", help="Folder of the run.")
    ] = _REQUIRED,
    resume: Annotated[bool, typer.Option("--resume", help="Resume an interrupted run.")] = False,
    init_from: Annotated[
        str | None,
        typer.Option(
            "--init-from",
            metavar="RUN2",
            help="Another run or a preset. Training starts with its weights and tokenizers.",
        ),
    ] = None,
    coordinator: Annotated[
        str | None,
        typer.Option(
            "--coordinator",
            metavar="HOST:PORT",
            help="To train in several processes on JAX: the address of the first process, which "
            "all processes can reach; auto for Slurm, Open MPI, Kubernetes or Cloud TPU.",
            envvar="KERAS_DISTRIBUTION_JOB_ADDRESSES",
        ),
    ] = None,
    processes: Annotated[
        int | None,
        typer.Option(
            "--processes",
            min=1,
            help="Number of processes.",
            envvar="KERAS_DISTRIBUTION_NUM_PROCESSES",
        ),
    ] = None,
    process: Annotated[
        int | None,
        typer.Option(
            "--process",
            min=0,
            help="Number of this process, counted from 0. Process 0 writes RUN, and prints.",
            envvar="KERAS_DISTRIBUTION_PROCESS_ID",
        ),
    ] = None,
) -> None:
    """Train the model of a recipe.

    The recipe, the tokenizers, checkpoints, the best model (model.keras), TensorBoard logs and
    results.json are written to RUN. Progress is written to standard error, and a table of results
    to standard output.

    With KERAS_BACKEND=jax, several processes can share each batch. Start the same command in each
    process, on one or several machines, with its number. `kerasnmt launch` starts all processes of
    one machine.
    """
    from kerasnmt import training

    loaded = training.Recipe.load(recipe, overrides or [])
    _check_files(loaded.data, recipe.parent / "README.md")
    console = progress_console()
    with console.status("starting TensorFlow"):
        load_tensorflow_to_train()
    end: AbstractContextManager = nullcontext()
    if coordinator is not None:
        say(console, f"waiting at {coordinator} for all processes, for up to 300 seconds")
        training.join_processes(coordinator, processes, process)
        with without_talk():
            training.Processes().share(lambda: None)  # connects the devices
        end = _ending_at_once()
    elif processes is not None or process is not None:
        raise ValueError(
            "Expected --coordinator HOST:PORT with --processes and --process. Received: no "
            "--coordinator."
        )
    run = training.RunFolder(output)
    with end:
        try:
            results = training.train(
                loaded, output, resume=resume, init_from=init_from, console=console
            )
        except (KeyboardInterrupt, OSError) as stop:  # an OSError of a full disk, for example
            if run.recipe.exists():
                again = command(
                    "kerasnmt", "train", recipe, *(overrides or []), "--output", output, "--resume"
                )
                if coordinator is not None:
                    again = "the command of each process with --resume"
                say(console, f"interrupted; to resume: {again}")
            elif isinstance(stop, KeyboardInterrupt):
                say(console, "interrupted before the training began; nothing was written")
            if isinstance(stop, training.Terminated):
                raise typer.Exit(128 + signal.SIGTERM) from None
            raise
    if training.Processes().is_first:
        _print_results(results, run)


@contextmanager
def _ending_at_once() -> Iterator[None]:
    """End the program after an error, if there are several processes.

    By default, JAX would wait for the other processes first, which cannot continue.
    """
    try:
        yield
    except BaseException as error:
        code = report(error)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _print_results(results: dict[str, Any], run: Any) -> None:
    test = results["test"]
    perplexity = math.inf if results["perplexity"] is None else results["perplexity"]
    print_table(
        [
            ("model", f"{results['model']}, {results['parameters']:,} parameters"),
            (f"BLEU ({test})", f"{results['bleu']:.2f}  {results['bleu_signature']}"),
            (f"chrF ({test})", f"{results['chrf']:.2f}  {results['chrf_signature']}"),
            (f"exact ({test})", f"{results['exact']:.2f}%"),
            (f"perplexity ({test})", f"{perplexity:.3f}"),
            ("epochs", str(results["epochs"])),
            ("seconds", f"{results['train_seconds']:,.0f}"),
            ("CPU seconds", f"{results['train_cpu_seconds']:,.0f}"),
            ("target tokens/s", f"{results['target_tokens_per_second']:,.0f}"),
            ("best model", str(run.model)),
            ("results", str(run.results)),
            ("TensorBoard", command("tensorboard", "--logdir", run.logs)),
        ]
    )


def _check_files(data: Any, card: Path) -> None:
    """Raise an error for missing data, with the card of the recipe, before TensorFlow is loaded."""
    try:
        data.check_files()
    except ValueError as error:
        where = f" {card} describes the source of the data." if card.exists() else ""
        raise ValueError(f"{error}{where}") from None
