"""The figures that are made again: what is there stays, and what is missing is named."""

import json
import sys

import pytest

from benchmarks import figures


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setattr(figures, "RESULTS", tmp_path)
    monkeypatch.setattr(sys, "argv", ["figures.py"])
    return tmp_path


def test_a_figure_is_made_once_for_the_same_code(results, monkeypatch, capfd):
    monkeypatch.setattr(figures, "COMMANDS", {"sum": "-c 'print(1 + 2)'"})
    assert figures.main() == 0
    assert json.loads((results / "sum.json").read_text())["output"] == ["3"]
    assert capfd.readouterr().out.splitlines()[-1] == "made: sum"
    assert figures.main() == 0
    assert capfd.readouterr().out == "there already: sum\n"
    monkeypatch.setattr(figures, "tree", lambda path: "changed")
    figures.main()
    assert capfd.readouterr().out.splitlines()[-1] == "made: sum"


def test_a_command_that_fails_or_lacks_its_data_leaves_no_result(results, monkeypatch, capfd):
    commands = {"wrong": "-c 1/0", "far": "benchmarks/terms.py nowhere.tsv"}
    monkeypatch.setattr(figures, "COMMANDS", commands)
    assert figures.main() == 1
    assert not list(results.iterdir())
    assert capfd.readouterr().out.splitlines()[1:] == ["failed: wrong", "needs nowhere.tsv: far"]
