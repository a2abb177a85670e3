"""The image encoder, compared with a convolution in NumPy."""

import keras
import numpy as np
import pytest

from kerasnmt.layers import DenseBridge, ImageEncoder, LearnedPositions, PixelScaling
from tests.numerics import fill

IMAGES = np.random.default_rng(0).integers(0, 256, (2, 4, 6, 3), "uint8")


def make(positions=None):
    backbone = keras.Sequential(
        [
            keras.Input((4, 6, 3)),
            PixelScaling(),
            keras.layers.Conv2D(5, 2, strides=2, activation="relu"),
        ]
    )
    encoder = ImageEncoder(backbone, positions)
    encoder.build((None, 4, 6, 3))
    return fill(encoder)


def by_hand(encoder):
    """Compute the features of each patch of 2 by 2 pixels, row by row."""
    kernel, bias = encoder.backbone.get_weights()
    regions = [
        IMAGES[:, 2 * row : 2 * row + 2, 2 * column : 2 * column + 2].reshape(2, 12) / 127.5 - 1
        for row in range(2)
        for column in range(3)
    ]
    return np.maximum(np.stack(regions, axis=1) @ kernel.reshape(12, 5) + bias, 0)


def test_regions_and_their_mean():
    encoder = make()
    memory, mask, states = encoder(IMAGES)
    assert encoder.grid == (2, 3) and encoder.image_shape == (4, 6, 3)
    assert encoder.memory_units == 5 and encoder.state_size == [[[5]]]
    expected = by_hand(encoder)
    np.testing.assert_allclose(memory, expected, atol=1e-5)
    assert mask.shape == (2, 6) and np.all(mask) and mask.dtype == bool
    np.testing.assert_allclose(states[0][0][0], expected.mean(axis=1), atol=1e-5)
    np.testing.assert_allclose(encoder(IMAGES.astype("float32"))[0], expected, atol=1e-5)


def test_positions_and_first_states():
    # f_init,h and f_init,c are layers of their own over the mean.
    encoder = make(LearnedPositions(6))
    memory, _, states = encoder(IMAGES)
    expected = by_hand(encoder) + np.array(encoder.positions.embeddings)
    np.testing.assert_allclose(memory, expected, atol=1e-5)
    bridge = DenseBridge([3, 4])
    bridge.build(encoder.state_size)
    for first, projection in zip(bridge(states), bridge.projections, strict=True):
        kernel, bias = projection.get_weights()
        np.testing.assert_allclose(first, np.tanh(expected.mean(axis=1) @ kernel + bias), atol=1e-5)


def test_images_of_another_shape():
    with pytest.raises(ValueError, match=r"Expected images of shape \(batch, 4, 6, 3\)\. Received"):
        make()(IMAGES[:, :, :5])
