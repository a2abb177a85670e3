"""Normalization of the text of SentencePiece, without TensorFlow."""

import functools
import unicodedata
from collections.abc import Iterable, Mapping

import sentencepiece

NORMALIZATIONS = ("nfc", "nfkc", "nmt_nfkc", "identity")
# White space, and "▁", which SentencePiece takes as a space.
SPACES = "\t\n\v\f\r▁"


def substitutes(pieces: Iterable[str]) -> dict[str, str]:
    """Return what to write for characters that no piece contains, if there is another form.

    NFKC and SentencePiece's rule "nmt_nfkc" give the other form. The rule also turns zero-width
    characters into a space, and removes control characters.
    """
    known = {*"".join(pieces)}
    return {one: other for one, other in _other_forms().items() if one not in known}


def with_substitutes(text: str, others: Mapping[str, str]) -> str:
    """Return a text in NFC with other forms, from `substitutes`, of its characters."""
    return nfc("".join(others.get(one, one) for one in nfc(text)))


def nfc(text: str) -> str:
    """Return a text in Unicode NFC."""
    return unicodedata.normalize("NFC", text)


@functools.cache
def _other_forms() -> dict[str, str]:
    normalizer = sentencepiece.SentencePieceNormalizer(
        rule_name="nmt_nfkc",
        add_dummy_prefix=False,
        escape_whitespaces=False,
        remove_extra_whitespaces=False,
    )
    # Letters and signs with another form have a decomposition. Others are controls and spaces.
    ones = [
        one
        for one in map(chr, range(1, 0x110000))
        if unicodedata.decomposition(one)
        or unicodedata.category(one) in ("Cc", "Cf", "Zl", "Zp", "Zs")
    ]
    others = normalizer.normalize([unicodedata.normalize("NFKC", one) for one in ones])
    return {one: other for one, other in zip(ones, others, strict=True) if other != nfc(one)}
