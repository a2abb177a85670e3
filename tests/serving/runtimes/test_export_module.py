from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.serving import ExportModule
from kerasnmt.tasks import TranslationTask
from tests.conftest import SENTENCES
from tests.conftest import SERVED_OPTIONS as OPTIONS
from tests.serving.conftest import description_of

# Exports run the traced functions; see `test_saved_model.py`.
pytestmark = pytest.mark.usefixtures("eagerly")


@pytest.fixture(scope="module")
def answers(word_module):
    """The outputs of each signature for the sentences."""
    tf.config.run_functions_eagerly(True)
    found = {
        name: run(word_module, name, SENTENCES)
        for name in word_module.signatures
        if name != "with_terms"
    }
    tf.config.run_functions_eagerly(False)
    return found


def run(module, signature, texts):
    outputs = module.signatures[signature](tf.constant(texts, tf.string, shape=[len(texts)]))
    return {name: value.numpy() for name, value in outputs.items()}


def test_signatures_agree_with_the_search_of_the_model(answers, word_model, sentences):
    words = word_model.source_tokenizer
    best, ranking = answers["serving_default"], answers["n_best"]
    assert best["translation"].shape == best["score"].shape == (7,)
    assert ranking["translations"].shape == ranking["scores"].shape == (7, 3)
    # Each sentence alone, with the model and its tokenizers.
    for row, sentence in enumerate(sentences):
        ids = words.tokenize([sentence]).to_list()[0]
        if not ids:
            continue
        found = word_model.search(np.array([[*ids, 3]], "int32"), n_best=3, **OPTIONS)
        texts = word_model.target_tokenizer.detokenize(found.ids[0]).numpy().tolist()
        assert ranking["translations"][row].tolist() == texts
        np.testing.assert_allclose(ranking["scores"][row], found.scores[0], atol=1e-4)
        assert best["translation"][row] == texts[0]
        np.testing.assert_allclose(best["score"][row], found.scores[0, 0], atol=1e-4)
    assert len({*best["translation"].tolist()}) > 3  # not one answer for all


def test_empty_texts(word_module, answers):
    empty = [3, 5]
    best, ranking, attention = (
        answers[name] for name in ("serving_default", "n_best", "attention")
    )
    assert best["translation"][empty].tolist() == [b"", b""]
    assert best["score"][empty].tolist() == [0.0, 0.0]
    assert ranking["translations"][empty].tolist() == [[b"", b"", b""]] * 2
    np.testing.assert_array_equal(ranking["scores"][empty], np.float32([[0, -1e9, -1e9]] * 2))
    attention = answers["attention"]
    assert not attention["weights"][empty].any()
    assert (attention["target_tokens"][empty] == b"").all()
    alone = run(word_module, "attention", [""])
    assert alone["target_tokens"].shape == (1, 0)
    assert alone["weights"].shape[:2] == (1, 0)


def test_attention(answers):
    source, target, weights = (
        answers["attention"][name] for name in ("source_tokens", "target_tokens", "weights")
    )
    assert weights.shape == (7, target.shape[1], source.shape[1])
    assert source[0].tolist() == [b"two", b"dogs", b"run", b".", b"</s>", *[b""] * 4]
    assert source[6].tolist() == [b"<unk>", b"</s>", *[b""] * 7]
    real = target != b""
    np.testing.assert_allclose(weights.sum(-1), real, atol=1e-5)
    assert np.all(weights[np.broadcast_to((source == b"")[:, None], weights.shape)] == 0)
    best = answers["serving_default"]["translation"]
    for row in (0, 1, 2, 4, 6):
        written = b"".join(t for t in target[row] if t not in (b"", b"</s>"))
        assert written.replace("▁".encode(), b" ").replace(b"<unk>", "⁇".encode()) == best[row]


def test_no_text_at_all(word_module):
    assert run(word_module, "serving_default", [])["translation"].shape == (0,)
    assert run(word_module, "n_best", [])["scores"].shape == (0, 3)
    assert run(word_module, "attention", [])["weights"].shape[0] == 0


def test_any_bytes(word_module):
    texts = [b"\xff\xfe", b"two \xc3 dogs", b"\x00", "naïve 🙂".encode(), b"dog"]
    found = run(word_module, "serving_default", texts)
    assert np.isfinite(found["score"]).all()
    for translation in found["translation"]:
        translation.decode("utf-8")  # valid, whatever came in
    assert (
        found["translation"][4] == run(word_module, "serving_default", [b"dog"])["translation"][0]
    )


def test_long_texts_are_cut(word_module):
    # Eleven words and the end token are twelve tokens.
    long = ["dog " * 11, "dog " * 11 + "man reads", "dog " * 10]
    assert word_module.source_lengths(tf.constant(long)).numpy().tolist() == [12, 14, 11]
    found = run(word_module, "serving_default", long)
    assert found["translation"][0] == found["translation"][1]
    # Equal except for rounding, because rows of a batch can be summed in another order.
    assert found["score"][0] == pytest.approx(found["score"][1], abs=1e-5)
    tokens = run(word_module, "attention", long)["source_tokens"]
    assert tokens[1].tolist() == [b"dog"] * 11 + [b"</s>"]
    assert tokens[2].tolist() == [b"dog"] * 10 + [b"</s>", b""]


def test_greedy(word_model, sentences):
    module = ExportModule(word_model, beam_size=1, max_length=12)
    best, ranking = (run(module, name, sentences) for name in ("serving_default", "n_best"))
    assert ranking["translations"].shape == (7, 1)
    np.testing.assert_array_equal(ranking["translations"][:, 0], best["translation"])
    np.testing.assert_allclose(ranking["scores"][:, 0], best["score"], atol=1e-5)


def test_fewer_hypotheses_than_places(word_model):
    # Ten ids, of which padding and start are never taken: the end at once, or one of seven and then
    # one of eight. Of sixty places three stay empty.
    module = ExportModule(word_model, beam_size=60, max_length=2)
    ranking = run(module, "n_best", ["dog"])
    assert np.isfinite(ranking["scores"]).all()
    assert (np.diff(ranking["scores"][0]) <= 0).all()
    absent = ranking["scores"][0] == np.float32(-1e9)
    assert absent.tolist() == [False] * 57 + [True] * 3
    assert ranking["translations"][0][absent].tolist() == [b""] * 3
    # One of the others is empty, because it ended immediately.
    assert (ranking["translations"][0][~absent] == b"").sum() == 1


def test_description(word_module):
    assert word_module.description == description_of(
        "bahdanau_gru", "words", "characters", **OPTIONS
    )


def test_a_ranking_has_no_text_twice(word_model):
    class Twice:
        """Tokenizer that writes the tokens of a and b in the same way."""

        kind, vocabulary_size = "characters", 10

        def detokenize(self, ids, unknown_words=None):
            return tf.strings.reduce_join(tf.gather(LETTERS, ids), axis=1)

        def tokens(self, ids, unknown_words=None):
            return tf.gather(LETTERS, ids)

    letters = ["", "?", "", "", "a", "a", "c", "d", "e", "f"]
    LETTERS = tf.constant(letters)  # noqa: N806
    model = SimpleNamespace(
        name="twice",
        source_tokenizer=word_model.source_tokenizer,
        target_tokenizer=Twice(),
        weights=word_model.weights,
        search=word_model.search,
        copies=False,
        has_attention=True,
        reads_context=False,
        calibration=None,
    )
    module = TranslationTask(model, beam_size=40, max_length=3, length_penalty=0.0)
    ranking = run(module, "n_best", ["dog", "two dogs"])
    for row, source in enumerate(["dog", "two dogs"]):
        ids = word_model.source_tokenizer.tokenize([source]).to_list()[0]
        found = word_model.search(
            np.array([[*ids, 3]], "int32"),
            beam_size=40,
            n_best=40,
            max_length=3,
            length_penalty=0.0,
        )
        best = {}
        for hypothesis, score in zip(found.ids[0].numpy(), found.scores[0].numpy(), strict=True):
            best.setdefault("".join(letters[i] for i in hypothesis).encode(), score)
        translations = ranking["translations"][row].tolist()
        assert len(best) < 40
        assert translations == [*best, *[b""] * (40 - len(best))]
        np.testing.assert_allclose(ranking["scores"][row, : len(best)], [*best.values()], atol=1e-4)
        assert np.all(ranking["scores"][row, len(best) :] == np.float32(-1e9))


def test_forced_prefix(answers, word_model, sentences):
    prefixes = ["", "ab", "c", "e", "d d", "", "a"]
    forced_prefix = TranslationTask(word_model, **OPTIONS).signatures["forced_prefix"]
    found = forced_prefix(tf.constant(prefixes), tf.constant(sentences))
    free = answers["serving_default"]
    for row, prefix in enumerate(prefixes):
        translation = found["translation"][row].numpy()
        if row in (3, 5):  # of nothing nothing becomes
            assert (translation, found["score"][row].numpy()) == (b"", 0.0)
        else:
            assert translation.startswith(prefix.encode())
        if not prefix:
            assert translation == free["translation"][row]
    assert found["translation"][1] != free["translation"][1]
    # With the beginning of the free translation as prefix, the result is the free translation.
    begun = [text[:2] for text in free["translation"].tolist()]
    again = forced_prefix(tf.constant(begun), tf.constant(sentences))
    same = again["translation"].numpy() == free["translation"]
    assert same.sum() >= 6
    np.testing.assert_allclose(again["score"][same], free["score"][same], atol=1e-4)


def test_a_prefix_may_be_copied(make_pointer_model):
    model = make_pointer_model()
    texts, prefixes = ["Zoë reads two Bücher", "Jan runs ."], ["Bücher Zoë", "dog Jan"]
    options = {"beam_size": 3, "max_length": 9}
    translations = model.translate(texts, prefixes=prefixes, **options)
    for translation, prefix in zip(translations, prefixes, strict=True):
        assert translation.split()[:2] == prefix.split()
    alone = [model.translate([t], prefixes=[p], **options)[0] for t, p in zip(texts, prefixes)]  # noqa: B905
    assert alone == translations
    # Only the words of a truncated source that remain can be copied.
    cut = {"beam_size": 1, "max_length": 4}
    cut = model.translate(["Zoë reads two Bücher"], prefixes=["Bücher Zoë"], **cut)
    assert cut[0].split()[:2] == ["⁇", "Zoë"]
    with pytest.raises(ValueError, match="Expected as many prefixes as texts"):
        model.translate(texts, prefixes=["dog"])


@pytest.mark.parametrize(
    "wrong", [{"beam_size": 0}, {"length_penalty": -0.1}, {"max_length": 1}], ids=str
)
def test_options_out_of_range(word_model, wrong):
    ((name, value),) = wrong.items()
    with pytest.raises(ValueError, match=f"Expected {name} .*{name}={value}"):
        ExportModule(word_model, **wrong)


def test_model_without_tokenizers():
    from kerasnmt.zoo import bahdanau_gru

    with pytest.raises(ValueError, match="Expected a model with tokenizers"):
        ExportModule(bahdanau_gru(9, embedding_dim=4, units=3))
