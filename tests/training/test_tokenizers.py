import pytest
import tensorflow as tf

from kerasnmt.training import Recipe
from kerasnmt.training.tokenizers import load_tokenizers, save_tokenizers, train_tokenizers


@pytest.fixture
def pairs():
    return tf.data.Dataset.from_tensor_slices((["two dogs", "a dog"], ["zwei hunde", "ein hund"]))


def section(**tokenizers):
    options = {
        name: {"kind": kind, "vocabulary_size": size} for name, (kind, size) in tokenizers.items()
    }
    data = {"train": {"builtin": 2}, "validation": {"builtin": 2}}
    document = {"model": {"name": "bahdanau_gru"}, "tokenizer": options, "data": data}
    return Recipe.from_dict(document).tokenizer


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
