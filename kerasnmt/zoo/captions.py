"""Models that caption images."""

import math
from collections.abc import Sequence
from typing import Any

import keras

from kerasnmt import layers
from kerasnmt.models import CaptionModel
from kerasnmt.zoo import assembly
from kerasnmt.zoo.registry import register


@register()
def show_attend_tell_lstm(
    target: Any,
    *,
    backbone: keras.Model | None = None,
    image_size: int = 64,
    filters: Sequence[int] = (16, 32, 64, 64),
    positions: bool = True,
    embedding_dim: int = 128,
    units: int = 256,
    normalizer: str | keras.layers.Layer = "softmax",
    doubly_stochastic: float = 0.0,
    layer_normalization: bool = False,
    dropout: float = 0.2,
    context_dropout: float = 0.0,
    output_dropout: float | None = None,
    state_dropout: float = 0.0,
) -> CaptionModel:
    """Show, attend and tell: an LSTM decoder that attends to the regions of an image.

        e_{t,i} = v^T tanh(W a_i + U h_{t-1} + b),    alpha_t = softmax(e_t)
        z_t = beta_t sum_i alpha_{t,i} a_i,    beta_t = sigmoid(f_beta(h_{t-1}))
        p(y_t) = softmax(L_o (E y_{t-1} + L_h h_t + L_z z_t))

    This is the soft attention of the paper. Dense layers compute the first states from the mean of
    the regions.

    Source: Xu et al. (2015), "Show, attend and tell", sections 3.1 and 4.2. The paper's encoder is
    a pretrained VGG network, whose weights are not trained, and it has no positions.

    Args:
        target: Tokenizer of the captions, or the size of their vocabulary for a model that takes
            only ids.
        backbone: Model that reads an image, for example one of `keras.applications`, or None for a
            small stack of convolutions, which is trained with the decoder. See
            `kerasnmt.layers.ImageEncoder`.
        image_size: Height and width of the images for the small backbone, a multiple of 2 to the
            power of the number of `filters`.
        filters: Numbers of features of the convolutions of the small backbone. Each convolution
            halves height and width.
        positions: Whether a learned position embedding is added to each region. Without it, "left
            of" is hard to learn.
        units: Size of the decoder's states and of the attention's hidden layer.
        doubly_stochastic: Weight lambda of the penalty that makes the model attend to all regions,
            or 0 for none; see `kerasnmt.layers.DoublyStochastic`. The authors' code uses 1 for
            hundreds of regions. With few words, the penalty blurs the attention.
        dropout: Dropout rate of the embedded words and of the readout.
    """
    _, size, tokenizers = assembly.sizes_and_tokenizers(target, None)
    if backbone is None:
        backbone = _small_backbone(image_size, filters)
    # `ImageEncoder` refuses a backbone with unknown sizes, or without rows and columns.
    regions = math.prod(size or 1 for size in backbone.output_shape[1:-1])
    cell = assembly.cell_class(layers.LSTMCell, layer_normalization)(units, name="cell")
    penalty = layers.DoublyStochastic(doubly_stochastic, name="penalty")
    model = CaptionModel(
        encoder=layers.ImageEncoder(
            backbone,
            layers.LearnedPositions(regions, name="positions") if positions else None,
            context_dropout,
            name="encoder",
        ),
        bridge=layers.DenseBridge(cell.state_size, name="bridge"),
        decoder=layers.RecurrentDecoder(
            embedding=assembly.word_embedding(size, embedding_dim, assembly.LARGE),
            cell=layers.GatedDecoderCell(
                cell,
                layers.BahdanauAttention(
                    units,
                    penalty=penalty if doubly_stochastic else None,
                    normalizer=normalizer,
                    name="attention",
                ),
                state_dropout,
                name="cell",
            ),
            readout=layers.DeepOutputReadout(name="readout"),
            generator=layers.VocabularyProjection(size, name="generator"),
            dropout=dropout,
            output_dropout=output_dropout,
            name="decoder",
        ),
        target_tokenizer=tokenizers.get("target_tokenizer"),
        name="show_attend_tell_lstm",
    )
    assembly.start_from_frequencies(model.decoder.generator, model.target_tokenizer)
    return model


def _small_backbone(image_size: int, filters: Sequence[int]) -> keras.Model:
    """Return a stack of convolutions that each halve height and width."""
    if not filters or image_size < 1 or image_size % 2 ** len(filters):
        raise ValueError(
            "Expected at least one filter, and an image_size that each filter can halve. "
            f"Received: image_size={image_size}, filters={tuple(filters)}."
        )
    convolutions = [
        keras.layers.Conv2D(
            features, 3, strides=2, padding="same", activation="relu", name=f"convolution_{number}"
        )
        for number, features in enumerate(filters)
    ]
    scaling = [keras.Input((image_size, image_size, 3)), layers.PixelScaling(name="scaling")]
    return keras.Sequential([*scaling, *convolutions], name="backbone")
