import warnings

import keras
import numpy as np
import pandas
import pytest
import tensorflow as tf

from kerasnmt import zoo
from kerasnmt.data import batches
from kerasnmt.models.encoder_decoder import EncoderDecoder
from kerasnmt.text import CharacterTokenizer, WordTokenizer

PAIRS = [("two dogs run", "abc"), ("a man", "c"), ("a dog", "b a"), ("man", "dd"), ("zzz", "e")]
WORDS = ["a", "dog", "dogs", "man", "run", "two"]
SIZES = {"embedding_dim": 6, "units": 5, "dropout": 0.0}
MAKE = {
    "bahdanau_gru": (WordTokenizer(WORDS), CharacterTokenizer("abcde ")),
    "pointer_generator_gru": (WordTokenizer(WORDS),),  # copies, so the ids are extended
}


def make(name="bahdanau_gru"):
    keras.utils.set_random_seed(3)
    model = getattr(zoo, name)(*MAKE[name], **SIZES)
    model.compile(keras.optimizers.SGD(0.5), run_eagerly=True)
    return model


@pytest.fixture(scope="module")
def model():
    """A model that tests must not change."""
    return make()


def columns():
    return tuple(list(side) for side in zip(*PAIRS, strict=True))


FORMS = {
    "pairs": lambda: (PAIRS,),
    "columns": lambda: (columns(),),
    "series": lambda: (tuple(map(pandas.Series, columns())),),
    "frame": lambda: (pandas.DataFrame(PAIRS, columns=["source", "target"]),),
    "array": lambda: (np.array(PAIRS),),
    "dicts": lambda: ([{"source": source, "target": target} for source, target in PAIRS],),
    "dataset": lambda: (tf.data.Dataset.from_tensor_slices(columns()),),
    "sources and targets": columns,
}


@pytest.mark.thorough("trains; `test_forms_of_pairs` checks the arguments of `batches`")
@pytest.mark.parametrize("name", ["bahdanau_gru", "pointer_generator_gru"])
def test_texts_train_as_their_batches_do(name):
    model, other = make(name), make(name)
    # The whole corpus in one batch: its order within an epoch changes nothing.
    data = batches(PAIRS, *MAKE[name], extended_vocabulary=model.copies, batch_size=5)
    expected = other.fit(data, epochs=1, verbose=0, shuffle=False, validation_data=data).history
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*shuffle")
        sizes = {"batch_size": 5, "validation_batch_size": 5}
        found = model.fit(PAIRS, epochs=1, verbose=0, validation_data=PAIRS, **sizes).history
    assert found.keys() == expected.keys() and "val_perplexity" in found
    for key, values in found.items():
        np.testing.assert_allclose(values, expected[key], rtol=1e-5, err_msg=key)
    for one, wanted in zip(model.get_weights(), other.get_weights(), strict=True):
        np.testing.assert_allclose(one, wanted, atol=1e-5)
    evaluated = model.evaluate(*columns(), batch_size=5, verbose=0, return_dict=True)
    assert evaluated["loss"] == pytest.approx(found["val_loss"][-1], rel=1e-5)


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_pairs(form, model, monkeypatch):
    """Check only the arguments of `batches`, whose own tests read each of these forms."""
    fitted, asked = [], []
    monkeypatch.setattr(
        EncoderDecoder, "fit", lambda model, *given, **kw: fitted.append((given, kw))
    )
    monkeypatch.setattr(
        "kerasnmt.hooks.batches",
        lambda pairs, *given, **options: asked.append((pairs, given, options)) or len(asked),
    )
    given = FORMS[form]()
    pairs = validation = given if len(given) == 2 else given[0]
    sizes = {"batch_size": 3, "validation_batch_size": 5}
    model.fit(*given, epochs=2, validation_data=validation, **sizes)
    assert fitted == [((1, None, None), {"epochs": 2, "shuffle": False, "validation_data": 2})]
    expected = [{"batch_size": 3}, {"batch_size": 5, "shuffle": False}]
    for (received, tokenizers, options), wanted in zip(asked, expected, strict=True):
        assert received is pairs or received == pairs
        assert tokenizers == (model.source_tokenizer, model.target_tokenizer)
        assert options == {"extended_vocabulary": False, "sample_weight": None, **wanted}


def test_an_iterator_of_pairs_is_read_at_once(model, monkeypatch):
    read, rows = [], FORMS["dicts"]()[0]
    monkeypatch.setattr(EncoderDecoder, "fit", lambda *given, **options: None)
    monkeypatch.setattr("kerasnmt.hooks.batches", lambda pairs, *_, **options: read.append(pairs))
    for pairs in (iter_of(PAIRS), zip(*columns(), strict=True), iter_of(rows)):
        model.fit(pairs)
    assert read == [PAIRS, PAIRS, rows]


def test_by_default_a_batch_has_a_number_of_tokens(model, monkeypatch):
    asked = []
    monkeypatch.setattr(EncoderDecoder, "fit", lambda *given, **options: None)
    monkeypatch.setattr("kerasnmt.hooks.batches", lambda *given, **options: asked.append(options))
    model.fit(PAIRS)
    assert [options["batch_size"] for options in asked] == [None]


LONG = ("a " * 100, "b")
WEIGHTS = [0.5, 2.0, 0.0, 1.0, 0.25]


def test_pairs_that_are_dropped(model):
    """All dropped pairs are an error, and some are a warning with their number."""
    message = r"^2 of 7 pairs are dropped, because .* more than 99 tokens"
    with pytest.warns(UserWarning, match=message) as caught:
        model.evaluate([LONG, *PAIRS, ("", "c")], verbose=0)
    assert caught[0].filename == __file__  # the user's line
    assert "All pairs were dropped" in refused(model.evaluate, [LONG, ("", "a")])


@pytest.mark.thorough("evaluates further forms of pairs")
def test_pairs_of_other_forms_that_are_dropped(model):
    for pairs in (
        [LONG, ("", "a")],
        iter_of([LONG]),
        tf.data.Dataset.from_tensors(("", "b")).repeat(3).filter(lambda *_: True),
    ):
        message = refused(model.evaluate, pairs)
        assert "Received: an empty dataset. All pairs were dropped" in message
    with pytest.raises(ValueError, match="All pairs were dropped"):
        make().fit(PAIRS, validation_data=[("a", "")])
    with pytest.warns(UserWarning, match="^2 of 7 pairs are dropped"):
        found = model.evaluate([LONG, *PAIRS, ("", "c")], verbose=0)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".*pairs are dropped")
        assert model.evaluate(PAIRS, verbose=0) == pytest.approx(found, rel=1e-5)


def iter_of(pairs):
    yield from pairs


def evaluated(model, **options):
    data = batches(PAIRS, *MAKE["bahdanau_gru"], batch_size=5, shuffle=False, **options)
    return model.evaluate(data, verbose=0)


def test_weights_of_pairs(model):
    found = model.evaluate(*columns(), sample_weight=np.array(WEIGHTS), verbose=0)
    assert found == pytest.approx(evaluated(model, sample_weight=WEIGHTS), rel=1e-5)


@pytest.mark.thorough("trains with further forms of data")
def test_weights_of_pairs_and_the_other_forms_of_data():
    """Weights, generators and `validation_split` give the losses of the same batches."""
    model = make()
    weighted, plain = evaluated(model, sample_weight=WEIGHTS), evaluated(model)
    assert weighted != pytest.approx(plain, rel=1e-3)
    model.optimizer.learning_rate = 0.0
    doubled = {"sample_weight": [1.0] * 5 + WEIGHTS, "validation_split": 0.5, "batch_size": 5}
    weighting = {"validation_data": (*columns(), WEIGHTS)}
    for pairs, options in (([*PAIRS, *PAIRS], doubled), (iter_of(PAIRS), weighting)):
        history = model.fit(pairs, verbose=0, **options).history
        assert history["loss"] == pytest.approx(plain[:1], rel=1e-5)
        assert history["val_loss"] == pytest.approx(weighted[:1], rel=1e-5)


@pytest.mark.thorough("evaluates twice; `fit` with batches is tested everywhere")
def test_a_generator_of_batches_is_one_of_keras(model):
    data = batches(PAIRS, *MAKE["bahdanau_gru"], batch_size=2, shuffle=False)
    found = model.evaluate(iter_of(data), verbose=0)
    assert found == pytest.approx(model.evaluate(data, verbose=0), rel=1e-5)


def test_splits_and_weights_that_cannot_be(model):
    for options, message in (
        ({"validation_split": 1.5}, "Received: validation_split=1.5, and 5 pairs."),
        ({"validation_split": 0.99}, "leaves pairs for both parts"),
        ({"validation_split": 0.4, "sample_weight": [1] * 6}, "Received: 6 weights, 5 pairs."),
        ({"sample_weight": [1] * 4}, "Received: 4 weights, 5 pairs."),
        ({"sample_weight": "11111"}, "Received: sample_weight='11111', one string."),
    ):
        assert message in refused(model.fit, PAIRS, **options)
    endless = tf.data.Dataset.from_tensor_slices(columns()).repeat()
    assert "whose number is known" in refused(model.fit, endless, validation_split=0.5)


def refused(method, *args, **options):
    with pytest.raises(ValueError) as caught:
        method(*args, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_what_cannot_be_is_said_in_one_line(model):
    ids = zoo.bahdanau_gru(9, 9, **SIZES)
    ids.compile("sgd")
    assert "Expected a model with tokenizers for text" in refused(ids.fit, PAIRS)
    context = zoo.context_attention_gru(*MAKE["pointer_generator_gru"], **SIZES)
    context.compile("sgd")
    message = refused(context.fit, PAIRS)
    assert "because this model reads contexts. Received: texts" in message
    assert "kerasnmt.data.batches(pairs, tokenizer, contexts=contexts)" in message
    assert "Received: pairs='two dogs'" in refused(model.fit, "two dogs")
    assert "Received: [], which is empty." in refused(model.fit, [])
    assert "Received: [], which is empty." in refused(model.evaluate, iter_of([]))
    assert "Received: a row 'two dogs'" in refused(model.fit, ["two dogs", "a man", "a dog"])
    for pairs in ([(b"a", b"dog")], np.array([[b"a", b"dog"]])):
        assert "Received: a row (b'a', b'dog')" in refused(model.fit, pairs)
    assert "Received: 2 sources, 1 targets" in refused(model.fit, ["a", "dog"], ["a"])
    assert "kerasnmt.data.batches makes batches" in refused(model.fit, [[4, 5], [6]])


def test_captions_and_stories_name_their_batches():
    captions = zoo.show_attend_tell_lstm(CharacterTokenizer("ab"), image_size=32, **SIZES)
    captions.compile("sgd")
    pairs = [(np.zeros([32, 32, 3], "uint8"), "ab")]
    assert "kerasnmt.data.caption_batches makes" in refused(captions.fit, pairs)
    stories = zoo.memory_network(WordTokenizer(WORDS), embedding_dim=6)
    stories.compile("sgd")
    message = refused(stories.fit, [(["a man"], "a dog", "man")])
    assert "a list. kerasnmt.data.story_batches makes" in message
    assert "Call model.answer, which" in refused(stories.predict, ["a dog"])
    assert "Call model.caption, which" in refused(captions.predict, ["a dog"])


def test_predict_takes_ids_only(model, forms):
    texts = ["two dogs", "a man"]
    for name, form in forms.items():
        if name != "generator":
            assert "Call model.translate, which takes text" in refused(model.predict, form(texts))
    assert "Call model.translate" in refused(model.predict, "two dogs")
    inputs = {"source_ids": np.array([[4, 5, 3]]), "target_ids": np.array([[2, 4]])}
    np.testing.assert_allclose(model.predict(inputs, verbose=0), model(inputs), atol=1e-6)


@pytest.mark.usefixtures("eagerly")
def test_the_end_of_data_of_unknown_length_is_no_warning(model):
    data = batches(PAIRS, model.source_tokenizer, model.target_tokenizer, batch_size=2)
    assert data.cardinality() == tf.data.UNKNOWN_CARDINALITY
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "Even though")
        model.fit(data, epochs=2, shuffle=False, validation_data=data, verbose=0)
        model.evaluate(data, verbose=0)
    with pytest.warns(UserWarning, match="Your input ran out of data"):
        model.fit(data, steps_per_epoch=1000, shuffle=False, verbose=0)
