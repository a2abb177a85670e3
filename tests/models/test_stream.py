"""`model.stream` yields the translation of `translate`, for all kinds of tokens and searches."""

import functools
import itertools
import random

import pytest

from kerasnmt import zoo
from kerasnmt.data import builtin_corpus
from kerasnmt.tasks import TranslationTask, Translator
from kerasnmt.text import PunctuationTokenizer, SentencePieceTokenizer
from kerasnmt.text.without_tensorflow import plain_form
from tests.conftest import SENTENCES
from tests.numerics import fill

UNSPACED = ["犬が 走る。猫は寝る。", "สุนัขวิ่ง ครับ", "カ\u3099 犬\u0301。", "two 犬 run ."]
ODD = [
    "é e\u0301 ☃ 👩\u200d👩 👍🏽",
    "a\u00a0b\u3000c",
    "<unk> </s> ▁ ⁇ ￭ \ufffd \0 \t",
    "\ud800 x",
]
TEXTS = [*SENTENCES, *UNSPACED, *ODD, "dog " * 30]

# Random weights repeat a token again and again, unless the search does not.
VARIED = {"min_length": 6, "max_length": 12}
SEARCHES = {
    "beam": {"beam_size": 3, "no_repeat_ngram": 1, **VARIED},
    "sample": {"samples": 1, "temperature": 4.0, "seed": 7, **VARIED},
}
OTHER_SEARCHES = {
    "greedy": {"beam_size": 1, "max_length": 12},
    "coverage": {"beam_size": 1, "coverage_penalty": 0.3, "max_length": 9},
    "lengths": {
        **{"beam_size": 5, "length_penalty": 0.0, "max_length": 15, "max_length_ratio": 1.0},
        **{"max_length_margin": 1, "allow_unknown": False, "no_repeat_ngram": 2},
    },
    "sentences": {"length_normalization": "length", "split_sentences": True, **SEARCHES["beam"]},
}


@pytest.fixture(scope="module")
def pieces_model():
    """Tiny random model of SentencePiece pieces of several scripts."""
    corpus = [pair.source for pair in builtin_corpus(300)] + UNSPACED * 20
    return random_model(SentencePieceTokenizer.train(corpus, 150))


@pytest.fixture(scope="module")
def punctuation_model():
    return random_model(PunctuationTokenizer(["dog", "Two", "run", "￭.", "￭,", "(￭", "￭'s", "￭"]))


@pytest.fixture(scope="module")
def transformer():
    """A decoder with caches, whose room grows with the steps."""
    tokenizer = SentencePieceTokenizer.train([pair.source for pair in builtin_corpus(300)], 100)
    sizes = {"units": 8, "num_heads": 2, "hidden_units": 8}
    model = zoo.transformer_tiny(tokenizer, encoder_layers=1, decoder_layers=1, **sizes)
    return fill(model, 3, scale=1.0)


@pytest.fixture(scope="module")
def streaming(pieces_model):
    """A function that returns a translator with the model of pieces, for a name in `SEARCHES`."""
    return functools.cache(
        lambda search: Translator(TranslationTask(pieces_model, **SEARCHES[search]))
    )


thorough = pytest.mark.thorough("repeats other models for other searches")


def random_model(tokenizer):
    model = zoo.luong_general_gru(tokenizer, embedding_dim=6, units=6, dropout=0.0)
    return fill(model, 5, scale=1.5)


def assert_streams(model, texts=TEXTS, prefix=None, **options):
    """Check that the pieces of a model or translator are its translations, and are not empty."""
    prefixes = None if prefix is None else [prefix] * len(texts)
    whole = model.translate(texts, prefixes=prefixes, **options)
    streamed = [[*model.stream(text, prefix=prefix, **options)] for text in texts]
    assert ["".join(pieces) for pieces in streamed] == whole
    assert all(piece for pieces in streamed for piece in pieces)
    return streamed


# The whole translations are those of eager searches; streams are graphs all the same.
pytestmark = [
    pytest.mark.graph,
    pytest.mark.usefixtures("eagerly"),
    pytest.mark.filterwarnings("ignore:text .* was truncated"),
]


@pytest.mark.parametrize("search", SEARCHES)
def test_pieces(streaming, search):
    streamed = assert_streams(streaming(search))
    assert any(len(pieces) > 2 for pieces in streamed)
    assert any(piece in "งガ้่" for pieces in streamed for piece in pieces) == (search == "sample")


@pytest.mark.parametrize("search", ["sentences", pytest.param("greedy", marks=thorough)])
def test_other_searches(word_model, search):
    """With characters as tokens."""
    assert_streams(word_model, **OTHER_SEARCHES[search])


def test_words_that_are_copied(make_pointer_model):
    streamed = assert_streams(make_pointer_model(), **SEARCHES["sample"])
    copied = "".join(map("".join, streamed))
    assert "犬が" in copied
    assert "☃" in copied


def test_words_with_punctuation_and_replaced_unknown_words(punctuation_model):
    dictionary = {"犬が": "the dog", "run": "snow man"}
    options = {**SEARCHES["beam"], "replace_unknown": True, "dictionary": dictionary}
    replaced = "".join(map("".join, assert_streams(punctuation_model, **options)))
    assert "a\u00a0b" in replaced
    assert "dog." in replaced or "run." in replaced or ",." in replaced


def test_caches_that_grow(transformer):
    texts = ["two dogs run .", ""]
    assert_streams(transformer, texts, beam_size=3, max_length=34, min_length=18)


@thorough
@pytest.mark.parametrize("search", OTHER_SEARCHES.values(), ids=OTHER_SEARCHES)
def test_other_searches_of_pieces(pieces_model, search):
    assert_streams(pieces_model, **search)


def test_a_prefix(word_model):
    for streamed in assert_streams(word_model, SENTENCES, prefix="ab c", **SEARCHES["beam"]):
        assert "".join(streamed)[:4] in ("", "ab c")


def test_words_come_before_the_end(streaming):
    """The first piece of a sample is there before the last step."""
    progress = [*streaming("sample").progress("two dogs run .")]
    first = next(number for number, one in enumerate(progress) if one.piece)
    assert first < len(progress) - 1
    assert [one.score is None for one in progress] == [True] * (len(progress) - 1) + [False]


def test_the_best_hypothesis_so_far_follows_the_pieces(streaming):
    translator = streaming("beam")
    progress = [*translator.progress("two dogs run .")]
    done = [*itertools.accumulate(one.piece for one in progress)]
    assert any(one.provisional.startswith(" ") for one in progress)
    assert len(done[-1]) > len(done[-2])
    assert any(one == other for one, other in itertools.pairwise(done))  # no word is sure yet
    assert (done[-2] + progress[-2].provisional).startswith(done[-1][:-3])
    ((best, score),) = translator.best(["two dogs run ."])
    assert done[-1] == best
    assert progress[-1].score == pytest.approx(score, abs=1e-5)


def test_several_streams_at_the_same_time(streaming):
    texts = ["two dogs run .", "a man reads ."]
    streams = [streaming("beam").stream(text) for text in texts]
    done = ["", ""]
    for number in [0, 1, 0, 1, 1, 0] * 6:
        done[number] += next(streams[number], "")
    assert done == streaming("beam").translate(texts)


def test_what_cannot_be_streamed_is_refused_before_the_first_piece(word_model):
    with pytest.raises(ValueError, match="Expected samples=1 or a search"):
        word_model.stream("dog", samples=2)
    with pytest.raises(ValueError, match=r"Expected one text, a string.*Call translate"):
        word_model.stream(["dog"])
    with pytest.raises(ValueError, match="Expected contexts=None"):
        word_model.stream("dog", context="cat")
    with pytest.raises(ValueError, match="beam"):
        word_model.stream("dog", beam=2)


@pytest.mark.parametrize("kind", ["pieces", "punctuation", "characters", "words"])
def test_a_further_token_only_appends(
    kind, pieces_model, punctuation_model, word_model, make_pointer_model
):
    """What streams rely on, for random tokens and copied words of each kind of tokens."""
    models = {
        "pieces": pieces_model,
        "punctuation": punctuation_model,
        "characters": word_model,
        "words": make_pointer_model(),
    }
    tokenizer = plain_form(models[kind].target_tokenizer)
    copied = ["犬が", "￭x", "y￭", "￭", "\ufffd", "the dog", "e\u0301", "</s>"]
    rng = random.Random(1)
    for _ in range(300):
        size = len(tokenizer.entries) + (len(copied) if kind != "pieces" else 0)
        ids = rng.choices(range(1, size), k=12)
        texts = [tokenizer.decode([ids[:end]], [copied])[0] for end in range(13)]
        for text, longer in itertools.pairwise(texts):
            assert longer.startswith(text)
