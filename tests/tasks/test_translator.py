import functools
import re
import threading
import time
import warnings

import numpy as np
import pytest
import tensorflow as tf

from kerasnmt import zoo
from kerasnmt.serving import ExportModule, Translator
from kerasnmt.tasks import ServedModel, Task, TranslationTask, task_of
from kerasnmt.tasks.translator import _most_tokens
from kerasnmt.text import CharacterTokenizer, SentencePieceTokenizer


@pytest.fixture
def translator(word_module):
    return Translator(word_module)


def test_order_and_count(translator, sentences):
    alone = [translator.translate([sentence])[0] for sentence in sentences]
    assert alone[3] == alone[5] == ""
    assert all(isinstance(translation, str) for translation in alone)
    assert len(set(alone)) > 3
    for batch_size in (1, 2, 64):
        assert translator.translate(sentences, batch_size=batch_size) == alone
    assert translator.translate(sentences[::-1], batch_size=3) == alone[::-1]
    assert translator.translate(tuple(sentences)) == alone
    assert translator.translate([]) == []


def test_best_and_n_best(translator, sentences):
    best = translator.best(sentences, batch_size=2)
    ranking = translator.n_best(sentences, batch_size=2)
    assert [text for text, _ in best] == translator.translate(sentences)
    assert best[3] == ("", 0.0)
    assert ranking[3] == [("", 0.0)]  # what is absent is left out
    for one, several in zip(best, ranking, strict=True):
        assert several[0][0] == one[0]
        assert several[0][1] == pytest.approx(one[1], abs=1e-5)
        scores = [score for _, score in several]
        assert scores == sorted(scores, reverse=True)
    assert len(ranking[0]) == 3


def test_attention(translator, sentences):
    found = translator.attention(sentences, batch_size=3)
    assert [len(one.source_tokens) for one in found] == [5, 5, 2, 1, 9, 1, 2]
    for one, sentence in zip(found, sentences, strict=True):
        assert one.weights.shape == (len(one.target_tokens), len(one.source_tokens))
        np.testing.assert_allclose(one.weights.sum(-1), 1, atol=1e-5)
        assert one.source_tokens[-1] == "</s>"
        known = [word if word != "cat" else "<unk>" for word in sentence.split()]
        assert one.source_tokens[:-1] == known
    assert found[3].target_tokens == []


def test_attention_needs_a_model_with_attention_and_known_options(word_model):
    from kerasnmt.text import WordTokenizer
    from kerasnmt.zoo import encoder_decoder_gru

    plain = encoder_decoder_gru(WordTokenizer(["a", "dog"]), embedding_dim=6, units=5)
    with pytest.raises(ValueError, match=r"model with attention\. Received: encoder_decoder_gru"):
        plain.attention("a dog")
    with pytest.raises(ValueError, match="beam_sise"):
        word_model.attention("a dog", beam_sise=3)


@pytest.mark.usefixtures("eagerly")
def test_attention_to_a_context(context_model):
    options = {"max_length": 5, "beam_size": 1}
    contexts = ["a man reads .", ""]
    many = context_model.attention(["two dogs", "dog"], contexts=contexts, **options)
    one = context_model.attention("two dogs", contexts="a man reads .", **options)
    assert one.context_tokens == many[0].context_tokens == ["a", "man", "reads", ".", "</s>"]
    assert many[1].context_tokens == ["</s>"]
    assert one.context_weights.shape == (len(one.target_tokens), 5)
    np.testing.assert_allclose(one.context_weights, many[0].context_weights, atol=1e-6)
    np.testing.assert_allclose(one.context_weights.sum(-1), 1, atol=1e-5)
    with pytest.raises(ValueError, match="a context for each text"):
        context_model.attention("two dogs", **options)


def test_long_texts_are_cut_with_a_warning(translator):
    texts = ["dog", "dog " * 20, "dog " * 11, "man " * 13]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        answers = translator.best(texts, first_number=101)
    assert [str(warning.message) for warning in caught] == [
        "texts 102, 104 have up to 21 tokens and were truncated to 12, the max_length of this "
        "search",
    ]
    assert answers[1] == pytest.approx(answers[2])
    with pytest.warns(UserWarning, match="text 1 has 21 tokens"):
        translator.n_best(["dog " * 20])


class TestLowScores:
    def test_one_warning_names_all_of_them(self, word_module, sentences):
        scores = [score for _, score in Translator(word_module).best(sentences)]
        one, other = sorted(np.argsort(scores)[:2] + 11)
        for below, named in (
            (1, f"text {int(np.argmin(scores)) + 11} scores"),
            (2, f"texts {one}, {other} score"),
        ):
            low = float(np.sort(scores)[below])
            with pytest.warns(UserWarning) as caught:
                Translator(word_module, low).best(sentences, first_number=11)
            assert [str(warning.message) for warning in caught] == [
                f"{named} lower than nearly all texts of the model's test data; such translations "
                "may be wrong"
            ]
        with pytest.warns(UserWarning, match=r"^texts 1, 2, .*, 20 and 5 more score lower than"):
            Translator(word_module, 1.0).best(sentences[:1] * 25)

    @pytest.mark.usefixtures("eagerly")
    @pytest.mark.thorough("tests/data splits sentences; the other test warns")
    def test_the_score_of_a_text_covers_its_sentences(self, word_model):
        texts = ["man dog. Two dogs! A man"]
        task = TranslationTask(word_model, max_length=12, split_sentences=True)
        ((_, score),) = Translator(task).best(texts)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            Translator(task, score / 3 - 0.001).best(texts)
        with pytest.warns(UserWarning, match="text 1 scores lower than .* test data; such"):
            Translator(task, score / 3 + 0.001).best(texts)
        with pytest.warns(
            UserWarning, match="^text 2 has several sentences, which are read as one$"
        ):
            Translator(task).n_best(["A man.", *texts])

    def test_no_warning_without_a_number(self, word_module):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            Translator(word_module, 1.0).ask({"text": ["a dog"]}, first_number=None)


def test_several_models_count_tokens_without_a_warning_of_tensorflow(word_model, monkeypatch):
    said = []
    monkeypatch.setattr(tf.get_logger(), "warning", lambda *words: said.append(words))
    for _ in range(6):
        task = TranslationTask(word_model)
        assert task.source_lengths(tf.constant(["a b"])).numpy().tolist() == [3]
    assert said == []


@pytest.mark.usefixtures("eagerly")
def test_characters_that_become_many_pieces_are_warned_of_too(make_translator_model):
    # One character that SentencePiece writes as eighteen.
    from kerasnmt.text import SentencePieceTokenizer

    corpus = ["صلى الله عليه وسلم", "dog man", "a b c"] * 20
    tokenizer = SentencePieceTokenizer.train(corpus, vocabulary_size=23)
    translator = Translator(
        ExportModule(make_translator_model(source=tokenizer), beam_size=1, max_length=8)
    )
    with pytest.warns(UserWarning, match=r"text 1 has \d+ tokens and was truncated to 8"):
        translator.translate(["\ufdfa"])


class Asked(ServedModel):
    """Model that stores its requests, and answers each row with one word."""

    description = {"source_kind": "words", "target_kind": "words"}  # noqa: RUF012
    fields = ("text", "context")

    def __init__(self):
        self.requests = []
        word, none = np.array([b"x"], object), np.zeros(1)
        row = {"target_tokens": word, "source_tokens": word, "weights": np.ones([1, 1])}
        of_row = {
            "serving_default": {"translation": b"x", "score": 0.0},
            "forced_prefix": {"translation": b"x", "score": 0.0},
            "n_best": {"translations": word, "scores": none},
            "attention": row,
            "forced_attention": row,
            "score": {"score": 0.0},
        }
        self.signatures = {
            name: functools.partial(self._answer, one) for name, one in of_row.items()
        }

    def _answer(self, of_row, **columns):
        self.requests.append(columns)
        return {name: np.stack([value] * 2) for name, value in of_row.items()}


def test_texts_may_be_in_whatever_holds_them(forms):
    """The model gets lists of `str` for any container of texts."""
    asked = Asked()
    translator = Translator(asked)
    texts, contexts, others = ["a", "dogs é"], ["c d", "🙂 c d"], ["", "b"]
    request = {"text": texts, "context": contexts}
    for name, form in forms.items():
        translator.translate(form(texts), contexts=form(contexts), prefixes=form(others))
        for verb in (
            translator.translate,
            translator.best,
            translator.n_best,
            translator.attention,
        ):
            verb(form(texts), contexts=form(contexts))
        for verb in (translator.score, translator.align, translator.forced_attention):
            verb(form(texts), form(others), contexts=form(contexts))
        translator.ask({"text": form(texts), "context": form(contexts)})
        expected = [{**request, "prefix": others}] + [request] * 4
        expected += [{**request, "target": others}] * 3 + [request]
        assert asked.requests == expected, name
        assert {type(one) for column in asked.requests[0].values() for one in column} == {str}
        asked.requests.clear()


@pytest.fixture(scope="module")
def unasked_model(make_translator_model):
    """A model whose translators have no traced graph."""
    return make_translator_model()


@pytest.fixture(scope="module")
def context_model(make_pointer_model):
    return make_pointer_model("context_attention_gru")


# Each verb, with the name of the argument in the error. The other arguments are as they should be.
VERBS = {
    "translate": (lambda model, values: model.translate(values), "texts"),
    "n_best": (lambda model, values: model.n_best(values), "texts"),
    "prefixes": (lambda model, values: model.translate(["dog"], prefixes=values), "prefixes"),
    "score": (lambda model, values: model.score(values, ["a"]), "sources"),
    "targets": (lambda model, values: model.score(["dog"], values), "targets"),
    "align": (lambda model, values: model.align(["dog"], values), "targets"),
    "attention": (lambda model, values: model.attention(values), "texts"),
}


@pytest.fixture
def no_graph(monkeypatch):
    """Raise an error if a graph is made."""

    def function(task, name):
        raise AssertionError(f"the graph of {name} is asked for")

    monkeypatch.setattr(Task, "function", function)


@pytest.mark.usefixtures("no_graph")
def test_no_texts_need_no_graph(unasked_model):
    assert unasked_model.translate([]) == []
    with pytest.raises(AssertionError, match="is asked for"):
        unasked_model.translate(["a dog"])


@pytest.mark.usefixtures("no_graph")
@pytest.mark.parametrize("verb", VERBS)
def test_what_holds_no_texts_is_refused_before_a_graph_is_made(unasked_model, no_texts, verb):
    ask, name = VERBS[verb]
    values, message = no_texts
    is_text = isinstance(values, str | np.ndarray) and np.ndim(values) == 0
    one_text = verb in ("translate", "n_best", "attention") and is_text
    no_prefixes = verb == "prefixes" and values is None
    if one_text or no_prefixes:
        with pytest.raises(AssertionError, match="is asked for"):
            ask(unasked_model, values)
        return
    message = f"list of texts. Received: {name}{message}"
    if verb == "score" and is_text:
        message = "one string of targets, because sources is one string. Received: targets of type"
    with pytest.raises(ValueError, match=re.escape(message)):
        ask(unasked_model, values)


def test_contexts_that_hold_no_texts(context_model, no_texts):
    values, message = no_texts
    wanted = "a context for each text" if values is None else f"Received: contexts{message}"
    with pytest.raises(ValueError, match=re.escape(wanted)):
        context_model.translate(["dog"], contexts=values)


def test_batch_size_is_positive(translator):
    with pytest.raises(ValueError, match="Received: batch_size=0"):
        translator.translate(["dog"], batch_size=0)


def test_functions_that_a_model_does_not_have():
    class Plain(ServedModel):
        signatures = {}  # noqa: RUF012
        description = {"max_length": 9}  # noqa: RUF012
        fields = ("text",)

    with pytest.raises(ValueError, match="one without the signature 'attention'"):
        Translator(Plain()).attention(["dog"])
    for arguments, message in (
        ({"terms": [["x"]]}, "model for terms.*without the signature 'with_terms'"),
        ({"glossary": {"dog": "x"}}, "without the signature 'with_terms'"),
        ({"terms": [["x"]], "prefixes": ["a"]}, "model for prefixes and terms"),
    ):
        with pytest.raises(ValueError, match=message):
            Translator(Plain()).translate(["dog"], **arguments)


class InThreads(ServedModel):
    """Model that turns texts around: short ones in two threads at once, and long ones slowly."""

    description = {"max_length": 9}  # noqa: RUF012
    fields = ("text",)
    threads = 2

    def __init__(self):
        self.both, self.calls = threading.Barrier(2, timeout=60), []
        self.signatures = {"serving_default": self.turn}

    def turn(self, text):
        if len(text[0]) < 6:
            self.both.wait()
        else:
            time.sleep(0.005)
        self.calls.append(text)
        if "wrong" in text:
            raise ValueError(text)
        return {"translation": [one[::-1].encode() for one in text], "score": np.zeros(len(text))}


def test_batches_in_threads():
    model = InThreads()
    texts = ["abcd", "a", "abc", "ab"]
    expected = ["dcba", "a", "cba", "ba"]
    assert Translator(model).translate(texts, batch_size=1) == expected


def test_an_error_in_a_thread_stops_the_others():
    model = InThreads()
    with pytest.raises(ValueError, match="wrong"):
        Translator(model).translate(["a", "wrong", *["longer text"] * 1000], batch_size=1)
    assert len(model.calls) < 1000


@pytest.mark.usefixtures("eagerly")
def test_model_translates_the_same(word_model, translator, sentences):
    expected = translator.translate(sentences)
    in_bytes = [text.encode() for text in sentences]
    assert [text for text, _ in translator.ask({"text": in_bytes})] == expected
    assert translator.truncated(["dog", b"dog \xff " * 9]) == [(1, 19)]
    assert word_model.translate(sentences, beam_size=3, max_length=12) == expected
    greedy = word_model.translate(sentences, beam_size=1, max_length=12)
    assert len(greedy) == 7 and greedy != expected


def test_weights_are_read_outside_the_loops(word_model):
    function = task_of(word_model, beam_size=2, max_length=5).function("serving_default")
    library = function.graph.as_graph_def().library.function
    loops = [one for one in library if "while_body" in one.signature.name]
    assert loops
    assert not [node.name for one in loops for node in one.node_def if node.op == "ReadVariableOp"]


def test_no_text_has_more_tokens_than_is_reckoned(sentences):
    texts = [*sentences, "\ufdfa", " \ufdfa \u3300", "\u0130" * 3, "a  b", "\U0001f600" * 2, "\x00"]
    rng = np.random.default_rng(0)
    texts += ["".join(map(chr, rng.integers(1, 0xD800, size=9))) for _ in range(200)]
    tokenizer = SentencePieceTokenizer.train([("a b a", "b a b")] * 9, vocabulary_size=9)
    # An unknown character may take a longer form, and another be composed.
    texts += ["\u1100\u1161\ufdfa", "\uff21" * 3 + "\ufdfa", "\u0958" * 4]
    read = tokenizer.normalize_source(texts)
    counts = tokenizer.tokenize(read).row_lengths().numpy() + 1
    reckoned = np.array([_most_tokens(text) for text in texts])
    assert np.all(counts <= reckoned)
    assert max(counts) > 9  # one character is several tokens where normalization makes it so


@pytest.mark.usefixtures("eagerly")
def test_texts_of_a_lexicon_are_found_in_every_form():
    model = zoo.bahdanau_gru(CharacterTokenizer("abc"), embedding_dim=4, units=4)

    def answer(lexicon, text):
        options = {"split_words": True, "beam_size": 1, "max_length": 5}
        return model.translate(text, lexicon=lexicon, **options)

    for key, text in (("müller", "mu\u0308ller"), ("mu\u0308ller", "MÜLLER"), ("it's", "It’s")):
        assert answer({key: "x y"}, f"{text}.") == "x y"
    with pytest.warns(UserWarning, match=r"2 texts .* are never found: 'a b', 'c\.'\. "):
        answer({"a b": "x", "c.": "y", "c": "z"}, "c")


@pytest.mark.usefixtures("eagerly")
def test_texts_without_the_tag_of_a_language():
    tokenizer = CharacterTokenizer(["<deu>", "<nld>", "a", "b"])
    model = zoo.bahdanau_gru(tokenizer, embedding_dim=4, units=4)
    options = {"beam_size": 1, "max_length": 5}
    with pytest.warns(UserWarning, match="text 2, and perhaps others, has no language tag"):
        model.translate(["<deu>a", "b"], **options)
    with pytest.warns(UserWarning, match="text 1 begins with <nl>, .* did you mean <nld>"):
        model.score(["<nl>a"], ["b"])
    translator = Translator(task_of(model, split_words=True, **options))
    with pytest.warns(UserWarning, match="text 2, and perhaps others, has no language tag"):
        translator.confidence(["<deu>a a a", "b"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        translator.confidence(["a a", "b"], first_number=65)  # the user has been warned
        translator.ask({"text": ["a"]}, first_number=None)
    model.set_language("de")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.translate(["<nld>a", "b"], **options)
