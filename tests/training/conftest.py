import pytest
import tensorflow as tf
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator


@pytest.fixture
def events():
    """Return what TensorBoard reads in a folder, the steps and values of each tag."""

    def read(folder):
        accumulator = EventAccumulator(str(folder), size_guidance={"tensors": 0}).Reload()
        return {
            # Files of the same second are read in the order of their names.
            tag: sorted(
                (event.step, tf.make_ndarray(event.tensor_proto).tolist())
                for event in accumulator.Tensors(tag)
            )
            for tag in accumulator.Tags()["tensors"]
        }

    return read
