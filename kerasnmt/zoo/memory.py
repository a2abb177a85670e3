"""Networks that answer questions from a memory of sentences."""

from functools import partial
from typing import Any

from kerasnmt import layers
from kerasnmt.models import MemoryNetwork
from kerasnmt.nearest_name import unknown_name_message
from kerasnmt.zoo import assembly
from kerasnmt.zoo.registry import register

# Twice the paper's encoding, as in its authors' code: see the layer.
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
    """Return the value of a name; refuse an unknown name of this argument."""
    if name not in known:
        raise ValueError(unknown_name_message(name, list(known), key))
    return known[name]
