"""How the recurrent models of the zoo are put together."""

from collections.abc import Sequence
from typing import Any

import keras

from kerasnmt import layers
from kerasnmt.models import Seq2Seq
from kerasnmt.zoo.vocabulary import need_one_vocabulary, sizes_and_tokenizers

LARGE_EMBEDDINGS = 0.6


def recurrent_model(
    name: str,
    source: Any,
    target: Any,
    *,
    encoder_layers: Sequence[keras.layers.Layer],
    bridge: keras.layers.Layer,
    decoder_cell: keras.layers.Layer,
    readout: keras.layers.Layer,
    embedding_dim: int,
    dropout: float,
    tie_embeddings: bool,
    share_embeddings: bool,
    embedding_scale: float = 0.05,
    residual: bool = False,
    gate: keras.layers.Layer | None = None,
) -> Seq2Seq:
    """Put a recurrent encoder and a recurrent decoder together.

    Args:
        name: of the model.
        source: a tokenizer, or the source vocabulary's size where only ids are fed.
        target: likewise; None shares the source's.
        encoder_layers: the recurrent layers of the encoder, from the words up.
        bridge: what makes the decoder's first states of the encoder's last.
        decoder_cell: a decoder cell.
        readout: what turns word, state and context into features.
        embedding_dim: size of an embedded word.
        dropout: share of the features of embedded words, of the encoder's layers and of the readout
            that is dropped in training.
        tie_embeddings: whether the target embeddings are the output projection as well.
        share_embeddings: whether the words of the source are embedded by the target embeddings.
        embedding_scale: the features of embedded words begin in [-embedding_scale,
            embedding_scale]. From Keras' own 0.05 next to nothing, and no gradient, comes through
            two LSTM cells to a score or to a readout that hears the state alone: such models
            learn thousands of updates sooner from `LARGE_EMBEDDINGS`. Where a GRU cell and a maxout
            readout carry the words, small embeddings learn as fast and align better.
        residual: whether the encoder's upper layers add to what they read.
        gate: for a pointer-generator, what chooses between generating and copying.

    Returns:
        a `Seq2Seq`, not compiled.

    Raises:
        ValueError: embeddings are to be shared by two vocabularies.
    """
    vocabulary, tokenizers = sizes_and_tokenizers(source, target)
    generator = layers.TiedVocabularyProjection if tie_embeddings else layers.VocabularyProjection
    decoder = layers.RecurrentDecoder(
        embedding=word_embedding(vocabulary.target, embedding_dim, embedding_scale),
        cell=decoder_cell,
        readout=readout,
        generator=generator(vocabulary.target, name="generator"),
        dropout=dropout,
        name="decoder",
    )
    model = Seq2Seq(
        encoder=layers.RecurrentEncoder(
            source_embedding(source, target, embedding_dim, embedding_scale, share_embeddings),
            encoder_layers,
            dropout=dropout,
            residual=residual,
            name="encoder",
        ),
        bridge=bridge,
        decoder=decoder
        if gate is None
        else layers.PointerGeneratorDecoder(decoder, gate, name="pointer_generator"),
        **tokenizers,
        share_embeddings=share_embeddings,
        name=name,
    )
    start_from_frequencies(decoder.generator, model.target_tokenizer)
    return model


def word_embedding(
    vocabulary_size: int, embedding_dim: int, embedding_scale: float
) -> keras.layers.Layer:
    """Return an embedding whose features begin in [-embedding_scale, embedding_scale]."""
    return keras.layers.Embedding(
        vocabulary_size,
        embedding_dim,
        embeddings_initializer=keras.initializers.RandomUniform(-embedding_scale, embedding_scale),
        name="embedding",
    )


def source_embedding(
    source: Any, target: Any, embedding_dim: int, embedding_scale: float, shared: bool
) -> keras.layers.Layer | None:
    """Return the encoder's embedding, None where it is the decoder's.

    Raises:
        ValueError: it is to be shared by two vocabularies.
    """
    if shared:
        need_one_vocabulary("share_embeddings=True embeds both with one matrix", source, target)
        return None
    sizes, _ = sizes_and_tokenizers(source, target)
    return word_embedding(sizes.source, embedding_dim, embedding_scale)


def start_from_frequencies(generator: keras.layers.Layer, tokenizer: Any) -> None:
    """Let a new model predict each id as often as its tokenizer saw it.

    Else the features have to learn the frequencies, long before the bias can: with Adam all weights
    move alike, and a bias is but one of them. Bounded features, as of `AttentionalReadout`, are
    then driven to their bounds, from which they hardly return.
    """
    if tokenizer is not None and tokenizer.log_frequencies is not None:
        generator.bias.assign(tokenizer.log_frequencies)


def stack(cell: type[keras.layers.Layer], units: int, num_layers: int) -> keras.layers.Layer:
    """Return one cell, or several as one, with residuals."""
    if num_layers == 1:
        return cell(units, name="cell")
    cells = [cell(units, name=f"cell_{number}") for number in range(num_layers)]
    return layers.StackedCell(cells, residual=True, name="cell")


def fused_cell(cell: type[keras.layers.Layer], units: int) -> layers.FusedCell:
    """Return the layer of Keras that runs such a cell, as a cell."""
    layer = {layers.GRUCell: keras.layers.GRU, layers.LSTMCell: keras.layers.LSTM}[cell]
    return layers.FusedCell(layer(units, return_sequences=True, name="layer"), name="cell")


def check_num_layers(num_layers: int, name: str = "num_layers") -> None:
    """Refuse a stack of no layers."""
    if num_layers < 1:
        raise ValueError(f"Expected {name} >= 1. Received: {name}={num_layers}")


def coverage_layer(loss_weight: float | None) -> layers.Coverage | None:
    """Return the coverage that a zoo model's `coverage` asks for."""
    return None if loss_weight is None else layers.Coverage(loss_weight, name="coverage")
