import warnings

import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.tasks import TranslationTask, Translator
from kerasnmt.text import (
    CharacterTokenizer,
    Glossary,
    PlainWordTokenizer,
    PunctuationTokenizer,
    SentencePieceTokenizer,
    WordTokenizer,
)
from kerasnmt.text.term_lines import parse_terms
from kerasnmt.text.translation_codec import TranslationCodec
from kerasnmt.text.whole_words import occurs
from kerasnmt.zoo import bahdanau_gru
from tests.numerics import fill

pytestmark = pytest.mark.usefixtures("eagerly")
TEXTS = ["two dogs run .", "a man reads .", "dog"]
OPTIONS = {"beam_size": 3, "max_length": 12}
JAPANESE = ["私は東京に住んでいます。", "東京は大きい。", "彼は犬が好きです。", "犬と猫がいます。"]
THAI = ["ผมอยู่กรุงเทพ", "กรุงเทพใหญ่มาก", "เขาชอบหมา", "มีหมาและแมว"]
ENGLISH = ["the new york dog runs", "a new dog in york (new york)", "dogs run in the carpark"]


@pytest.fixture(scope="module")
def pieces():
    """A tokenizer of pieces of three scripts."""
    return SentencePieceTokenizer.train([*JAPANESE, *THAI, *ENGLISH] * 4, 76)


@pytest.fixture(scope="module")
def piece_model(pieces):
    return fill(bahdanau_gru(pieces, embedding_dim=6, units=5, dropout=0.0), 3, scale=0.7)


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def encode(tokenizer, lines, copies=False, sources=None):
    codec = TranslationCodec(tokenizer, tokenizer, copies)
    source = codec.encode_source(tf.constant(sources or [""] * len(lines)))
    return codec.encode_terms(tf.constant(lines), source, 99)


def test_ids_of_words():
    terms = encode(WordTokenizer(["a", "b", "c"]), ["a b\tc|x\t!b", "", " | \t!"])
    np.testing.assert_array_equal(
        terms.ids, [[[4, 5], [6, 0], [5, 0]], np.zeros((3, 2)), np.zeros((3, 2))]
    )
    np.testing.assert_array_equal(terms.numbers, [[1, 2, 0], [0] * 3, [0] * 3])
    np.testing.assert_array_equal(terms.written, [[b"a b", b"c", b"", b"b"], [b""] * 4, [b""] * 4])


def test_ids_of_characters_with_and_without_a_space():
    terms = encode(CharacterTokenizer("ab "), ["ab"])
    np.testing.assert_array_equal(terms.ids, [[[4, 5, 0], [6, 4, 5]]])
    np.testing.assert_array_equal(terms.numbers, [[1, 1]])


def test_ids_of_a_batch_without_terms():
    terms = encode(WordTokenizer(["a"]), ["", ""])
    np.testing.assert_array_equal(terms.ids, np.zeros((2, 1, 1)))


def test_limits_of_a_line():
    # The second term needs 99 tokens with the end token. The seventh has the 513th token.
    codec = TranslationCodec(*[WordTokenizer(["a", "b"])] * 2)
    source = codec.encode_source(tf.constant([""]))
    line = "\t".join(["a " * 9, "a " * 98] + ["a " * 90] * 4 + ["b " * 45 + "a", "!b"])
    terms = codec.encode_terms(tf.constant([line]), source, 99)
    np.testing.assert_array_equal(terms.numbers, [[1, 2, 3, 4, 5, 6]])
    assert codec.encode_terms(tf.constant([line]), source, 98).numbers.numpy().tolist() == [
        [1, 3, 4, 5, 6]
    ]
    many = "\t".join(["|".join(["a"] * 90)] * 70)
    terms = codec.encode_terms(tf.constant([many]), source, 99)
    assert terms.written.shape == (1, 64 * 64) and terms.ids.shape == (1, 512, 1)


def test_ids_of_words_that_are_copied():
    tokenizer = WordTokenizer(["a", "b"])
    lines = ["a x\ty", "x"]
    terms = encode(tokenizer, lines, copies=True, sources=["b z x", "a"])
    np.testing.assert_array_equal(terms.ids, [[[4, 7]], np.zeros((1, 2))])
    np.testing.assert_array_equal(terms.written, [[b"a x", b""], [b"", b""]])


def test_ids_of_other_tokenizers():
    np.testing.assert_array_equal(
        encode(PlainWordTokenizer(["new", "york"]), ["New York."]).written, [[b"new york"]]
    )
    tokenizer = PunctuationTokenizer(["Jean", "￭'s", "(￭"])
    np.testing.assert_array_equal(encode(tokenizer, ["Jean's"]).ids, [[[4, 5]]])


@pytest.mark.parametrize("phrase", ["new york", "dog", "東京", "กรุงเทพ", "犬と猫"])
def test_ids_of_pieces(pieces, phrase):
    terms = encode(pieces, [phrase])
    after_space, inside = (pieces.detokenize([ids]).numpy()[0].decode() for ids in terms.ids[0])
    assert after_space == inside == phrase
    tokens = [[t for t in row if t] for row in pieces.tokens(terms.ids)[0].numpy().tolist()]
    assert tokens[0][0].decode().startswith("▁")
    assert not tokens[1][0].decode().startswith("▁")


def test_a_term_that_begins_with_an_unknown_character_has_no_ids(pieces):
    """SentencePiece makes one piece of it and the unknown character before it."""
    terms = encode(pieces, ["龘dog", "龘dog|dog", "!龘dog"])
    (known,) = encode(pieces, ["dog"]).ids
    np.testing.assert_array_equal(terms.ids, [np.zeros_like(known), known, np.zeros_like(known)])
    np.testing.assert_array_equal(terms.written, [[b"", b""], [b"", b"dog"], [b"", b""]])


def check(model, texts, terms=None, forbidden=None, **options):
    """Translate, and check each translation as text. No term is missing without a warning."""
    translations = model.translate(texts, terms=terms, forbidden=forbidden, **OPTIONS, **options)
    for number, text in enumerate(translations):
        for term in (terms or [[]] * len(texts))[number]:
            assert any(occurs(one, text) for one in ([term] if isinstance(term, str) else term))
        for term in (forbidden or [[]] * len(texts))[number]:
            assert not occurs(term, text)
    return translations


def test_terms_of_characters(word_model):
    plain = word_model.translate(TEXTS, **OPTIONS)
    terms = [["ab", "e"], [], [["dd c", "bad"]]]
    found = check(word_model, TEXTS, terms)
    assert found[1] == plain[1]  # without terms
    check(word_model, TEXTS, forbidden=[["c", "ab"], ["b"], ["d", "e", "a"]])
    check(word_model, TEXTS, terms, [["c"], ["b"], ["d"]])


def test_rows_and_batches_do_not_matter(word_model):
    terms = [["ab", "e"], [], [["dd c", "bad"]]]
    together = word_model.translate(TEXTS, terms=terms, **OPTIONS)
    assert word_model.translate(TEXTS[::-1], terms=terms[::-1], **OPTIONS)[::-1] == together
    assert word_model.translate(TEXTS, terms=terms, batch_size=1, **OPTIONS) == together


def test_terms_of_pieces(piece_model):
    texts = ["dog", "東京", "หมา", "york"]
    terms = [["new york", "dog"], ["犬と猫", "東京"], [["กรุงเทพ", "แมว"]], ["東京", "the"]]
    check(piece_model, texts, terms)
    check(piece_model, texts, forbidden=[["dog"], ["東京"], ["หมา"], ["the"]])


def test_a_term_outside_the_vocabulary_is_copied(make_pointer_model):
    model = make_pointer_model()
    texts = ["Zoë reads two Bücher", "dog"]
    found = check(model, texts, [["Bücher", "a Zoë"], ["man"]])
    assert "⁇" not in found[0]
    with pytest.warns(UserWarning, match="cannot write: 'Bücher' of text 2"):
        model.translate(texts, terms=[[], ["Bücher"]], **OPTIONS)


def test_what_cannot_be_met_is_told(word_model):
    with pytest.warns(UserWarning) as told:
        word_model.translate(
            [*TEXTS, "man"],
            terms=[["ab"], ["xyz", ["x", "ab"]], ["abc de " * 4], ["é", ["z", "y"]]],
            **OPTIONS,
        )
    assert [str(one.message) for one in told] == [
        "translations lack terms with words or characters that the model cannot write: 'xyz' of "
        "text 2, 'é' of text 4, 'z' or 'y' of text 4",
        "translations lack terms that do not fit into their maximum length, or contradict each "
        "other: 'abc de abc de abc de abc de' of text 3",
    ]


def test_texts_whose_terms_do_not_fit_are_translated_without_them(word_model):
    terms = [["abc", "de", "cab", "bad"], ["ab"]]
    plain = word_model.translate(TEXTS[:2], **OPTIONS)
    with pytest.warns(UserWarning) as told:
        found = word_model.translate(
            [TEXTS[0]] * 9 + [TEXTS[1]], terms=terms[:1] * 9 + terms[1:], **OPTIONS
        )
    lacking = [one for one in terms[0] if not occurs(one, plain[0])]
    assert found[:9] == plain[:1] * 9 and occurs("ab", found[9]) and len(lacking) > 2
    (message,) = (str(one.message) for one in told)
    assert f"contradict each other: {lacking[0]!r} of text 1, {lacking[1]!r} of text 1, " in message
    assert message.endswith(f" and {9 * len(lacking) - 20} more")


def test_glossary_and_prefix(word_model):
    glossary = {"dogs": "dab", "reads": ["cc", "be"]}
    found = word_model.translate(TEXTS, glossary=glossary, **OPTIONS)
    assert occurs("dab", found[0])
    assert occurs("cc", found[1]) or occurs("be", found[1])
    assert found[2] == word_model.translate(TEXTS, **OPTIONS)[2]
    glossary = Glossary({"DOGS": "dab"}, ignore_case=True)
    prefixes = ["ab c", "", "c"]
    found = word_model.translate(
        TEXTS, glossary=glossary, terms=[["e"], [], []], prefixes=prefixes, **OPTIONS
    )
    assert found[0].startswith("ab c") and occurs("dab", found[0]) and occurs("e", found[0])
    assert found[1:] == word_model.translate(TEXTS, prefixes=prefixes, **OPTIONS)[1:]


def test_prefixes_that_do_not_fit(word_model):
    options = {"prefixes": ["ab", "abc dab"], "max_length": 3}
    for terms in ({}, {"forbidden": [["e"], ["e"]]}):
        eager = pytest.warns(match="prefix_ids are truncated to 3")
        with eager, pytest.warns(match="^text 2 has a prefix of more tokens than the max_length"):
            found = word_model.translate(["dog", "dog"], **options, **terms)
        assert found[1] == "abc"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"terms": ["ab", "e", "c"]},
            r"Expected a list of terms for each text in terms. Rec.*'ab'",
        ),
        ({"terms": [["ab"]]}, "Expected as many terms as texts"),
        ({"terms": "ab"}, "Expected .*terms"),
        ({"terms": [["a|b"], [], []]}, "no tab, line break or"),
        ({"terms": [[["ab"] * 65], [], []]}, "at most 64 terms .* 64 alternatives each.* 65"),
        ({"terms": [["ab"], [], []], "samples": 2}, "Expected samples=0"),
        ({"glossary": "dog"}, "Expected a glossary as a dict"),
        (
            {"glossary": {"dog": "dab"}, "forbidden": [[], [], ["dab"]]},
            r"term 'dab' of text 3, which must occur, and 'dab', which must not\. Omit one of them",
        ),
    ],
)
def test_refused(word_model, arguments, message):
    with pytest.raises(ValueError, match=message):
        word_model.translate(TEXTS, **arguments)


def test_texts_that_are_split_into_sentences(word_model):
    texts = ["Two dogs run. A man reads.", "Dogs run. Dogs reads.", "a man"]
    options = {"split_sentences": True, **OPTIONS}
    sentences = [text.split(". ") for text in texts]
    glossary = {"dogs": "dab", "man": "cc"}
    found = word_model.translate(
        texts, glossary=Glossary(glossary, ignore_case=True), forbidden=[["e"]] * 3, **options
    )
    for text, parts in zip(found, sentences, strict=True):
        for source, target in glossary.items():
            assert occurs(target, text) == any(source in part.lower() for part in parts)
        assert not occurs("e", text)
    plain = word_model.translate(texts, **options)
    assert word_model.translate(texts, glossary={"x": "y"}, **options) == plain
    assert word_model.translate(texts, forbidden=[["xyz"]] * 3, **options) == plain
    found = word_model.translate(texts, terms=[[], [], ["dab"]], **options)
    assert found[:2] == plain[:2] and occurs("dab", found[2])
    with pytest.raises(
        ValueError, match=r"one sentence in each text .* 2 sentences in text 1, 'Two"
    ):
        word_model.translate(texts, terms=[["dab"], [], []], **options)


def test_a_prefix_belongs_to_one_sentence(word_model):
    texts = ["Two dogs run. A man reads.", "a man"]
    options = {"split_sentences": True, **OPTIONS}
    plain = word_model.translate(texts, **options)
    assert plain[0] != word_model.translate(texts, **OPTIONS)[0]
    for terms in ({}, {"forbidden": [["xyz"]] * 2}):
        found = word_model.translate(texts, prefixes=["", "dab"], **terms, **options)
        assert found[0] == plain[0] and found[1].split()[0] == "dab"
        with pytest.raises(ValueError, match=r"terms or a prefix, .* 2 sentences in text 1, 'Two"):
            word_model.translate(texts, prefixes=["dab", ""], **terms, **options)
    assert "".join(word_model.stream(texts[0], prefix="", **options)) == plain[0]
    with pytest.raises(ValueError, match="2 sentences in text 1"):
        word_model.stream(texts[0], prefix="dab", **options)


def test_greedy_search_avoids_what_is_forbidden(word_model):
    plain = word_model.translate(TEXTS, beam_size=1, max_length=14)
    avoided = [[word] for word in (text.split()[0] for text in plain)]
    found = word_model.translate(TEXTS, forbidden=avoided, beam_size=1, max_length=14)
    assert not any(occurs(*term, text) for term, text in zip(avoided, found, strict=True))
    # Without need, nothing changes.
    found = word_model.translate(TEXTS, forbidden=[["xyz"]] * 3, beam_size=1, max_length=14)
    assert found == plain


def test_empty_texts_and_odd_terms(piece_model):
    translator = Translator(TranslationTask(piece_model, **OPTIONS))
    with pytest.warns(UserWarning, match="'dog' of text 1"):
        assert translator.translate(["", "dog"], terms=[["dog"], []])[0] == ""
    assert translator.translate([], terms=[]) == []
    assert translator.translate(["dog"], terms=[None]) == translator.translate(["dog"])
    with pytest.warns(UserWarning, match="cannot write: .* of text 1"):
        translator.translate(["dog"], terms=[["🙂\u200d", "\udc80"]])


def test_lines_are_in_the_form_of_files():
    assert [term.wanted for term in parse_terms("a|b\t!c")] == [True, False]
