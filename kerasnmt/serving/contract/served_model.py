"""The interface of a model that translates, wherever it runs."""

from collections.abc import Callable, Mapping
from typing import Any


class ServedModel:
    """A model that translates texts: in this process, as an export or behind a server.

    `kerasnmt.serving.Translator` works with any of them.

    Attributes:
        signatures: Functions by name. Each takes its inputs by name, lists or tensors of strings
            `[batch]`, and returns its outputs by name.
        description: Facts about the model that its signatures do not show, such as `beam_size`.
        source_lengths: A function that counts the tokens of each text, the end token included;
            `None` if nothing counts them, so that long texts are cut without a warning.
        forced_prefix: A function like a signature that takes an input `prefix` as well; `None` if
            the model cannot force prefixes.
    """

    signatures: Mapping[str, Callable[..., Mapping[str, Any]]]
    description: Mapping[str, Any]
    source_lengths: Callable[..., Any] | None = None
    forced_prefix: Callable[..., Mapping[str, Any]] | None = None

    def function(self, name: str) -> Callable[..., Mapping[str, Any]]:
        """Return the function of a signature, in the form that is fastest to call many times."""
        return self.signatures[name]
