"""Program `kerasnmt`."""

import sys
import warnings
from typing import Annotated, Any

import typer

from kerasnmt.cli.align import align
from kerasnmt.cli.attention import attention
from kerasnmt.cli.check import check
from kerasnmt.cli.demo import demo
from kerasnmt.cli.evaluate import evaluate
from kerasnmt.cli.export import export
from kerasnmt.cli.init import init
from kerasnmt.cli.models import models
from kerasnmt.cli.options import search_help
from kerasnmt.cli.presets import presets
from kerasnmt.cli.score import score
from kerasnmt.cli.serve import serve
from kerasnmt.cli.server_config import server_config
from kerasnmt.cli.train import train
from kerasnmt.cli.translate import translate
from kerasnmt.cli.translate_files import translate_files
from kerasnmt.version import __version__

app = typer.Typer(
    help="Attention-based sequence-to-sequence models: train, translate, export.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # plain text, because Rich breaks long paths
    pretty_exceptions_enable=False,
)
_VERBS = (
    *(demo, models, presets, init, train, translate, translate_files, evaluate, score),
    *(export, check, serve, server_config, attention, align),
)
for _verb in _VERBS:
    app.command(
        epilog=search_help() if _verb in (translate, evaluate, export) else None,
        # The rest of the command line are options of Apache Beam.
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True}
        if _verb is translate_files
        else None,
    )(_verb)


def main() -> None:
    """Run the program. An error that the user can fix is one line, with exit code 2."""
    shown = set()

    def show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
        """Print a warning once, even if a text goes through the model several times."""
        if str(message) not in shown:
            shown.add(str(message))
            print(f"warning: {message}", file=sys.stderr)

    warnings.showwarning = show_warning
    try:
        # In standalone mode, typer would print usage errors in four lines.
        sys.exit(app(prog_name="kerasnmt", standalone_mode=False) or 0)
    except typer.TyperException as error:
        message = error.format_message()
        # Without arguments, the message is the help text.
        print(_one_line(message) if sys.argv[1:] else message, file=sys.stderr)
        sys.exit(error.exit_code)
    except typer.Abort:
        print("Aborted!", file=sys.stderr)
        sys.exit(1)
    except FloatingPointError as error:  # the training diverged
        print(_one_line(str(error)), file=sys.stderr)
        sys.exit(1)
    except (ValueError, OSError) as error:
        print(_one_line(_message(error)), file=sys.stderr)
        sys.exit(2)


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _one_line(message: str) -> str:
    return f"error: {' '.join(message.split())}"


def _print_version(asked: bool) -> None:
    if asked:
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
