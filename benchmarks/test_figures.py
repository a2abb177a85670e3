"""The figures that are measured again: what is there stays, and what is missing is named."""

import json
import subprocess
import sys

import pytest

from benchmarks import figures


@pytest.fixture
def results(tmp_path, monkeypatch):
    """A project of one commit with a package and a script, where figures are measured."""
    (tmp_path / "kerasnmt").mkdir()
    (tmp_path / "kerasnmt/numbers.txt").write_text("1")
    (tmp_path / "sum.py").write_text("print(1 + 2)")
    commit(tmp_path)
    monkeypatch.setattr(figures, "ROOT", tmp_path)
    monkeypatch.setattr(figures, "RESULTS", tmp_path / "figures")
    monkeypatch.setattr(sys, "argv", ["figures.py"])
    return tmp_path / "figures"


def commit(folder):
    names = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "-A"], [*names, "commit", "-qm", "one"]):
        subprocess.run(["git", *words], cwd=folder, check=True)


def test_a_figure_is_measured_once_for_the_same_code(results, monkeypatch, capfd):
    monkeypatch.setattr(figures, "COMMANDS", {"sum": "sum.py"})

    def state():
        assert figures.main() == 0
        return capfd.readouterr().out.splitlines()[-1]

    assert state() == "made: sum"
    assert json.loads((results / "sum.json").read_text())["output"] == ["3"]
    assert state() == "there already: sum"
    (results.parent / "kerasnmt/numbers.txt").write_text("2")
    assert state() == state() == "made: sum"
    commit(results.parent)
    assert [state(), state()] == ["made: sum", "there already: sum"]


def test_a_command_that_fails_or_lacks_its_data_leaves_no_result(results, monkeypatch, capfd):
    commands = {"wrong": "-c 1/0", "far": "sum.py nowhere.tsv"}
    monkeypatch.setattr(figures, "COMMANDS", commands)
    assert figures.main() == 1
    assert not results.exists()
    assert capfd.readouterr().out.splitlines()[1:] == ["failed: wrong", "needs nowhere.tsv: far"]
