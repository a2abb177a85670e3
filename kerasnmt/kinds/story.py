"""Requests to answer questions about stories."""

from collections.abc import Mapping
from typing import Any

from kerasnmt.kinds.fields import StoryField, TextField
from kerasnmt.kinds.kind import Kind, Usage, code


class StoryKind(Kind):
    """Stories, each with a question to answer."""

    fields = (StoryField("story", "--story FILE"), TextField("question", "questions"))
    lead = "question"
    drawing = "hops"

    def task(self, model: Any, **options: Any) -> Any:
        """Return an `AnsweringTask`; see `Kind`."""
        from kerasnmt.tasks.answering import AnsweringTask

        return AnsweringTask(model, **options)

    @property
    def contract(self) -> Any:
        """See `Kind`."""
        from kerasnmt.serving.contract.story_contract import StoryContract

        return StoryContract()

    def page_model(self, task: Any) -> Any:
        """See `Kind`."""
        from kerasnmt.serving.server.task_page_models import StoryPageModel

        return StoryPageModel(task)

    def usage(self, request: Mapping[str, str]) -> Usage:
        """See `Kind`."""
        story, question = code(request["story"].splitlines()), code(request["question"])
        return Usage(
            f"answer([{story}], [{question}])", " --story story.txt --question questions.txt"
        )
