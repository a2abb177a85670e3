"""The zoo: every model of the library, by name."""

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
    """Add `from_preset` to a function that makes a model."""

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
        load_weights: Whether the model gets the trained weights; otherwise they are random.

    Returns:
        The model with its tokenizers, not compiled, in float32.

    Raises:
        ValueError: If there is no such preset, or a file of it is missing or damaged.
    """

def get_model(
    name: str,
    kind: type[Model] = Model,
) -> Callable[..., Model]:
    """Return the function that makes a model.

    Args:
        name: A name of `list_models(kind)`.
        kind: The class that the model must have; any class by default.

    Raises:
        ValueError: If there is no such model (the message has the nearest name), or if it is of
            another class.
    """

def get_preset(
    preset: str | PathLike,
) -> Preset:
    """Return a preset, without loading its model.

    Args:
        preset: A folder that `model.save_to_preset` wrote, a name of `list_presets`, or
            "hf://user/model" for one on the Hugging Face Hub, which needs the package
            `huggingface_hub`. The folder of a preset comes before a name.

    Returns:
        The preset.

    Raises:
        ValueError: If there is no such preset (the message has the nearest name), the folder is no
            preset, or the hub does not give it.
    """

def list_models(
    kind: type[Model] = Model,
) -> list[str]:
    """Return the sorted names of the models of the zoo.

    Args:
        kind: A class of `kerasnmt.models`, such as `Seq2Seq`, to list its models only.
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

    e_{t,i} = v^T tanh(W h_i + U s_{t-1} + b) (appendix A.1.2).

    Bahdanau's encoder-decoder, with attention before the recurrent cell.

    The encoder is bidirectional. The decoder asks the attention with s_{t-1} and feeds the context
    c_t = sum_i alpha_{t,i} h_i to its cell. Its first state is tanh(W h_1 backward + b), where the
    paper's equation has no b. A maxout layer over the last word, the state and the context predicts
    the next word.

    Source: Bahdanau, Cho and Bengio (2015), "Neural machine translation by jointly learning to
    align and translate". The paper's sizes are embedding_dim=620, units=1000.

    Args:
        source: A tokenizer, or the size of the source vocabulary where only ids are fed.
        target: The same for the target; None shares the source's.
        embedding_dim: Size of an embedded word.
        units: Size of the decoder's state, of each direction of the encoder, and of the score's
            hidden layer.
        coverage: Weight of the coverage loss: 0 for coverage without a loss, None for an attention
            without coverage. Start small, for example with 0.1; See et al. (2017) add it, with
            weight 1, to a trained model.
        dropout: Dropout rate of the embedded words, of the inputs of the encoder's layers and of
            the readout.
        state_dropout: Dropout rate of the recurrent states, with one mask for all steps, see
            `kerasnmt.layers.StateDropout`.
        tie_embeddings: Whether the output projection uses the target embeddings as its weights.
        share_embeddings: Whether source and target use one embedding matrix, which needs one
            tokenizer (or size) for both.

    Returns:
        A `Seq2Seq`, not compiled.

    Raises:
        ValueError: If an argument is out of its range, or arguments do not fit together.
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
    """RNNsearch with LSTM cells, e_{t,i} = v^T tanh(W h_i + U s_{t-1} + b) (appendix A.1.2).

    Bahdanau's encoder-decoder, with attention before the recurrent cell.

    The encoder is bidirectional. The decoder asks the attention with s_{t-1} and feeds the context
    c_t = sum_i alpha_{t,i} h_i to its cell. Its first state is tanh(W h_1 backward + b), where the
    paper's equation has no b. A maxout layer over the last word, the state and the context predicts
    the next word.

    Source: Bahdanau, Cho and Bengio (2015), "Neural machine translation by jointly learning to
    align and translate". The paper's sizes are embedding_dim=620, units=1000.

    Args:
        source: A tokenizer, or the size of the source vocabulary where only ids are fed.
        target: The same for the target; None shares the source's.
        embedding_dim: Size of an embedded word.
        units: Size of the decoder's state, of each direction of the encoder, and of the score's
            hidden layer.
        coverage: Weight of the coverage loss: 0 for coverage without a loss, None for an attention
            without coverage. Start small, for example with 0.1; See et al. (2017) add it, with
            weight 1, to a trained model.
        dropout: Dropout rate of the embedded words, of the inputs of the encoder's layers and of
            the readout.
        state_dropout: Dropout rate of the recurrent states, with one mask for all steps, see
            `kerasnmt.layers.StateDropout`.
        tie_embeddings: Whether the output projection uses the target embeddings as its weights.
        share_embeddings: Whether source and target use one embedding matrix, which needs one
            tokenizer (or size) for both.

    Returns:
        A `Seq2Seq`, not compiled.

    Raises:
        ValueError: If an argument is out of its range, or arguments do not fit together.
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
    """RNNsearch that predicts words from the state alone, as many introductions simplify it.

    e_{t,i} = W2 tanh(W1 [h_i; s_{t-1}]), which is the additive score with W1 = [W, U]. The
    vocabulary sees s_t only, in place of the maxout layer, so the context has to pass the cell.

    Bahdanau's encoder-decoder, with attention before the recurrent cell.

    The encoder is bidirectional. The decoder asks the attention with s_{t-1} and feeds the context
    c_t = sum_i alpha_{t,i} h_i to its cell. Its first state is tanh(W h_1 backward + b), where the
    paper's equation has no b. A maxout layer over the last word, the state and the context predicts
    the next word.

    Source: Bahdanau, Cho and Bengio (2015), "Neural machine translation by jointly learning to
    align and translate". The paper's sizes are embedding_dim=620, units=1000.

    Args:
        source: A tokenizer, or the size of the source vocabulary where only ids are fed.
        target: The same for the target; None shares the source's.
        embedding_dim: Size of an embedded word.
        units: Size of the decoder's state, of each direction of the encoder, and of the score's
            hidden layer.
        coverage: Weight of the coverage loss: 0 for coverage without a loss, None for an attention
            without coverage. Start small, for example with 0.1; See et al. (2017) add it, with
            weight 1, to a trained model.
        dropout: Dropout rate of the embedded words, of the inputs of the encoder's layers and of
            the readout.
        state_dropout: Dropout rate of the recurrent states, with one mask for all steps, see
            `kerasnmt.layers.StateDropout`.
        tie_embeddings: Whether the output projection uses the target embeddings as its weights.
        share_embeddings: Whether source and target use one embedding matrix, which needs one
            tokenizer (or size) for both.

    Returns:
        A `Seq2Seq`, not compiled.

    Raises:
        ValueError: If an argument is out of its range, or arguments do not fit together.
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
    """RNNsearch that reads a context beside the source, such as a story beside a question.

    p(w) = p_gen p_vocab(w) + p_source sum_{i: x_i = w} alpha_{t,i}
    + p_context sum_{j: z_j = w} beta_{t,j}. The decoder attends to the source x and to the context
    z with separate weights, and chooses between generating a word and copying one of either. The
    encoding of the context depends on the source, see `kerasnmt.layers.ContextEncoder`. The inputs
    are those of a pointer-generator, `context_ids` and `extended_context_ids`.

    Source: McCann, Keskar, Xiong and Socher (2018), "The natural language decathlon: multitask
    learning as question answering", section 3, on the decoder of Bahdanau, Cho and Bengio (2015).
    The paper's network also has self-attention in encoder and decoder, and fixed word vectors.
    Stehnii (2018), "Neural attention", section "Attention over context", describes the idea.

    Args:
        source: A tokenizer of all texts, or the size of the vocabulary where only ids are fed.
        target: None, or the source's again: copied words have one id everywhere.
        embedding_dim: Size of an embedded word.
        units: Size of the decoder's state, of each direction of the encoder, and of the hidden
            layers of both attentions.
        dropout: Dropout rate of the embedded words, of the inputs of the encoder's layers and of
            the readout.
        state_dropout: Dropout rate of the recurrent states, with one mask for all steps, see
            `kerasnmt.layers.StateDropout`.
        tie_embeddings: Whether the output projection uses the target embeddings as its weights.
        share_embeddings: Whether source, context and target use one embedding matrix.

    Returns:
        A `Seq2Seq`, not compiled.

    Raises:
        ValueError: If an argument is out of its range, or arguments do not fit together.
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
    """RNNsearch with dense layers at every source position as its score, as tutorials build it.

    e_{t,i} = v^T tanh(W [h_i; s_{t-1}] + b) + c. Without the hidden layer the weights could not
    depend on the decoder, see `kerasnmt.layers.TimeDistributedDenseScorer`.

    Bahdanau's encoder-decoder, with attention before the recurrent cell.

    The encoder is bidirectional. The decoder asks the attention with s_{t-1} and feeds the context
    c_t = sum_i alpha_{t,i} h_i to its cell. Its first state is tanh(W h_1 backward + b), where the
    paper's equation has no b. A maxout layer over the last word, the state and the context predicts
    the next word.

    Source: Bahdanau, Cho and Bengio (2015), "Neural machine translation by jointly learning to
    align and translate". The paper's sizes are embedding_dim=620, units=1000.

    Args:
        source: A tokenizer, or the size of the source vocabulary where only ids are fed.
        target: The same for the target; None shares the source's.
        embedding_dim: Size of an embedded word.
        units: Size of the decoder's state, of each direction of the encoder, and of the score's
            hidden layer.
        coverage: Weight of the coverage loss: 0 for coverage without a loss, None for an attention
            without coverage. Start small, for example with 0.1; See et al. (2017) add it, with
            weight 1, to a trained model.
        dropout: Dropout rate of the embedded words, of the inputs of the encoder's layers and of
            the readout.
        state_dropout: Dropout rate of the recurrent states, with one mask for all steps, see
            `kerasnmt.layers.StateDropout`.
        tie_embeddings: Whether the output projection uses the target embeddings as its weights.
        share_embeddings: Whether source and target use one embedding matrix, which needs one
            tokenizer (or size) for both.

    Returns:
        A `Seq2Seq`, not compiled.

    Raises:
        ValueError: If an argument is out of its range, or arguments do not fit together.
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
    """The RNN encoder-decoder: a thought vector, fed to the decoder at every word.

    c = tanh(V h_S), s_0 = c, s_t = cell([y_{t-1}; c], s_{t-1}). A maxout layer over the last word
    and the state predicts the next word; in the paper it reads c as well, and s_0 = tanh(V' c).

    Source: Cho et al. (2014), "Learning phrase representations using RNN encoder-decoder for
    statistical machine translation". The paper's sizes are embedding_dim=100, units=1000.

    An encoder-decoder without attention.

    Args:
        source: A tokenizer, or the size of the source vocabulary where only ids are fed.
        target: The same for the target; None shares the source's.
        embedding_dim: Size of an embedded word.
        units: Size of the states.
        num_layers: Number of layers of the encoder and of the decoder's cell, at least 1. Stacked
            layers use residual connections.
        dropout: Dropout rate of the embedded words, of the inputs of the encoder's layers and of
            the readout.
        state_dropout: Dropout rate of the recurrent states, with one mask for all steps, see
            `kerasnmt.layers.StateDropout`.
        tie_embeddings: Whether the output projection uses the target embeddings as its weights.
        share_embeddings: Whether source and target use one embedding matrix, which needs one
            tokenizer (or size) for both.

    Returns:
        A `Seq2Seq`, not compiled.

    Raises:
        ValueError: If an argument is out of its range, or arguments do not fit together.
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

    s_0 = h_1 of an encoder that reads from the last word to the first, s_t = cell(y_{t-1},
    s_{t-1}). The state alone predicts the next word.

    Source: Sutskever, Vinyals and Le (2014), "Sequence to sequence learning with neural networks".
    The paper's sizes are embedding_dim=1000, units=1000, num_layers=4.

    An encoder-decoder without attention.

    Args:
        source: A tokenizer, or the size of the source vocabulary where only ids are fed.
        target: The same for the target; None shares the source's.
        embedding_dim: Size of an embedded word.
        units: Size of the states.
        num_layers: Number of layers of the encoder and of the decoder's cell, at least 1. Stacked
            layers use residual connections.
        dropout: Dropout rate of the embedded words, of the inputs of the encoder's layers and of
            the readout.
        state_dropout: Dropout rate of the recurrent states, with one mask for all steps, see
            `kerasnmt.layers.StateDropout`.
        tie_embeddings: Whether the output projection uses the target embeddings as its weights.
        share_embeddings: Whether source and target use one embedding matrix, which needs one
            tokenizer (or size) for both.

    Returns:
        A `Seq2Seq`, not compiled.

    Raises:
        ValueError: If an argument is out of its range, or arguments do not fit together.
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
    """RNNsearch that attends to its own earlier states as well.

    e_{t,j} = v^T tanh(W s_j + U s_{t-1} + b) for all j < t, beside the same score, with weights of
    its own, of the source. The cell and the maxout layer read both contexts. At the first word the
    context of the history is zeros. Coverage is that of the source.

    Source: Bahdanau, Cho and Bengio (2015) with the attention of Cheng, Dong and Lapata (2016),
    "Long short-term memory-networks for machine reading", to a cell's earlier states, as a second
    context of the decoder, as in Paulus, Xiong and Socher (2018), "A deep reinforced model for
    abstractive summarization".

    Bahdanau's encoder-decoder, with attention before the recurrent cell.

    The encoder is bidirectional. The decoder asks the attention with s_{t-1} and feeds the context
    c_t = sum_i alpha_{t,i} h_i to its cell. Its first state is tanh(W h_1 backward + b), where the
    paper's equation has no b. A maxout layer over the last word, the state and the context predicts
    the next word.

    Source: Bahdanau, Cho and Bengio (2015), "Neural machine translation by jointly learning to
    align and translate". The paper's sizes are embedding_dim=620, units=1000.

    Args:
        source: A tokenizer, or the size of the source vocabulary where only ids are fed.
        target: The same for the target; None shares the source's.
        embedding_dim: Size of an embedded word.
        units: Size of the decoder's state, of each direction of the encoder, and of the score's
            hidden layer.
        coverage: Weight of the coverage loss: 0 for coverage without a loss, None for an attention
            without coverage. Start small, for example with 0.1; See et al. (2017) add it, with
            weight 1, to a trained model.
        dropout: Dropout rate of the embedded words, of the inputs of the encoder's layers and of
            the readout.
        state_dropout: Dropout rate of the recurrent states, with one mask for all steps, see
            `kerasnmt.layers.StateDropout`.
        tie_embeddings: Whether the output projection uses the target embeddings as its weights.
        share_embeddings: Whether source and target use one embedding matrix, which needs one
            tokenizer (or size) for both.

    Returns:
        A `Seq2Seq`, not compiled.

    Raises:
        ValueError: If an argument is out of its range, or arguments do not fit together.
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
    """Concat score, e_{t,i} = v^T tanh(W [s_t; h_i] + b) (section 3.1, without the b).

    Luong's encoder-decoder, with attention after the recurrent cell.

    The decoder asks the attention with its new state s_t. The attentional state
    tanh(W [c_t; s_t]), with the context c_t = sum_i alpha_{t,i} h_i, predicts the next word. The
    decoder starts from the encoder's last states.

    Source: Luong, Pham and Manning (2015), "Effective approaches to attention-based neural machine
    translation". The paper's sizes are embedding_dim=1000, units=1000, num_layers=4. Its encoder
    reads forward only, as with `bidirectional=False`.

    Args:
        source: A tokenizer, or the size of the source vocabulary where only ids are fed.
        target: The same for the target; None shares the source's.
        embedding_dim: Size of an embedded word.
        units: Size of the decoder's state and of the annotations.
        encoder_units: Size of the annotations where it differs from `units`. A dense layer then
            turns the encoder's last states into the decoder's first.
        bidirectional: Whether the encoder reads in both directions. Each direction makes half of an
            annotation, so the size of the annotations is even. This is the default because an
            annotation then also depends on the words after its own; no measurement compares the
            two. False for the paper's encoder, which reads forward only.
        num_layers: Number of layers of the encoder and of the decoder's cell, at least 1. Stacked
            layers use residual connections.
        input_feeding: Whether the cell reads the attentional state of the word before. `coverage`
            needs it.
        coverage: Weight of the coverage loss: 0 for coverage without a loss, None for an attention
            without coverage. Start small, for example with 0.1; See et al. (2017) add it, with
            weight 1, to a trained model.
        fused: Whether the decoder's cell is a recurrent layer of Keras, which a GPU runs by cuDNN,
            see `kerasnmt.layers.FusedCell`. Not with input feeding, state dropout or more layers.
        dropout: Dropout rate of the embedded words, of the inputs of the encoder's layers and of
            the readout.
        state_dropout: Dropout rate of the recurrent states, with one mask for all steps, see
            `kerasnmt.layers.StateDropout`.
        tie_embeddings: Whether the output projection uses the target embeddings as its weights.
        share_embeddings: Whether source and target use one embedding matrix, which needs one
            tokenizer (or size) for both.

    Returns:
        A `Seq2Seq`, not compiled.

    Raises:
        ValueError: If an argument is out of its range, or arguments do not fit together.
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
    """Cosine score, e_{t,i} = g cos(s_t, h_i) (Graves, Wayne and Danihelka 2014).

    Luong's encoder-decoder, with attention after the recurrent cell.

    The decoder asks the attention with its new state s_t. The attentional state
    tanh(W [c_t; s_t]), with the context c_t = sum_i alpha_{t,i} h_i, predicts the next word. The
    decoder starts from the encoder's last states.

    Source: Luong, Pham and Manning (2015), "Effective approaches to attention-based neural machine
    translation". The paper's sizes are embedding_dim=1000, units=1000, num_layers=4. Its encoder
    reads forward only, as with `bidirectional=False`.

    Args:
        source: A tokenizer, or the size of the source vocabulary where only ids are fed.
        target: The same for the target; None shares the source's.
        embedding_dim: Size of an embedded word.
        units: Size of the decoder's state and of the annotations.
        bidirectional: Whether the encoder reads in both directions. Each direction makes half of an
            annotation, so the size of the annotations is even. This is the default because an
            annotation then also depends on the words after its own; no measurement compares the
            two. False for the paper's encoder, which reads forward only.
        num_layers: Number of layers of the encoder and of the decoder's cell, at least 1. Stacked
            layers use residual connections.
        input_feeding: Whether the cell reads the attentional state of the word before. `coverage`
            needs it.
        coverage: Weight of the coverage loss: 0 for coverage without a loss, None for an attention
            without coverage. Start small, for example with 0.1; See et al. (2017) add it, with
            weight 1, to a trained model.
        fused: Whether the decoder's cell is a recurrent layer of Keras, which a GPU runs by cuDNN,
            see `kerasnmt.layers.FusedCell`. Not with input feeding, state dropout or more layers.
        dropout: Dropout rate of the embedded words, of the inputs of the encoder's layers and of
            the readout.
        state_dropout: Dropout rate of the recurrent states, with one mask for all steps, see
            `kerasnmt.layers.StateDropout`.
        tie_embeddings: Whether the output projection uses the target embeddings as its weights.
        share_embeddings: Whether source and target use one embedding matrix, which needs one
            tokenizer (or size) for both.

    Returns:
        A `Seq2Seq`, not compiled.

    Raises:
        ValueError: If an argument is out of its range, or arguments do not fit together.
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
    """Dot score, e_{t,i} = s_t^T h_i (section 3.1).

    Luong's encoder-decoder, with attention after the recurrent cell.

    The decoder asks the attention with its new state s_t. The attentional state
    tanh(W [c_t; s_t]), with the context c_t = sum_i alpha_{t,i} h_i, predicts the next word. The
    decoder starts from the encoder's last states.

    Source: Luong, Pham and Manning (2015), "Effective approaches to attention-based neural machine
    translation". The paper's sizes are embedding_dim=1000, units=1000, num_layers=4. Its encoder
    reads forward only, as with `bidirectional=False`.

    Args:
        source: A tokenizer, or the size of the source vocabulary where only ids are fed.
        target: The same for the target; None shares the source's.
        embedding_dim: Size of an embedded word.
        units: Size of the decoder's state and of the annotations.
        bidirectional: Whether the encoder reads in both directions. Each direction makes half of an
            annotation, so the size of the annotations is even. This is the default because an
            annotation then also depends on the words after its own; no measurement compares the
            two. False for the paper's encoder, which reads forward only.
        num_layers: Number of layers of the encoder and of the decoder's cell, at least 1. Stacked
            layers use residual connections.
        input_feeding: Whether the cell reads the attentional state of the word before. `coverage`
            needs it.
        coverage: Weight of the coverage loss: 0 for coverage without a loss, None for an attention
            without coverage. Start small, for example with 0.1; See et al. (2017) add it, with
            weight 1, to a trained model.
        fused: Whether the decoder's cell is a recurrent layer of Keras, which a GPU runs by cuDNN,
            see `kerasnmt.layers.FusedCell`. Not with input feeding, state dropout or more layers.
        dropout: Dropout rate of the embedded words, of the inputs of the encoder's layers and of
            the readout.
        state_dropout: Dropout rate of the recurrent states, with one mask for all steps, see
            `kerasnmt.layers.StateDropout`.
        tie_embeddings: Whether the output projection uses the target embeddings as its weights.
        share_embeddings: Whether source and target use one embedding matrix, which needs one
            tokenizer (or size) for both.

    Returns:
        A `Seq2Seq`, not compiled.

    Raises:
        ValueError: If an argument is out of its range, or arguments do not fit together.
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
    """General score, e_{t,i} = s_t^T W h_i (section 3.1), with GRU cells in place of the LSTM's.

    Luong's encoder-decoder, with attention after the recurrent cell.

    The decoder asks the attention with its new state s_t. The attentional state
    tanh(W [c_t; s_t]), with the context c_t = sum_i alpha_{t,i} h_i, predicts the next word. The
    decoder starts from the encoder's last states.

    Source: Luong, Pham and Manning (2015), "Effective approaches to attention-based neural machine
    translation". The paper's sizes are embedding_dim=1000, units=1000, num_layers=4. Its encoder
    reads forward only, as with `bidirectional=False`.

    Args:
        source: A tokenizer, or the size of the source vocabulary where only ids are fed.
        target: The same for the target; None shares the source's.
        embedding_dim: Size of an embedded word.
        units: Size of the decoder's state and of the annotations.
        encoder_units: Size of the annotations where it differs from `units`. A dense layer then
            turns the encoder's last states into the decoder's first.
        bidirectional: Whether the encoder reads in both directions. Each direction makes half of an
            annotation, so the size of the annotations is even. This is the default because an
            annotation then also depends on the words after its own; no measurement compares the
            two. False for the paper's encoder, which reads forward only.
        num_layers: Number of layers of the encoder and of the decoder's cell, at least 1. Stacked
            layers use residual connections.
        input_feeding: Whether the cell reads the attentional state of the word before. `coverage`
            needs it.
        coverage: Weight of the coverage loss: 0 for coverage without a loss, None for an attention
            without coverage. Start small, for example with 0.1; See et al. (2017) add it, with
            weight 1, to a trained model.
        fused: Whether the decoder's cell is a recurrent layer of Keras, which a GPU runs by cuDNN,
            see `kerasnmt.layers.FusedCell`. Not with input feeding, state dropout or more layers.
        dropout: Dropout rate of the embedded words, of the inputs of the encoder's layers and of
            the readout.
        state_dropout: Dropout rate of the recurrent states, with one mask for all steps, see
            `kerasnmt.layers.StateDropout`.
        tie_embeddings: Whether the output projection uses the target embeddings as its weights.
        share_embeddings: Whether source and target use one embedding matrix, which needs one
            tokenizer (or size) for both.

    Returns:
        A `Seq2Seq`, not compiled.

    Raises:
        ValueError: If an argument is out of its range, or arguments do not fit together.
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
    """General score, e_{t,i} = s_t^T W h_i (section 3.1).

    Luong's encoder-decoder, with attention after the recurrent cell.

    The decoder asks the attention with its new state s_t. The attentional state
    tanh(W [c_t; s_t]), with the context c_t = sum_i alpha_{t,i} h_i, predicts the next word. The
    decoder starts from the encoder's last states.

    Source: Luong, Pham and Manning (2015), "Effective approaches to attention-based neural machine
    translation". The paper's sizes are embedding_dim=1000, units=1000, num_layers=4. Its encoder
    reads forward only, as with `bidirectional=False`.

    Args:
        source: A tokenizer, or the size of the source vocabulary where only ids are fed.
        target: The same for the target; None shares the source's.
        embedding_dim: Size of an embedded word.
        units: Size of the decoder's state and of the annotations.
        encoder_units: Size of the annotations where it differs from `units`. A dense layer then
            turns the encoder's last states into the decoder's first.
        bidirectional: Whether the encoder reads in both directions. Each direction makes half of an
            annotation, so the size of the annotations is even. This is the default because an
            annotation then also depends on the words after its own; no measurement compares the
            two. False for the paper's encoder, which reads forward only.
        num_layers: Number of layers of the encoder and of the decoder's cell, at least 1. Stacked
            layers use residual connections.
        input_feeding: Whether the cell reads the attentional state of the word before. `coverage`
            needs it.
        coverage: Weight of the coverage loss: 0 for coverage without a loss, None for an attention
            without coverage. Start small, for example with 0.1; See et al. (2017) add it, with
            weight 1, to a trained model.
        fused: Whether the decoder's cell is a recurrent layer of Keras, which a GPU runs by cuDNN,
            see `kerasnmt.layers.FusedCell`. Not with input feeding, state dropout or more layers.
        dropout: Dropout rate of the embedded words, of the inputs of the encoder's layers and of
            the readout.
        state_dropout: Dropout rate of the recurrent states, with one mask for all steps, see
            `kerasnmt.layers.StateDropout`.
        tie_embeddings: Whether the output projection uses the target embeddings as its weights.
        share_embeddings: Whether source and target use one embedding matrix, which needs one
            tokenizer (or size) for both.

    Returns:
        A `Seq2Seq`, not compiled.

    Raises:
        ValueError: If an argument is out of its range, or arguments do not fit together.
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
    """General score in the monotonic window, e_{t,i} = s_t^T W h_i for |i - t| <= D (section 3.2).

    Positions t and i count from 0.

    Luong's encoder-decoder, with attention after the recurrent cell.

    The decoder asks the attention with its new state s_t. The attentional state
    tanh(W [c_t; s_t]), with the context c_t = sum_i alpha_{t,i} h_i, predicts the next word. The
    decoder starts from the encoder's last states.

    Source: Luong, Pham and Manning (2015), "Effective approaches to attention-based neural machine
    translation". The paper's sizes are embedding_dim=1000, units=1000, num_layers=4. Its encoder
    reads forward only, as with `bidirectional=False`.

    Args:
        source: A tokenizer, or the size of the source vocabulary where only ids are fed.
        target: The same for the target; None shares the source's.
        embedding_dim: Size of an embedded word.
        units: Size of the decoder's state and of the annotations.
        encoder_units: Size of the annotations where it differs from `units`. A dense layer then
            turns the encoder's last states into the decoder's first.
        bidirectional: Whether the encoder reads in both directions. Each direction makes half of an
            annotation, so the size of the annotations is even. This is the default because an
            annotation then also depends on the words after its own; no measurement compares the
            two. False for the paper's encoder, which reads forward only.
        num_layers: Number of layers of the encoder and of the decoder's cell, at least 1. Stacked
            layers use residual connections.
        input_feeding: Whether the cell reads the attentional state of the word before. `coverage`
            needs it.
        coverage: Weight of the coverage loss: 0 for coverage without a loss, None for an attention
            without coverage. Start small, for example with 0.1; See et al. (2017) add it, with
            weight 1, to a trained model.
        fused: Whether the decoder's cell is a recurrent layer of Keras, which a GPU runs by cuDNN,
            see `kerasnmt.layers.FusedCell`. Not with input feeding, state dropout or more layers.
        dropout: Dropout rate of the embedded words, of the inputs of the encoder's layers and of
            the readout.
        state_dropout: Dropout rate of the recurrent states, with one mask for all steps, see
            `kerasnmt.layers.StateDropout`.
        tie_embeddings: Whether the output projection uses the target embeddings as its weights.
        share_embeddings: Whether source and target use one embedding matrix, which needs one
            tokenizer (or size) for both.
        width: D, the number of source words on each side of the window's middle.

    Returns:
        A `Seq2Seq`, not compiled.

    Raises:
        ValueError: If an argument is out of its range, or arguments do not fit together.
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
    """General score in the predictive window, e_{t,i} = s_t^T W h_i for |i - p_t| <= D.

    p_t = S sigmoid(v^T tanh(W_p s_t)), and a Gaussian around p_t multiplies the weights
    (section 3.2). Positions i count from 0.

    Luong's encoder-decoder, with attention after the recurrent cell.

    The decoder asks the attention with its new state s_t. The attentional state
    tanh(W [c_t; s_t]), with the context c_t = sum_i alpha_{t,i} h_i, predicts the next word. The
    decoder starts from the encoder's last states.

    Source: Luong, Pham and Manning (2015), "Effective approaches to attention-based neural machine
    translation". The paper's sizes are embedding_dim=1000, units=1000, num_layers=4. Its encoder
    reads forward only, as with `bidirectional=False`.

    Args:
        source: A tokenizer, or the size of the source vocabulary where only ids are fed.
        target: The same for the target; None shares the source's.
        embedding_dim: Size of an embedded word.
        units: Size of the decoder's state and of the annotations.
        encoder_units: Size of the annotations where it differs from `units`. A dense layer then
            turns the encoder's last states into the decoder's first.
        bidirectional: Whether the encoder reads in both directions. Each direction makes half of an
            annotation, so the size of the annotations is even. This is the default because an
            annotation then also depends on the words after its own; no measurement compares the
            two. False for the paper's encoder, which reads forward only.
        num_layers: Number of layers of the encoder and of the decoder's cell, at least 1. Stacked
            layers use residual connections.
        input_feeding: Whether the cell reads the attentional state of the word before. `coverage`
            needs it.
        coverage: Weight of the coverage loss: 0 for coverage without a loss, None for an attention
            without coverage. Start small, for example with 0.1; See et al. (2017) add it, with
            weight 1, to a trained model.
        fused: Whether the decoder's cell is a recurrent layer of Keras, which a GPU runs by cuDNN,
            see `kerasnmt.layers.FusedCell`. Not with input feeding, state dropout or more layers.
        dropout: Dropout rate of the embedded words, of the inputs of the encoder's layers and of
            the readout.
        state_dropout: Dropout rate of the recurrent states, with one mask for all steps, see
            `kerasnmt.layers.StateDropout`.
        tie_embeddings: Whether the output projection uses the target embeddings as its weights.
        share_embeddings: Whether source and target use one embedding matrix, which needs one
            tokenizer (or size) for both.
        width: D, the number of source words on each side of the window's middle.

    Returns:
        A `Seq2Seq`, not compiled.

    Raises:
        ValueError: If an argument is out of its range, or arguments do not fit together.
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
    """Location score, e_t = W s_t, which reads the state alone (section 3.1, equation 8).

    Luong's encoder-decoder, with attention after the recurrent cell.

    The decoder asks the attention with its new state s_t. The attentional state
    tanh(W [c_t; s_t]), with the context c_t = sum_i alpha_{t,i} h_i, predicts the next word. The
    decoder starts from the encoder's last states.

    Source: Luong, Pham and Manning (2015), "Effective approaches to attention-based neural machine
    translation". The paper's sizes are embedding_dim=1000, units=1000, num_layers=4. Its encoder
    reads forward only, as with `bidirectional=False`.

    Args:
        source: A tokenizer, or the size of the source vocabulary where only ids are fed.
        target: The same for the target; None shares the source's.
        embedding_dim: Size of an embedded word.
        units: Size of the decoder's state and of the annotations.
        encoder_units: Size of the annotations where it differs from `units`. A dense layer then
            turns the encoder's last states into the decoder's first.
        bidirectional: Whether the encoder reads in both directions. Each direction makes half of an
            annotation, so the size of the annotations is even. This is the default because an
            annotation then also depends on the words after its own; no measurement compares the
            two. False for the paper's encoder, which reads forward only.
        num_layers: Number of layers of the encoder and of the decoder's cell, at least 1. Stacked
            layers use residual connections.
        input_feeding: Whether the cell reads the attentional state of the word before. `coverage`
            needs it.
        fused: Whether the decoder's cell is a recurrent layer of Keras, which a GPU runs by cuDNN,
            see `kerasnmt.layers.FusedCell`. Not with input feeding, state dropout or more layers.
        dropout: Dropout rate of the embedded words, of the inputs of the encoder's layers and of
            the readout.
        state_dropout: Dropout rate of the recurrent states, with one mask for all steps, see
            `kerasnmt.layers.StateDropout`.
        tie_embeddings: Whether the output projection uses the target embeddings as its weights.
        share_embeddings: Whether source and target use one embedding matrix, which needs one
            tokenizer (or size) for both.
        max_length: The number of source positions that can be attended to; the rest of a longer
            source is ignored.

    Returns:
        A `Seq2Seq`, not compiled.

    Raises:
        ValueError: If an argument is out of its range, or arguments do not fit together.
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
    """Scaled dot score, e_{t,i} = s_t^T h_i / sqrt(n) (Vaswani et al. 2017, section 3.2.1).

    Luong's encoder-decoder, with attention after the recurrent cell.

    The decoder asks the attention with its new state s_t. The attentional state
    tanh(W [c_t; s_t]), with the context c_t = sum_i alpha_{t,i} h_i, predicts the next word. The
    decoder starts from the encoder's last states.

    Source: Luong, Pham and Manning (2015), "Effective approaches to attention-based neural machine
    translation". The paper's sizes are embedding_dim=1000, units=1000, num_layers=4. Its encoder
    reads forward only, as with `bidirectional=False`.

    Args:
        source: A tokenizer, or the size of the source vocabulary where only ids are fed.
        target: The same for the target; None shares the source's.
        embedding_dim: Size of an embedded word.
        units: Size of the decoder's state and of the annotations.
        bidirectional: Whether the encoder reads in both directions. Each direction makes half of an
            annotation, so the size of the annotations is even. This is the default because an
            annotation then also depends on the words after its own; no measurement compares the
            two. False for the paper's encoder, which reads forward only.
        num_layers: Number of layers of the encoder and of the decoder's cell, at least 1. Stacked
            layers use residual connections.
        input_feeding: Whether the cell reads the attentional state of the word before. `coverage`
            needs it.
        coverage: Weight of the coverage loss: 0 for coverage without a loss, None for an attention
            without coverage. Start small, for example with 0.1; See et al. (2017) add it, with
            weight 1, to a trained model.
        fused: Whether the decoder's cell is a recurrent layer of Keras, which a GPU runs by cuDNN,
            see `kerasnmt.layers.FusedCell`. Not with input feeding, state dropout or more layers.
        dropout: Dropout rate of the embedded words, of the inputs of the encoder's layers and of
            the readout.
        state_dropout: Dropout rate of the recurrent states, with one mask for all steps, see
            `kerasnmt.layers.StateDropout`.
        tie_embeddings: Whether the output projection uses the target embeddings as its weights.
        share_embeddings: Whether source and target use one embedding matrix, which needs one
            tokenizer (or size) for both.

    Returns:
        A `Seq2Seq`, not compiled.

    Raises:
        ValueError: If an argument is out of its range, or arguments do not fit together.
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
    """End-to-end memory network: a question is answered from a story, with one word.

    p_i = softmax(u^T m_i), o = sum_i p_i c_i, answer = softmax(W (o + u)). Each hop adds its output
    o to the question u of the next hop. With `tying="adjacent"` and one tokenizer, W^T = C^K. The
    default sizes are the paper's for all bAbI tasks together, where it trains with a linear start,
    see `kerasnmt.training.LinearStart`.

    Source: Sukhbaatar, Szlam, Weston and Fergus (2015), "End-to-end memory networks". For one task
    alone the paper uses embedding_dim=20.

    Args:
        source: A tokenizer of stories and questions, or the size of their vocabulary where only ids
            are fed.
        target: The same for the answers; an answer is one word. None shares the source's, as in
            the paper.
        embedding_dim: Size of an encoded sentence.
        hops: Number of hops.
        tying: "adjacent": the output embedding of a hop is the input embedding of the next;
            "layerwise": all hops share their embeddings.
        encoding: "position": the order of words in a sentence counts, with twice the paper's
            encoding, as in its authors' code, see `kerasnmt.layers.PositionEncoding`;
            "bag_of_words": it does not.
        temporal_encoding: Whether the order of the sentences counts.
        max_sentences: Number of places in the memory, and of sentence ages in the temporal
            encoding. A shorter story leaves places empty, see `kerasnmt.layers.MemoryHop`. With a
            temporal encoding, only the last sentences of a longer story text are read. Choose the
            length of the longest story, but not more than 50.
        random_noise: Probability in training of an empty place after a sentence, which makes the
            sentences before it older.

    Returns:
        A `MemoryNetwork`, not compiled.

    Raises:
        ValueError: If an argument is out of its range, or arguments do not fit together.
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
    """RNNsearch that copies what it has no word for: `bahdanau_gru` with a pointer.

    p(w) = p_gen p_vocab(w) + p_copy sum_{i: x_i = w} alpha_{t,i}, with (p_gen, p_copy) =
    softmax(W s_t), the two-way softmax of Stehnii (2018), "Neural attention", section "Pointer
    networks".

    Bahdanau's encoder-decoder, which copies from the source what it has no word for.

    Source: See, Liu and Manning (2017), "Get to the point: summarization with pointer-generator
    networks", on the model of Bahdanau, Cho and Bengio (2015). The paper's sizes are
    embedding_dim=128, units=256. There the attention is asked with s_t, and two linear layers
    predict the words.

    Args:
        source: A tokenizer, or the size of the vocabulary where only ids are fed.
        target: None, or the source's again: copied words have one id on both sides.
        embedding_dim: Size of an embedded word.
        units: Size of the decoder's state, of each direction of the encoder, and of the hidden
            layer of attention and pointer.
        own_pointer: Whether the pointer has weights of its own, asked with s_t, as in Stehnii
            (2018), "Neural attention", section "Pointer networks": alpha_{t,i} =
            softmax_i(w^T tanh(W_x h_i + W_y s_t + b)), where the article has no bias b. By default
            the attention is the pointer. Coverage stays with the attention.
        coverage: Weight of the coverage loss: 0 for coverage without a loss, None for an attention
            without coverage. Start small, for example with 0.1; See et al. (2017) add it, with
            weight 1, to a trained model.
        dropout: Dropout rate of the embedded words, of the inputs of the encoder's layers and of
            the readout.
        state_dropout: Dropout rate of the recurrent states, with one mask for all steps, see
            `kerasnmt.layers.StateDropout`.
        tie_embeddings: Whether the output projection uses the target embeddings as its weights.
        share_embeddings: Whether source and target use one embedding matrix, which needs one
            tokenizer (or size) for both.

    Returns:
        A `Seq2Seq`, not compiled.

    Raises:
        ValueError: If an argument is out of its range, or arguments do not fit together.
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
    """The pointer-generator: `bahdanau_lstm` with a pointer.

    p(w) = p_gen p_vocab(w) + (1 - p_gen) sum_{i: x_i = w} alpha_{t,i}, with
    p_gen = sigmoid(w_c c_t + w_s s_t + w_y y_{t-1} + b) (equations 8 and 9).

    Bahdanau's encoder-decoder, which copies from the source what it has no word for.

    Source: See, Liu and Manning (2017), "Get to the point: summarization with pointer-generator
    networks", on the model of Bahdanau, Cho and Bengio (2015). The paper's sizes are
    embedding_dim=128, units=256. There the attention is asked with s_t, and two linear layers
    predict the words.

    Args:
        source: A tokenizer, or the size of the vocabulary where only ids are fed.
        target: None, or the source's again: copied words have one id on both sides.
        embedding_dim: Size of an embedded word.
        units: Size of the decoder's state, of each direction of the encoder, and of the hidden
            layer of attention and pointer.
        own_pointer: Whether the pointer has weights of its own, asked with s_t, as in Stehnii
            (2018), "Neural attention", section "Pointer networks": alpha_{t,i} =
            softmax_i(w^T tanh(W_x h_i + W_y s_t + b)), where the article has no bias b. By default
            the attention is the pointer. Coverage stays with the attention.
        coverage: Weight of the coverage loss: 0 for coverage without a loss, None for an attention
            without coverage. Start small, for example with 0.1; See et al. (2017) add it, with
            weight 1, to a trained model.
        dropout: Dropout rate of the embedded words, of the inputs of the encoder's layers and of
            the readout.
        state_dropout: Dropout rate of the recurrent states, with one mask for all steps, see
            `kerasnmt.layers.StateDropout`.
        tie_embeddings: Whether the output projection uses the target embeddings as its weights.
        share_embeddings: Whether source and target use one embedding matrix, which needs one
            tokenizer (or size) for both.

    Returns:
        A `Seq2Seq`, not compiled.

    Raises:
        ValueError: If an argument is out of its range, or arguments do not fit together.
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
    """The pointer network: every word of the output is one of the source.

    p(w) = sum_{i: x_i = w} a_{t,i}, a_t = softmax_i(v^T tanh(W_1 h_i + W_2 s_t + b)): the decoder
    reads the embedding of the word that it pointed at before, and ends by pointing at the source's
    end token.

    Source: Vinyals, Fortunato and Jaitly (2015), "Pointer networks", section 2.3, with a
    bidirectional encoder and with the bias b, which the paper's equation does not have. Its sizes
    are units=256 or 512.

    Args:
        source: A tokenizer, or the size of the vocabulary where only ids are fed.
        target: None, or the source's again: copied words have one id on both sides.
        embedding_dim: Size of an embedded word.
        units: Size of the decoder's state, of each direction of the encoder, and of the
            attention's hidden layer.
        coverage: Weight of the coverage loss, 0 for coverage without a loss: the pointer knows
            where it pointed before, and the attentional state is fed to the decoder, see
            `kerasnmt.layers.InputFeedingDecoderCell`. It suits orderings, which point at each word
            once. None for the paper's pointer, which knows the word before and its own state.
        dropout: Dropout rate of the embedded words and of the inputs of the encoder's layers.
        state_dropout: Dropout rate of the recurrent states, with one mask for all steps, see
            `kerasnmt.layers.StateDropout`.
        share_embeddings: Whether source and target use one embedding matrix, which needs one
            tokenizer (or size) for both.

    Returns:
        A `Seq2Seq`, not compiled.

    Raises:
        ValueError: If an argument is out of its range, or arguments do not fit together.
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

    e_{t,i} = v^T tanh(W a_i + U h_{t-1} + b), z_t = beta_t sum_i alpha_{t,i} a_i with the gate
    beta_t = sigmoid(f_beta(h_{t-1})), p(y_t) = softmax(L_o (E y_{t-1} + L_h h_t + L_z z_t)): the
    soft attention of the paper. Dense layers make the first states from the mean of the regions.

    Source: Xu et al. (2015), "Show, attend and tell", sections 3.1 and 4.2. The paper's encoder is
    a pretrained VGG network, whose weights are not trained, and it has no positions.

    Args:
        target: A tokenizer of captions, or the size of their vocabulary where only ids are fed.
        backbone: The model that reads an image, for example one of `keras.applications`, see
            `kerasnmt.layers.ImageEncoder`. None for a small stack of convolutions, which is trained
            with the decoder.
        image_size: Height and width of the images of the small backbone; a multiple of 2 to the
            power of the number of `filters`.
        filters: Numbers of features of its convolutions. Each convolution halves height and width.
        positions: Whether a learned vector for its place is added to each region. Without it "left
            of" is hard to learn.
        embedding_dim: Size of an embedded word.
        units: Size of the decoder's states and of the attention's hidden layer.
        doubly_stochastic: Weight lambda of the penalty that makes the model attend to all regions,
            see `kerasnmt.layers.DoublyStochastic`; 0 for none. The authors' code uses 1 for
            hundreds of regions. With few words it blurs the attention.
        dropout: Dropout rate of the embedded words and of the readout.
        state_dropout: Dropout rate of the recurrent states, with one mask for all steps, see
            `kerasnmt.layers.StateDropout`.

    Returns:
        A `CaptionModel`, not compiled.

    Raises:
        ValueError: If an argument is out of its range, or arguments do not fit together.
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
    """The Transformer in the paper's base size (table 3), for millions of sentence pairs.

    The paper warms up for 4,000 steps: `learning_rate_schedule: inverse_sqrt` in a recipe.

    The Transformer: attention in place of recurrence.

    Every word attends to all words of its sentence by softmax(Q K^T / sqrt(d)) V with several
    heads, and those of the decoder attend to the source as well. There is no recurrence, so all
    words of a target are trained on at once. The output has a bias, which the paper's does not.
    Training needs a warm-up of the learning rate: in a recipe `warmup_steps`, with
    `learning_rate_schedule: inverse_sqrt` or `cosine`.

    Source: Vaswani et al. (2017), "Attention is all you need".

    Args:
        source: A tokenizer, or the size of the source vocabulary where only ids are fed.
        target: The same for the target; None shares the source's.
        units: Size of embedded words and of the output of every layer; even.
        num_heads: Number of heads of each attention, which share the units.
        hidden_units: Size of the hidden layer of the feed-forward blocks.
        encoder_layers: Number of layers of the encoder.
        decoder_layers: Number of layers of the decoder.
        dropout: Dropout rate of the embedded words and of the output of every sublayer.
        attention_dropout: Dropout rate of the attention weights.
        pre_norm: Whether features are normalized before each sublayer; the paper does it after.
        max_positions: None for sinusoidal positions, which have no end. A number for this many
            learned positions; no longer text can be read or written.
        tie_embeddings: Whether the output projection uses the target embeddings as its weights.
        share_embeddings: Whether source and target use one embedding matrix; None to share it if
            `target` is None or the source's tokenizer.

    Returns:
        A `Seq2Seq`, not compiled.

    Raises:
        ValueError: If an argument is out of its range, or arguments do not fit together.
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
    """The Transformer in a size for some ten thousand sentence pairs.

    The sizes are those of Wu et al. (2021), "Good for misconceived reasons", for Multi30k.
    Features are normalized before each sublayer.

    The Transformer: attention in place of recurrence.

    Every word attends to all words of its sentence by softmax(Q K^T / sqrt(d)) V with several
    heads, and those of the decoder attend to the source as well. There is no recurrence, so all
    words of a target are trained on at once. The output has a bias, which the paper's does not.
    Training needs a warm-up of the learning rate: in a recipe `warmup_steps`, with
    `learning_rate_schedule: inverse_sqrt` or `cosine`.

    Source: Vaswani et al. (2017), "Attention is all you need".

    Args:
        source: A tokenizer, or the size of the source vocabulary where only ids are fed.
        target: The same for the target; None shares the source's.
        units: Size of embedded words and of the output of every layer; even.
        num_heads: Number of heads of each attention, which share the units.
        hidden_units: Size of the hidden layer of the feed-forward blocks.
        encoder_layers: Number of layers of the encoder.
        decoder_layers: Number of layers of the decoder.
        dropout: Dropout rate of the embedded words and of the output of every sublayer.
        attention_dropout: Dropout rate of the attention weights.
        pre_norm: Whether features are normalized before each sublayer; the paper does it after.
        max_positions: None for sinusoidal positions, which have no end. A number for this many
            learned positions; no longer text can be read or written.
        tie_embeddings: Whether the output projection uses the target embeddings as its weights.
        share_embeddings: Whether source and target use one embedding matrix; None to share it if
            `target` is None or the source's tokenizer.

    Returns:
        A `Seq2Seq`, not compiled.

    Raises:
        ValueError: If an argument is out of its range, or arguments do not fit together.
    """
