import keras
import numpy as np
import pytest
import tensorflow as tf

from kerasnmt import zoo
from kerasnmt.layers import BidirectionalLayer, GRUCell, RecurrentEncoder
from kerasnmt.models import Ensemble, Seq2Seq
from kerasnmt.text import WordTokenizer
from tests.numerics import fill

SIZES = {"embedding_dim": 6, "units": 4, "dropout": 0.0}
INPUTS = {
    "source_ids": np.array([[5, 9, 3], [6, 3, 0]], "int32"),
    "target_ids": np.array([[2, 7, 8], [2, 4, 0]], "int32"),
}
TARGETS = np.array([[7, 8, 3], [4, 3, 0]], "int32")
another = pytest.mark.thorough("another model shows it")


def make(name="bahdanau_gru", **options):
    model = zoo.get_model(name)(11, **SIZES, **{"share_embeddings": True, **options})
    return fill(model)


def matrices(model):
    """Return the weights with the shape of an embedding of the vocabulary."""
    return [weight for weight in model.weights if set(weight.shape) == {11, 6}]


@pytest.mark.parametrize(
    "name",
    [
        "bahdanau_gru",
        pytest.param("luong_general_lstm", marks=another),
        pytest.param("pointer_generator_lstm", marks=another),
        pytest.param("pointer_network_lstm", marks=another),
    ],
)
def test_one_matrix(name, tmp_path):
    free, model = make(name, share_embeddings=False), make(name)
    assert free.count_params() - model.count_params() == 11 * 6
    assert len(free.get_weights()) - len(model.get_weights()) == 1
    # Two embeddings of equal numbers give the same outputs.
    named = {weight.path.split("/", 1)[1]: weight for weight in model.weights}
    for weight in free.weights:
        path = weight.path.split("/", 1)[1]
        if path == "encoder/embedding/embeddings":
            weight.assign(model.decoder.embedding.embeddings)
        else:
            weight.assign(named[path])

    def outputs(model):
        return model.decoder.next_log_probability(model(INPUTS))

    np.testing.assert_array_equal(outputs(model), outputs(free))
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    remade = type(model).from_config(model.get_config())
    remade.set_weights(model.get_weights())
    for copy in (loaded, remade):
        assert copy.share_embeddings is True
        assert [w.shape for w in copy.weights] == [w.shape for w in model.weights]
        np.testing.assert_array_equal(outputs(copy), outputs(model))
    model.save_weights(tmp_path / "model.weights.h5")
    remade.set_weights([0 * weight for weight in model.get_weights()])
    remade.load_weights(tmp_path / "model.weights.h5")
    np.testing.assert_array_equal(outputs(remade), outputs(model))


def test_three_ways():
    model = make(tie_embeddings=True)
    assert len(matrices(model)) == 1
    assert len(matrices(make())) == 2  # with the output
    assert len(matrices(make(share_embeddings=False))) == 3


@pytest.mark.thorough("trains; the next test shows the gradient")
@pytest.mark.parametrize("reload", [False, True])
def test_it_trains_as_one(reload, tmp_path):
    model = make(tie_embeddings=True)
    model.compile(keras.optimizers.SGD(0.5), run_eagerly=True)
    if reload:
        model.save(tmp_path / "model.keras")
        model = keras.saving.load_model(tmp_path / "model.keras")
    (matrix,) = matrices(model)
    before = matrix.numpy()
    with tf.GradientTape() as tape:
        loss = model.compute_loss(INPUTS, TARGETS, model(INPUTS, training=True))
    gradient = tf.convert_to_tensor(tape.gradient(loss, matrix.value)).numpy()
    history = model.fit(INPUTS, TARGETS, epochs=1, verbose=0).history
    assert np.isfinite(history["loss"][0])
    np.testing.assert_allclose(matrix.numpy(), before - 0.5 * gradient, atol=1e-6)


def test_its_gradient_sums_the_gradients_of_three_matrices():
    model = make(tie_embeddings=True)
    model.compile()
    (matrix,) = matrices(model)
    with tf.GradientTape() as tape:
        loss = model.compute_loss(INPUTS, TARGETS, model(INPUTS, training=True))
    gradient = tf.convert_to_tensor(tape.gradient(loss, matrix.value)).numpy()
    free = zoo.bahdanau_gru(11, **SIZES)
    free.compile()
    parts = {weight.path.split("/", 1)[1]: weight for weight in free.weights}
    shared = {weight.path.split("/", 1)[1]: weight for weight in model.weights}
    for path, weight in parts.items():
        if path == "decoder/generator/kernel":
            weight.assign(matrix.numpy().T)
        else:
            weight.assign(matrix if path == "encoder/embedding/embeddings" else shared[path])
    names = ("encoder/embedding/embeddings", "decoder/embedding/embeddings")
    with tf.GradientTape() as tape:
        loss = free.compute_loss(INPUTS, TARGETS, free(INPUTS, training=True))
    wanted = [parts[name].value for name in (*names, "decoder/generator/kernel")]
    source, target, output = (
        tf.convert_to_tensor(part).numpy() for part in tape.gradient(loss, wanted)
    )
    assert np.abs(source).max() > 1e-3 and np.abs(output).max() > 1e-3
    np.testing.assert_allclose(gradient, source + target + output.T, atol=1e-5)


@pytest.mark.thorough("an ensemble of other models shows it")
def test_ensemble():
    tokenizer = WordTokenizer(list("abcdefg"))
    models = [
        zoo.luong_dot_lstm(tokenizer, **SIZES, share_embeddings=True, tie_embeddings=tied)
        for tied in (True, False)
    ]
    ensemble = Ensemble([fill(model, seed) for seed, model in enumerate(models)])
    copy = Ensemble.from_config(ensemble.get_config())
    assert len(copy.get_weights()) == len(ensemble.get_weights())
    copy.set_weights(ensemble.get_weights())
    one, other = (m.token_log_probability(INPUTS, TARGETS) for m in (ensemble, copy))
    np.testing.assert_array_equal(one, other)


def test_two_vocabularies():
    letters, others = WordTokenizer(["a", "b"]), WordTokenizer(["c", "d"])
    message = r"Expected one tokenizer \(or size\).*share_embeddings=True embeds both"
    for name in ("bahdanau_gru", "luong_dot_lstm", "encoder_decoder_gru"):
        with pytest.raises(ValueError, match=message):
            zoo.get_model(name)(11, 13, **SIZES, share_embeddings=True)
        with pytest.raises(ValueError, match=message):
            zoo.get_model(name)(letters, others, **SIZES, share_embeddings=True)
    assert zoo.luong_dot_lstm(letters, letters, **SIZES, share_embeddings=True).share_embeddings
    assert zoo.luong_dot_lstm(11, 11, **SIZES, share_embeddings=True).share_embeddings


def test_one_embedding_too_many_or_too_few():
    free, shared = make(share_embeddings=False), make()
    message = r"either an encoder with an embedding, or embedded words"
    for donor, share in ((free, True), (shared, False)):
        config = donor.get_config() | {"share_embeddings": share}
        with pytest.raises(ValueError, match=message):
            Seq2Seq.from_config(config)
    encoder = RecurrentEncoder(None, [BidirectionalLayer(GRUCell(4))])
    with pytest.raises(ValueError, match=message):
        encoder(INPUTS["source_ids"])
    with pytest.raises(ValueError, match=message):
        Seq2Seq(encoder, shared.bridge, shared.decoder)
    letters, others = WordTokenizer(["a", "b"]), WordTokenizer(["c", "d"])
    parts = shared.encoder, shared.bridge, shared.decoder
    with pytest.raises(ValueError, match=r"Expected one tokenizer .* a separate target_tokenizer"):
        Seq2Seq(*parts, letters, others, share_embeddings=True)
