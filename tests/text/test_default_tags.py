"""Default tags of tokenizers, which stand in front of each source without a tag."""

import pytest

from kerasnmt.text import CharacterTokenizer, SentencePieceTokenizer, WordTokenizer

CORPUS = ["<de>the dog runs", "<fr>a dog", "the the dog <", "<fr><V>a cat"] * 5


@pytest.fixture(
    params=[
        CharacterTokenizer.train(CORPUS, tags=True),
        SentencePieceTokenizer.train(CORPUS, 22, tags=True),
    ],
    ids=["characters", "pieces"],
)
def tokenizer(request):
    return request.param


def test_sources_without_a_tag_get_the_default_tags(tokenizer):
    german = tokenizer.with_default_tags("de")
    sources = ["dog", "<fr>dog", " \u00a0dog ", " <de> dog", "<x>dog", "", " \u3000", b"\xff"]
    found = german.normalize_source(sources).numpy().tolist()
    as_before = tokenizer.normalize_source(sources).numpy().tolist()
    tagged = [*as_before]
    for place in (0, 2, 4, 7):
        tagged[place] = b"<de>" + as_before[place].strip()
    assert found == tagged
    assert german.tokenize(["dog"]).to_list() == tokenizer.tokenize(["dog"]).to_list()  # a target
    assert german.with_default_tags("").normalize_source(sources).numpy().tolist() == as_before
    both = tokenizer.with_default_tags(["<fr>", "V"])
    assert both.default_tags == "<fr><V>"
    again = type(both).from_config(both.get_config())
    assert again.tokenize_source(["dog"]).ids.to_list() == [
        tokenizer.tokenize(["<fr><V>dog"])[0].numpy().tolist()
    ]


def test_tags_outside_the_vocabulary_are_refused(tokenizer):
    known = ", ".join(sorted(tokenizer.tags))
    message = f"Expected default_tags that the model knows: {known}. Received: <en>."
    with pytest.raises(ValueError, match=message):
        tokenizer.with_default_tags("en")
    with pytest.raises(ValueError, match=r"the vocabulary has no tags. Received: <en>"):
        WordTokenizer(["a"]).with_default_tags("en")
