import random
import unicodedata

from kerasnmt.text import PunctuationTokenizer, WordTokenizer

TOKENIZER = PunctuationTokenizer(["said", "￭,", "￭.", "￭'s"])  # ids 4 to 7
TOKENS = {
    '"Yes", said Jean-Luc\'s friend (3.14).': (
        '"￭ Yes ￭" ￭, said Jean-Luc ￭\'s friend (￭ 3.14 ￭) ￭.'
    ),
    "O'Brien  under_score, http://a.b/c_d/": "O'Brien under_score ￭, http://a.b/c_d ￭/",
    "... && - !?": "... && - !?",
    "$5 5% -5 C++ ½": "$￭ 5 5 ￭% -￭ 5 C ￭+ ￭+ ½",
    "क्षि। می\u200cخواهم؟": "क्षि ￭। می\u200cخواهم ￭؟",  # a virama, vowels, a non-joiner
    "e\u0301, .\u0308a": "e\u0301 ￭, .\u0308￭ a",
    "a👩\u200d👩\u200d👧. b👍🏽": "a ￭👩\u200d👩\u200d👧 ￭. b ￭👍🏽",
    "<s> </s>": "<￭ s ￭> <￭ /￭ s ￭>",
    "a\0b, \0": "a\0b ￭, \0",
    "￭ a￭": "■ a ￭■",
    "": "",
}


def back(texts):
    """Return the texts of the ids of texts, where unknown tokens are copied."""
    source = TOKENIZER.tokenize_source(texts)
    written = TOKENIZER.detokenize(source.extended_ids, source.unknown_words)
    return [text.decode() for text in written.numpy()]


def test_tokens():
    found = TOKENIZER.words(list(TOKENS)).to_list()
    assert [" ".join(token.decode() for token in row) for row in found] == list(TOKENS.values())


def test_ids():
    assert TOKENIZER.tokenize(["said Ann's, ,"]).to_list() == [[4, 1, 7, 5, 1]]
    assert TOKENIZER.detokenize([[5, 4, 1, 6, 6, 4, 5]]).numpy()[0].decode() == ", said ⁇.. said,"


def test_a_copied_name_is_whole():
    source = TOKENIZER.tokenize_source(["(O'Brien), Zoë"])
    assert source.unknown_words.to_list()[0][1].decode() == "O'Brien"
    ids = TOKENIZER.tokenize_target(["Zoë's said, O'Brien."], source.unknown_words)
    text = TOKENIZER.detokenize(ids, source.unknown_words)
    assert text.numpy()[0].decode() == "Zoë's said, O'Brien."


def test_any_text_returns_with_single_spaces():
    draw = random.Random(1)
    code_points = [
        number
        for number in range(1, 0x110000)
        if unicodedata.category(chr(number)) not in ("Cn", "Co", "Cs") and number != ord("￭")
    ]
    common = [*map(ord, " .,'\"()-_s’\u200d\u200c\u0301\u093f👍🏽")]
    texts = [
        "".join(
            chr(draw.choice(common if draw.random() < 0.5 else code_points))
            for _ in range(draw.randint(0, 40))
        )
        for _ in range(2_000)
    ]
    texts += [text for text in TOKENS if "￭" not in text]
    expected = [b" ".join(text.encode().split()).decode() for text in texts]
    assert back(texts) == expected


def test_training():
    tokenizer = PunctuationTokenizer.train(["(a), a.", ("a's", "b, 3.5")])
    assert tokenizer.get_config()["words"] == ["a", "￭,", "(￭", "3.5", "b", "￭'s", "￭)", "￭."]
    assert tokenizer.counts == [0, 0, 0, 3, 3, 2, *[1] * 6]
    assert PunctuationTokenizer.train(["(a), a."], 6).get_config()["words"] == ["a", "(￭"]
    assert tokenizer.kind == "words_and_punctuation"
    # Text that is already split has the same tokens.
    split = "a man , a dog and 3.5 cats ."
    assert (
        PunctuationTokenizer.train([split]).get_config()
        == WordTokenizer.train([split]).get_config()
    )
