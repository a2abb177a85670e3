import json
import re
import subprocess
import sys
import warnings
from dataclasses import fields

import pytest
import typer

from kerasnmt.cli import main as program
from kerasnmt.decoding import SearchOptions, TranslationOptions
from kerasnmt.version import __version__

COMMANDS = [
    *("demo", "models", "presets", "init", "train", "launch", "translate", "translate-files"),
    *(
        "distill",
        "evaluate",
        "compare",
        "score",
        "shortlist",
        "export",
        "check",
        "serve",
        "server-config",
        "attention",
        "align",
    ),
]


def run(monkeypatch, *arguments):
    """Run the program in this process, and return the exit code."""
    monkeypatch.setattr(sys, "argv", ["kerasnmt", *arguments])
    with pytest.raises(SystemExit) as caught:
        program.main()
    return caught.value.code


def test_version(monkeypatch, capsys):
    assert run(monkeypatch, "--version") == 0
    assert capsys.readouterr() == (f"kerasnmt {__version__}\n", "")


def test_help_and_lists_import_no_tensorflow_and_no_module_that_windows_lacks():
    script = (
        "import sys; sys.modules |= dict.fromkeys(['fcntl', 'resource', 'termios'])\n"
        "from kerasnmt.cli.main import main, app\n"
        "verbs = [one.callback.__name__.replace('_', '-') for one in app.registered_commands]\n"
        "help = [['--help'], *([verb, '--help'] for verb in verbs)]\n"
        "for arguments in (*help, ['models'], ['presets']):\n"
        "    sys.argv = ['kerasnmt', *arguments]\n"
        "    try: main()\n"
        "    except SystemExit as end: assert not end.code, arguments\n"
        "    assert not {'tensorflow', 'keras', 'matplotlib'} & sys.modules.keys(), arguments\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    after = lines[lines.index("Commands:") + 1 :]
    assert [line.split()[0] for line in after[: len(COMMANDS)]] == COMMANDS
    _, *usages = [line.split()[2] for line in lines if line.startswith("Usage: kerasnmt ")]
    assert usages == COMMANDS and after[len(COMMANDS)].startswith("Usage: ")
    for listed in ("bahdanau_gru ", "tatoeba_en_fr_gru "):
        assert any(line.startswith(listed) for line in lines)


@pytest.mark.parametrize("verb", ["translate", "evaluate", "export"])
def test_help_lists_the_search_options(monkeypatch, capsys, verb):
    assert run(monkeypatch, verb, "--help") == 0
    text, _ = capsys.readouterr()
    keys = re.findall(r"^    (\w+)=(\S+) +\S", text, re.M)
    assert dict(keys) == {
        option.name: json.dumps(option.default).strip('"') for option in fields(TranslationOptions)
    }
    words = " ".join(text.split())
    for option in fields(SearchOptions):
        assert option.metadata["description"] in words


def test_without_arguments_the_help_is_shown(monkeypatch, capsys):
    assert run(monkeypatch, "--help") == 0
    text, _ = capsys.readouterr()
    assert text.startswith("Usage: kerasnmt [OPTIONS] COMMAND [ARGS]...\n\n  Attention-based ")
    assert run(monkeypatch) == 2
    assert capsys.readouterr() == ("", text)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["trian"], "No such command 'trian'. Did you mean 'train'?"),
        (["--verbose"], "No such option: --verbose (Possible options: --version)"),
        (["models", "--verbose"], "No such option: --verbose"),
        (["models", "a", "b"], "Got unexpected extra argument(s) (b)"),
        (["train", "recipe.yaml"], "Missing option '--output'."),
        (["export", "run"], "Missing argument 'DIR'."),
        (["evaluate"], "Missing argument 'MODEL'."),
        (["train", "recipe.yaml", "--resume=1"], "Option '--resume' does not take a value."),
    ],
)
def test_bad_usage(monkeypatch, capsys, arguments, message):
    assert run(monkeypatch, *arguments) == 2
    assert capsys.readouterr() == ("", f"error: {message}\n")


def test_a_value_out_of_range(monkeypatch, capsys):
    assert run(monkeypatch, "translate", "run", "--beam-size", "0") == 2
    text, error = capsys.readouterr()
    assert text == ""
    assert error.removeprefix("error: Invalid value for '--beam-size': ") in (
        "Input should be greater than or equal to 1\n",
        "0 is not in the range x>=1.\n",  # typer before 0.29
    )


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [(KeyboardInterrupt, 130, ""), (typer.Abort, 1, "Aborted!\n"), (typer.Exit(3), 3, "")],
)
def test_ends_that_are_no_errors(monkeypatch, capsys, error, code, line):
    def end():
        raise error

    (models,) = (c for c in program.app.registered_commands if c.callback.__name__ == "models")
    monkeypatch.setattr(models, "callback", end)
    monkeypatch.setattr(models, "name", "models")
    assert run(monkeypatch, "models") == code
    assert capsys.readouterr() == ("", line)


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
    monkeypatch.setattr(warnings, "showwarning", None)
    monkeypatch.setattr(program, "app", lambda **options: warnings.warn("cut", stacklevel=1))
    assert run(monkeypatch) == 0
    assert capsys.readouterr() == ("", "warning: cut\n")
