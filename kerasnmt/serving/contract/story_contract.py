"""Contract of exports that answer questions about stories."""

from collections.abc import Iterator
from typing import ClassVar

from kerasnmt.serving.contract.export_contract import ODD_TEXTS, WARMUP_BATCH_SIZES, ExportContract

_WARMUP_SENTENCES = (1, 10, 50)
_LINE = "John went to the hallway.\n"


class StoryContract(ExportContract):
    """Contract of exports that answer questions about stories: answers and their scores."""

    inputs = ("story", "question")
    outputs: ClassVar = {
        "serving_default": {"answer": ("string", ("batch",)), "score": ("float32", ("batch",))}
    }
    answer = "answer"
    row = "question"
    # The examples have several lengths, for padding; an empty story, an empty question, or both;
    # sentences without words; and characters that are in no vocabulary.
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

    def warmup_batches(self) -> Iterator[dict[str, list[bytes]]]:
        """Yield batches of 1, 8 and 64 stories of 1, 10 and 50 sentences."""
        for size in WARMUP_BATCH_SIZES:
            for sentences in _WARMUP_SENTENCES:
                story = "\n".join(["Mary moved to the bathroom."] * sentences).encode()
                yield {"story": [story] * size, "question": [b"Where is Mary?"] * size}
