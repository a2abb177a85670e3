"""What the zoo's constructors take as source and target."""

from typing import Any, NamedTuple


class VocabularySizes(NamedTuple):
    """Number of ids on each side."""

    source: int
    target: int


def sizes_and_tokenizers(source: Any, target: Any) -> tuple[VocabularySizes, dict[str, Any]]:
    """Split (source, target), each a tokenizer or a vocabulary size, into sizes and tokenizers.

    Args:
        source: a tokenizer with `vocabulary_size`, or an int.
        target: likewise; None shares the source's.

    Returns:
        the two sizes, and the tokenizer arguments of `Seq2Seq`.

    Raises:
        ValueError: a side is neither, or one side has a tokenizer and the other has not.
    """
    target = source if target is None else target
    with_text = [hasattr(side, "vocabulary_size") for side in (source, target)]
    if all(with_text):
        sizes = VocabularySizes(source.vocabulary_size, target.vocabulary_size)
        return sizes, {"source_tokenizer": source, "target_tokenizer": target}
    if any(with_text) or not all(isinstance(side, int) and side > 4 for side in (source, target)):
        raise ValueError(
            "Expected two tokenizers, or two vocabulary sizes of at least 5 (the four special ids "
            f"and one token). Received: source={source!r}, target={target!r}"
        )
    return VocabularySizes(source, target), {}


def need_one_vocabulary(why: str, source: Any, target: Any) -> None:
    """Refuse two vocabularies, for a model that copies or shares embeddings.

    Args:
        why: what needs the same ids on both sides, as the error says it.
        source: a tokenizer or a vocabulary size.
        target: likewise; None shares the source's.

    Raises:
        ValueError: the target's is another than the source's.
    """
    if target is not None and target is not source and target != source:
        raise ValueError(
            f"Expected one tokenizer (or size) for both sides: {why}. Received: source={source!r}, "
            f"target={target!r}. Train one tokenizer on both sides, and leave out the target."
        )
