"""`kerasnmt demo`."""

import signal
from pathlib import Path
from typing import Annotated

import typer

from kerasnmt.cli.console import print_table, progress_console
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
        Path, typer.Option("--output", metavar="DIR", help="Folder for all that is made.")
    ] = Path("demo"),
) -> None:
    """Train a translator on the built-in corpus, look at it, export it and serve from the export.

    Some minutes on two cores. The corpus is a grammar of English and German with made-up names;
    nothing is downloaded. A second call goes on where the first one stopped; where that was done,
    it exports the next version.
    """
    load_tensorflow_to_train()
    from kerasnmt import training
    from kerasnmt.data import builtin_corpus
    from kerasnmt.serving import Translator, check_export, export_next_version, load_export
    from kerasnmt.viz import attention_figure

    console = progress_console()

    def say(message: str) -> None:
        console.print(message, highlight=False, markup=False, soft_wrap=True)

    run = training.RunFolder(output / "run")
    recipe = training.Recipe.load(Path(__file__).with_name("demo.yaml"), overrides or [])
    if not (recipe.data.test and recipe.data.test.builtin):
        raise ValueError(
            "Expected data.test.builtin, as the demo is scored on the built-in corpus. Train on "
            "other data with `kerasnmt train`."
        )
    say(f"training on the built-in corpus, English to German, into {run.path}")
    # A second call goes on where the first one stopped, or shows again what it made.
    try:
        resume = run.tokenizers.exists()
        results = training.train(recipe, run.path, resume=resume, console=console)
    except training.Terminated:
        raise typer.Exit(128 + signal.SIGTERM) from None

    sources = [pair.source for pair in builtin_corpus(recipe.data.test.builtin, "test")]
    model, options = load_run(run.path)
    shown = sorted(sources[:40], key=len)[-_SHOWN:]
    expected = model.translate(shown, **options)

    say("exporting")
    version = export_next_version(model, output / "saved_models" / model.name, **options)
    say("checking the export in a process that loads it as TF Serving does")
    report = check_export(version, shown, expected)
    say(str(report))
    served = Translator(load_export(version))
    translations = served.translate(shown)
    (attended,) = served.attention(shown[-1:])
    attended = attended.by_words(
        served.description["source_kind"], served.description["target_kind"]
    )
    figure = attention_figure(
        attended.weights,
        attended.source_tokens,
        attended.target_tokens,
        generate_probability=attended.generate_probability,
    )
    picture = output / "attention.png"
    figure.savefig(picture)

    for source, translation in zip(shown, translations, strict=True):
        print(f"{source}\n  -> {translation}")
    print()
    equal = sum(one == other for one, other in zip(translations, expected, strict=True))
    print_table(
        [
            (f"BLEU on {len(sources):,} held-out sentences", f"{results['bleu']:.1f}"),
            (
                "training",
                f"{results['train_seconds']:.0f} s, {results['train_cpu_seconds']:.0f} CPU s",
            ),
            ("through the export, equal to the model's", f"{equal} of {len(shown)}"),
            ("export", f"{version} ({'passes' if report.passed else 'FAILS'} the check)"),
            ("attention picture", str(picture)),
            ("model", str(run.model)),
            ("results", str(run.results)),
            ("TensorBoard", f"tensorboard --logdir {run.logs}"),
        ]
    )
    if not report.passed or equal < len(shown):
        raise typer.Exit(1)
