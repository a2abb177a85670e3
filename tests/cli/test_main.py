import subprocess
import sys
import warnings

import pytest

from kerasnmt.cli import main as program
from kerasnmt.version import __version__


def run(monkeypatch, *arguments):
    """Run the program in this process, to its exit code."""
    monkeypatch.setattr(sys, "argv", ["kerasnmt", *arguments])
    with pytest.raises(SystemExit) as caught:
        program.main()
    return caught.value.code


def test_version(monkeypatch, capsys):
    assert run(monkeypatch, "--version") == 0
    assert capsys.readouterr() == (f"kerasnmt {__version__}\n", "")


def test_help_names_all_verbs_and_needs_no_tensorflow():
    script = (
        "import sys; sys.modules['tensorflow'] = sys.modules['keras'] = None; "
        "sys.argv = ['kerasnmt', *sys.argv[1:]]; from kerasnmt.cli.main import main; main()"
    )
    for arguments in ([], ["train"]):
        done = subprocess.run(
            [sys.executable, "-c", script, *arguments, "--help"], capture_output=True, text=True
        )
        assert (done.returncode, done.stderr) == (0, "")
        if not arguments:
            commands = done.stdout.split("Commands:\n")[1].splitlines()
            assert [line.split()[0] for line in commands] == [
                *("demo", "models", "train", "translate"),
                *("evaluate", "export", "check", "attention"),
            ]


def test_help_of_every_verb_imports_no_tensorflow():
    script = (
        "import sys, contextlib; from kerasnmt.cli.main import main, app\n"
        "for command in app.registered_commands:\n"
        "    verb = command.callback.__name__; sys.argv = ['kerasnmt', verb, '--help']\n"
        "    with contextlib.suppress(SystemExit): main()\n"
        "    assert not {'tensorflow', 'keras', 'matplotlib'} & sys.modules.keys(), verb\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    usages = [line for line in done.stdout.splitlines() if line.startswith("Usage: kerasnmt ")]
    assert [line.split()[2] for line in usages] == [
        *("demo", "models", "train", "translate", "evaluate", "export", "check", "attention"),
    ]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["trian"], "Error: No such command 'trian'. Did you mean 'train'?"),
        (["models", "--verbose"], "Error: No such option: --verbose"),
        (["train", "recipe.yaml"], "Error: Missing option '--output'."),
    ],
)
def test_bad_usage(monkeypatch, capsys, arguments, line):
    assert run(monkeypatch, *arguments) == 2
    output, errors = capsys.readouterr()
    assert output == ""
    assert line in errors.splitlines()


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("Expected a.\n  Received: b"), "error: Expected a. Received: b\n"),
        (
            FileNotFoundError(2, "No such file or directory", "x"),
            "error: x: No such file or directory\n",
        ),
        (OSError("full disk"), "error: full disk\n"),
    ],
)
def test_errors_of_the_library(monkeypatch, capsys, error, line):
    def fail(**options):
        raise error

    monkeypatch.setattr(program, "app", fail)
    assert run(monkeypatch) == 2
    assert capsys.readouterr() == ("", line)


def test_other_errors_are_not_hidden(monkeypatch):
    def fail(**options):
        raise ZeroDivisionError

    monkeypatch.setattr(program, "app", fail)
    with pytest.raises(ZeroDivisionError):
        program.main()


def test_warnings_are_one_line(monkeypatch, capsys):
    monkeypatch.setattr(program.warnings, "showwarning", None)
    monkeypatch.setattr(program, "app", lambda **options: warnings.warn("cut", stacklevel=1))
    program.main()
    assert capsys.readouterr() == ("", "warning: cut\n")
