"""Base class of models on ONNX Runtime."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from kerasnmt.tasks.served_model import ServedModel
from kerasnmt.text.without_tensorflow import PlainTokenizer, plain_tokenizer


class OnnxModel(ServedModel):
    """Base class of models of folders of `export_onnx`, with their tokenizers.

    A subclass has `signatures`.

    Args:
        directory: Path of the folder.
        description: Content of its `kerasnmt.json`; see `with_options`.
        tokenizers: Content of its `tokenizers.json`.

    Attributes:
        graphs: Names of the files of the graphs.
    """

    graphs: ClassVar[tuple[str, ...]]

    def __init__(
        self, directory: Path, description: Mapping[str, Any], tokenizers: Mapping[str, Any]
    ) -> None:
        self.description = description
        self.fields = tuple(description["inputs"])
        self.threads = os.cpu_count() or 1  # each graph runs in one thread
        plain = [plain_tokenizer(config) for config in tokenizers.values()]
        # The first tokenizer reads, and the last one writes. It can be the same.
        self._source, self._target = plain[0], plain[-1]

    @classmethod
    def with_options(
        cls,
        description: Mapping[str, Any],
        options: Mapping[str, Any],
        changes: Sequence[str] = (),
    ) -> Mapping[str, Any]:
        """Return a description with changed options of the search.

        Args:
            description: Content of `kerasnmt.json`.
            options: Options by name.
            changes: Names and values of options, such as `beam_size=8`, from the command line.

        Raises:
            ValueError: If an option is unknown, out of range, or not for this model.
        """
        if received := [*options, *changes]:
            raise ValueError(
                f"Expected no options of the search, because {description['model']} does not "
                f"search. Received: {', '.join(received)}"
            )
        return description


def array_of_tokens(
    tokenizer: PlainTokenizer, ids: np.ndarray, words: Sequence[Sequence[str]]
) -> np.ndarray:
    """Return the tokens of ids `[batch, length]` as `bytes`.

    Args:
        tokenizer: The tokenizer.
        ids: Ids, `[batch, length]`.
        words: Words of the ids outside the vocabulary, for each row.
    """
    tokens = np.empty(ids.shape, object)
    for row, known in enumerate(words):
        tokens[row] = [token.encode() for token in tokenizer.tokens(ids[row].tolist(), known)]
    return tokens


def padded(rows: Sequence[Sequence[int]]) -> np.ndarray:
    """Return ids as an array, int32 `[batch, length]`, padded with 0."""
    array = np.zeros((len(rows), max(map(len, rows), default=0)), "int32")
    for row, ids in enumerate(rows):
        array[row, : len(ids)] = ids
    return array


def as_bytes(text: str | bytes) -> bytes:
    """Return a text as UTF-8."""
    return text.encode("utf-8", "replace") if isinstance(text, str) else text
