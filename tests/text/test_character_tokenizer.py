import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.text import CharacterTokenizer


def test_the_most_frequent_characters_come_first_and_ties_by_code_point():
    tokenizer = CharacterTokenizer.train(["bbb a", ("é 😀", "a")], 8)
    assert tokenizer.get_config() == {
        "characters": ["b", " ", "a", "é"],  # the space twice, as a
        "counts": [0, 1, 0, 3, 3, 2, 2, 1],
        "fold_case": False,
        "normalization": None,
        "default_tags": "",
    }
    assert tokenizer.tokenize(["a b😀", " é"]).to_list() == [[6, 5, 4, 1], [5, 7]]
    assert tokenizer.tokens([5, 6]).numpy().tolist() == ["▁".encode(), b"a"]
    assert tokenizer.detokenize([[6, 5, 1, 7]]).numpy()[0].decode() == "a ⁇é"


@pytest.mark.parametrize("size", [6, 8000, None])
def test_all_characters(size):
    assert CharacterTokenizer.train(["abab"], size).get_config()["characters"] == ["a", "b"]


def test_nothing_is_normalised():
    text = "  e\u0301é ﬁ\u00a0 \t▁ "
    tokenizer = CharacterTokenizer.train([text], 4 + len(set(text)))
    assert tokenizer.tokenize([text]).row_lengths().numpy() == [len(text)]
    assert tokenizer.detokenize(tokenizer.tokenize([text])).numpy()[0].decode() == text


def test_syllables_are_read_as_letters():
    tokenizer = CharacterTokenizer.train(["한국 é", "각"], normalization="nfd")
    letters = tokenizer.get_config()["characters"]
    assert {*letters} == {*"\u1112\u1161\u11ab\u1100\u116e\u11a8 e\u0301"}
    assert letters[:3] == ["\u1100", "\u1161", "\u11a8"]  # twice each
    ids = tokenizer.tokenize(["간é", "e\u0301"]).to_list()
    assert [letters[one - 4] for one in ids[0]] == [*"\u1100\u1161\u11abe\u0301"]
    assert ids[1] == ids[0][3:]
    assert [
        one.decode() for one in tokenizer.detokenize(tokenizer.tokenize(["간é", "e\u0301"])).numpy()
    ] == ["간é", "é"]
    copied = (
        tokenizer.detokenize([[4, 4 + len(letters)]], tf.ragged.constant([["\u1161"]]))
        .numpy()[0]
        .decode()
    )
    assert copied == "가"
    assert tokenizer.tokenize([b"\xff"]).to_list() == [[1]]
    copy = CharacterTokenizer.from_config(tokenizer.get_config())
    assert copy.tokenize(["간é"]).to_list() == ids[:1]


def test_composed_characters():
    tokenizer = CharacterTokenizer.train(["e\u0301<e\u0301>"], tags=True, normalization="nfc")
    assert tokenizer.get_config()["characters"] == ["<é>", "é"]
    assert tokenizer.tokenize(["e\u0301<e\u0301>"]).to_list() == [[5, 4]]


def test_another_normalization_is_refused():
    message = "Expected normalization to be 'nfc', 'nfd' or None. Received: normalization='nfkc'"
    for create in (CharacterTokenizer, CharacterTokenizer.train):
        with pytest.raises(ValueError, match=message):
            create(["a"], normalization="nfkc")
    with pytest.raises(ValueError, match=r"Expected characters in NFD, .* characters with 'é'"):
        CharacterTokenizer(["a", "é"], normalization="nfd")


def test_what_is_no_list_of_characters_is_refused():
    with pytest.raises(ValueError, match=r"Expected single characters. .* characters with 'bc'"):
        CharacterTokenizer(["a", "bc"])
    with pytest.raises(ValueError, match="Received: characters with 'a' repeated"):
        CharacterTokenizer(["a", "a"])
    with pytest.raises(ValueError, match=r"at least 5\. Received: vocabulary_size=0"):
        CharacterTokenizer.train(["a"], 0)


def test_frequencies_are_shares_of_the_counts():
    tokenizer = CharacterTokenizer.train(["abb"], 6)
    shares = np.array([0.5, 0.5, 0.5, 1, 2, 1]) / 5.5
    np.testing.assert_allclose(tokenizer.log_frequencies, np.log(shares), rtol=1e-6)
    assert CharacterTokenizer("ab").log_frequencies is None


def test_case_is_folded_for_letters_that_are_unknown():
    folding = CharacterTokenizer("abBσςß", fold_case=True)
    assert folding.tokenize(["AbBΣßẞ"]).to_list() == [[4, 5, 6, 7, 9, 9]]
    assert CharacterTokenizer.from_config(folding.get_config()).tokenize(["A"]).to_list() == [[4]]
    assert CharacterTokenizer("ab").tokenize(["A"]).to_list() == [[1]]


def test_case_of_turkish():
    tokenizer = CharacterTokenizer("iı", fold_case=True)
    assert tokenizer.tokenize(["Iİiı"]).to_list() == [[5, 4, 4, 5]]
    assert CharacterTokenizer("i", fold_case=True).tokenize(["Iİ"]).to_list() == [[4, 1]]


def test_tags_are_single_tokens():
    texts = ["<V><PST;3>go went", "<N>go", "a <b c> <N> <s>"]
    tokenizer = CharacterTokenizer.train(texts, tags=True)
    characters = tokenizer.get_config()["characters"]
    assert {"<N>", "<PST;3>", "<V>"} < {*characters} and "<s>" not in characters
    id_of = {text: number for number, text in enumerate(characters, start=4)}
    expected = [id_of[one] for one in ["<N>", "<PST;3>", "g", "o", "<", "s", ">", " "]]
    assert tokenizer.tokenize(["<N><PST;3>go<s> "]).to_list() == [expected]
    assert tokenizer.detokenize([expected]).numpy().tolist() == [b"<N><PST;3>go<s> "]
    assert tokenizer.tokens(expected).numpy()[:2].tolist() == [b"<N>", b"<PST;3>"]
    # An unknown tag is characters, and so is every tag without the option.
    assert len(tokenizer.tokenize(["<PL>"]).to_list()[0]) == 4
    without = CharacterTokenizer.train(texts)
    assert len(without.tokenize(["<N>"]).to_list()[0]) == 3
    copy = CharacterTokenizer.from_config(tokenizer.get_config())
    assert copy.tokenize(texts).to_list() == tokenizer.tokenize(texts).to_list()
    # A private code point of a text is no tag.
    assert tokenizer.tokenize(["\U000f0000"]).to_list() == [[1]]


def test_words_of_tags():
    tokenizer = CharacterTokenizer(["a", "<N>", "<V;1>"], fold_case=True)
    words = tokenizer.words(["<V;1>Aé<N>"]).to_list()
    assert words == [[b"<V;1>", b"A", "é".encode(), b"<N>"]]
    with pytest.raises(ValueError, match=r"no private code points .*'\\U000f0001'"):
        CharacterTokenizer(["<N>", "\U000f0001"])


def test_unknown_characters_beside_tags_can_be_copied():
    tokenizer = CharacterTokenizer(["a", "<N>"])
    # U+100000 is private too, but stands for no tag.
    source = tokenizer.tokenize_source(["<N>aé\U00100000"])
    assert source.extended_ids.to_list() == [[5, 4, 6, 7]]
    assert source.unknown_words.to_list() == [["é".encode(), "\U00100000".encode()]]


def test_sources_have_no_white_space_at_their_ends():
    tokenizer = CharacterTokenizer(["a", " ", "\u3000", "\u00a0", "b"])
    texts = [" a b", "a b\u00a0", "\u3000\t a\u00a0b \v\r", "\u3000", "\x1e\u00a0", "", "\u200ca "]
    sources = tokenizer.normalize_source(texts).numpy().tolist()
    expected = ["a b", "a b", "a\u00a0b", "", "", "", "\u200ca"]
    assert [text.decode() for text in sources] == expected
    assert tokenizer.tokenize_source(texts).ids.row_lengths().numpy().tolist() == [
        *(3, 3, 3, 0, 0, 0, 2)
    ]
    assert tokenizer.tokenize([" a "]).to_list() == [[5, 4, 5]]  # targets keep it
    assert tokenizer.normalize_source([b"\xff a \xfe "]).numpy().tolist() == [b"\xff a \xfe"]
