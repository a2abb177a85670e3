"""A user-defined tokenizer, the example in the docstring of `Tokenizer`."""

import keras
import pytest
import tensorflow as tf

from kerasnmt.data import batches
from kerasnmt.serving import load_export
from kerasnmt.tasks import Translator
from kerasnmt.text import Tokenizer, WordTokenizer
from kerasnmt.zoo import bahdanau_gru, pointer_generator_gru
from tests.numerics import fill

TEXTS = ["Bär 熊", "", "a b", "\x00\n"]
SIZES = {"embedding_dim": 6, "units": 5, "dropout": 0.0}


@keras.saving.register_keras_serializable("test_own_tokenizer")
class ByteTokenizer(Tokenizer):
    kind = "characters"

    def __init__(self):
        super().__init__(["▁" if byte == 32 else f"<{byte:02X}>" for byte in range(256)])
        with tf.init_scope():
            self._texts = tf.constant([*["⁇".encode()] * 4, *(bytes([i]) for i in range(256))])

    def _tokenize(self, text):
        split = tf.strings.bytes_split(text)
        values = tf.reshape(tf.io.decode_raw(split.flat_values, tf.uint8), [-1])
        return split.with_flat_values(tf.cast(values, tf.int32) + 4)

    def _detokenize(self, ids, copied=None):
        return tf.strings.reduce_join(tf.gather(self._texts, ids), axis=-1)

    def get_config(self):
        return {}


def test_ids_and_texts():
    tokenizer = ByteTokenizer()
    assert tokenizer.vocabulary_size == 260
    ids = tokenizer.tokenize(TEXTS)
    assert ids.dtype == tf.int32
    assert ids.to_list() == [[byte + 4 for byte in text.encode()] for text in TEXTS]
    assert [text.decode() for text in tokenizer.detokenize(ids).numpy()] == TEXTS
    # Padding, start and end are omitted for all subclasses.
    assert tokenizer.detokenize([[2, 101, 1, 3, 0]]).numpy().tolist() == ["a⁇".encode()]
    shown = tokenizer.tokens([101, 36, 1, 3, 0]).numpy().tolist()
    assert shown == [b"<61>", "▁".encode(), b"<unk>", b"</s>", b""]
    assert tokenizer.word_indices(["<61>", "<62>", "▁", "<63>", "</s>"]) == [0, 0, -1, 1, -1]
    assert repr(tokenizer) == "<ByteTokenizer of 260 ids: '<00>', '<01>', '<02>', '<03>', …>"


@pytest.mark.graph
def test_in_a_graph_and_a_dataset():
    tokenizer = ByteTokenizer()
    traced = tf.function(lambda text: tokenizer.tokenize(text).to_tensor())
    assert traced(tf.constant(["ab"])).numpy().tolist() == [[101, 102]]
    ((inputs, targets, _),) = batches([("ab", "c")], tokenizer, few_shapes=False)
    assert inputs["source_ids"].numpy().tolist() == [[101, 102, 3]]
    assert targets.numpy()[0, :2].tolist() == [103, 3]


def test_a_model_that_copies_takes_it():
    """By default, no word can be copied, because there are no unknown words."""
    model = pointer_generator_gru(ByteTokenizer(), **SIZES)
    source = model.source_tokenizer.tokenize_source(["ab"])
    assert source.extended_ids.to_list() == source.ids.to_list() == [[101, 102]]
    assert source.unknown_words.to_list() == [[]]


@pytest.mark.graph
@pytest.mark.thorough("exports with other tokenizers show it; tests/presets saves this kind")
def test_a_model_is_saved_loaded_and_exported_with_it(tmp_path):
    model = bahdanau_gru(ByteTokenizer(), WordTokenizer(["x", "y", "z"]), **SIZES)
    fill(model, seed=1, scale=1.5)
    options = {"beam_size": 2, "max_length": 9}
    translations = model.translate(TEXTS, **options)
    assert len({*translations}) > 2
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert type(loaded.source_tokenizer) is ByteTokenizer
    version = loaded.export(str(tmp_path / "bytes" / "1"), **options)
    assert Translator(load_export(version)).translate(TEXTS) == translations


def test_long_texts_of_other_units_are_warned_of(eagerly):
    """SentencePiece would split a character of three bytes in two."""
    model = bahdanau_gru(ByteTokenizer(), WordTokenizer(["x"]), **SIZES)
    with pytest.warns(UserWarning, match="text 1 has 31 tokens and was truncated to 25"):
        model.translate(["ﬁ" * 10], beam_size=1, max_length=25)
