"""Functions that assemble the models of the zoo."""

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any

import keras

from kerasnmt import layers
from kerasnmt.models import Seq2Seq
from kerasnmt.nearest_name import unknown_name_message
from kerasnmt.zoo.registry import documented

# Embeddings start uniform in [-scale, scale]. With 0.05, the scale of Keras, nearly no signal and
# no gradient passes two LSTM cells to a score, or to a readout of the state alone. Such models
# learn thousands of updates earlier with 0.6. With a GRU cell and a maxout readout, models with
# small embeddings learn equally fast and align better.
SMALL, LARGE = 0.05, 0.6


@documented
def recurrent_model(
    source: Any,
    target: Any,
    *,
    name: str | None,
    encoder: Sequence[keras.layers.Layer],
    bridge: keras.layers.Layer,
    decoder_cell: keras.layers.Layer,
    readout: keras.layers.Layer,
    embedding_dim: int,
    tags: str,
    dropout: float,
    tie_embeddings: bool,
    share_embeddings: bool,
    embedding_scale: float = SMALL,
    residual: bool = False,
    context_dropout: float = 0.0,
    output_dropout: float | None = None,
    upper: Sequence[keras.layers.Layer] = (),
    alignment: keras.layers.Layer | None = None,
    gate: keras.layers.Layer | None = None,
    pointer: keras.layers.Layer | None = None,
) -> Seq2Seq:
    """Return a model with a recurrent encoder and a recurrent decoder.

    Args:
        encoder: Recurrent layers of the encoder, from bottom to top.
        bridge: Layer that computes the decoder's first states from the encoder's last states.
        decoder_cell: A decoder cell.
        residual: Whether the encoder's upper layers have residual connections.
        upper: Layers of the decoder above its cell, from bottom to top.
        alignment: Latent alignment of a decoder with hard attention, or None for another decoder.
    """
    _, size, tokenizers = sizes_and_tokenizers(source, target)
    parts: dict[str, Any] = {
        "embedding": word_embedding(size, embedding_dim, embedding_scale),
        "cell": decoder_cell,
        "readout": readout,
        "generator": vocabulary_projection(size, tie_embeddings),
        "dropout": dropout,
        "output_dropout": output_dropout,
        "name": "decoder",
    }
    decoder = (
        layers.RecurrentDecoder(**parts, upper=upper)
        if alignment is None
        else layers.HardAttentionDecoder(alignment=alignment, **parts)
    )
    model = Seq2Seq(
        encoder=layers.RecurrentEncoder(
            source_embedding(source, target, share_embeddings, embedding_dim, embedding_scale),
            encoder,
            dropout=dropout,
            residual=residual,
            context_dropout=context_dropout,
            tags=tag_features(source, tags),
            name="encoder",
        ),
        bridge=bridge,
        decoder=decoder
        if gate is None
        else layers.PointerGeneratorDecoder(decoder, gate, pointer, name="pointer_generator"),
        **tokenizers,
        share_embeddings=share_embeddings,
        name=name,
    )
    start_from_frequencies(decoder.generator, model.target_tokenizer)
    return model


def word_embedding(size: int, embedding_dim: int, scale: float = SMALL) -> keras.layers.Layer:
    """Return an embedding of a vocabulary of this size, which starts uniform in [-scale, scale]."""
    start = keras.initializers.RandomUniform(-scale, scale)
    return keras.layers.Embedding(
        size, embedding_dim, embeddings_initializer=start, name="embedding"
    )


def source_embedding(
    source: Any, target: Any, shared: bool, embedding_dim: int, scale: float = SMALL
) -> keras.layers.Layer | None:
    """Return the encoder's embedding, or None if it is shared, which needs one vocabulary."""
    if shared:
        need_one_vocabulary("share_embeddings=True embeds both with one matrix", source, target)
        return None
    size, _, _ = sizes_and_tokenizers(source, target)
    return word_embedding(size, embedding_dim, scale)


def tag_features(source: Any, tags: str) -> layers.TagFeatures | None:
    """Return the part of the encoder for the argument `tags` of a model.

    Raises:
        ValueError: If the name is unknown, or the source has no tokenizer with tags.
    """
    if tags == "tokens":
        return None
    if tags not in ("concat", "sum"):
        raise ValueError(f"Expected tags 'tokens', 'concat' or 'sum'. Received: tags={tags!r}")
    tag_ids = [] if isinstance(source, Integral) else source.tag_ids
    if not tag_ids:
        raise ValueError(
            f"Expected a source tokenizer with tags, such as <V>, for tags={tags!r}. Received: "
            f"source={source!r}. Train it on sources with tags; CharacterTokenizer and "
            "SentencePieceTokenizer need tags=True (tags: true in a recipe)."
        )
    return layers.TagFeatures(tag_ids, tags, source.space_ids, name="tags")


def vocabulary_projection(vocabulary_size: int, tied: bool) -> keras.layers.Layer:
    """Return the output projection. If it is tied, its weights are the target embeddings."""
    projection = layers.TiedVocabularyProjection if tied else layers.VocabularyProjection
    return projection(vocabulary_size, name="generator")


def start_from_frequencies(generator: keras.layers.Layer, tokenizer: Any) -> None:
    """Initialize the bias, so that a new model predicts each id with its frequency.

    Otherwise, the features learn the frequencies long before the bias, because Adam changes all
    weights by about the same amount, and each id has many weights but only one bias. Bounded
    features, as in `AttentionalReadout`, then saturate and hardly recover.
    """
    if tokenizer is not None and tokenizer.log_frequencies is not None:
        generator.bias.assign(tokenizer.log_frequencies)


def cell_stack(cell: type, units: int, num_layers: int) -> keras.layers.Layer:
    """Return one cell, or several cells as a stack with residual connections."""
    check_num_layers(num_layers)
    if num_layers == 1:
        return cell(units, name="cell")
    cells = [cell(units, name=f"cell_{number}") for number in range(num_layers)]
    return layers.StackedCell(cells, residual=True, name="cell")


def cell_class(cell: type, layer_normalization: bool) -> type:
    """Return the class of the cells of a model, with layer normalization or without."""
    cells: dict[type, type] = {
        layers.GRUCell: layers.NormalizedGRUCell,
        layers.LSTMCell: layers.NormalizedLSTMCell,
    }
    return cells[cell] if layer_normalization else cell


def fused_cell(cell: type, units: int) -> layers.FusedCell:
    """Return the Keras layer that corresponds to this cell, as a cell."""
    fused: dict[type, Any] = {
        layers.GRUCell: keras.layers.GRU,
        layers.LSTMCell: keras.layers.LSTM,
    }
    return layers.FusedCell(fused[cell](units, return_sequences=True, name="layer"), name="cell")


def layer_stack(
    layer: type, cell: type, units: int, num_layers: int, state_dropout: float
) -> list[keras.layers.Layer]:
    """Return the layers of a recurrent encoder, from bottom to top."""
    check_num_layers(num_layers)
    return [
        layer(cell(units, name="cell"), state_dropout, name=f"layer_{number}")
        for number in range(num_layers)
    ]


def upper_layers(
    cell: type, units: int, num_layers: int, dropout: float, state_dropout: float
) -> list[keras.layers.Layer]:
    """Return the layers of a decoder above its cell, with residual connections."""
    return [
        layers.UpperLayer(
            cell(units, name="cell"), dropout, state_dropout, residual=True, name=f"layer_{number}"
        )
        for number in range(1, num_layers)
    ]


def check_num_layers(num_layers: int, name: str = "num_layers") -> None:
    """Check that there is at least one layer."""
    if num_layers < 1:
        raise ValueError(f"Expected {name} >= 1. Received: {name}={num_layers}")


def coverage_layer(loss_weight: float | None) -> layers.Coverage | None:
    """Return the coverage layer for the argument `coverage` of a model."""
    return None if loss_weight is None else layers.Coverage(loss_weight, name="coverage")


def attention_layer(
    kind: str | keras.layers.Layer,
    units: int,
    score: layers.Score | None,
    coverage: float | None,
    normalizer: str | keras.layers.Layer,
    window: keras.layers.Layer | None = None,
) -> keras.layers.Layer:
    """Return the attention for the argument `attention` of a model.

    Args:
        kind: A name, or a layer; see `kerasnmt.zoo.arguments`.
        units: Size of hidden layers.
        score: A score, or None for the additive score.
        coverage: Argument `coverage` of the model.
        normalizer: Argument `normalizer` of the model.
        window: A window of global attention, or None.

    Raises:
        ValueError: If the name is unknown, or another argument does not fit to it.
    """

    def own() -> layers.Score:
        return score or layers.AdditiveScore(units, name="score")

    kinds: dict[str, Callable[[], keras.layers.Layer]] = {
        "global": lambda: (
            layers.BahdanauAttention(
                units, coverage_layer(coverage), normalizer=normalizer, name="attention"
            )
            if score is None
            else layers.Attention(
                score, window, coverage_layer(coverage), normalizer=normalizer, name="attention"
            )
        ),
        "location_sensitive": lambda: layers.Attention(
            own(),
            coverage=layers.LocationFeatures(name="features"),
            normalizer=normalizer,
            name="attention",
        ),
        "monotonic": lambda: layers.MonotonicAttention(own(), name="attention"),
        "chunkwise": lambda: layers.MonotonicAttention(
            own(), 3, layers.AdditiveScore(units, name="chunk_score"), name="attention"
        ),
        "gaussian": lambda: layers.GaussianAttention(units, name="attention"),
    }
    is_name = isinstance(kind, str)
    if is_name and kind not in kinds:
        raise ValueError(unknown_name_message(kind, kinds, "attention"))
    if not is_name and not isinstance(kind, layers.BaseAttention):
        raise ValueError(
            f"Expected an attention layer or its name. Received: attention={kind!r:.60}. A score "
            "is a part of an attention: Attention(GeneralScore(256))."
        )
    if kind != "global" and coverage is not None:
        raise ValueError(
            f"Expected coverage=None, because attention={kind!r:.60} takes its place. "
            f"Received: coverage={coverage}"
        )
    if kind not in ("global", "location_sensitive") and normalizer != "softmax":
        raise ValueError(
            f"Expected no normalizer with attention={kind!r:.60}, which does not take one. "
            f"Received: normalizer={normalizer!r:.60}"
        )
    if score is not None and (not is_name or kind == "gaussian"):
        raise ValueError(
            "Expected a model without a score of its own, such as bahdanau_gru. Received: "
            f"attention={kind!r:.60} with {type(score).__name__}"
        )
    return kinds[kind]() if is_name else kind


def sizes_and_tokenizers(source: Any, target: Any) -> tuple[int, int, dict[str, Any]]:
    """Return the sizes of source and target, and the tokenizer arguments of `Seq2Seq`.

    Raises:
        ValueError: If a side is neither a tokenizer nor a size, or only one side has a tokenizer.
    """
    target = source if target is None else target
    if all(isinstance(side, Integral) and int(side) > 4 for side in (source, target)):
        return int(source), int(target), {}
    try:
        sizes = source.vocabulary_size, target.vocabulary_size
    except AttributeError:
        raise ValueError(
            "Expected two tokenizers, or two vocabulary sizes of at least 5 (the four special ids "
            f"and one token). Received: source={source!r}, target={target!r}"
        ) from None
    return *sizes, {"source_tokenizer": source, "target_tokenizer": target}


def need_one_vocabulary(why: str, source: Any, target: Any) -> None:
    """Check that there is one vocabulary, for a model that copies or shares embeddings.

    Raises:
        ValueError: If source and target have different vocabularies. The message contains `why`.
    """
    if target not in (None, source):
        raise ValueError(
            f"Expected one tokenizer (or size) for both sides: {why}. Received: source={source!r}, "
            f"target={target!r}. Train one tokenizer on both sides, and omit the target."
        )
