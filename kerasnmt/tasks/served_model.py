"""The interface of a model that answers requests, wherever it runs."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

# The score of a hypothesis that does not exist. It is finite because JSON has no infinity.
ABSENT_SCORE = -1e9


class ServedModel:
    """A model that answers requests: in this process, in an export or behind a server.

    `Translator` works with any of them.

    Attributes:
        signatures: Functions by name. Each takes its inputs by name, lists or tensors of strings
            `[batch]`, and returns its outputs by name.
        description: Facts about the model that its signatures do not show, such as `beam_size`.
        source_lengths: A function that counts the tokens of each text, the end token included;
            `None` if nothing counts them, so that long texts are cut without a warning.
        fields: The names of the fields of a request.
    """

    signatures: Mapping[str, Callable[..., Mapping[str, Any]]]
    description: Mapping[str, Any]
    fields: Sequence[str]
    source_lengths: Callable[..., Any] | None = None

    def function(self, name: str) -> Callable[..., Mapping[str, Any]]:
        """Return the function of a signature, in the form that is fastest to call many times."""
        return self.signatures[name]
