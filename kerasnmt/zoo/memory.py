"""Networks that answer questions from a memory of sentences."""

from functools import partial
from typing import Any

from kerasnmt import layers
from kerasnmt.models import MemoryNetwork
from kerasnmt.nearest_name import unknown_name_message
from kerasnmt.zoo.registry import register
from kerasnmt.zoo.vocabulary import sizes_and_tokenizers

# Twice the paper's equation, as in its authors' code: see the layer.
_ENCODINGS = {
    "position": partial(layers.PositionEncoding, scale=2.0),
    "bag_of_words": layers.BagOfWords,
}
_TYINGS = {"adjacent": layers.AdjacentMemories, "layerwise": layers.LayerwiseMemories}


@register
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
    """End-to-end memory network: a question looks into a story several times, and finds a word.

    p_i = softmax(u^T m_i), o = sum_i p_i c_i, answer = softmax(W (o + u)); what is read is added to
    the question for the next hop. With `tying="adjacent"` and one tokenizer W^T = C^K. The default
    sizes are those of the paper for all bAbI tasks together, where it trains with a linear start,
    see `kerasnmt.training.LinearStart`.

    Source: Sukhbaatar, Szlam, Weston and Fergus (2015), "End-to-end memory networks". For one task
    alone the paper takes embedding_dim=20.

    Args:
        source: a tokenizer of stories and questions, or their vocabulary's size where only ids are
            fed.
        target: likewise for answers, each of which is one word; None shares the source's, as in the
            paper.
        embedding_dim: size of an encoded sentence.
        hops: number of looks.
        tying: "adjacent", where each hop's output embedding is the next one's input embedding, or
            "layerwise", where all hops have the same.
        encoding: "position", which knows the order of a sentence's words and is twice the paper's,
            as in its authors' code, see `kerasnmt.layers.PositionEncoding`; or "bag_of_words".
        temporal_encoding: whether the memory knows the order of the sentences.
        max_sentences: number of places in the memory, and how many ages of sentences the temporal
            encoding tells apart. A shorter story leaves places empty, see
            `kerasnmt.layers.MemoryHop`; of a longer story text the last sentences are read, with a
            temporal encoding. Best as many as the longest story has, 50 at the most.
        random_noise: probability of an empty memory after a sentence in training, which makes all
            before it older.

    Returns:
        a `MemoryNetwork`, not compiled.

    Raises:
        ValueError: `tying` or `encoding` has no such name, or a size is out of range.
    """
    sizes, tokenizers = sizes_and_tokenizers(source, target)
    one_vocabulary = target is None or target is source or target == source
    tied = tying == "adjacent" and one_vocabulary
    generator = layers.TiedVocabularyProjection if tied else layers.VocabularyProjection
    ages = layers.SentenceAges(max_sentences, random_noise, name="ages")
    memories = _choice("tying", tying, _TYINGS)(
        hops,
        sizes.source,
        embedding_dim,
        _choice("encoding", encoding, _ENCODINGS)(name="encoding"),
        ages if temporal_encoding else None,
        name="memories",
    )
    return MemoryNetwork(
        memories,
        generator(sizes.target, name="generator"),
        **tokenizers,
        places=max_sentences,
        name="memory_network",
    )


def _choice(key: str, name: str, known: dict[str, Any]) -> Any:
    if name not in known:
        raise ValueError(unknown_name_message(name, list(known), key))
    return known[name]
