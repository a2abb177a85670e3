"""Vocabulary shortlists, which make the output layer of a search smaller."""

import base64
import zlib
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from kerasnmt.ids import END_ID

_TYPE = np.dtype("<i4")


class Shortlist:
    """Likely target ids of each source id, and the ids that are always listed.

    A search that is restricted to the lists of its batch computes the product and the softmax of
    the output layer over a part of the vocabulary. The translations of a text can then depend on
    the other texts of its batch, whose lists it shares.

    Source: Jean, Cho, Memisevic and Bengio (2015), "On using very large target vocabulary for
    neural machine translation", section 3.3, "Candidate lists".

    Args:
        table: Likely target ids of each source id, `[source_vocabulary, size]`, padded with 0.
        frequent: Target ids of every list, `[frequent]`.
        target_size: Number of target ids.
        vocabulary: Digest of the vocabularies; see `kerasnmt.tasks.shortlists`. An empty string
            if it is not known.
    """

    def __init__(self, table: Any, frequent: Any, target_size: int, vocabulary: str = "") -> None:
        self.table = np.asarray(table, _TYPE)
        # The special ids are in every list.
        self.frequent = np.union1d(np.arange(END_ID + 1), frequent).astype(_TYPE)
        self.target_size = target_size
        self.vocabulary = vocabulary

    def listed_ids(self, source_ids: Any, *others: Any) -> np.ndarray:
        """Return the list of a batch, for `model.search(inputs, listed_ids=…)`.

        Args:
            source_ids: Ids of the sources, int32 `[batch, source_length]`.
            *others: Further target ids, such as those of prefixes and terms, in any shape.

        Returns:
            Int32 `[size]`, in ascending order, each id once.
        """
        likely = self.table[np.unique(source_ids)]
        ids = [np.ravel(one) for one in (self.frequent, likely, *others)]
        return np.unique(np.concatenate(ids)).astype("int32")

    @classmethod
    def of(cls, document: Mapping[str, Any] | None) -> Self | None:
        """Return the shortlist of a document, or None without one.

        Args:
            document: Result of `document`, or None.

        Raises:
            ValueError: If the document is not one of a shortlist.
        """
        if document is None:
            return None
        try:
            table = _array(document["table"]).reshape(-1, document["size"])
            frequent = _array(document["frequent"])
            return cls(table, frequent, document["target_size"], document["vocabulary"])
        except (KeyError, TypeError, ValueError, zlib.error) as error:
            raise ValueError(
                "Expected a shortlist, with table, size, frequent, target_size and vocabulary. "
                f"Received: {document!r:.200}"
            ) from error

    def document(self) -> dict[str, Any]:
        """Return the shortlist as values for JSON."""
        return {
            "table": _text(self.table),
            "size": self.table.shape[1],
            "frequent": _text(self.frequent),
            "target_size": self.target_size,
            "vocabulary": self.vocabulary,
        }


def _text(array: np.ndarray) -> str:
    """Return an array as text: the compressed bytes of little-endian int32, in Base64."""
    return base64.b64encode(zlib.compress(array.tobytes(), 9)).decode()


def _array(text: str) -> np.ndarray:
    return np.frombuffer(zlib.decompress(base64.b64decode(text)), _TYPE)
