"""Image encoder."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.composite import Composite, build_once
from kerasnmt.layers.dropout import ByteDropout
from kerasnmt.layers.encoders.encoder import Encoder


@keras.saving.register_keras_serializable("kerasnmt")
class PixelScaling(Composite, keras.layers.Layer):
    """Scale pixels from [0, 255] to [-1, 1], the range that many networks expect.

    `keras.layers.Rescaling` does the same, but needs TensorFlow.
    """

    def call(self, images: Any) -> Any:
        """Scale images of any shape."""
        return images / 127.5 - 1.0


@keras.saving.register_keras_serializable("kerasnmt")
class ImageEncoder(Encoder):
    """Encoder of images, whose annotation a_i is a convolutional network's features of region i.

    The decoder's first states are computed from the mean of the features, (1 / L) sum_i a_i; a
    `DenseBridge` computes f_init,c and f_init,h. A convolutional network computes the same features
    in every region, so `positions` tell the regions apart.

    Source: Xu et al. (2015), "Show, attend and tell", sections 3.1.1 and 3.1.2. The paper has no
    positions: its network was trained on images larger than its receptive field, and recognizes
    positions by the borders.

    Args:
        backbone: Model from images `[batch, height, width, channels]`, float from 0 to 255, to
            features `[batch, rows, columns, units]`. All sizes except the batch are known. It is,
            for example, a `keras.Sequential` of convolutions, or a model of `keras.applications`
            with `include_top=False`, `input_shape` and the preprocessing of its family.
        positions: `LearnedPositions`, one for each region, or `SinusoidalPositions`, or None for
            annotations without positions.
        context_dropout: Dropout rate of the annotations, in [0, 1).

    Raises:
        ValueError: If the backbone has other shapes, or unknown sizes.
    """

    reads = ("images",)

    def __init__(
        self,
        backbone: keras.Model,
        positions: keras.layers.Layer | None = None,
        context_dropout: float = 0.0,
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        shapes = backbone.input_shape, backbone.output_shape
        if any(len(shape) != 4 or None in shape[1:] for shape in shapes):
            raise ValueError(
                "Expected a backbone from [batch, height, width, channels] to [batch, rows, "
                "columns, units], with known sizes except the batch. "
                f"Received: shapes {shapes[0]} and {shapes[1]}. Create it with input_shape=… and "
                "include_top=False."
            )
        self.backbone = backbone
        self.positions = positions
        self.context_dropout = context_dropout
        self.annotation_dropout = ByteDropout(
            context_dropout, dtype=self.dtype_policy, name="annotation_dropout"
        )
        # Height, width and channels of the images.
        self.image_shape = tuple(shapes[0][1:])
        # Rows and columns of the regions.
        self.grid = tuple(shapes[1][1:3])
        self.memory_units = shapes[1][3]
        self.state_size = [[[self.memory_units]]]

    def inputs(self) -> dict[str, keras.KerasTensor]:
        """Return the inputs of `call` as symbolic tensors, by name."""
        return {"images": keras.KerasTensor((None, *self.image_shape))}

    def build(self, images_shape: tuple) -> None:
        """Create the weights for images `(batch, height, width, channels)`."""
        if self.positions is not None:
            rows, columns = self.grid
            build_once(self.positions, (None, rows * columns, self.memory_units))

    def call(self, images: Any, training: bool = False) -> tuple[Any, Any, list]:
        """Encode images.

        Args:
            images: `[batch, height, width, channels]`, uint8 or float from 0 to 255.
            training: Whether the backbone runs in training mode, and dropout applies.

        Returns:
            The annotations, `[batch, regions, units]`, row by row from the top; their mask, boolean
            `[batch, regions]`, all True; and the last states, which are the mean of the
            annotations, `[batch, units]`, nested as the state of one layer with one direction.

        Raises:
            ValueError: If the images have another size.
        """
        if tuple(images.shape[1:]) != self.image_shape:
            raise ValueError(
                f"Expected images of shape (batch, {', '.join(map(str, self.image_shape))}). "
                f"Received: shape {tuple(images.shape)}. Resize them, for example with "
                "keras.ops.image.resize."
            )
        features = self.backbone(ops.cast(images, self.compute_dtype), training=training)
        rows, columns = self.grid
        memory = ops.reshape(features, (-1, rows * columns, self.memory_units))
        if self.positions is not None:
            memory = self.positions(memory)
        mask, mean = ops.ones_like(memory[:, :, 0], dtype="bool"), ops.mean(memory, axis=1)
        return self.annotation_dropout(memory, training=training), mask, [[[mean]]]
