"""Every model of the zoo that translates can be trained, saved and loaded."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import tree

from kerasnmt import zoo
from kerasnmt.text import CharacterTokenizer, WordTokenizer
from tests.zoo.tiny_models import (
    CAPTIONS,
    INPUTS,
    NAMES,
    OPTIONS,
    REPEATED,
    SOURCE,
    TARGET_IDS,
    TARGETS,
    make,
    marks,
    thorough,
)

pytestmark = pytest.mark.long("translates with every model of the zoo")


ALWAYS = {*NAMES} - {*REPEATED, "transformer_tiny"}


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, marks=marks(case, ALWAYS))
        for case, (name, _) in OPTIONS.items()
        if name not in CAPTIONS
    ],
)
@pytest.mark.parametrize("eagerly", [True, pytest.param(False, marks=thorough)])
def test_fit_save_and_load(case, eagerly, tmp_path):
    name, options = OPTIONS[case]
    words = ["a", "<b>", "c", "d", "e", "f", "<g>"]
    model = make(name, WordTokenizer(words), CharacterTokenizer("abcdefghi"), **options)
    model.compile(keras.optimizers.Adam(0.02), label_smoothing=0.1, run_eagerly=eagerly)
    inputs, targets = INPUTS, TARGETS
    if model.copies:  # its one vocabulary has 11 ids
        inputs = {"source_ids": SOURCE, "target_ids": np.minimum(TARGET_IDS, 10)}
        inputs |= dict.fromkeys(model.encoder.reads, SOURCE)
        targets = np.minimum(TARGETS, 10)
    history = model.fit(inputs, targets, epochs=2, verbose=0).history["loss"]
    assert np.isfinite(history).all() and history[-1] < history[0]
    model.save(tmp_path / "model.keras")
    copy = keras.saving.load_model(tmp_path / "model.keras")
    tree.map_structure(np.testing.assert_array_equal, copy(inputs), model(inputs))
    model.save_to_preset(tmp_path / "preset", weights="float32")
    copy = getattr(zoo, name).from_preset(tmp_path / "preset")
    tree.map_structure(np.testing.assert_array_equal, copy(inputs), model(inputs))


@pytest.mark.parametrize("name", ["encoder_decoder_gru", "encoder_decoder_lstm"])
def test_without_attention(name):
    model = make(name, WordTokenizer(list("abcdefg")), CharacterTokenizer("abcdefghi"))
    assert model.search(tf.constant(SOURCE), max_length=4, with_records=True).records == {}
    with pytest.raises(ValueError, match=rf"Expected a model with attention.*{name}"):
        model.attend(INPUTS)
    with pytest.raises(ValueError, match=r"Expected a model with attention"):
        model({**INPUTS, "alignments": np.ones((3, 4, 5), "float32")})
