"""Zoo, with all models of the library by name."""

# Written by `python -m tests.zoo.stub`.

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, ParamSpec, Protocol, TypeVar

from keras import Model

from kerasnmt.models import CaptionModel, MemoryNetwork, Preset, Seq2Seq

_Options = ParamSpec("_Options")
_Made = TypeVar("_Made", covariant=True)

class _Constructor(Protocol[_Options, _Made]):
    def __call__(self, *args: _Options.args, **kwargs: _Options.kwargs) -> _Made: ...
    def from_preset(self, preset: str | PathLike, *, load_weights: bool = True) -> _Made: ...

def _with_presets(function: Callable[_Options, _Made]) -> _Constructor[_Options, _Made]:
    """Add `from_preset` to a function that creates a model."""

def from_preset(
    preset: str | PathLike,
    *,
    load_weights: bool = True,
) -> Model:
    """Load a trained model.

    ```python
    model = from_preset("g2p_dutch")
    model.translate(["fiets"], **get_preset("g2p_dutch").search)
    ```

    Args:
        preset: A name of `list_presets`, a folder that `model.save_to_preset` wrote, or
            "hf://user/model"; see `get_preset`.
        load_weights: Whether the model gets the trained weights. If False, the weights are random.

    Returns:
        The model with its tokenizers, in float32, not compiled.

    Raises:
        ValueError: If there is no such preset, or one of its files is missing or damaged.
    """

def get_model(
    name: str,
    kind: type[Model] = Model,
) -> Callable[..., Model]:
    """Return the function that creates a model.

    Args:
        name: A name of `list_models(kind)`.
        kind: Class of the model. By default, any class.

    Raises:
        ValueError: If there is no such model, or it has another class. The error suggests the
            nearest name.
    """

def get_preset(
    preset: str | PathLike,
) -> Preset:
    """Return a preset, without loading its model.

    Args:
        preset: A folder that `model.save_to_preset` wrote, a name of `list_presets`, or
            "hf://user/model" for a preset on the Hugging Face Hub, which needs the package
            `huggingface_hub`. A folder has precedence over a name.

    Returns:
        The preset.

    Raises:
        ValueError: If there is no such preset, the folder is not a preset, or the preset cannot be
            downloaded. The error suggests the nearest name.
    """

def list_models(
    kind: type[Model] = Model,
) -> list[str]:
    """Return the sorted names of the models of the zoo.

    Args:
        kind: A class of `kerasnmt.models`, such as `Seq2Seq`, to list only its models.
    """

def list_presets() -> list[str]:
    """Return the sorted names of the presets that come with the library."""

@_with_presets
def bahdanau_gru(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    coverage: float | None = None,
    dropout: float = 0.2,
    state_dropout: float = 0.0,
    tie_embeddings: bool = False,
    share_embeddings: bool = False,
) -> Seq2Seq:
    """RNNsearch: a bidirectional GRU encoder and a GRU decoder with additive attention.

        e_{t,i} = v^T tanh(W h_i + U s_{t-1} + b)

    See appendix A.1.2 of the paper.

    Bahdanau's encoder-decoder, with attention before the recurrent cell.

    The encoder is bidirectional. The decoder attends with s_{t-1}, and feeds the context
    c_t = sum_i alpha_{t,i} h_i to its cell. Its first state is tanh(W h_1 backward + b); the
    paper's equation has no b. A maxout layer over the previous word, the state and the context
    predicts the next word.

    Source: Bahdanau, Cho and Bengio (2015), "Neural machine translation by jointly learning to
    align and translate". The paper's sizes are embedding_dim=620, units=1000.

    Args:
        source: Tokenizer of the source, or the size of its vocabulary for a model that takes only
            ids.
        target: Tokenizer of the target, or the size of its vocabulary. None for that of the source.
        embedding_dim: Size of an embedded word.
        units: Size of the decoder's state, of each direction of the encoder, and of the score's
            hidden layer.
        coverage: Weight of the coverage loss, or None for attention without coverage. 0 gives
            coverage without a loss. Start with a small weight, such as 0.1. See, Liu and Manning
            (2017) use 1, but for a trained model.
        dropout: Dropout rate of the embedded words, of the inputs of the encoder's layers and of
            the readout.
        state_dropout: Dropout rate of the recurrent states, with one mask for all steps; see
            `kerasnmt.layers.StateDropout`.
        tie_embeddings: Whether the output projection uses the target embeddings as its weights.
        share_embeddings: Whether source and target use one embedding matrix. Both must have the
            same tokenizer or size.

    Returns:
        A `Seq2Seq`, not compiled.

    Raises:
        ValueError: If an argument is out of range, or arguments contradict each other.
    """

@_with_presets
def bahdanau_lstm(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    coverage: float | None = None,
    dropout: float = 0.2,
    state_dropout: float = 0.0,
    tie_embeddings: bool = False,
    share_embeddings: bool = False,
) -> Seq2Seq:
    """RNNsearch with LSTM cells.

        e_{t,i} = v^T tanh(W h_i + U s_{t-1} + b)

    See appendix A.1.2 of the paper.

    Bahdanau's encoder-decoder, with attention before the recurrent cell.

    The encoder is bidirectional. The decoder attends with s_{t-1}, and feeds the context
    c_t = sum_i alpha_{t,i} h_i to its cell. Its first state is tanh(W h_1 backward + b); the
    paper's equation has no b. A maxout layer over the previous word, the state and the context
    predicts the next word.

    Source: Bahdanau, Cho and Bengio (2015), "Neural machine translation by jointly learning to
    align and translate". The paper's sizes are embedding_dim=620, units=1000.

    Args:
        source: Tokenizer of the source, or the size of its vocabulary for a model that takes only
            ids.
        target: Tokenizer of the target, or the size of its vocabulary. None for that of the source.
        embedding_dim: Size of an embedded word.
        units: Size of the decoder's state, of each direction of the encoder, and of the score's
            hidden layer.
        coverage: Weight of the coverage loss, or None for attention without coverage. 0 gives
            coverage without a loss. Start with a small weight, such as 0.1. See, Liu and Manning
            (2017) use 1, but for a trained model.
        dropout: Dropout rate of the embedded words, of the inputs of the encoder's layers and of
            the readout.
        state_dropout: Dropout rate of the recurrent states, with one mask for all steps; see
            `kerasnmt.layers.StateDropout`.
        tie_embeddings: Whether the output projection uses the target embeddings as its weights.
        share_embeddings: Whether source and target use one embedding matrix. Both must have the
            same tokenizer or size.

    Returns:
        A `Seq2Seq`, not compiled.

    Raises:
        ValueError: If an argument is out of range, or arguments contradict each other.
    """

@_with_presets
def concat_gru(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    coverage: float | None = None,
    dropout: float = 0.2,
    state_dropout: float = 0.0,
    tie_embeddings: bool = False,
    share_embeddings: bool = False,
) -> Seq2Seq:
    """RNNsearch that predicts words from the state alone, a simplification in many introductions.

        e_{t,i} = W_2 tanh(W_1 [h_i; s_{t-1}])

    This is the additive score with W_1 = [W, U]. The output projection reads s_t instead of a
    maxout layer, so the context must pass the cell.

    Bahdanau's encoder-decoder, with attention before the recurrent cell.

    The encoder is bidirectional. The decoder attends with s_{t-1}, and feeds the context
    c_t = sum_i alpha_{t,i} h_i to its cell. Its first state is tanh(W h_1 backward + b); the
    paper's equation has no b. A maxout layer over the previous word, the state and the context
    predicts the next word.

    Source: Bahdanau, Cho and Bengio (2015), "Neural machine translation by jointly learning to
    align and translate". The paper's sizes are embedding_dim=620, units=1000.

    Args:
        source: Tokenizer of the source, or the size of its vocabulary for a model that takes only
            ids.
        target: Tokenizer of the target, or the size of its vocabulary. None for that of the source.
        embedding_dim: Size of an embedded word.
        units: Size of the decoder's state, of each direction of the encoder, and of the score's
            hidden layer.
        coverage: Weight of the coverage loss, or None for attention without coverage. 0 gives
            coverage without a loss. Start with a small weight, such as 0.1. See, Liu and Manning
            (2017) use 1, but for a trained model.
        dropout: Dropout rate of the embedded words, of the inputs of the encoder's layers and of
            the readout.
        state_dropout: Dropout rate of the recurrent states, with one mask for all steps; see
            `kerasnmt.layers.StateDropout`.
        tie_embeddings: Whether the output projection uses the target embeddings as its weights.
        share_embeddings: Whether source and target use one embedding matrix. Both must have the
            same tokenizer or size.

    Returns:
        A `Seq2Seq`, not compiled.

    Raises:
        ValueError: If an argument is out of range, or arguments contradict each other.
    """

@_with_presets
def context_attention_gru(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    dropout: float = 0.2,
    state_dropout: float = 0.0,
    tie_embeddings: bool = False,
    share_embeddings: bool = False,
) -> Seq2Seq:
    """RNNsearch that reads a context in addition to the source, such as a story and a question.

        p(w) = p_gen p_vocab(w) + p_source sum_{i: x_i = w} alpha_{t,i}
                                + p_context sum_{j: z_j = w} beta_{t,j}

    The decoder attends to the source x and to the context z with separate weights. It chooses
    between generating a word, copying a word of the source and copying a word of the context. The
    annotations of the context depend on the source; see `kerasnmt.layers.ContextEncoder`. The
    inputs are those of a pointer-generator, and `context_ids` and `extended_context_ids`.

    Source: McCann, Keskar, Xiong and Socher (2018), "The natural language decathlon", section 3,
    with the decoder of Bahdanau, Cho and Bengio (2015). The paper's network also has self-attention
    in encoder and decoder, and fixed word vectors. Stehnii (2018), "Neural attention", section
    "Attention over context", describes the idea.

    Args:
        source: Tokenizer of all texts, or the size of its vocabulary for a model that takes only
            ids.
        target: None, or the same as `source`, because copied words need one id in all texts.
        embedding_dim: Size of an embedded word.
        units: Size of the decoder's state, of each direction of the encoder, and of the hidden
            layers of both attentions.
        dropout: Dropout rate of the embedded words, of the inputs of the encoder's layers and of
            the readout.
        state_dropout: Dropout rate of the recurrent states, with one mask for all steps; see
            `kerasnmt.layers.StateDropout`.
        tie_embeddings: Whether the output projection uses the target embeddings as its weights.
        share_embeddings: Whether source, context and target use one embedding matrix.

    Returns:
        A `Seq2Seq`, not compiled.

    Raises:
        ValueError: If an argument is out of range, or arguments contradict each other.
    """

@_with_presets
def dense_scorer_gru(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    coverage: float | None = None,
    dropout: float = 0.2,
    state_dropout: float = 0.0,
    tie_embeddings: bool = False,
    share_embeddings: bool = False,
) -> Seq2Seq:
    """RNNsearch whose score consists of dense layers at every source position, as in tutorials.

        e_{t,i} = v^T tanh(W [h_i; s_{t-1}] + b) + c

    Without the hidden layer, the attention weights could not depend on the decoder; see
    `kerasnmt.layers.TimeDistributedDenseScorer`.

    Bahdanau's encoder-decoder, with attention before the recurrent cell.

    The encoder is bidirectional. The decoder attends with s_{t-1}, and feeds the context
    c_t = sum_i alpha_{t,i} h_i to its cell. Its first state is tanh(W h_1 backward + b); the
    paper's equation has no b. A maxout layer over the previous word, the state and the context
    predicts the next word.

    Source: Bahdanau, Cho and Bengio (2015), "Neural machine translation by jointly learning to
    align and translate". The paper's sizes are embedding_dim=620, units=1000.

    Args:
        source: Tokenizer of the source, or the size of its vocabulary for a model that takes only
            ids.
        target: Tokenizer of the target, or the size of its vocabulary. None for that of the source.
        embedding_dim: Size of an embedded word.
        units: Size of the decoder's state, of each direction of the encoder, and of the score's
            hidden layer.
        coverage: Weight of the coverage loss, or None for attention without coverage. 0 gives
            coverage without a loss. Start with a small weight, such as 0.1. See, Liu and Manning
            (2017) use 1, but for a trained model.
        dropout: Dropout rate of the embedded words, of the inputs of the encoder's layers and of
            the readout.
        state_dropout: Dropout rate of the recurrent states, with one mask for all steps; see
            `kerasnmt.layers.StateDropout`.
        tie_embeddings: Whether the output projection uses the target embeddings as its weights.
        share_embeddings: Whether source and target use one embedding matrix. Both must have the
            same tokenizer or size.

    Returns:
        A `Seq2Seq`, not compiled.

    Raises:
        ValueError: If an argument is out of range, or arguments contradict each other.
    """

@_with_presets
def encoder_decoder_gru(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    num_layers: int = 1,
    dropout: float = 0.2,
    state_dropout: float = 0.0,
    tie_embeddings: bool = False,
    share_embeddings: bool = False,
) -> Seq2Seq:
    """RNN encoder-decoder, which feeds a thought vector to the decoder at every word.

        c = tanh(V h_S),    s_0 = c,    s_t = cell([y_{t-1}; c], s_{t-1})

    A maxout layer over the previous word and the state predicts the next word. In the paper, it
    also reads c, and s_0 = tanh(V' c).

    Source: Cho et al. (2014), "Learning phrase representations using RNN encoder-decoder for
    statistical machine translation". The paper's sizes are embedding_dim=100, units=1000.

    Encoder-decoder without attention.

    Args:
        source: Tokenizer of the source, or the size of its vocabulary for a model that takes only
            ids.
        target: Tokenizer of the target, or the size of its vocabulary. None for that of the source.
        embedding_dim: Size of an embedded word.
        units: Size of the states.
        num_layers: Number of layers of the encoder and of the decoder's cell, at least 1. Stacked
            layers use residual connections.
        dropout: Dropout rate of the embedded words, of the inputs of the encoder's layers and of
            the readout.
        state_dropout: Dropout rate of the recurrent states, with one mask for all steps; see
            `kerasnmt.layers.StateDropout`.
        tie_embeddings: Whether the output projection uses the target embeddings as its weights.
        share_embeddings: Whether source and target use one embedding matrix. Both must have the
            same tokenizer or size.

    Returns:
        A `Seq2Seq`, not compiled.

    Raises:
        ValueError: If an argument is out of range, or arguments contradict each other.
    """

@_with_presets
def encoder_decoder_lstm(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    num_layers: int = 1,
    dropout: float = 0.2,
    state_dropout: float = 0.0,
    tie_embeddings: bool = False,
    share_embeddings: bool = False,
) -> Seq2Seq:
    """Sequence to sequence learning: the decoder starts from the encoder's last state.

        s_0 = h_1,    s_t = cell(y_{t-1}, s_{t-1})

    The encoder reads from the last word to the first. The state alone predicts the next word.

    Source: Sutskever, Vinyals and Le (2014), "Sequence to sequence learning with neural networks".
    The paper's sizes are embedding_dim=1000, units=1000, num_layers=4.

    Encoder-decoder without attention.

    Args:
        source: Tokenizer of the source, or the size of its vocabulary for a model that takes only
            ids.
        target: Tokenizer of the target, or the size of its vocabulary. None for that of the source.
        embedding_dim: Size of an embedded word.
        units: Size of the states.
        num_layers: Number of layers of the encoder and of the decoder's cell, at least 1. Stacked
            layers use residual connections.
        dropout: Dropout rate of the embedded words, of the inputs of the encoder's layers and of
            the readout.
        state_dropout: Dropout rate of the recurrent states, with one mask for all steps; see
            `kerasnmt.layers.StateDropout`.
        tie_embeddings: Whether the output projection uses the target embeddings as its weights.
        share_embeddings: Whether source and target use one embedding matrix. Both must have the
            same tokenizer or size.

    Returns:
        A `Seq2Seq`, not compiled.

    Raises:
        ValueError: If an argument is out of range, or arguments contradict each other.
    """

@_with_presets
def history_attention_gru(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    coverage: float | None = None,
    dropout: float = 0.2,
    state_dropout: float = 0.0,
    tie_embeddings: bool = False,
    share_embeddings: bool = False,
) -> Seq2Seq:
    """RNNsearch that also attends to its own earlier states.

        e_{t,j} = v^T tanh(W s_j + U s_{t-1} + b)    for all j < t

    The attention to the source has the same kind of score, with its own weights. The cell and the
    maxout layer read both contexts. At the first word, the context of the earlier states is zero.
    Coverage applies to the source.

    Source: Cheng, Dong and Lapata (2016), "Long short-term memory-networks for machine reading",
    for the attention to earlier states; Paulus, Xiong and Socher (2018), "A deep reinforced model
    for abstractive summarization", for their second context in a decoder.

    Bahdanau's encoder-decoder, with attention before the recurrent cell.

    The encoder is bidirectional. The decoder attends with s_{t-1}, and feeds the context
    c_t = sum_i alpha_{t,i} h_i to its cell. Its first state is tanh(W h_1 backward + b); the
    paper's equation has no b. A maxout layer over the previous word, the state and the context
    predicts the next word.

    Source: Bahdanau, Cho and Bengio (2015), "Neural machine translation by jointly learning to
    align and translate". The paper's sizes are embedding_dim=620, units=1000.

    Args:
        source: Tokenizer of the source, or the size of its vocabulary for a model that takes only
            ids.
        target: Tokenizer of the target, or the size of its vocabulary. None for that of the source.
        embedding_dim: Size of an embedded word.
        units: Size of the decoder's state, of each direction of the encoder, and of the score's
            hidden layer.
        coverage: Weight of the coverage loss, or None for attention without coverage. 0 gives
            coverage without a loss. Start with a small weight, such as 0.1. See, Liu and Manning
            (2017) use 1, but for a trained model.
        dropout: Dropout rate of the embedded words, of the inputs of the encoder's layers and of
            the readout.
        state_dropout: Dropout rate of the recurrent states, with one mask for all steps; see
            `kerasnmt.layers.StateDropout`.
        tie_embeddings: Whether the output projection uses the target embeddings as its weights.
        share_embeddings: Whether source and target use one embedding matrix. Both must have the
            same tokenizer or size.

    Returns:
        A `Seq2Seq`, not compiled.

    Raises:
        ValueError: If an argument is out of range, or arguments contradict each other.
    """

@_with_presets
def luong_concat_lstm(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    encoder_units: int | None = None,
    bidirectional: bool = True,
    num_layers: int = 1,
    input_feeding: bool = False,
    coverage: float | None = None,
    fused: bool = False,
    dropout: float = 0.2,
    state_dropout: float = 0.0,
    tie_embeddings: bool = False,
    share_embeddings: bool = False,
) -> Seq2Seq:
    """Luong's model with LSTM cells and the concat score.

        e_{t,i} = v^T tanh(W [s_t; h_i] + b)

    See section 3.1 of the paper, where the score has no b.

    Luong's encoder-decoder, with attention after the recurrent cell.

    The decoder attends with its new state s_t. The attentional vector tanh(W [c_t; s_t]), with the
    context c_t = sum_i alpha_{t,i} h_i, predicts the next word. The decoder starts from the
    encoder's last states.

    Source: Luong, Pham and Manning (2015), "Effective approaches to attention-based neural machine
    translation". The paper's sizes are embedding_dim=1000, units=1000, num_layers=4. Its encoder
    reads only forward, which is `bidirectional=False`.

    Args:
        source: Tokenizer of the source, or the size of its vocabulary for a model that takes only
            ids.
        target: Tokenizer of the target, or the size of its vocabulary. None for that of the source.
        embedding_dim: Size of an embedded word.
        units: Size of the decoder's state and of the annotations.
        encoder_units: Size of the annotations, if it differs from `units`. Then a dense layer turns
            the encoder's last states into the decoder's first states.
        bidirectional: Whether the encoder reads in both directions. This is the default, because an
            annotation then also depends on later words; the two have not been compared. Each
            direction computes half of an annotation, so the size of the annotations must be even.
            False is the paper's encoder.
        num_layers: Number of layers of the encoder and of the decoder's cell, at least 1. Stacked
            layers use residual connections.
        input_feeding: Whether the cell reads the attentional vector of the previous word.
            `coverage` needs it.
        coverage: Weight of the coverage loss, or None for attention without coverage. 0 gives
            coverage without a loss. Start with a small weight, such as 0.1. See, Liu and Manning
            (2017) use 1, but for a trained model.
        fused: Whether the decoder's cell is a recurrent layer of Keras, which cuDNN runs on a GPU;
            see `kerasnmt.layers.FusedCell`. It excludes input feeding, state dropout and several
            layers.
        dropout: Dropout rate of the embedded words, of the inputs of the encoder's layers and of
            the readout.
        state_dropout: Dropout rate of the recurrent states, with one mask for all steps; see
            `kerasnmt.layers.StateDropout`.
        tie_embeddings: Whether the output projection uses the target embeddings as its weights.
        share_embeddings: Whether source and target use one embedding matrix. Both must have the
            same tokenizer or size.

    Returns:
        A `Seq2Seq`, not compiled.

    Raises:
        ValueError: If an argument is out of range, or arguments contradict each other.
    """

@_with_presets
def luong_cosine_lstm(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    bidirectional: bool = True,
    num_layers: int = 1,
    input_feeding: bool = False,
    coverage: float | None = None,
    fused: bool = False,
    dropout: float = 0.2,
    state_dropout: float = 0.0,
    tie_embeddings: bool = False,
    share_embeddings: bool = False,
) -> Seq2Seq:
    """Luong's model with LSTM cells and the cosine score.

        e_{t,i} = g cos(s_t, h_i)

    See Graves, Wayne and Danihelka (2014), "Neural Turing machines", equations 5 and 6.

    Luong's encoder-decoder, with attention after the recurrent cell.

    The decoder attends with its new state s_t. The attentional vector tanh(W [c_t; s_t]), with the
    context c_t = sum_i alpha_{t,i} h_i, predicts the next word. The decoder starts from the
    encoder's last states.

    Source: Luong, Pham and Manning (2015), "Effective approaches to attention-based neural machine
    translation". The paper's sizes are embedding_dim=1000, units=1000, num_layers=4. Its encoder
    reads only forward, which is `bidirectional=False`.

    Args:
        source: Tokenizer of the source, or the size of its vocabulary for a model that takes only
            ids.
        target: Tokenizer of the target, or the size of its vocabulary. None for that of the source.
        embedding_dim: Size of an embedded word.
        units: Size of the decoder's state and of the annotations.
        bidirectional: Whether the encoder reads in both directions. This is the default, because an
            annotation then also depends on later words; the two have not been compared. Each
            direction computes half of an annotation, so the size of the annotations must be even.
            False is the paper's encoder.
        num_layers: Number of layers of the encoder and of the decoder's cell, at least 1. Stacked
            layers use residual connections.
        input_feeding: Whether the cell reads the attentional vector of the previous word.
            `coverage` needs it.
        coverage: Weight of the coverage loss, or None for attention without coverage. 0 gives
            coverage without a loss. Start with a small weight, such as 0.1. See, Liu and Manning
            (2017) use 1, but for a trained model.
        fused: Whether the decoder's cell is a recurrent layer of Keras, which cuDNN runs on a GPU;
            see `kerasnmt.layers.FusedCell`. It excludes input feeding, state dropout and several
            layers.
        dropout: Dropout rate of the embedded words, of the inputs of the encoder's layers and of
            the readout.
        state_dropout: Dropout rate of the recurrent states, with one mask for all steps; see
            `kerasnmt.layers.StateDropout`.
        tie_embeddings: Whether the output projection uses the target embeddings as its weights.
        share_embeddings: Whether source and target use one embedding matrix. Both must have the
            same tokenizer or size.

    Returns:
        A `Seq2Seq`, not compiled.

    Raises:
        ValueError: If an argument is out of range, or arguments contradict each other.
    """

@_with_presets
def luong_dot_lstm(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    bidirectional: bool = True,
    num_layers: int = 1,
    input_feeding: bool = False,
    coverage: float | None = None,
    fused: bool = False,
    dropout: float = 0.2,
    state_dropout: float = 0.0,
    tie_embeddings: bool = False,
    share_embeddings: bool = False,
) -> Seq2Seq:
    """Luong's model with LSTM cells and the dot score.

        e_{t,i} = s_t^T h_i

    See section 3.1 of the paper.

    Luong's encoder-decoder, with attention after the recurrent cell.

    The decoder attends with its new state s_t. The attentional vector tanh(W [c_t; s_t]), with the
    context c_t = sum_i alpha_{t,i} h_i, predicts the next word. The decoder starts from the
    encoder's last states.

    Source: Luong, Pham and Manning (2015), "Effective approaches to attention-based neural machine
    translation". The paper's sizes are embedding_dim=1000, units=1000, num_layers=4. Its encoder
    reads only forward, which is `bidirectional=False`.

    Args:
        source: Tokenizer of the source, or the size of its vocabulary for a model that takes only
            ids.
        target: Tokenizer of the target, or the size of its vocabulary. None for that of the source.
        embedding_dim: Size of an embedded word.
        units: Size of the decoder's state and of the annotations.
        bidirectional: Whether the encoder reads in both directions. This is the default, because an
            annotation then also depends on later words; the two have not been compared. Each
            direction computes half of an annotation, so the size of the annotations must be even.
            False is the paper's encoder.
        num_layers: Number of layers of the encoder and of the decoder's cell, at least 1. Stacked
            layers use residual connections.
        input_feeding: Whether the cell reads the attentional vector of the previous word.
            `coverage` needs it.
        coverage: Weight of the coverage loss, or None for attention without coverage. 0 gives
            coverage without a loss. Start with a small weight, such as 0.1. See, Liu and Manning
            (2017) use 1, but for a trained model.
        fused: Whether the decoder's cell is a recurrent layer of Keras, which cuDNN runs on a GPU;
            see `kerasnmt.layers.FusedCell`. It excludes input feeding, state dropout and several
            layers.
        dropout: Dropout rate of the embedded words, of the inputs of the encoder's layers and of
            the readout.
        state_dropout: Dropout rate of the recurrent states, with one mask for all steps; see
            `kerasnmt.layers.StateDropout`.
        tie_embeddings: Whether the output projection uses the target embeddings as its weights.
        share_embeddings: Whether source and target use one embedding matrix. Both must have the
            same tokenizer or size.

    Returns:
        A `Seq2Seq`, not compiled.

    Raises:
        ValueError: If an argument is out of range, or arguments contradict each other.
    """

@_with_presets
def luong_general_gru(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    encoder_units: int | None = None,
    bidirectional: bool = True,
    num_layers: int = 1,
    input_feeding: bool = False,
    coverage: float | None = None,
    fused: bool = False,
    dropout: float = 0.2,
    state_dropout: float = 0.0,
    tie_embeddings: bool = False,
    share_embeddings: bool = False,
) -> Seq2Seq:
    """Luong's model with GRU cells and the general score.

        e_{t,i} = s_t^T W h_i

    See section 3.1 of the paper.

    Luong's encoder-decoder, with attention after the recurrent cell.

    The decoder attends with its new state s_t. The attentional vector tanh(W [c_t; s_t]), with the
    context c_t = sum_i alpha_{t,i} h_i, predicts the next word. The decoder starts from the
    encoder's last states.

    Source: Luong, Pham and Manning (2015), "Effective approaches to attention-based neural machine
    translation". The paper's sizes are embedding_dim=1000, units=1000, num_layers=4. Its encoder
    reads only forward, which is `bidirectional=False`.

    Args:
        source: Tokenizer of the source, or the size of its vocabulary for a model that takes only
            ids.
        target: Tokenizer of the target, or the size of its vocabulary. None for that of the source.
        embedding_dim: Size of an embedded word.
        units: Size of the decoder's state and of the annotations.
        encoder_units: Size of the annotations, if it differs from `units`. Then a dense layer turns
            the encoder's last states into the decoder's first states.
        bidirectional: Whether the encoder reads in both directions. This is the default, because an
            annotation then also depends on later words; the two have not been compared. Each
            direction computes half of an annotation, so the size of the annotations must be even.
            False is the paper's encoder.
        num_layers: Number of layers of the encoder and of the decoder's cell, at least 1. Stacked
            layers use residual connections.
        input_feeding: Whether the cell reads the attentional vector of the previous word.
            `coverage` needs it.
        coverage: Weight of the coverage loss, or None for attention without coverage. 0 gives
            coverage without a loss. Start with a small weight, such as 0.1. See, Liu and Manning
            (2017) use 1, but for a trained model.
        fused: Whether the decoder's cell is a recurrent layer of Keras, which cuDNN runs on a GPU;
            see `kerasnmt.layers.FusedCell`. It excludes input feeding, state dropout and several
            layers.
        dropout: Dropout rate of the embedded words, of the inputs of the encoder's layers and of
            the readout.
        state_dropout: Dropout rate of the recurrent states, with one mask for all steps; see
            `kerasnmt.layers.StateDropout`.
        tie_embeddings: Whether the output projection uses the target embeddings as its weights.
        share_embeddings: Whether source and target use one embedding matrix. Both must have the
            same tokenizer or size.

    Returns:
        A `Seq2Seq`, not compiled.

    Raises:
        ValueError: If an argument is out of range, or arguments contradict each other.
    """

@_with_presets
def luong_general_lstm(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    encoder_units: int | None = None,
    bidirectional: bool = True,
    num_layers: int = 1,
    input_feeding: bool = False,
    coverage: float | None = None,
    fused: bool = False,
    dropout: float = 0.2,
    state_dropout: float = 0.0,
    tie_embeddings: bool = False,
    share_embeddings: bool = False,
) -> Seq2Seq:
    """Luong's model with LSTM cells and the general score.

        e_{t,i} = s_t^T W h_i

    See section 3.1 of the paper.

    Luong's encoder-decoder, with attention after the recurrent cell.

    The decoder attends with its new state s_t. The attentional vector tanh(W [c_t; s_t]), with the
    context c_t = sum_i alpha_{t,i} h_i, predicts the next word. The decoder starts from the
    encoder's last states.

    Source: Luong, Pham and Manning (2015), "Effective approaches to attention-based neural machine
    translation". The paper's sizes are embedding_dim=1000, units=1000, num_layers=4. Its encoder
    reads only forward, which is `bidirectional=False`.

    Args:
        source: Tokenizer of the source, or the size of its vocabulary for a model that takes only
            ids.
        target: Tokenizer of the target, or the size of its vocabulary. None for that of the source.
        embedding_dim: Size of an embedded word.
        units: Size of the decoder's state and of the annotations.
        encoder_units: Size of the annotations, if it differs from `units`. Then a dense layer turns
            the encoder's last states into the decoder's first states.
        bidirectional: Whether the encoder reads in both directions. This is the default, because an
            annotation then also depends on later words; the two have not been compared. Each
            direction computes half of an annotation, so the size of the annotations must be even.
            False is the paper's encoder.
        num_layers: Number of layers of the encoder and of the decoder's cell, at least 1. Stacked
            layers use residual connections.
        input_feeding: Whether the cell reads the attentional vector of the previous word.
            `coverage` needs it.
        coverage: Weight of the coverage loss, or None for attention without coverage. 0 gives
            coverage without a loss. Start with a small weight, such as 0.1. See, Liu and Manning
            (2017) use 1, but for a trained model.
        fused: Whether the decoder's cell is a recurrent layer of Keras, which cuDNN runs on a GPU;
            see `kerasnmt.layers.FusedCell`. It excludes input feeding, state dropout and several
            layers.
        dropout: Dropout rate of the embedded words, of the inputs of the encoder's layers and of
            the readout.
        state_dropout: Dropout rate of the recurrent states, with one mask for all steps; see
            `kerasnmt.layers.StateDropout`.
        tie_embeddings: Whether the output projection uses the target embeddings as its weights.
        share_embeddings: Whether source and target use one embedding matrix. Both must have the
            same tokenizer or size.

    Returns:
        A `Seq2Seq`, not compiled.

    Raises:
        ValueError: If an argument is out of range, or arguments contradict each other.
    """

@_with_presets
def luong_local_m_lstm(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    encoder_units: int | None = None,
    bidirectional: bool = True,
    num_layers: int = 1,
    input_feeding: bool = False,
    coverage: float | None = None,
    fused: bool = False,
    dropout: float = 0.2,
    state_dropout: float = 0.0,
    tie_embeddings: bool = False,
    share_embeddings: bool = False,
    width: int = 10,
) -> Seq2Seq:
    """Luong's model with LSTM cells and the general score in a monotonic window, "local-m".

        e_{t,i} = s_t^T W h_i    for |i - t| <= D

    Positions t and i are counted from 0. See section 3.2 of the paper.

    Luong's encoder-decoder, with attention after the recurrent cell.

    The decoder attends with its new state s_t. The attentional vector tanh(W [c_t; s_t]), with the
    context c_t = sum_i alpha_{t,i} h_i, predicts the next word. The decoder starts from the
    encoder's last states.

    Source: Luong, Pham and Manning (2015), "Effective approaches to attention-based neural machine
    translation". The paper's sizes are embedding_dim=1000, units=1000, num_layers=4. Its encoder
    reads only forward, which is `bidirectional=False`.

    Args:
        source: Tokenizer of the source, or the size of its vocabulary for a model that takes only
            ids.
        target: Tokenizer of the target, or the size of its vocabulary. None for that of the source.
        embedding_dim: Size of an embedded word.
        units: Size of the decoder's state and of the annotations.
        encoder_units: Size of the annotations, if it differs from `units`. Then a dense layer turns
            the encoder's last states into the decoder's first states.
        bidirectional: Whether the encoder reads in both directions. This is the default, because an
            annotation then also depends on later words; the two have not been compared. Each
            direction computes half of an annotation, so the size of the annotations must be even.
            False is the paper's encoder.
        num_layers: Number of layers of the encoder and of the decoder's cell, at least 1. Stacked
            layers use residual connections.
        input_feeding: Whether the cell reads the attentional vector of the previous word.
            `coverage` needs it.
        coverage: Weight of the coverage loss, or None for attention without coverage. 0 gives
            coverage without a loss. Start with a small weight, such as 0.1. See, Liu and Manning
            (2017) use 1, but for a trained model.
        fused: Whether the decoder's cell is a recurrent layer of Keras, which cuDNN runs on a GPU;
            see `kerasnmt.layers.FusedCell`. It excludes input feeding, state dropout and several
            layers.
        dropout: Dropout rate of the embedded words, of the inputs of the encoder's layers and of
            the readout.
        state_dropout: Dropout rate of the recurrent states, with one mask for all steps; see
            `kerasnmt.layers.StateDropout`.
        tie_embeddings: Whether the output projection uses the target embeddings as its weights.
        share_embeddings: Whether source and target use one embedding matrix. Both must have the
            same tokenizer or size.
        width: Number D of source words on each side of the window's center.

    Returns:
        A `Seq2Seq`, not compiled.

    Raises:
        ValueError: If an argument is out of range, or arguments contradict each other.
    """

@_with_presets
def luong_local_p_lstm(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    encoder_units: int | None = None,
    bidirectional: bool = True,
    num_layers: int = 1,
    input_feeding: bool = False,
    coverage: float | None = None,
    fused: bool = False,
    dropout: float = 0.2,
    state_dropout: float = 0.0,
    tie_embeddings: bool = False,
    share_embeddings: bool = False,
    width: int = 10,
) -> Seq2Seq:
    """Luong's model with LSTM cells and the general score in a predictive window, "local-p".

        e_{t,i} = s_t^T W h_i    for |i - p_t| <= D
        p_t = S sigmoid(v^T tanh(W_p s_t))

    A Gaussian around p_t multiplies the attention weights. Positions i are counted from 0. See
    section 3.2 of the paper.

    Luong's encoder-decoder, with attention after the recurrent cell.

    The decoder attends with its new state s_t. The attentional vector tanh(W [c_t; s_t]), with the
    context c_t = sum_i alpha_{t,i} h_i, predicts the next word. The decoder starts from the
    encoder's last states.

    Source: Luong, Pham and Manning (2015), "Effective approaches to attention-based neural machine
    translation". The paper's sizes are embedding_dim=1000, units=1000, num_layers=4. Its encoder
    reads only forward, which is `bidirectional=False`.

    Args:
        source: Tokenizer of the source, or the size of its vocabulary for a model that takes only
            ids.
        target: Tokenizer of the target, or the size of its vocabulary. None for that of the source.
        embedding_dim: Size of an embedded word.
        units: Size of the decoder's state and of the annotations.
        encoder_units: Size of the annotations, if it differs from `units`. Then a dense layer turns
            the encoder's last states into the decoder's first states.
        bidirectional: Whether the encoder reads in both directions. This is the default, because an
            annotation then also depends on later words; the two have not been compared. Each
            direction computes half of an annotation, so the size of the annotations must be even.
            False is the paper's encoder.
        num_layers: Number of layers of the encoder and of the decoder's cell, at least 1. Stacked
            layers use residual connections.
        input_feeding: Whether the cell reads the attentional vector of the previous word.
            `coverage` needs it.
        coverage: Weight of the coverage loss, or None for attention without coverage. 0 gives
            coverage without a loss. Start with a small weight, such as 0.1. See, Liu and Manning
            (2017) use 1, but for a trained model.
        fused: Whether the decoder's cell is a recurrent layer of Keras, which cuDNN runs on a GPU;
            see `kerasnmt.layers.FusedCell`. It excludes input feeding, state dropout and several
            layers.
        dropout: Dropout rate of the embedded words, of the inputs of the encoder's layers and of
            the readout.
        state_dropout: Dropout rate of the recurrent states, with one mask for all steps; see
            `kerasnmt.layers.StateDropout`.
        tie_embeddings: Whether the output projection uses the target embeddings as its weights.
        share_embeddings: Whether source and target use one embedding matrix. Both must have the
            same tokenizer or size.
        width: Number D of source words on each side of the window's center.

    Returns:
        A `Seq2Seq`, not compiled.

    Raises:
        ValueError: If an argument is out of range, or arguments contradict each other.
    """

@_with_presets
def luong_location_lstm(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    encoder_units: int | None = None,
    bidirectional: bool = True,
    num_layers: int = 1,
    input_feeding: bool = False,
    fused: bool = False,
    dropout: float = 0.2,
    state_dropout: float = 0.0,
    tie_embeddings: bool = False,
    share_embeddings: bool = False,
    max_length: int = 100,
) -> Seq2Seq:
    """Luong's model with LSTM cells and the location score, which reads only the state.

        e_t = W s_t

    See section 3.1 and equation 8 of the paper.

    Luong's encoder-decoder, with attention after the recurrent cell.

    The decoder attends with its new state s_t. The attentional vector tanh(W [c_t; s_t]), with the
    context c_t = sum_i alpha_{t,i} h_i, predicts the next word. The decoder starts from the
    encoder's last states.

    Source: Luong, Pham and Manning (2015), "Effective approaches to attention-based neural machine
    translation". The paper's sizes are embedding_dim=1000, units=1000, num_layers=4. Its encoder
    reads only forward, which is `bidirectional=False`.

    Args:
        source: Tokenizer of the source, or the size of its vocabulary for a model that takes only
            ids.
        target: Tokenizer of the target, or the size of its vocabulary. None for that of the source.
        embedding_dim: Size of an embedded word.
        units: Size of the decoder's state and of the annotations.
        encoder_units: Size of the annotations, if it differs from `units`. Then a dense layer turns
            the encoder's last states into the decoder's first states.
        bidirectional: Whether the encoder reads in both directions. This is the default, because an
            annotation then also depends on later words; the two have not been compared. Each
            direction computes half of an annotation, so the size of the annotations must be even.
            False is the paper's encoder.
        num_layers: Number of layers of the encoder and of the decoder's cell, at least 1. Stacked
            layers use residual connections.
        input_feeding: Whether the cell reads the attentional vector of the previous word.
            `coverage` needs it.
        fused: Whether the decoder's cell is a recurrent layer of Keras, which cuDNN runs on a GPU;
            see `kerasnmt.layers.FusedCell`. It excludes input feeding, state dropout and several
            layers.
        dropout: Dropout rate of the embedded words, of the inputs of the encoder's layers and of
            the readout.
        state_dropout: Dropout rate of the recurrent states, with one mask for all steps; see
            `kerasnmt.layers.StateDropout`.
        tie_embeddings: Whether the output projection uses the target embeddings as its weights.
        share_embeddings: Whether source and target use one embedding matrix. Both must have the
            same tokenizer or size.
        max_length: Number of source positions that can get attention. The rest of a longer source
            is ignored.

    Returns:
        A `Seq2Seq`, not compiled.

    Raises:
        ValueError: If an argument is out of range, or arguments contradict each other.
    """

@_with_presets
def luong_scaled_dot_lstm(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    bidirectional: bool = True,
    num_layers: int = 1,
    input_feeding: bool = False,
    coverage: float | None = None,
    fused: bool = False,
    dropout: float = 0.2,
    state_dropout: float = 0.0,
    tie_embeddings: bool = False,
    share_embeddings: bool = False,
) -> Seq2Seq:
    """Luong's model with LSTM cells and the scaled dot score.

        e_{t,i} = s_t^T h_i / sqrt(n)

    See Vaswani et al. (2017), "Attention is all you need", section 3.2.1.

    Luong's encoder-decoder, with attention after the recurrent cell.

    The decoder attends with its new state s_t. The attentional vector tanh(W [c_t; s_t]), with the
    context c_t = sum_i alpha_{t,i} h_i, predicts the next word. The decoder starts from the
    encoder's last states.

    Source: Luong, Pham and Manning (2015), "Effective approaches to attention-based neural machine
    translation". The paper's sizes are embedding_dim=1000, units=1000, num_layers=4. Its encoder
    reads only forward, which is `bidirectional=False`.

    Args:
        source: Tokenizer of the source, or the size of its vocabulary for a model that takes only
            ids.
        target: Tokenizer of the target, or the size of its vocabulary. None for that of the source.
        embedding_dim: Size of an embedded word.
        units: Size of the decoder's state and of the annotations.
        bidirectional: Whether the encoder reads in both directions. This is the default, because an
            annotation then also depends on later words; the two have not been compared. Each
            direction computes half of an annotation, so the size of the annotations must be even.
            False is the paper's encoder.
        num_layers: Number of layers of the encoder and of the decoder's cell, at least 1. Stacked
            layers use residual connections.
        input_feeding: Whether the cell reads the attentional vector of the previous word.
            `coverage` needs it.
        coverage: Weight of the coverage loss, or None for attention without coverage. 0 gives
            coverage without a loss. Start with a small weight, such as 0.1. See, Liu and Manning
            (2017) use 1, but for a trained model.
        fused: Whether the decoder's cell is a recurrent layer of Keras, which cuDNN runs on a GPU;
            see `kerasnmt.layers.FusedCell`. It excludes input feeding, state dropout and several
            layers.
        dropout: Dropout rate of the embedded words, of the inputs of the encoder's layers and of
            the readout.
        state_dropout: Dropout rate of the recurrent states, with one mask for all steps; see
            `kerasnmt.layers.StateDropout`.
        tie_embeddings: Whether the output projection uses the target embeddings as its weights.
        share_embeddings: Whether source and target use one embedding matrix. Both must have the
            same tokenizer or size.

    Returns:
        A `Seq2Seq`, not compiled.

    Raises:
        ValueError: If an argument is out of range, or arguments contradict each other.
    """

@_with_presets
def memory_network(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int = 50,
    hops: int = 3,
    tying: str = "adjacent",
    encoding: str = "position",
    temporal_encoding: bool = True,
    max_sentences: int = 50,
    random_noise: float = 0.1,
) -> MemoryNetwork:
    """End-to-end memory network, which answers a question about a story with one word.

        p_i = softmax_i(u^T m_i),    o = sum_i p_i c_i,    answer = softmax(W (o + u))

    Each hop adds its output o to the question u of the next hop. With `tying="adjacent"` and one
    tokenizer, W^T = C^K. The default sizes are those of the paper for all bAbI tasks together. The
    paper trains them with a linear start; see `kerasnmt.training.LinearStart`.

    Source: Sukhbaatar, Szlam, Weston and Fergus (2015), "End-to-end memory networks". For a single
    task, the paper uses embedding_dim=20.

    Args:
        source: Tokenizer of stories and questions, or the size of its vocabulary for a model that
            takes only ids.
        target: Tokenizer of the answers, where an answer is one word, or the size of its
            vocabulary. None for that of the source, as in the paper.
        embedding_dim: Size of an encoded sentence.
        hops: Number of hops.
        tying: "adjacent" if the output embedding of a hop is the input embedding of the next hop,
            or "layerwise" if all hops share their embeddings.
        encoding: "position" if the encoding of a sentence depends on the order of its words, or
            "bag_of_words" if it does not. "position" has twice the scale of the paper, like the
            authors' code; see `kerasnmt.layers.PositionEncoding`.
        temporal_encoding: Whether the order of the sentences matters.
        max_sentences: Number of places in the memory, and of sentence ages in the temporal
            encoding. A shorter story leaves places empty; see `kerasnmt.layers.MemoryHop`. With a
            temporal encoding, only the last sentences of a longer story are read. Use the length of
            the longest story, but not more than 50.
        random_noise: Probability of an empty place after a sentence in training, which makes the
            earlier sentences older.

    Returns:
        A `MemoryNetwork`, not compiled.

    Raises:
        ValueError: If an argument is out of range, or arguments contradict each other.
    """

@_with_presets
def pointer_generator_gru(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    own_pointer: bool = False,
    coverage: float | None = None,
    dropout: float = 0.2,
    state_dropout: float = 0.0,
    tie_embeddings: bool = False,
    share_embeddings: bool = False,
) -> Seq2Seq:
    """RNNsearch that copies words: `bahdanau_gru` with a pointer.

        p(w) = p_gen p_vocab(w) + p_copy sum_{i: x_i = w} alpha_{t,i}
        (p_gen, p_copy) = softmax(W s_t)

    The gate is that of Stehnii (2018), "Neural attention", section "Pointer networks".

    Bahdanau's encoder-decoder, which copies words that are not in its vocabulary.

    Source: See, Liu and Manning (2017), "Get to the point", with the model of Bahdanau, Cho and
    Bengio (2015). The paper's sizes are embedding_dim=128, units=256. In the paper, the decoder
    attends with s_t, and two linear layers predict the words.

    Args:
        source: Tokenizer of both sides, or the size of its vocabulary for a model that takes only
            ids.
        target: None, or the same as `source`, because copied words need one id on both sides.
        embedding_dim: Size of an embedded word.
        units: Size of the decoder's state, of each direction of the encoder, and of the hidden
            layers of attention and pointer.
        own_pointer: Whether the pointer is a separate attention with the query s_t, as in Stehnii
            (2018), "Neural attention", section "Pointer networks", plus a bias b: softmax_i(w^T
            tanh(W_x h_i + W_y s_t + b)). By default, the pointer is the decoder's attention.
            Coverage applies to the decoder's attention.
        coverage: Weight of the coverage loss, or None for attention without coverage. 0 gives
            coverage without a loss. Start with a small weight, such as 0.1. See, Liu and Manning
            (2017) use 1, but for a trained model.
        dropout: Dropout rate of the embedded words, of the inputs of the encoder's layers and of
            the readout.
        state_dropout: Dropout rate of the recurrent states, with one mask for all steps; see
            `kerasnmt.layers.StateDropout`.
        tie_embeddings: Whether the output projection uses the target embeddings as its weights.
        share_embeddings: Whether source and target use one embedding matrix. Both must have the
            same tokenizer or size.

    Returns:
        A `Seq2Seq`, not compiled.

    Raises:
        ValueError: If an argument is out of range, or arguments contradict each other.
    """

@_with_presets
def pointer_generator_lstm(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    own_pointer: bool = False,
    coverage: float | None = None,
    dropout: float = 0.2,
    state_dropout: float = 0.0,
    tie_embeddings: bool = False,
    share_embeddings: bool = False,
) -> Seq2Seq:
    """Pointer-generator: `bahdanau_lstm` with a pointer.

        p(w) = p_gen p_vocab(w) + (1 - p_gen) sum_{i: x_i = w} alpha_{t,i}
        p_gen = sigmoid(w_c c_t + w_s s_t + w_y y_{t-1} + b)

    See equations 8 and 9 of the paper.

    Bahdanau's encoder-decoder, which copies words that are not in its vocabulary.

    Source: See, Liu and Manning (2017), "Get to the point", with the model of Bahdanau, Cho and
    Bengio (2015). The paper's sizes are embedding_dim=128, units=256. In the paper, the decoder
    attends with s_t, and two linear layers predict the words.

    Args:
        source: Tokenizer of both sides, or the size of its vocabulary for a model that takes only
            ids.
        target: None, or the same as `source`, because copied words need one id on both sides.
        embedding_dim: Size of an embedded word.
        units: Size of the decoder's state, of each direction of the encoder, and of the hidden
            layers of attention and pointer.
        own_pointer: Whether the pointer is a separate attention with the query s_t, as in Stehnii
            (2018), "Neural attention", section "Pointer networks", plus a bias b: softmax_i(w^T
            tanh(W_x h_i + W_y s_t + b)). By default, the pointer is the decoder's attention.
            Coverage applies to the decoder's attention.
        coverage: Weight of the coverage loss, or None for attention without coverage. 0 gives
            coverage without a loss. Start with a small weight, such as 0.1. See, Liu and Manning
            (2017) use 1, but for a trained model.
        dropout: Dropout rate of the embedded words, of the inputs of the encoder's layers and of
            the readout.
        state_dropout: Dropout rate of the recurrent states, with one mask for all steps; see
            `kerasnmt.layers.StateDropout`.
        tie_embeddings: Whether the output projection uses the target embeddings as its weights.
        share_embeddings: Whether source and target use one embedding matrix. Both must have the
            same tokenizer or size.

    Returns:
        A `Seq2Seq`, not compiled.

    Raises:
        ValueError: If an argument is out of range, or arguments contradict each other.
    """

@_with_presets
def pointer_network_lstm(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    coverage: float | None = None,
    dropout: float = 0.2,
    state_dropout: float = 0.0,
    share_embeddings: bool = False,
) -> Seq2Seq:
    """Pointer network, where every word of the output is a word of the source.

        p(w) = sum_{i: x_i = w} a_{t,i},    a_{t,i} = softmax_i(v^T tanh(W_1 h_i + W_2 s_t + b))

    The decoder reads the embedding of the word that it has predicted. It ends by pointing at the
    end token of the source.

    Source: Vinyals, Fortunato and Jaitly (2015), "Pointer networks", section 2.3. The paper's
    encoder is not bidirectional, and its equation has no bias b. Its sizes are units=256 or 512.

    Args:
        source: Tokenizer of both sides, or the size of its vocabulary for a model that takes only
            ids.
        target: None, or the same as `source`, because copied words need one id on both sides.
        embedding_dim: Size of an embedded word.
        units: Size of the decoder's state, of each direction of the encoder, and of the attention's
            hidden layer.
        coverage: Weight of the coverage loss, or None for the paper's pointer, which knows only the
            previous word and its state. 0 gives coverage without a loss. With coverage, the pointer
            knows its earlier positions, and the decoder uses input feeding; see
            `kerasnmt.layers.InputFeedingDecoderCell`. Use it for orderings, which point at each
            word once.
        dropout: Dropout rate of the embedded words and of the inputs of the encoder's layers.
        state_dropout: Dropout rate of the recurrent states, with one mask for all steps; see
            `kerasnmt.layers.StateDropout`.
        share_embeddings: Whether source and target use one embedding matrix. Both must have the
            same tokenizer or size.

    Returns:
        A `Seq2Seq`, not compiled.

    Raises:
        ValueError: If an argument is out of range, or arguments contradict each other.
    """

@_with_presets
def show_attend_tell_lstm(
    target: Any,
    *,
    backbone: Model | None = None,
    image_size: int = 64,
    filters: Sequence[int] = (16, 32, 64, 64),
    positions: bool = True,
    embedding_dim: int = 128,
    units: int = 256,
    doubly_stochastic: float = 0.0,
    dropout: float = 0.2,
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
        embedding_dim: Size of an embedded word.
        units: Size of the decoder's states and of the attention's hidden layer.
        doubly_stochastic: Weight lambda of the penalty that makes the model attend to all regions,
            or 0 for none; see `kerasnmt.layers.DoublyStochastic`. The authors' code uses 1 for
            hundreds of regions. With few words, the penalty blurs the attention.
        dropout: Dropout rate of the embedded words and of the readout.
        state_dropout: Dropout rate of the recurrent states, with one mask for all steps; see
            `kerasnmt.layers.StateDropout`.

    Returns:
        A `CaptionModel`, not compiled.

    Raises:
        ValueError: If an argument is out of range, or arguments contradict each other.
    """

@_with_presets
def transformer_base(
    source: Any,
    target: Any = None,
    *,
    units: int = 512,
    num_heads: int = 8,
    hidden_units: int = 2048,
    encoder_layers: int = 6,
    decoder_layers: int = 6,
    dropout: float = 0.1,
    attention_dropout: float = 0.0,
    pre_norm: bool = False,
    max_positions: int | None = None,
    tie_embeddings: bool = True,
    share_embeddings: bool | None = None,
) -> Seq2Seq:
    """Transformer in the paper's base size (table 3), for millions of sentence pairs.

    The paper uses a warm-up of 4,000 steps, with `learning_rate_schedule: inverse_sqrt` in a
    recipe.

    Transformer, with attention instead of recurrence.

        attention(Q, K, V) = softmax(Q K^T / sqrt(d)) V

    Every word of the source attends to all words of the source, with several heads. Every word of
    the target attends to the previous words and to the source. There is no recurrence, so training
    computes all words of a target at once. Unlike the paper, the output has a bias. Training needs
    a warm-up of the learning rate: `warmup_steps` in a recipe, with
    `learning_rate_schedule: inverse_sqrt` or `cosine`.

    Source: Vaswani et al. (2017), "Attention is all you need".

    Args:
        source: Tokenizer of the source, or the size of its vocabulary for a model that takes only
            ids.
        target: Tokenizer of the target, or the size of its vocabulary. None for that of the source.
        units: Size of embedded words and of the output of every layer. It must be even.
        num_heads: Number of heads of each attention. It must divide `units`.
        hidden_units: Size of the hidden layer of the feed-forward blocks.
        encoder_layers: Number of layers of the encoder.
        decoder_layers: Number of layers of the decoder.
        dropout: Dropout rate of the embedded words and of the output of every sublayer.
        attention_dropout: Dropout rate of the attention weights.
        pre_norm: Whether features are normalized before each sublayer, not after it as in the
            paper.
        max_positions: Number of learned positions, which limits the length of texts, or None for
            sinusoidal positions, which have no limit.
        tie_embeddings: Whether the output projection uses the target embeddings as its weights.
        share_embeddings: Whether source and target use one embedding matrix. None shares it if
            `target` is None or the source's tokenizer.

    Returns:
        A `Seq2Seq`, not compiled.

    Raises:
        ValueError: If an argument is out of range, or arguments contradict each other.
    """

@_with_presets
def transformer_tiny(
    source: Any,
    target: Any = None,
    *,
    units: int = 128,
    num_heads: int = 4,
    hidden_units: int = 256,
    encoder_layers: int = 4,
    decoder_layers: int = 4,
    dropout: float = 0.3,
    attention_dropout: float = 0.1,
    pre_norm: bool = True,
    max_positions: int | None = None,
    tie_embeddings: bool = True,
    share_embeddings: bool | None = None,
) -> Seq2Seq:
    """Transformer in a size for tens of thousands of sentence pairs.

    The sizes are those of Wu et al. (2021), "Good for misconceived reasons", for Multi30k. Features
    are normalized before each sublayer.

    Transformer, with attention instead of recurrence.

        attention(Q, K, V) = softmax(Q K^T / sqrt(d)) V

    Every word of the source attends to all words of the source, with several heads. Every word of
    the target attends to the previous words and to the source. There is no recurrence, so training
    computes all words of a target at once. Unlike the paper, the output has a bias. Training needs
    a warm-up of the learning rate: `warmup_steps` in a recipe, with
    `learning_rate_schedule: inverse_sqrt` or `cosine`.

    Source: Vaswani et al. (2017), "Attention is all you need".

    Args:
        source: Tokenizer of the source, or the size of its vocabulary for a model that takes only
            ids.
        target: Tokenizer of the target, or the size of its vocabulary. None for that of the source.
        units: Size of embedded words and of the output of every layer. It must be even.
        num_heads: Number of heads of each attention. It must divide `units`.
        hidden_units: Size of the hidden layer of the feed-forward blocks.
        encoder_layers: Number of layers of the encoder.
        decoder_layers: Number of layers of the decoder.
        dropout: Dropout rate of the embedded words and of the output of every sublayer.
        attention_dropout: Dropout rate of the attention weights.
        pre_norm: Whether features are normalized before each sublayer, not after it as in the
            paper.
        max_positions: Number of learned positions, which limits the length of texts, or None for
            sinusoidal positions, which have no limit.
        tie_embeddings: Whether the output projection uses the target embeddings as its weights.
        share_embeddings: Whether source and target use one embedding matrix. None shares it if
            `target` is None or the source's tokenizer.

    Returns:
        A `Seq2Seq`, not compiled.

    Raises:
        ValueError: If an argument is out of range, or arguments contradict each other.
    """
