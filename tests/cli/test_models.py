import os
import re
import subprocess
import sys

import pytest

from kerasnmt import zoo

PROGRAM = [sys.executable, "-c", "from kerasnmt.cli.main import main; main()", "models"]


LINE = (
    "bahdanau_gru  8,517,184  Bahdanau, Cho and Bengio (2015), "
    '"Neural machine translation by jointly learning to align and translate"'
)


def rows(output):
    """Name, number of parameters and paper of each model that is listed."""
    return [line.split(maxsplit=2) for line in output.split("\n\n")[0].splitlines()[1:]]


def check_papers(papers):
    """A paper and its year, and where the sentence ends."""
    assert all(re.search(r"\(20\d\d\), ", paper) and paper[-1] != "." for paper in papers)


def test_the_list_is_not_cut_where_it_is_piped(kerasnmt, monkeypatch):
    monkeypatch.setattr(zoo, "list_models", lambda: ["bahdanau_gru", "memory_network"])
    monkeypatch.setenv("COLUMNS", "40")
    done = kerasnmt("models")
    assert (done.code, done.err) == (0, "")
    (line,) = (line for line in done.lines if line.startswith("bahdanau_gru "))
    assert re.sub("  +", "  ", line) == LINE
    assert [name for name, _, _ in rows(done.out)] == ["bahdanau_gru", "memory_network"]
    # K + 1 embeddings of words and ages, a bias, and whether the start is linear.
    assert rows(done.out)[1][1] == f"{4 * (8_000 + 50) * 50 + 8_000 + 1:,}"


def test_papers():
    from kerasnmt.cli.models import _paper

    check_papers([_paper(zoo.get_model(name)) for name in zoo.list_models()])


@pytest.mark.thorough("builds every model of the zoo at its full size")
def test_all_models_are_listed_and_nothing_else_is_said():
    done = subprocess.run(
        PROGRAM,
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "40", "CUDA_VISIBLE_DEVICES": ""},
    )
    assert (done.returncode, done.stderr) == (0, "")
    listed = rows(done.stdout)
    assert [name for name, _, _ in listed] == zoo.list_models()
    parameters = {name: int(count.replace(",", "")) for name, count, _ in listed}
    assert parameters.pop("memory_network") < 2e6
    assert all(count > 2e6 for count in parameters.values())
    check_papers([paper for *_, paper in listed])


def test_one_model(capsys):
    from kerasnmt.cli.models import models

    models("bahdanau_gru")
    output = capsys.readouterr().out
    assert output.startswith("RNNsearch: a bidirectional GRU encoder and a GRU decoder")
    assert "\n  units: 256\n  coverage: null\n  dropout: 0.2\n  state_dropout: 0.0\n" in output
    assert "\n  tie_embeddings: false\n  share_embeddings: false\n" in output
    assert "Args:" not in output
    assert "Total params: 8,517,184" in output


def test_unknown_model():
    from kerasnmt.cli.models import models

    with pytest.raises(
        ValueError, match=r"^unknown model 'bahdanu'; did you mean 'bahdanau_gru'\?$"
    ):
        models("bahdanu")
