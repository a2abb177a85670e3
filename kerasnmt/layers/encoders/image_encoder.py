"""The encoder of images."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.composite import build_once
from kerasnmt.layers.encoders.encoder import Encoder


@keras.saving.register_keras_serializable("kerasnmt")
class PixelScaling(keras.layers.Layer):
    """x / 127.5 - 1: from 0 to 255 becomes from -1 to 1, as many convolutional networks want it.

    `keras.layers.Rescaling` does the same where TensorFlow is installed.
    """

    def call(self, images: Any) -> Any:
        """Scale images of any shape."""
        return images / 127.5 - 1.0


@keras.saving.register_keras_serializable("kerasnmt")
class ImageEncoder(Encoder):
    """The regions of an image as a memory: a_i, the features of a convolutional network at place i.

    The decoder's first states are to come from the mean of the features, (1 / L) sum_i a_i, with
    `DenseBridge` as f_init,c and f_init,h. What the image shows somewhere the network can tell at
    any place alike; where that place is, `positions` say.

    Source: Xu et al. (2015), "Show, attend and tell", sections 3.1.1 and 3.1.2. The paper has no
    positions: its network, trained on larger images than its field, tells them by the borders.

    Args:
        backbone: A model from images `[batch, height, width, channels]`, float from 0 to 255, to
            features `[batch, rows, columns, units]`, all of them but the batch of known size: a
            `keras.Sequential` of convolutions, or one of `keras.applications` with
            `include_top=False`, `input_shape` and what its family wants done to the numbers.
        positions: `LearnedPositions`, of as many as there are regions, or `SinusoidalPositions`;
            None for a memory that does not know where its regions are.

    Raises:
        ValueError: If the backbone is of other or of unknown shapes.
    """

    reads = ("images",)

    def __init__(
        self, backbone: keras.Model, positions: keras.layers.Layer | None = None, **kwargs
    ) -> None:
        super().__init__(**kwargs)
        shapes = backbone.input_shape, backbone.output_shape
        if any(len(shape) != 4 or None in shape[1:] for shape in shapes):
            raise ValueError(
                "Expected a backbone from [batch, height, width, channels] to [batch, rows, "
                f"columns, units], all but the batch known. Received: shapes {shapes[0]} and "
                f"{shapes[1]}. Make it with input_shape=… and include_top=False."
            )
        self.backbone = backbone
        self.positions = positions
        # Height, width and channels of the images.
        self.image_shape = tuple(shapes[0][1:])
        # Rows and columns of the regions.
        self.grid = tuple(shapes[1][1:3])
        self.memory_units = shapes[1][3]
        self.state_size = [[[self.memory_units]]]

    def inputs(self) -> dict[str, keras.KerasTensor]:
        """Return the images that `call` takes, without values."""
        return {"images": keras.KerasTensor((None, *self.image_shape))}

    def build(self, images_shape: tuple) -> None:
        """Make the weights for images `(batch, height, width, channels)`."""
        if self.positions is not None:
            rows, columns = self.grid
            build_once(self.positions, (None, rows * columns, self.memory_units))

    def call(self, images: Any, training: bool = False) -> tuple[Any, Any, list]:
        """Look at images.

        Args:
            images: `[batch, height, width, channels]`, uint8 or float from 0 to 255.
            training: Whether dropout and the like in the backbone apply.

        Returns:
            Memory `[batch, regions, units]`, of the uppermost row of regions first; its mask,
            boolean `[batch, regions]`, which is True; and, as the last states of an encoder, the
            mean of the regions, `[[[ [batch, units] ]]]`.

        Raises:
            ValueError: If the images are of another size.
        """
        if tuple(images.shape[1:]) != self.image_shape:
            raise ValueError(
                f"Expected images of shape (batch, {', '.join(map(str, self.image_shape))}). "
                f"Received: shape {tuple(images.shape)}. Resize them, as keras.ops.image.resize "
                "does."
            )
        features = self.backbone(ops.cast(images, self.compute_dtype), training=training)
        rows, columns = self.grid
        memory = ops.reshape(features, (-1, rows * columns, self.memory_units))
        if self.positions is not None:
            memory = self.positions(memory)
        return memory, ops.ones_like(memory[:, :, 0], dtype="bool"), [[[ops.mean(memory, axis=1)]]]
