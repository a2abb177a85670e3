"""Options of the zoo's models: sizes, and invalid combinations."""

import numpy as np
import pytest

from kerasnmt import layers, zoo
from kerasnmt.text import CharacterTokenizer, WordTokenizer
from tests.zoo.tiny_models import NAMES, TINY, TINY_TRANSFORMER


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("luong_dot_lstm", {"num_layers": 0}, r"Expected num_layers >= 1. Received: num_layers=0"),
        ("encoder_decoder_gru", {"num_layers": 0}, r"Expected num_layers >= 1"),
        ("bahdanau_gru", {"num_layers": 0}, r"Expected num_layers >= 1"),
        (
            "luong_dot_lstm",
            {"coverage": 1.0},
            r"do not depend on those of earlier words.*history=\('coverage',\).*input_feeding=True",
        ),
        (
            "luong_dot_lstm",
            {"attention": "monotonic"},
            r"do not depend on those of earlier words.*history=\('previous',\).*input_feeding=True",
        ),
        (
            "luong_dot_lstm",
            {"attention": "gaussian", "input_feeding": True},
            r"without a score of its own.*'gaussian' with DotScore",
        ),
        ("luong_dot_lstm", {"fused": True, "num_layers": 2}, r"Expected fused=False"),
        (
            "luong_general_gru",
            {"fused": True, "layer_normalization": True},
            r"Expected layer_normalization=False with fused=True",
        ),
        ("bahdanau_gru", {"attention": "monotone"}, r"did you mean 'monotonic'"),
        (
            "bahdanau_gru",
            {"attention": "chunkwise", "coverage": 0.1},
            r"Expected coverage=None, because attention='chunkwise'",
        ),
        (
            "cgru",
            {"attention": "monotonic", "normalizer": "sparsemax"},
            r"Expected no normalizer with attention='monotonic'",
        ),
        (
            "dense_scorer_gru",
            {"attention": "gaussian"},
            r"without a score of its own.*TimeDistributed",
        ),
        ("cgru", {"transitions": 1}, r"Expected transitions >= 2.*Received: transitions=1"),
        ("hard_attention_lstm", {"num_layers": 0}, r"Expected num_layers >= 1"),
        ("hard_monotonic_lstm", {"order": 2}, r"Expected order 0 or 1. Received: order=2"),
        ("hard_monotonic_lstm", {"width": 3}, r"Expected no width with order=0.*width=3"),
        ("hard_monotonic_lstm", {"order": 1, "width": 0}, r"Expected width >= 1"),
        ("bahdanau_gru", {"coverage": -1.0}, r"Expected loss_weight >= 0"),
        (
            "luong_dot_lstm",
            {"tags": "concat"},
            r"Expected a source tokenizer with tags.*for tags='concat'. Received: source=11",
        ),
        (
            "pointer_network_lstm",
            {"tags": True},
            r"Expected tags 'tokens', 'concat' or 'sum'. Received: tags=True",
        ),
        ("pointer_generator_gru", {"target": 12}, r"Expected one tokenizer \(or size\)"),
        ("pointer_network_lstm", {"target": 12}, r"Received: source=11, target=12"),
    ],
)
def test_options_that_do_not_fit(name, options, message):
    with pytest.raises(ValueError, match=message):
        zoo.get_model(name)(11, **options)


def test_a_vocabulary_without_tags():
    message = r"Expected a source tokenizer with tags.*Received: source=<WordTokenizer of 5 ids"
    with pytest.raises(ValueError, match=message):
        zoo.cgru(WordTokenizer(["a"]), WordTokenizer(["<V>"]), tags="sum")
    with pytest.raises(ValueError, match="Expected a source tokenizer with tags"):
        zoo.cgru(np.int64(11), tags="sum")


def test_tags_are_those_of_the_source():
    source = CharacterTokenizer(["a", "<V>", " ", "<N>"])
    model = zoo.bahdanau_gru(source, WordTokenizer(["<V>"]), **TINY, tags="concat")
    assert model.encoder.tags.get_config()["tag_ids"] == [5, 7]
    assert model.encoder.tags.space_ids == [6]
    plain, summed = (
        zoo.bahdanau_gru(source, WordTokenizer(["<V>"]), **TINY, tags=tags)
        for tags in ("tokens", "sum")
    )
    assert plain.encoder.tags is None
    assert summed.count_params() == plain.count_params()
    # A gate and direction of the encoder has `embedding_dim * units` more weights.
    assert model.count_params() == plain.count_params() + 2 * 3 * 6 * 4


def test_learned_positions_and_tags():
    """A source of `max_positions` tokens is read, with tags or without."""
    source = WordTokenizer(["a", "<V>"])
    options = {**TINY_TRANSFORMER, "tags": "sum", "share_embeddings": False}
    model = zoo.transformer_tiny(source, **options, max_positions=4)
    ids = np.array([[4, 4, 4, 3], [5, 4, 4, 3]], "int32")
    assert model.encoder(ids)[0].shape == (2, 4, 6)
    with pytest.raises(ValueError, match=r"Expected at most 5 words"):
        model.encoder(np.array([[4, 4, 4, 4, 3]], "int32"))
    assert model.decoder.positions.max_length == 4


def test_a_transformer_does_not_concatenate():
    with pytest.raises(ValueError, match=r'Expected tags with merge="sum" in a Transformer'):
        zoo.transformer_tiny(WordTokenizer(["<V>"]), tags="concat")


@pytest.mark.parametrize("name", [n for n in NAMES if n.startswith(("luong", "hard"))])
def test_odd_units(name):
    with pytest.raises(ValueError, match=r"Expected units even and above 0.*Received: units=5"):
        zoo.get_model(name)(11, units=5)


@pytest.mark.parametrize("encoder_units", [0, 5])
def test_encoder_units_without_halves(encoder_units):
    message = rf"Expected encoder_units even and above 0.*Received: encoder_units={encoder_units}"
    with pytest.raises(ValueError, match=message):
        zoo.luong_general_gru(11, units=4, encoder_units=encoder_units)


def test_encoder_units():
    """The memory has this size. A dense layer computes the decoder's states from the encoder's."""
    sizes = {"embedding_dim": 3, "units": 4}
    same = zoo.luong_general_lstm(11, **sizes)
    assert zoo.luong_general_lstm(11, encoder_units=4, **sizes).count_params() == (
        same.count_params()
    )
    model = zoo.luong_general_lstm(11, encoder_units=10, **sizes)
    assert model.encoder.memory_units == 10
    assert [layer.units for layer in model.bridge.projections] == [4, 4]
    encoder = 11 * 3 + 2 * (3 * 20 + 5 * 20 + 20)  # embeddings; W, U and b of each direction
    bridge = 2 * (2 * (5 + 5) * 4 + 4)  # h and c of both directions to h, and to c
    cell = 11 * 3 + 3 * 16 + 4 * 16 + 16
    attention = 10 * 4
    readout = (10 + 4) * 3
    generator = 3 * 11 + 11
    assert model.count_params() == encoder + bridge + cell + attention + readout + generator


@pytest.mark.parametrize("options", [{"num_layers": 2, "embedding_dim": 4}, {"fused": True}])
def test_encoder_units_and_other_cells(options):
    model = zoo.luong_general_lstm(11, units=4, encoder_units=6, **options)
    ids = np.array([[5, 6, 3]], "int32")
    assert model({"source_ids": ids, "target_ids": ids}).shape == (1, 3, 11)
    assert model.search(ids, beam_size=2, max_length=3).ids.shape == (1, 1, 3)


def test_dropout_rates():
    """Each rate has its place: words, annotations and readout."""
    model = zoo.cgru(11, dropout=0.3, context_dropout=0.5, output_dropout=0.4)
    encoder, decoder = model.encoder, model.decoder
    assert [dropout.rate for dropout in encoder.dropouts] == [0.3]
    assert encoder.annotation_dropout.rate == 0.5
    assert (decoder.embedding_dropout.rate, decoder.readout_dropout.rate) == (0.3, 0.4)
    model = type(model).from_config(model.get_config())
    assert model.encoder.annotation_dropout.rate == 0.5
    assert model.decoder.readout_dropout.rate == 0.4
    deep = zoo.bahdanau_gru(11, num_layers=3, dropout=0.3, state_dropout=0.1)
    assert [layer.dropout for layer in deep.decoder.upper] == [0.3, 0.3]
    assert [layer.state_dropout for layer in deep.decoder.upper] == [0.1, 0.1]
    assert zoo.bahdanau_gru(11, dropout=0.1).decoder.readout_dropout.rate == 0.1
    assert zoo.luong_dot_lstm(11).encoder.annotation_dropout.rate == 0.0


@pytest.mark.parametrize(
    "name", ["context_attention_gru", "pointer_network_lstm", "show_attend_tell_lstm"]
)
def test_dropout_rates_of_other_families(name):
    readout = {} if name == "pointer_network_lstm" else {"output_dropout": 0.4}
    model = zoo.get_model(name)(11, context_dropout=0.5, **readout)
    model = type(model).from_config(model.get_config())
    assert model.encoder.annotation_dropout.rate == 0.5
    decoder = getattr(model.decoder, "decoder", model.decoder)
    assert not readout or decoder.readout_dropout.rate == 0.4


def test_dropout_of_the_annotations_of_an_image():
    """The mean of the annotations, from which the decoder starts, stays."""
    model = zoo.show_attend_tell_lstm(
        11, image_size=8, filters=(3, 200), positions=False, context_dropout=0.5
    )
    images = np.random.default_rng(2).integers(0, 256, (3, 8, 8, 3), "uint8")
    check_half_is_dropped(model.encoder(images), model.encoder(images, training=True))


def test_dropout_of_the_annotations_of_two_texts():
    model = zoo.context_attention_gru(11, units=100, dropout=0.0, context_dropout=0.5)
    ids = np.array([[5, 6, 3], [7, 3, 0]], "int32")
    plain, dropped = (model.encoder(ids, ids, training=training) for training in (False, True))
    for name in ("source", "context"):
        check_half_is_dropped((plain[0][name], *plain[1:]), (dropped[0][name], *dropped[1:]))


def test_dropout_of_the_annotations():
    """Half of the features are 0, and the others are twice as large. The states stay."""
    model = zoo.luong_general_gru(11, units=200, embedding_dim=3, dropout=0.0, context_dropout=0.5)
    ids = np.array([[5, 6, 3], [7, 3, 0]], "int32")
    check_half_is_dropped(model.encoder(ids), model.encoder(ids, training=True))


def check_half_is_dropped(plain, dropped):
    """Check the annotations of real positions, and that the first states are the same."""
    (plain, _, states), (dropped, _, same) = plain, dropped
    kept = np.not_equal(dropped, 0)
    real = np.not_equal(plain, 0)
    assert 0.4 < kept[real].mean() < 0.6
    np.testing.assert_allclose(np.asarray(dropped)[kept], 2 * np.asarray(plain)[kept], rtol=1e-6)
    np.testing.assert_allclose(same[0][0][0], states[0][0][0], rtol=1e-6)


def test_a_score_is_no_attention():
    with pytest.raises(ValueError, match=r"is a part of an attention: Attention\(GeneralScore"):
        zoo.bahdanau_gru(9, attention=layers.GeneralScore(4))
