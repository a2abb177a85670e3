"""Errors and warnings of the commands on the terminal."""

import sys
import traceback
import warnings
from typing import Any

import typer

from kerasnmt.extras import MissingPackageError


def report(error: BaseException) -> int:
    """Print an error, and return the exit code of the program.

    An error that the user can fix is one line, with exit code 2.
    """
    if isinstance(error, typer.Exit):
        return error.exit_code
    if isinstance(error, typer.TyperException):
        message = error.format_message()
        # Without arguments, the message is the help text.
        print(_one_line(message) if sys.argv[1:] else message, file=sys.stderr)
        return error.exit_code
    if isinstance(error, typer.Abort | KeyboardInterrupt):
        print("Aborted!", file=sys.stderr)
        return 1
    # Training has diverged, or has lost another process.
    if isinstance(error, FloatingPointError | ChildProcessError):
        print(_one_line(str(error)), file=sys.stderr)
        return 1
    if isinstance(error, ValueError | OSError | MissingPackageError):
        print(_one_line(_message(error)), file=sys.stderr)
        return 2
    traceback.print_exception(error)
    return 1


def print_warnings() -> None:
    """Print each warning once, even if a text goes through a model several times."""
    shown = set()

    def show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
        if str(message) not in shown:
            shown.add(str(message))
            print(f"warning: {message}", file=sys.stderr)

    warnings.showwarning = show_warning


def _message(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _one_line(message: str) -> str:
    return f"error: {' '.join(message.split())}"
