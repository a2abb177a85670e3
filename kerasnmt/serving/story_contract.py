"""What an export that answers questions about stories promises."""

from typing import ClassVar

from kerasnmt.serving.export_contract import ODD_TEXTS, ExportContract

_LINE = "John went to the hallway.\n"


class StoryContract(ExportContract):
    """What a `StoryModule` promises: of each story and question the answer and its score."""

    kind = "one of a memory network, which answers questions"
    inputs: ClassVar = {"story": "stories", "question": "questions"}
    outputs: ClassVar = {
        "serving_default": {"answer": ("string", ("batch",)), "score": ("float32", ("batch",))}
    }
    answer = "answer"
    answers = "answers"
    row = "question"
    # Stories and questions of several lengths, so that there is padding; none of one, of both, and
    # sentences without words; signs no vocabulary holds.
    example_rows = (
        ("Mary moved to the bathroom.\nJohn went to the hallway.", "Where is Mary?"),
        ("", "Where is John?"),
        ("\n \nnaïve 🙂", ""),
        ("John went to the hallway.\n\nMary took the milk there .\n" * 5, "Who has the milk?"),
        ("", ""),
    )
    odd_values: ClassVar = {
        "story": {
            **ODD_TEXTS,
            "sentences without words": b"\n \n\t\n...\n",
            "1,000 sentences": _LINE.encode() * 1000,
        },
        "question": ODD_TEXTS,
    }
