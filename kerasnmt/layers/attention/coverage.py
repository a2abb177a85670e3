"""Coverage, and a loss on attention weights."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.composite import Composite
from kerasnmt.layers.on_rows import on_rows


@keras.saving.register_keras_serializable("kerasnmt")
class Coverage(Composite, keras.layers.Layer):
    """Layer that adds the coverage, the attention of earlier words, to the keys.

        C_{t,i} = sum_{t' < t} alpha_{t',i},    k_{t,i} = k_i + w C_{t,i}
        loss_t = sum_i min(alpha_{t,i}, C_{t,i})

    The additive score becomes v^T tanh(W h_i + U s + w C_{t,i}), as in the papers. A dot product of
    query and key grows by C_{t,i} times the dot product of the query and w. A score that does not
    use the keys (`LocationScore`) does not change.

    The loss penalizes attending twice to the same position, and is averaged over the target words.
    The published weight of 1 is for models whose attention is already trained. If training starts
    with this weight, the attention does not learn where to look; a weight of 0.1 gives better
    alignments.

    Source: Tu et al. (2016), "Modeling coverage for neural machine translation", section 3.1.1,
    with the sum of the weights as the coverage; See, Liu and Manning (2017), "Get to the point",
    equations 10 to 13.

    Args:
        loss_weight: Weight of the coverage loss, at least 0; the loss of the words has weight 1.
    """

    def __init__(self, loss_weight: float = 1.0, **kwargs) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        if loss_weight < 0:
            raise ValueError(f"Expected loss_weight >= 0. Received: loss_weight={loss_weight}")
        self.loss_weight = loss_weight

    def build(self, keys_shape: tuple) -> None:
        """Create the weights for keys `(batch, source_length, key_units)`."""
        self.kernel = self.add_weight(
            shape=(keys_shape[-1],), initializer=keras.initializers.RandomNormal(), name="kernel"
        )

    def call(self, keys: Any, coverage: Any) -> Any:
        """Add the coverage to the keys.

        Args:
            keys: `[batch, source_length, key_units]`.
            coverage: Float32 `[batch, source_length]`, or `[batch, hypotheses, source_length]`.

        Returns:
            The keys, `[batch, source_length, key_units]` or
            `[batch, hypotheses, source_length, key_units]`.
        """
        if len(coverage.shape) == 3:
            keys = ops.expand_dims(keys, 1)
        coverage = ops.cast(coverage, keys.dtype)
        return keys + ops.expand_dims(coverage, -1) * ops.cast(self.kernel, keys.dtype)

    def following(self, coverage: Any, weights: Any) -> Any:
        """Return the coverage of the next word.

        Args:
            coverage: Coverage of this word, float32 `[..., source_length]`.
            weights: Attention weights of this word, float32 `[..., source_length]`.
        """
        return coverage + ops.cast(weights, coverage.dtype)

    def loss(self, weights: Any, target_mask: Any) -> Any:
        """Return the loss of whole targets, times `loss_weight`, a float32 scalar.

        Args:
            weights: Attention weights, float32 `[batch, target_length, source_length]`.
            target_mask: Boolean `[batch, target_length]`, True = real word.
        """
        before = ops.cumsum(weights, axis=1) - weights
        repeated = ops.sum(ops.minimum(weights, before), axis=-1)
        mask = ops.cast(target_mask, "float32")
        mean = ops.sum(mask * repeated) / ops.maximum(ops.sum(mask), 1.0)
        return self.loss_weight * mean


@keras.saving.register_keras_serializable("kerasnmt")
class LocationFeatures(Coverage):
    """Layer that adds features of the earlier attention near a position to the keys.

        f_{t,i} = sum_m K_m C_{t,i+m},    k_{t,i} = k_i + U f_{t,i}

    C_t are the weights of the previous word (Chorowski et al.), or with `cumulative` the sums of
    the weights of all earlier words (Tacotron 2). The kernel K has a width, so an attention can
    learn to move on from where it was. The additive score becomes the location-sensitive score,
    v^T tanh(W h_i + U_q s + U f_{t,i}).

    Source: Chorowski et al. (2015), "Attention-based models for speech recognition", equations 8
    and 9; Shen et al. (2018), "Natural TTS synthesis by conditioning WaveNet on mel spectrogram
    predictions", section 2.2.

    Args:
        filters: Number of features f.
        kernel_size: Number of positions that K reads, an odd number.
        cumulative: Whether C sums up the weights of all earlier words.
        loss_weight: Weight of the coverage loss; see `Coverage`.

    Raises:
        ValueError: If `filters` is below 1, `kernel_size` is not odd and above 0, or `loss_weight`
            is below 0.
    """

    def __init__(
        self,
        filters: int = 32,
        kernel_size: int = 31,
        cumulative: bool = True,
        loss_weight: float = 0.0,
        **kwargs,
    ) -> None:
        super().__init__(loss_weight, **kwargs)
        if filters < 1 or kernel_size < 1 or kernel_size % 2 == 0:
            raise ValueError(
                "Expected filters above 0, and an odd kernel_size above 0. Received: "
                f"filters={filters}, kernel_size={kernel_size}"
            )
        self.filters = filters
        self.kernel_size = kernel_size
        self.cumulative = cumulative

    def build(self, keys_shape: tuple) -> None:
        """Create the weights for keys `(batch, source_length, key_units)`."""
        self.kernel = self.add_weight(shape=(self.kernel_size, 1, self.filters), name="kernel")
        self.projection = self.add_weight(shape=(self.filters, keys_shape[-1]), name="projection")

    def call(self, keys: Any, coverage: Any) -> Any:
        """Add the features to the keys; see `Coverage`."""
        columns = ops.shape(coverage)
        rows = ops.reshape(ops.cast(coverage, keys.dtype), (-1, columns[-1], 1))
        kernel, projection = (ops.cast(one, keys.dtype) for one in (self.kernel, self.projection))
        features = ops.conv(rows, kernel, padding="same")
        if len(columns) == 3:
            keys = ops.expand_dims(keys, 1)
            features = ops.reshape(features, (*columns, self.filters))
        return keys + on_rows(lambda one: ops.matmul(one, projection), features)

    def following(self, coverage: Any, weights: Any) -> Any:
        """Return the coverage of the next word; see `Coverage`."""
        if self.cumulative:
            return super().following(coverage, weights)
        return ops.cast(weights, coverage.dtype)


@keras.saving.register_keras_serializable("kerasnmt")
class DoublyStochastic(Composite, keras.layers.Layer):
    """Doubly stochastic attention: a loss that makes the weights cover all positions equally.

        lambda sum_i (1 - sum_t alpha_{t,i})^2

    The loss is summed over the targets and divided by the number of their words, like the loss of
    the words. If a target has fewer words than the memory has positions, the sums cannot all be 1,
    and a large lambda blurs the weights. Use this loss for memories without padding, such as the
    regions of images: each padded position adds a constant 1 to it.

    Source: Xu et al. (2015), "Show, attend and tell", equation 14.

    Args:
        loss_weight: Lambda, the weight of the loss, at least 0.
    """

    def __init__(self, loss_weight: float = 1.0, **kwargs) -> None:
        super().__init__(**kwargs)
        if loss_weight < 0:
            raise ValueError(f"Expected loss_weight >= 0. Received: loss_weight={loss_weight}")
        self.loss_weight = loss_weight

    def loss(self, weights: Any, target_mask: Any) -> Any:
        """Return the loss of whole targets, a float32 scalar; see `Coverage.loss`."""
        mask = ops.cast(target_mask, "float32")
        looked = ops.sum(weights * mask[..., None], axis=1)
        real = ops.max(mask, axis=1, initial=0.0)
        total = ops.sum(real * ops.sum(ops.square(1.0 - looked), axis=-1))
        return self.loss_weight * total / ops.maximum(ops.sum(mask), 1.0)
