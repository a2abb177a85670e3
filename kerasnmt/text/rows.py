"""Rows of a corpus of any type."""

from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any

import numpy as np

from kerasnmt.columns import (
    as_texts,
    check_same_index,
    check_same_length,
    is_data_frame,
    without_surrogates,
    without_tensor,
)

_WAYS = (
    "Pass two columns as a tuple of lists, (sources, targets), or pairs as a list of tuples, "
    "[(source, target), …]."
)


def rows(corpus: Any, source_key: str = "source", target_key: str = "target") -> Iterable[Any]:
    """Return the rows of a corpus: pairs of sentences, or single sentences.

    A corpus has one of these forms:

    - A tuple of two columns, the sources and the targets. A column is a list, an array or a tensor
      with one axis, a pandas Series or a generator.
    - An array or a tensor of pairs, string `[n, 2]`, or of sentences, string `[n]`.
    - A pandas DataFrame with the columns `source_key` and `target_key`.
    - An iterable of dicts with these keys.
    - Any other iterable of `(source, target)` tuples, which may have more entries, or of sentences.
      Its elements are returned unchanged.

    Args:
        corpus: One of the above.
        source_key: Column or key of the sources.
        target_key: Column or key of the targets.

    Returns:
        An iterable of `(source, target)` tuples or of sentences.

    Raises:
        ValueError: If columns differ in length or index or are missing, an array has another shape,
            or the corpus could be either two columns or two pairs.
    """
    corpus = without_tensor(corpus)
    if is_data_frame(corpus):
        columns = [*corpus.columns]
        if not {source_key, target_key} <= {*columns}:
            raise ValueError(
                f"Expected the columns {source_key!r} and {target_key!r}. Received: a DataFrame "
                f"with {columns}. Rename them, or pass source_key= and target_key= to batches."
            )
        return [*zip(corpus[source_key], corpus[target_key], strict=True)]
    if isinstance(corpus, np.ndarray):
        if corpus.ndim == 1:
            return corpus.tolist()
        if corpus.ndim == 2 and corpus.shape[1] == 2:
            return [*map(tuple, corpus.tolist())]
        raise ValueError(
            f"Expected an array of strings [n, 2]. Received: an array of shape {corpus.shape}."
        )
    if isinstance(corpus, tuple | list) and len(corpus) == 2 and all(map(_is_column, corpus)):
        if isinstance(corpus, tuple) and not any(isinstance(side, tuple) for side in corpus):
            return _pairs_of_columns(*corpus)
        if isinstance(corpus, tuple) or not all(isinstance(side, tuple) for side in corpus):
            raise ValueError(
                f"Expected pairs of sentences. Received: {corpus!r:.100}, which could be two "
                f"columns or two pairs. {_WAYS}"
            )
    if isinstance(corpus, Iterable) and not isinstance(corpus, str | bytes | Mapping):
        return (_row(row, source_key, target_key) for row in corpus)
    return corpus


def texts_of(row: Any) -> list[str]:
    """Return the texts of a row: a sentence, or a source and a target.

    What follows them in a tuple, such as links, is ignored. But a row with further texts or numbers
    has no texts, because it could be a column, or one side of it.

    Args:
        row: Row of `rows`.

    Returns:
        The texts, or an empty list if the row has another form.
    """
    if isinstance(row, str):
        row = (row,)
    if not isinstance(row, tuple | list):
        return []
    texts, others = row[:2], row[2:]
    is_row = all(isinstance(text, str) for text in texts)
    if not is_row or any(isinstance(other, str | Real) for other in others):
        return []
    return [*map(without_surrogates, texts)]


def _is_column(side: Any) -> bool:
    """Return whether this is a column with a text of each row, not a row with its texts."""
    if isinstance(side, tuple | list):
        return all(isinstance(text, str) for text in side)
    if isinstance(side, np.ndarray):
        return side.ndim == 1
    return isinstance(side, Iterable) and not isinstance(side, str | bytes | Mapping)


def _pairs_of_columns(sources: Any, targets: Any) -> list[tuple[str, str]]:
    check_same_index(sources=sources, targets=targets)
    sources, targets = as_texts("sources", sources), as_texts("targets", targets)
    check_same_length("targets", targets, "sources", len(sources))
    return [*zip(sources, targets, strict=True)]


def _row(row: Any, source_key: str, target_key: str) -> Any:
    if not isinstance(row, Mapping):
        return row
    if not {source_key, target_key} <= row.keys():
        raise ValueError(
            f"Expected dicts with the keys {source_key!r} and {target_key!r}. Received: a dict "
            f"with {[*row]}. Rename them, or pass source_key= and target_key= to batches."
        )
    return row[source_key], row[target_key]
