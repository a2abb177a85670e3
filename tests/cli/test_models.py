import os
import re
import subprocess
import sys

import pytest

from kerasnmt import zoo

PROGRAM = [sys.executable, "-c", "from kerasnmt.cli.main import main; main()", "models"]


def run(*arguments):
    return subprocess.run(
        [*PROGRAM, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "40", "CUDA_VISIBLE_DEVICES": ""},
    )


def test_the_list_is_not_cut_where_it_is_piped_and_nothing_else_is_said():
    done = run()
    assert (done.returncode, done.stderr) == (0, "")
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("bahdanau_gru "))
    assert "  8,517,184  " in line
    assert line.endswith(
        'Bahdanau, Cho and Bengio (2015), "Neural machine translation by jointly learning to align '
        'and translate"'
    )
    rows = [line.split(maxsplit=2) for line in done.stdout.split("\n\n")[0].splitlines()[1:]]
    assert [name for name, _, _ in rows] == zoo.list_models()
    parameters = {name: int(count.replace(",", "")) for name, count, _ in rows}
    # K + 1 embeddings of words and ages, a bias, and whether the start is linear.
    assert parameters.pop("memory_network") == 4 * (8_000 + 50) * 50 + 8_000 + 1
    assert all(count > 2e6 for count in parameters.values())
    # A paper and its year, and where the sentence ends.
    assert all(re.search(r"\(20\d\d\), ", paper) and paper[-1] != "." for *_, paper in rows)


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
