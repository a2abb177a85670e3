import keras
import pytest

from tests.zoo.tiny_models import INPUTS, TARGETS, make


@pytest.mark.parametrize("name", ["m.h5", "m.hdf5", "m.weights.h5"])
def test_a_model_is_not_saved_as_hdf5(tmp_path, name):
    with pytest.raises(ValueError, match=r"ends with \.keras\. Received: .*m\."):
        make("bahdanau_gru").save(tmp_path / name)
    assert not [*tmp_path.iterdir()]


def test_a_checkpoint_is_not_saved_as_hdf5(tmp_path):
    model = make("bahdanau_gru")
    model.compile("adam", run_eagerly=True)
    checkpoint = keras.callbacks.ModelCheckpoint(str(tmp_path / "best.h5"))
    with pytest.raises(ValueError, match=r"ends with \.keras\."):
        model.fit(INPUTS, TARGETS, verbose=0, callbacks=[checkpoint])
