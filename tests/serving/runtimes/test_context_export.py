"""Models that read a context as SavedModels, from text and context to text."""

import numpy as np
import pytest
import tensorflow as tf

from kerasnmt import zoo
from kerasnmt.data import batches
from kerasnmt.serving import (
    ExportModule,
    Translator,
    check_export,
    export_lite,
    load_export,
    load_lite,
)
from kerasnmt.serving.contract.translation_contract import ContextContract
from kerasnmt.tasks import task_of
from kerasnmt.text import WordTokenizer
from tests.numerics import fill

OPTIONS = {"beam_size": 3, "max_length": 5, "min_length": 3}
WORDS = ["where", "is", "mary", "went", "home", "."]
TEXTS = ["where is mary", "where is Zoë", "", "is", "mary 🙂 mary"]
CONTEXTS = ["mary went home .", "Zoë went far .", "mary went home .", "", "a b c d e f"]

pytestmark = pytest.mark.usefixtures("eagerly")


@pytest.fixture(scope="module")
def model():
    """A tiny model with large random weights, which copies often."""
    model = zoo.context_attention_gru(WordTokenizer(WORDS), embedding_dim=6, units=5, dropout=0.0)
    fill(model, seed=7, scale=1.3)
    model.decoder.gate.projection.bias.assign([-9.0, 3.0, 3.0])
    return model


def test_translations_match_ids(model):
    translations = model.translate(TEXTS, contexts=CONTEXTS, **OPTIONS)
    assert translations[2] == ""
    tokenizer = model.source_tokenizer
    for place in (1, 4):
        text, context, translation = TEXTS[place], CONTEXTS[place], translations[place]
        inputs = {}
        read = tokenizer.tokenize_together([text], [context])
        for name, one in zip(("source_ids", "context_ids"), read, strict=True):
            inputs[name] = np.append(one.ids.numpy()[0], [3])[None]
            inputs[f"extended_{name}"] = np.append(one.extended_ids.numpy()[0], [3])[None]
        found = model.search(inputs, **OPTIONS)
        expected = tokenizer.detokenize(found.ids[:, 0], read[0].unknown_words)
        assert expected.numpy()[0].decode() == translation
    copied = " ".join(translations).split()
    assert set(copied) - {*WORDS, "⁇"}, translations  # from outside the vocabulary
    # One at a time, and with a prefix.
    alone = [
        model.translate([text], contexts=[context], **OPTIONS)[0]
        for text, context in zip(TEXTS[2:4], CONTEXTS[2:4], strict=True)
    ]
    assert alone == translations[2:4]
    forced = model.translate(TEXTS[1:2], contexts=CONTEXTS[1:2], prefixes=["far Zoë"], **OPTIONS)
    assert forced[0].startswith("far Zoë")


@pytest.mark.filterwarnings("ignore:text .* was truncated")
def test_a_source_that_is_cut_numbers_only_what_is_left(model):
    """The truncated words get no extended ids."""
    long = " ".join(f"w{number}" for number in range(130))
    options = {"beam_size": 1, "max_length": 4, "min_length": 3}
    whole, cut = model.translate([long, "w0 w1 w2"], contexts=["k1", "k1"], **options)
    assert whole == cut
    texts, contexts = ["w0 w1 w2 w3 w4 w5", "is " * 4], ["k1 w4 k2", "mary went home . " * 4]
    together = model.translate(texts, contexts=contexts, **options)
    for text, context, translation in zip(texts, contexts, together, strict=True):
        assert model.translate([text], contexts=[context], **options) == [translation]


def test_scores_match_batches(model):
    targets = ["home", "far Zoë", "mary", "is is", "f unheard"]
    kept = [0, 1, 3, 4]  # no empty source
    scores = model.score(TEXTS, targets, contexts=CONTEXTS)
    pairs = [(TEXTS[place], targets[place]) for place in kept]
    data = batches(
        pairs,
        model.source_tokenizer,
        contexts=[CONTEXTS[place] for place in kept],
        extended_vocabulary=True,
        shuffle=False,
    )
    found = []
    for inputs, batch_targets, weights in data:
        found += (
            (model.token_log_probability(inputs, batch_targets) * weights).numpy().sum(1).tolist()
        )
    np.testing.assert_allclose(found, [scores[place] for place in kept], atol=1e-4)
    links = model.align(TEXTS, targets, contexts=CONTEXTS)
    assert [max(target for _, target in of) for of in links if of] == [0, 1, 1, 1]


def test_contexts_are_asked_for(model):
    with pytest.raises(ValueError, match=r"Expected a context for each text.*contexts=None"):
        model.translate(TEXTS)
    with pytest.raises(ValueError, match=r"Expected as many contexts as texts.*1 contexts"):
        model.translate(TEXTS, contexts=CONTEXTS[:1])
    with pytest.raises(ValueError, match=r"Expected a context for each text"):
        model.score(TEXTS, TEXTS)
    with pytest.raises(ValueError, match=r"Expected as many contexts as sources"):
        model.score(TEXTS, TEXTS, contexts=CONTEXTS[:1])


def test_the_signatures_are_as_promised(model):
    module = ExportModule(model, **OPTIONS)
    translator = Translator(module)
    (best,) = translator.translate(TEXTS[:1], contexts=CONTEXTS[:1])
    assert translator.n_best(TEXTS[:1], contexts=CONTEXTS[:1])[0][0][0] == best
    attention = module.signatures["attention"](tf.constant(TEXTS), tf.constant(CONTEXTS))
    contract = ContextContract()
    assert not contract.attention_problems({k: v.numpy() for k, v in attention.items()})
    tokens = attention["context_tokens"].numpy()
    assert [one.decode() for one in tokens[1] if one] == ["Zoë", "went", "far", ".", "</s>"]


def test_the_contract_finds_what_is_wrong():
    good = {
        "source_tokens": np.array([[b"a", b"</s>"]], object),
        "context_tokens": np.array([[b"b", b"</s>", b""]], object),
        "target_tokens": np.array([[b"b", b"</s>"]], object),
        "weights": np.full((1, 2, 2), 0.5),
        "context_weights": np.array([[[0.7, 0.3, 0.0], [0.5, 0.5, 0.0]]]),
        "generate_probability": np.array([[0.1, 0.9]]),
        "context_probability": np.array([[0.8, 0.05]]),
    }
    contract = ContextContract()
    assert contract.attention_problems(good) == []
    for name, value, problem in (
        ("context_weights", [[[0.7, 0.2, 0.1]] * 2], "context: weights of padding"),
        ("context_weights", [[[0.7, 0.7, 0.0]] * 2], "context: weights of a target token"),
        ("weights", [[[0.9, 0.9]] * 2], "weights of a target token sum to 1.8"),
        ("context_probability", [[0.8, 0.2]], "context_probability has 0.2000, expected 0 to 1"),
    ):
        (found,) = contract.attention_problems({**good, name: np.array(value)})
        assert found.startswith(problem), found


def test_a_long_context_is_cut(model):
    read = task_of(model, **OPTIONS).exported["serving_default"].read
    text, long = tf.constant(["where is mary"]), "home went mary " * 333
    (whole, _), (cut, _) = (
        read(text, tf.constant([context])) for context in (long, long + "mary is home")
    )
    assert whole["inputs"]["context_ids"].shape == (1, 1000)
    np.testing.assert_array_equal(whole["inputs"]["context_ids"], cut["inputs"]["context_ids"])


@pytest.mark.thorough("takes half a minute, as the odd inputs are long contexts too")
def test_an_export_translates_and_passes_its_check(model, tmp_path):
    model.export(str(tmp_path / "1"), **OPTIONS)
    translations = model.translate(TEXTS, contexts=CONTEXTS, **OPTIONS)
    assert Translator(load_export(tmp_path)).translate(TEXTS, contexts=CONTEXTS) == translations
    report = check_export(tmp_path)
    assert report.passed, report


@pytest.mark.thorough("converts a model, like test_litert.py")
def test_lite_translates_as_the_model(model, tmp_path):
    translator = Translator(load_lite(export_lite(model, tmp_path / "lite", **OPTIONS)))
    expected = Translator(task_of(model, **OPTIONS)).best(TEXTS, contexts=CONTEXTS)
    found = translator.best(TEXTS, contexts=CONTEXTS)
    assert [text for text, _ in found] == [text for text, _ in expected]
    np.testing.assert_allclose(
        [score for _, score in found], [score for _, score in expected], atol=1e-4
    )
    with pytest.raises(ValueError, match="Expected a context for each text"):
        translator.translate(TEXTS)
