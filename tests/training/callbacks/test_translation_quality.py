from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from kerasnmt.training import TranslationQuality, translation_scores


@pytest.fixture
def callback():
    callback = TranslationQuality(["Two dogs run."], ["Zwei Hunde laufen."], every=2, batch_size=7)
    calls = []

    def translate(sources, **options):
        calls.append((sources, options))
        return ["Zwei Hunde rennen."]

    callback.set_model(SimpleNamespace(translate=translate))
    callback.calls = calls
    return callback


def test_scores_reach_the_logs(callback):
    logs = {"loss": 1.0}
    callback.on_epoch_end(1, logs)
    expected = translation_scores(["Zwei Hunde rennen."], ["Zwei Hunde laufen."])
    assert 0 < expected["bleu"] < 100
    scores = {f"val_{name}": expected[name] for name in ("bleu", "chrf", "exact")}
    assert logs == {"loss": 1.0, **scores}
    assert callback.calls == [(["Two dogs run."], {"beam_size": 1, "batch_size": 7})]


def test_other_epochs_are_left_out(callback):
    logs = {}
    for epoch in range(5):
        callback.on_epoch_end(epoch, logs)
    assert len(callback.calls) == 2


def test_columns_of_a_table():
    sources, references = pd.Series(["a", "b"]), np.array(["c", "d"])
    callback = TranslationQuality(sources, references)
    callback.set_model(SimpleNamespace(translate=lambda texts, **_: texts))
    callback.on_epoch_end(0, logs := {})
    assert callback.sentences.sources == ["a", "b"] and logs["val_exact"] == 0
    with pytest.raises(ValueError, match=r"Expected a list of texts\. Received: sources='ab'"):
        TranslationQuality("ab", references)


def test_sources_without_references():
    with pytest.raises(ValueError, match="Received: 1 sources and 0 references"):
        TranslationQuality(["Two dogs run."], [])
    with pytest.raises(ValueError, match=r"Expected every to be at least 1\. Received: every=0\."):
        TranslationQuality(["Two dogs run."], ["Zwei Hunde laufen."], every=0)


@pytest.mark.parametrize(
    ("tokenize", "references", "chosen"),
    [(None, ["二只狗在跑。"], "zh"), ("char", ["二只狗在跑。"], "char"), (None, ["Hunde"], "13a")],
)
def test_the_tokenizer_is_chosen_once(tokenize, references, chosen):
    callback = TranslationQuality(["Two dogs run."], references, tokenize=tokenize)
    callback.set_model(SimpleNamespace(translate=lambda *_, **__: references))
    callback.on_epoch_end(0, logs := {})
    assert callback.tokenize == chosen and logs["val_exact"] == 100
    assert logs["val_bleu"] == pytest.approx(100 if "。" in references[0] else 0)


def test_a_tokenizer_that_cannot_be_used_fails_before_training():
    with pytest.raises(ValueError, match="Received: zhh"):
        TranslationQuality(["Two dogs run."], ["二只狗在跑。"], tokenize="zhh")
