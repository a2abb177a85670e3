"""Exports with a vocabulary shortlist."""

import numpy as np
import pytest

from kerasnmt import zoo
from kerasnmt.data import builtin_corpus
from kerasnmt.serving import (
    Translator,
    check_export,
    export_ctranslate2,
    load_ctranslate2,
    load_export,
)
from kerasnmt.serving.runtimes.litert.export import export_lite
from kerasnmt.serving.runtimes.onnx.export import export_onnx
from kerasnmt.shortlist import Shortlist
from kerasnmt.tasks.shortlists import vocabulary_digest
from kerasnmt.text import SentencePieceTokenizer
from tests.numerics import fill
from tests.serving.conftest import only_signatures

OPTIONS = {"beam_size": 3, "max_length": 12, "shortlist": True}
TEXTS = ["a dog", "", "two men"]


@pytest.fixture(scope="module")
def model():
    """A Transformer of pieces with a short shortlist, which tests must not change."""
    sentences = [text for pair in builtin_corpus(300) for text in (pair.source, pair.target)]
    sizes = {"units": 8, "num_heads": 2, "hidden_units": 8}
    tokenizer = SentencePieceTokenizer.train(sentences, 150)
    model = zoo.transformer_tiny(tokenizer, encoder_layers=1, decoder_layers=1, **sizes)
    table = np.random.default_rng(3).integers(4, 150, size=(150, 3))
    model.shortlist = Shortlist(table, [10, 20, 30], 150, vocabulary_digest(model))
    return fill(model, 3, scale=0.9)


@pytest.mark.usefixtures("eagerly")
def test_a_saved_model_searches_as_the_model_does(model, tmp_path):
    with only_signatures("serving_default", "with_terms"):
        model.export(str(tmp_path / "1"), **OPTIONS)
    translator = Translator(load_export(tmp_path / "1"))
    expected = model.translate(TEXTS, **OPTIONS)
    assert expected != model.translate(TEXTS, **{**OPTIONS, "shortlist": False})
    assert translator.translate(TEXTS) == expected
    terms = [["a dog"], [], ["men"]]
    found = translator.translate(TEXTS, terms=terms)
    assert found == model.translate(TEXTS, terms=terms, **OPTIONS) != expected
    assert translator.description["shortlist"] is True


def test_the_vocabulary_map_of_ctranslate2(model, tmp_path, served_here):
    pytest.importorskip("ctranslate2")
    options = {**OPTIONS, "beam_size": 1}
    export_ctranslate2(model, tmp_path / "listed", **options)
    lines = (tmp_path / "listed/vmap.txt").read_text("utf-8").splitlines()
    tokens = [one.decode() for one in model.target_tokenizer.tokens(np.arange(150)).numpy()]
    always = [tokens[number] for number in (2, 3, 10, 20, 30)]
    first, *others = lines
    assert first.startswith("\t") and first.split()[2:] == always
    assert len(others) == 150
    row = model.shortlist.table[40]
    assert others[40] == f"{tokens[40]}\t" + " ".join(tokens[number] for number in row)
    listed = Translator(load_ctranslate2(tmp_path / "listed"))
    # CTranslate2 unites the lists of all texts of a batch, as the model does.
    for text in TEXTS:
        assert listed.translate(text) == model.translate(text, **options)
    texts = ["two dogs", "a man reads"]
    assert listed.translate(texts) == model.translate(texts, **options)
    assert listed.translate(texts) != [listed.translate(text) for text in texts]
    for one, text in zip(listed.attention(texts), listed.translate(texts), strict=True):
        written = "".join(one.target_tokens).removesuffix("</s>")
        assert written.replace("\u2581", " ").strip() == text
    report = check_export(tmp_path / "listed")
    assert report.passed, str(report)
    assert "batch_of_one" not in [row.name for row in report.rows]


@pytest.mark.usefixtures("eagerly")
@pytest.mark.parametrize("export", [export_onnx, export_lite])
def test_runtimes_that_cannot(model, export, tmp_path):
    with pytest.raises(ValueError, match="Expected shortlist=False for"):
        export(model, tmp_path / "export", **OPTIONS)
    assert not any(tmp_path.iterdir())
