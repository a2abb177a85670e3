"""Interface of models that answer requests, wherever they run."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

# Score of a hypothesis that does not exist. It is finite, because JSON has no infinity.
ABSENT_SCORE = -1e9


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
