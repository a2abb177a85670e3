"""Interface of models that answer requests, wherever they run."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from kerasnmt.columns import as_string

# Score of a hypothesis that does not exist. It is finite, because JSON has no infinity.
ABSENT_SCORE = -1e9


class Progress(NamedTuple):
    """What a step of a search adds to an answer.

    Attributes:
        piece: Text that follows the earlier pieces, and that no further step can change. It may be
            empty.
        provisional: Text that follows the pieces in the best hypothesis so far, which may change.
        score: Score of the answer, in its last progress only.
    """

    piece: str
    provisional: str
    score: float | None = None

    def upper(self) -> Self:
        """Return the progress in capitals."""
        return self._replace(piece=self.piece.upper(), provisional=self.provisional.upper())


def whole_progress(outputs: Mapping[str, Any]) -> Progress:
    """Return the outputs for one request as one piece.

    Args:
        outputs: An answer, string `[1]`, and its `score`, `[1]`.
    """
    (name,) = outputs.keys() - {"score"}
    text = as_string(np.asarray(outputs[name])[0])
    return Progress(text, "", float(np.asarray(outputs["score"])[0]))


class ServedModel:
    """Model that answers requests, in this process, in an export or on a server.

    `Translator` works with all of them.

    Attributes:
        signatures: Dict of functions. Each takes its inputs as keywords, lists or tensors of
            strings `[batch]`, and returns a dict of its outputs.
        description: Facts about the model that its signatures do not show, such as `beam_size`.
        source_lengths: Function that counts the tokens of each text, including the end token, or
            None. Without it, long texts are truncated without a warning.
        fields: Names of the fields of a request.
        threads: Number of threads that call the functions at the same time.
    """

    signatures: Mapping[str, Callable[..., Mapping[str, Any]]]
    description: Mapping[str, Any]
    fields: Sequence[str]
    source_lengths: Callable[..., Any] | None = None
    threads: int = 1

    def function(self, name: str) -> Callable[..., Mapping[str, Any]]:
        """Return the function of a signature, in the form that is fastest to call many times."""
        return self.signatures[name]

    def progress(self, request: Mapping[str, str | bytes]) -> Iterator[Progress]:
        """Answer one request, and return an iterator of the words as they are made.

        By default, the whole answer is one piece, because an export or a server runs whole
        searches.

        Args:
            request: Dict with the fields of the model, and `prefix` for a forced prefix.

        Returns:
            An iterator of the progress, whose pieces together are the answer. The last has a score.
        """
        name = "forced_prefix" if "prefix" in request else "serving_default"
        inputs = {field: [one] for field, one in request.items()}
        return iter([whole_progress(self.function(name)(**inputs))])
