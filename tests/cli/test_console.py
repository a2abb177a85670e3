import os
import pty
import sys

from kerasnmt.cli.console import command, print_commands, progress_console


def test_a_console_on_a_terminal_goes_on_while_standard_error_is_hidden(monkeypatch):
    master, slave = pty.openpty()
    with open(slave, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        console = progress_console()
    monkeypatch.undo()
    assert console.is_terminal
    console.print("moves on")
    assert os.read(master, 100).decode().strip() == "moves on"
    os.close(master)


def test_elsewhere_it_is_standard_error(capsys):
    console = progress_console()
    assert not console.is_terminal
    with console.status("not shown"):
        console.print("said")
    assert capsys.readouterr() == ("", "said\n")


def test_commands_are_quoted():
    assert command("kerasnmt", "train", "a b.yaml") == "kerasnmt train 'a b.yaml'"
    assert command("echo", "it's") == """echo 'it'"'"'s'"""


def test_a_program_that_the_shell_does_not_find_is_named_by_its_path(tmp_path, monkeypatch):
    folder, other = tmp_path / "env" / "bin", tmp_path / "other"
    for place in (folder, other):
        place.mkdir(parents=True)
        (place / "kerasnmt").touch(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    for path, program in (
        ("/nowhere", "env/bin/kerasnmt"),
        (other, "env/bin/kerasnmt"),  # one of another environment
        (folder, "kerasnmt"),
    ):
        monkeypatch.setenv("PATH", str(path))
        assert command("kerasnmt", "models") == f"{program} models"
    assert command("absent") == "absent"


def test_commands_stand_in_lines_of_their_own(capsys):
    print_commands("Next:", "one two", "three")
    assert capsys.readouterr() == ("\nNext:\n\n  one two\n  three\n", "")
