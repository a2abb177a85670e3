"""Program `kerasnmt`."""

import sys
from typing import Annotated

import typer

from kerasnmt.cli.align import align
from kerasnmt.cli.attention import attention
from kerasnmt.cli.check import check
from kerasnmt.cli.compare import compare
from kerasnmt.cli.demo import demo
from kerasnmt.cli.distill import distill
from kerasnmt.cli.errors import print_warnings, report
from kerasnmt.cli.evaluate import evaluate
from kerasnmt.cli.export import export
from kerasnmt.cli.init import init
from kerasnmt.cli.launch import launch
from kerasnmt.cli.models import models
from kerasnmt.cli.options import search_help
from kerasnmt.cli.presets import presets
from kerasnmt.cli.score import score
from kerasnmt.cli.serve import serve
from kerasnmt.cli.server_config import server_config
from kerasnmt.cli.shortlist import shortlist
from kerasnmt.cli.train import train
from kerasnmt.cli.translate import translate
from kerasnmt.cli.translate_files import translate_files
from kerasnmt.extras import MissingPackageError, extras
from kerasnmt.version import __version__

app = typer.Typer(
    help="Attention-based sequence-to-sequence models: train, translate, export.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # plain text, because Rich breaks long paths
    pretty_exceptions_enable=False,
)
_VERBS = (
    *(demo, models, presets, init, train, launch, translate, translate_files, distill, evaluate),
    *(compare, score, shortlist, export, check, serve, server_config, attention, align),
)
_SETTINGS = {
    # The options of the launched command are not options of `launch`.
    launch: {"allow_interspersed_args": False},
    # The rest of the command line are options of Apache Beam.
    translate_files: {"allow_extra_args": True, "ignore_unknown_options": True},
}
for _verb in _VERBS:
    app.command(
        epilog=search_help() if _verb in (translate, distill, evaluate, export) else None,
        context_settings=_SETTINGS.get(_verb),
    )(_verb)


_EXPECTED = (FloatingPointError, ValueError, OSError, MissingPackageError)


def main() -> None:
    """Run the program; see `report` for errors."""
    print_warnings()
    try:
        # In standalone mode, typer would print usage errors in four lines.
        with extras():
            sys.exit(app(prog_name="kerasnmt", standalone_mode=False) or 0)
    except (*_EXPECTED, typer.TyperException, typer.Abort) as error:
        sys.exit(report(error))


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"kerasnmt {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    pass
