from types import SimpleNamespace

import pytest
import tensorflow as tf

from kerasnmt.training.tokenizer_section import load_tokenizers, save_tokenizers, train_tokenizers


@pytest.fixture
def pairs():
    return tf.data.Dataset.from_tensor_slices((["two dogs", "a dog"], ["zwei hunde", "ein hund"]))


def section(**tokenizers):
    options = {
        name: SimpleNamespace(kind=kind, vocabulary_size=size)
        for name, (kind, size) in tokenizers.items()
    }
    return SimpleNamespace(**{"shared": None, "source": None, "target": None} | options)


def words(tokenizer):
    return {
        token.decode() for token in tokenizer.tokens(range(4, tokenizer.vocabulary_size)).numpy()
    }


def test_one_for_both_sides(pairs):
    tokenizers = train_tokenizers(section(shared=("words", 12)), pairs)
    assert list(tokenizers) == ["shared"]
    assert words(tokenizers["shared"]) == {
        "two",
        "dogs",
        "a",
        "dog",
        "zwei",
        "hunde",
        "ein",
        "hund",
    }


def test_one_for_each_side_and_back_from_disk(pairs, tmp_path):
    made = train_tokenizers(section(target=("words", 8), source=("characters", 12)), pairs)
    save_tokenizers(tmp_path / "tokenizer.json", made)
    for tokenizers in (made, load_tokenizers(tmp_path / "tokenizer.json")):
        assert list(tokenizers) == ["source", "target"]
        assert tokenizers["source"].kind == "characters"
        assert words(tokenizers["target"]) == {"zwei", "hunde", "ein", "hund"}
        ids = tokenizers["source"].tokenize(["a dog"])
        assert ids.to_list() == made["source"].tokenize(["a dog"]).to_list()


def test_the_error_names_the_side(pairs):
    with pytest.raises(ValueError, match=r"^tokenizer\.source: Expected a vocabulary_size of"):
        train_tokenizers(
            section(source=("sentencepiece", 5000), target=("sentencepiece", 5000)), pairs
        )
