"""Requests to translate texts, with or without a context."""

import shlex
from collections.abc import Mapping
from typing import Any, ClassVar

from kerasnmt.kinds.fields import Field, TextField
from kerasnmt.kinds.kind import Kind, Usage, code


class TranslationKind(Kind):
    """Texts to translate."""

    fields: ClassVar[tuple[Field, ...]] = (TextField("text", "texts"),)
    lead = "text"
    translates = True

    def task(self, model: Any, **options: Any) -> Any:
        """Return a `TranslationTask`; see `Kind`."""
        from kerasnmt.tasks.translation import TranslationTask

        return TranslationTask(model, **options)

    @property
    def contract(self) -> Any:
        """See `Kind`."""
        from kerasnmt.serving.contract.translation_contract import TranslationContract

        return TranslationContract()

    def usage(self, request: Mapping[str, str]) -> Usage:
        """See `Kind`."""
        text = request["text"]
        pipe = f"echo {shlex.quote(text)} | "
        return Usage(f"translate([{code(text)}])", pipe=pipe)


class ContextKind(TranslationKind):
    """Texts to translate, each with a context."""

    fields = (*TranslationKind.fields, TextField("context", "--context FILE"))

    @property
    def contract(self) -> Any:
        """See `Kind`."""
        from kerasnmt.serving.contract.translation_contract import ContextContract

        return ContextContract()

    def usage(self, request: Mapping[str, str]) -> Usage:
        """See `Kind`."""
        texts, contexts = code([request["text"]]), code([request["context"]])
        return Usage(
            f"translate({texts}, contexts={contexts})",
            " --input texts.txt --context contexts.txt",
        )
