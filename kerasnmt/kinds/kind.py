"""Base class of the kinds of requests."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from kerasnmt.kinds.fields import Field


class Usage(NamedTuple):
    """Code and a command that ask a preset, for its card.

    Attributes:
        call: Python expression after `model.`.
        command: Command after `kerasnmt translate PRESET`, with a space before it.
        preparation: Lines of Python before the model is loaded.
        pipe: Command that pipes texts into it.
    """

    call: str
    command: str = ""
    preparation: str = ""
    pipe: str = ""


class Kind:
    """Base class of kinds of requests, which says all that the library needs to know of one.

    A new kind is a subclass, registered by `register_kind`, with a task and a contract.

    Attributes:
        fields: Fields of a request, in the order of the inputs of an export.
        lead: Name of the field that the command line reads first; the others have a value for each
            of its values.
        translates: Whether an answer is a translation of a text, with n-best lists and alignments.
        drawing: How the page draws an answer: "alignment" of tokens, "regions" of an image, or
            "hops" over sentences.
    """

    fields: ClassVar[tuple[Field, ...]]
    lead: ClassVar[str]
    translates: ClassVar[bool] = False
    drawing: ClassVar[str] = "alignment"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the fields."""
        return tuple(field.name for field in self.fields)

    def task(self, model: Any, **options: Any) -> Any:
        """Return the `kerasnmt.tasks.Task` of a model."""
        raise NotImplementedError

    @property
    def contract(self) -> Any:
        """Contract of the exports, an `ExportContract` of `kerasnmt.serving.contract`."""
        raise NotImplementedError

    def page_model(self, task: Any) -> Any:
        """Return what the page asks of a task, a `PageModel` of `kerasnmt.serving.server`."""
        from kerasnmt.serving.server.task_page_models import SearchPageModel

        return SearchPageModel(task)

    def usage(self, request: Mapping[str, str]) -> Usage:
        """Return how to ask a preset.

        Args:
            request: An example of a request.
        """
        raise NotImplementedError

    def options(self) -> str:
        """Return what to type on the command line, used in error messages."""
        return " and ".join(field.option for field in self.fields)

    def takes(self, names: Sequence[str]) -> bool:
        """Return whether the fields given on the command line are those of this kind.

        The lead can come from standard input.
        """
        from_stdin = {field.name for field in self.fields if field.from_stdin} & {self.lead}
        return {*self.names} - from_stdin <= {*names} <= {*self.names}


def code(value: Any) -> str:
    """Return a text, or a list of texts, as Python code."""
    return json.dumps(value, ensure_ascii=False)
