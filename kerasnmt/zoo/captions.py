"""Models that caption images."""

from collections.abc import Sequence
from typing import Any

import keras

from kerasnmt import layers
from kerasnmt.models import CaptionModel
from kerasnmt.zoo.assembly import LARGE_EMBEDDINGS, start_from_frequencies, word_embedding
from kerasnmt.zoo.registry import register
from kerasnmt.zoo.vocabulary import sizes_and_tokenizers


@register
def show_attend_tell_lstm(
    target: Any,
    *,
    backbone: keras.Model | None = None,
    image_size: int = 64,
    filters: Sequence[int] = (16, 32, 64, 64),
    positions: bool = True,
    embedding_dim: int = 128,
    units: int = 256,
    doubly_stochastic: float = 0.0,
    dropout: float = 0.2,
    state_dropout: float = 0.0,
) -> CaptionModel:
    """Show, attend and tell: an LSTM decoder that looks at the regions of an image, word by word.

    e_{t,i} = v^T tanh(W a_i + U h_{t-1} + b), z_t = beta_t sum_i alpha_{t,i} a_i with the gate
    beta_t = sigmoid(f_beta(h_{t-1})), p(y_t) = softmax(L_o (E y_{t-1} + L_h h_t + L_z z_t)): the
    soft attention of the paper. The first states are layers of the mean of the regions.

    Source: Xu et al. (2015), "Show, attend and tell", sections 3.1 and 4.2. The paper looks with
    a VGG network trained before, whose weights stay, and has no positions.

    Args:
        target: a tokenizer of captions, or their vocabulary's size where only ids are fed.
        backbone: what looks, such as a model of `keras.applications`, see
            `kerasnmt.layers.ImageEncoder`; None for a small one of convolutions, which learns with
            the decoder.
        image_size: height and width of the images of the small one; a multiple of 2 to the power
            of the number of `filters`.
        filters: numbers of features of its convolutions, each of which halves height and width.
        positions: whether to each region a vector is added that is learned for its place, without
            which "left of" is hard to tell.
        embedding_dim: size of an embedded word.
        units: size of the decoder's states and of the attention's hidden layer.
        doubly_stochastic: lambda of the penalty by which all regions get looked at, see
            `kerasnmt.layers.DoublyStochastic`; 0 for none. The authors' code has 1 for hundreds of
            regions; with few words it blurs where the model looks.
        dropout: share of the features of embedded words and of the readout that is dropped in
            training.
        state_dropout: share of the features of the LSTM's state that is dropped in training, with
            one mask for all steps, see `kerasnmt.layers.StateDropout`.

    Returns:
        a `CaptionModel`, not compiled.

    Raises:
        ValueError: `image_size` is no such multiple, the backbone is of other shapes, or
            `doubly_stochastic` is below 0.
    """
    vocabulary, tokenizers = sizes_and_tokenizers(target, None)
    if backbone is None:
        backbone = _small_backbone(image_size, filters)
    rows, columns = backbone.output_shape[1:3]
    cell = layers.LSTMCell(units, name="cell")
    penalty = layers.DoublyStochastic(doubly_stochastic, name="penalty")
    model = CaptionModel(
        encoder=layers.ImageEncoder(
            backbone,
            layers.LearnedPositions(rows * columns, name="positions") if positions else None,
            name="encoder",
        ),
        bridge=layers.DenseBridge(cell.state_size, name="bridge"),
        decoder=layers.RecurrentDecoder(
            embedding=word_embedding(vocabulary.target, embedding_dim, LARGE_EMBEDDINGS),
            cell=layers.GatedDecoderCell(
                cell,
                layers.BahdanauAttention(
                    units, penalty=penalty if doubly_stochastic else None, name="attention"
                ),
                state_dropout,
                name="cell",
            ),
            readout=layers.DeepOutputReadout(name="readout"),
            generator=layers.VocabularyProjection(vocabulary.target, name="generator"),
            dropout=dropout,
            name="decoder",
        ),
        target_tokenizer=tokenizers.get("target_tokenizer"),
        name="show_attend_tell_lstm",
    )
    start_from_frequencies(model.decoder.generator, model.target_tokenizer)
    return model


def _small_backbone(image_size: int, filters: Sequence[int]) -> keras.Model:
    """Convolutions, each of which halves the image."""
    if not filters or image_size < 1 or image_size % 2 ** len(filters):
        raise ValueError(
            "Expected at least one of filters, and an image_size that can be halved so often. "
            f"Received: image_size={image_size}, filters={tuple(filters)}."
        )
    return keras.Sequential(
        [
            keras.Input((image_size, image_size, 3)),
            layers.PixelScaling(name="scaling"),
            *(
                keras.layers.Conv2D(
                    features,
                    3,
                    strides=2,
                    padding="same",
                    activation="relu",
                    name=f"convolution_{number}",
                )
                for number, features in enumerate(filters)
            ),
        ],
        name="backbone",
    )
