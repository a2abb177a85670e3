"""What models compute on any backend of Keras."""

import sys

import keras
import numpy as np
from keras import ops

from kerasnmt import zoo
from kerasnmt.layers import token_log_probability
from tests.numerics import fill

INPUTS = {
    "source_ids": np.array([[5, 9, 4, 10, 3], [6, 6, 3, 0, 0], [3, 0, 0, 0, 0]], "int32"),
    "target_ids": np.array([[2, 10, 5, 7], [2, 4, 0, 0], [2, 9, 8, 0]], "int32"),
}
TARGETS = np.array([[10, 5, 7, 3], [4, 3, 0, 0], [9, 8, 3, 0]], "int32")
LATE = keras.optimizers.schedules.PiecewiseConstantDecay([1, 3], [0.0, 0.5, 1 - 1e-7])


def surroundings():
    """Return the backend, whether TensorFlow is there, all models, and the error for a text."""
    try:
        gru().translate(["a"])
    except Exception as error:
        refusal = f"{type(error).__name__}: {error}"
    there = sys.modules.get("tensorflow") is not None
    return keras.backend.backend(), there, zoo.list_models(), refusal


def gru():
    model = zoo.bahdanau_gru(11, 13, embedding_dim=6, units=5, dropout=0.0)
    return fill(model, seed=5, scale=0.8)


def lstm(dropout=0.0, **options):
    model = zoo.bahdanau_lstm(11, embedding_dim=6, units=5, dropout=dropout, **options)
    return fill(model, seed=2)


def compiled(function):
    """Return a function that JAX compiles. Other backends run it as it is."""
    if keras.backend.backend() != "jax":
        return function
    import jax

    return jax.jit(function)


def losses(model, rate=0.2, epochs=3, **options):
    """Compile a model, and return the losses of its training."""
    eagerly = keras.backend.backend() == "tensorflow"
    model.compile(keras.optimizers.SGD(rate), run_eagerly=eagerly, **options)
    return model.fit(INPUTS, TARGETS, epochs=epochs, verbose=0).history["loss"]


def sparse():
    """Return the losses and a search of a model with entmax in attention and output."""
    model = zoo.bahdanau_gru(11, 13, embedding_dim=6, units=5, dropout=0.0, normalizer="entmax15")
    trained = losses(fill(model, seed=5, scale=0.8), loss="entmax15", label_smoothing=0.1)
    hypotheses = model.search(INPUTS, beam_size=3, n_best=2, max_length=6)
    return {"losses": np.array(trained), "ids": hypotheses.ids, "scores": hypotheses.scores}


def outputs():
    model = gru()
    run = compiled(lambda inputs: (model(inputs), model.attend(inputs)["weights"]))
    logits, weights = run(INPUTS)
    return {"logits": logits, "weights": weights}


def searched(beam_size):
    """Return the results of a search. JAX compiles the greedy one."""
    model = gru()

    def search(ids):
        found = model.search(
            ids, beam_size=beam_size, n_best=beam_size, max_length=7, with_records=True
        )
        return {"ids": found.ids, "scores": found.scores, "weights": found.records["weights"]}

    return (compiled(search) if beam_size == 1 else search)(INPUTS["source_ids"])


def training():
    model = gru()
    eagerly = keras.backend.backend() == "tensorflow"
    model.compile(keras.optimizers.SGD(0.1), label_smoothing=0.1, run_eagerly=eagerly)
    weights = (TARGETS != 0).astype("float32")
    history = model.fit(INPUTS, TARGETS, sample_weight=weights, epochs=3, verbose=0).history
    return {"losses": history["loss"], "perplexities": history["perplexity"]}


def value_and_gradient_on_jax(logits):
    """Return 0.9 log p(target) + 0.1 of the mean log p, summed, and its gradient."""
    import jax

    def loss(logits):
        chosen, mean = token_log_probability(logits, TARGETS)
        return ops.sum(0.9 * chosen + 0.1 * mean)

    return jax.value_and_grad(loss)(logits)


def regularised():
    """Return outputs and losses that depend on no random number."""
    return {
        "plain": lstm(state_dropout=0.5)(INPUTS),
        "shared": losses(lstm(share_embeddings=True, tie_embeddings=True)),
        "r_drop": losses(lstm(), r_drop=3.0),
    }


def scheduled_sampling():
    """Return the losses of steps that never sample, and of steps that always sample."""
    model = lstm()
    found = losses(model, rate=0.0, epochs=6, scheduled_sampling=LATE)
    found += model.fit(INPUTS, TARGETS, epochs=1, verbose=0).history["loss"]
    found += [model.train_on_batch(INPUTS, TARGETS, return_dict=True)["loss"]]
    return {"never": found[:2], "always": found[4:]}


def check_dropout_of_states():
    model = lstm(state_dropout=0.5)
    plain = np.array(model(INPUTS))
    one, other = (np.array(model(INPUTS, training=True)) for _ in range(2))
    assert np.abs(one - plain).max() > 0.01 and np.abs(one - other).max() > 0.01
    states, memory = model.encode(INPUTS, training=True)
    np.testing.assert_array_equal(np.unique(states.cell[2]), [0, 2])
    whole, _ = model.decoder(INPUTS["target_ids"], states, memory)
    for t in range(4):
        step, _, states = model.decoder.step(INPUTS["target_ids"][:, t], states, memory)
        np.testing.assert_allclose(step, whole[:, t], atol=1e-5)
    found = losses(model, epochs=5)
    assert found[-1] < found[0]


def check_divergence_of_r_drop():
    """With dropout, the divergence of both passes is added."""
    model = lstm(dropout=0.5)
    plain, dropped = (losses(model, rate=0.0, epochs=1, r_drop=alpha) for alpha in (0.0, 50.0))
    assert dropped[0] > plain[0] + 1.0
