"""`kerasnmt demo`."""

import signal
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from kerasnmt.cli.console import command, print_commands, print_table, progress_console, say
from kerasnmt.cli.loading import load_run
from kerasnmt.cli.quiet import load_tensorflow_to_train

_SHOWN = 4


def demo(
    overrides: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[KEY=VALUE]...", help="Changes to the recipe, such as training.epochs=8."
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", metavar="DIR", help="Folder for all files.")
    ] = Path("demo"),
) -> None:
    """Train a translator on the built-in corpus, export it and translate with the export.

    Takes a few minutes on two cores. The corpus comes with the library: English and German
    sentences of a grammar, with invented names. Nothing is downloaded. A second call resumes
    interrupted training, or exports a finished model again, as the next version.
    """
    console = progress_console()
    with console.status("starting TensorFlow"):
        load_tensorflow_to_train()
    from kerasnmt import training
    from kerasnmt.backends import need_export_backend

    need_export_backend()
    run = training.RunFolder(output / "run")
    recipe = training.Recipe.load(Path(__file__).with_name("demo.yaml"), overrides or [])
    if not (recipe.data.test and recipe.data.test.builtin):
        raise ValueError(
            "Expected data.test.builtin, because the demo is scored on the built-in corpus. Use "
            "`kerasnmt train` for other data."
        )
    results = _train(recipe, run, console)

    from kerasnmt.data import builtin_corpus

    sources = [pair.source for pair in builtin_corpus(recipe.data.test.builtin, "test")]
    shown = sorted(sources[:40], key=len)[-_SHOWN:]
    with console.status("translating with the best model"):
        model, options = load_run(run.path)
        expected = model.translate(shown, **options)
    version, passed = _export(model, options, output / "saved_models", shown, expected, console)
    picture = output / "attention.png"
    equal = _translate_with(version, shown, expected, picture, console)
    print_table(
        [
            (f"BLEU on {len(sources):,} held-out sentences", f"{results['bleu']:.1f}"),
            (
                "training",
                f"{results['train_seconds']:.0f} s, {results['train_cpu_seconds']:.0f} CPU s",
            ),
            ("same translations through the export", f"{equal} of {len(shown)}"),
            ("export", f"{version} ({'passes' if passed else 'FAILS'} the check)"),
            ("attention picture", str(picture)),
            ("model", str(run.model)),
            ("results", str(run.results)),
        ]
    )
    if not passed or equal < len(shown):
        raise typer.Exit(1)
    print_commands(
        "Next steps: translate a sentence, serve the export, and view the training curves.",
        f"{command('echo', sources[0])} | {command('kerasnmt', 'translate', run.path)}",
        command("kerasnmt", "serve", Path(version).parent),
        command("tensorboard", "--logdir", run.logs),
    )


def _train(recipe: Any, run: Any, console: Console) -> dict[str, Any]:
    """Train, resume the training of an earlier call, or return its results if it is finished."""
    from kerasnmt import training

    if run.final_results(recipe.training.epochs) is not None:
        results = training.train(recipe, run.path, resume=True)  # raises for another recipe
        say(
            console,
            f"{run.path} contains a trained model from an earlier demo; it is exported as the next "
            "version, without further training",
        )
        return results
    say(
        console,
        "training on the built-in corpus, English sentences from a grammar with their German "
        f"translations, into {run.path}; then come scores, an export, its check and a picture",
    )
    try:
        return training.train(recipe, run.path, resume=run.tokenizers.exists(), console=console)
    except KeyboardInterrupt as stop:
        say(console, "interrupted; run the same command again to resume the training")
        if isinstance(stop, training.Terminated):
            raise typer.Exit(128 + signal.SIGTERM) from None
        raise


def _export(
    model: Any,
    options: dict[str, Any],
    folder: Path,
    shown: list[str],
    expected: list[str],
    console: Console,
) -> tuple[str, bool]:
    """Export the model and check the export; return the version and whether it passes."""
    from kerasnmt.serving import check_export, export_next_version
    from kerasnmt.training.callbacks.training_progress import working

    with working(console, "exporting"):
        version = export_next_version(model, folder / model.name, **options)
    with working(console, "checking the export in a process that loads it like TF Serving"):
        report = check_export(version, shown, expected)
    say(console, str(report))
    return version, report.passed


def _translate_with(
    version: str, shown: list[str], expected: list[str], picture: Path, console: Console
) -> int:
    """Translate with the export, draw its attention, and count the equal translations."""
    from kerasnmt.serving import load_export
    from kerasnmt.tasks import Translator

    with console.status("translating with the export"):
        translator = Translator(load_export(version))
        translations = translator.translate(shown)
        (attended,) = translator.attention(shown[-1:])
        attended.by_words().figure().savefig(picture)
    for source, translation in zip(shown, translations, strict=True):
        print(f"{source}\n  -> {translation}")
    print()
    return sum(one == other for one, other in zip(translations, expected, strict=True))
