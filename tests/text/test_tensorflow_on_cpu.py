from importlib import reload

import keras
import pytest
import tensorflow as tf

import kerasnmt.text.tensorflow_on_cpu as tensorflow_on_cpu


@pytest.mark.parametrize("backend", ["tensorflow", "jax", "torch"])
def test_gpus_are_hidden_unless_keras_runs_on_tensorflow(backend, monkeypatch):
    hidden = []
    monkeypatch.setattr(keras.backend, "backend", lambda: backend)
    monkeypatch.setattr(tf.config, "set_visible_devices", lambda *device: hidden.append(device))
    reload(tensorflow_on_cpu)
    assert hidden == ([] if backend == "tensorflow" else [([], "GPU")])


def test_a_program_that_has_used_tensorflow_keeps_its_devices(monkeypatch):
    def too_late(*_):
        raise RuntimeError("Visible devices cannot be modified after being initialized")

    monkeypatch.setattr(keras.backend, "backend", lambda: "jax")
    monkeypatch.setattr(tf.config, "set_visible_devices", too_late)
    reload(tensorflow_on_cpu)
