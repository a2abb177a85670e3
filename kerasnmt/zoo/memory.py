"""Networks that answer questions from a memory of sentences."""

from functools import partial
from typing import Any

from kerasnmt import layers
from kerasnmt.models import MemoryNetwork
from kerasnmt.nearest_name import unknown_name_message
from kerasnmt.zoo import assembly
from kerasnmt.zoo.registry import register

# The position encoding has twice the scale of the paper, like the authors' code; see the layer.
_ENCODINGS = {
    "position": partial(layers.PositionEncoding, scale=2.0),
    "bag_of_words": layers.BagOfWords,
}
_TYINGS = {"adjacent": layers.AdjacentMemories, "layerwise": layers.LayerwiseMemories}


@register()
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
    tokenizer, W^T = C^K. The paper uses the default sizes for all bAbI tasks together, with
    a linear start; see `kerasnmt.training.LinearStart`.

    Source: Sukhbaatar, Szlam, Weston and Fergus (2015), "End-to-end memory networks". For a single
    task, the paper uses embedding_dim=20.

    Args:
        source: Tokenizer of stories and questions, or the size of its vocabulary for a model that
            takes only ids.
        target: Tokenizer of the answers, where an answer is one word, or the size of its
            vocabulary. None for the same as the source, as in the paper.
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
    """
    source_size, target_size, tokenizers = assembly.sizes_and_tokenizers(source, target)
    tied = tying == "adjacent" and target in (None, source)
    ages = layers.SentenceAges(max_sentences, random_noise, name="ages")
    memories = _choice("tying", tying, _TYINGS)(
        hops,
        source_size,
        embedding_dim,
        _choice("encoding", encoding, _ENCODINGS)(name="encoding"),
        ages if temporal_encoding else None,
        name="memories",
    )
    return MemoryNetwork(
        memories,
        assembly.vocabulary_projection(target_size, tied),
        **tokenizers,
        places=max_sentences,
        name="memory_network",
    )


def _choice(key: str, name: str, known: dict[str, Any]) -> Any:
    """Return the value of a name, and check that the name is known."""
    if name not in known:
        raise ValueError(unknown_name_message(name, list(known), key))
    return known[name]
