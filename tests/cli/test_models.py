import re

import keras
import pytest

from kerasnmt import zoo

LINE = (
    "bahdanau_gru  Bahdanau, Cho and Bengio (2015), "
    '"Neural machine translation by jointly learning to align and translate"'
)


def test_every_model_is_one_line_and_none_is_built(kerasnmt, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(keras.Model, "__init__", None)
    done = kerasnmt("models")
    assert (done.code, done.err) == (0, "")
    (line,) = (line for line in done.lines if line.startswith("bahdanau_gru "))
    assert re.sub("  +", "  ", line) == LINE
    rows = [line.split(maxsplit=1) for line in done.out.split("\n\n")[0].splitlines()[1:]]
    assert [name for name, _ in rows] == zoo.list_models()
    # Each source has a paper and a year, and is one sentence.
    assert all(re.search(r"\(20\d\d\), ", paper) and paper[-1] != "." for _, paper in rows)


def test_one_model(capsys):
    from kerasnmt.cli.models import models

    models("bahdanau_gru")
    output = capsys.readouterr().out
    assert output.startswith("RNNsearch: a bidirectional GRU encoder and a GRU decoder")
    sizes = "\n  units: 256\n  num_layers: 1\n"
    assert f'{sizes}  attention: "global"\n  normalizer: "softmax"\n' in output
    assert '\n  layer_normalization: false\n  tags: "tokens"\n  dropout: 0.2\n' in output
    assert "\n  tie_embeddings: false\n  share_embeddings: false\n" in output
    assert "Args:" not in output
    assert "Total params: 8,517,184" in output


def test_unknown_model():
    from kerasnmt.cli.models import models

    with pytest.raises(
        ValueError, match=r"^unknown model 'bahdanu'; did you mean 'bahdanau_gru'\?$"
    ):
        models("bahdanu")
