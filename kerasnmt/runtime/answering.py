"""Models that answer questions about stories on ONNX Runtime."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kerasnmt.ids import FIRST_WORD_ID, PAD_ID
from kerasnmt.runtime.onnx_graphs import ANSWER, OnnxGraph
from kerasnmt.runtime.onnx_model import OnnxModel, as_bytes, padded


class OnnxAnswering(OnnxModel):
    """Model that answers questions about stories.

    It reads stories and questions as `kerasnmt.tasks.AnsweringTask` does.
    """

    graphs = (ANSWER,)

    def __init__(
        self, directory: Path, description: Mapping[str, Any], tokenizers: Mapping[str, Any]
    ) -> None:
        super().__init__(directory, description, tokenizers)
        self._graph = OnnxGraph(directory / ANSWER)
        self.signatures = {"serving_default": self._best}

    def _best(
        self, story: Sequence[str | bytes], question: Sequence[str | bytes]
    ) -> dict[str, np.ndarray]:
        if not len(question):  # ONNX Runtime does not take empty batches
            return {"answer": np.zeros(0, object), "score": np.zeros(0, "float32")}
        questions = self._ids(question)
        empty = np.array([not ids for ids in questions])
        inputs = {"story_ids": self._story_ids(story), "question_ids": _at_least_one(questions)}
        words = self._graph(inputs)["log_probabilities"][:, FIRST_WORD_ID:]
        best = words.argmax(axis=1)[:, None] + FIRST_WORD_ID
        answers = [text.encode() for text in self._target.decode(best.tolist())]
        return {
            "answer": np.where(empty, b"", np.array(answers, object)),
            "score": np.where(empty, np.float32(0), words.max(axis=1)),
        }

    def _ids(self, texts: Sequence[str | bytes]) -> list[list[int]]:
        limit = self.description["max_words"]
        return [ids[:limit] for ids in self._source.encode([*map(as_bytes, texts)])]

    def _story_ids(self, stories: Sequence[str | bytes]) -> np.ndarray:
        """Return the ids of the last sentences with words, int32 `[batch, sentences, words]`."""
        limit = self.description["max_sentences"]
        lines = (as_bytes(story).split(b"\n") for story in stories)
        read = [[ids for ids in self._ids(sentences) if ids][-limit:] for sentences in lines]
        most = max(1, *map(len, read))
        rows = [ids for story in read for ids in [*story, *[[]] * (most - len(story))]]
        return _at_least_one(rows).reshape(len(read), most, -1)


def _at_least_one(rows: Sequence[Sequence[int]]) -> np.ndarray:
    """Return padded ids of at least one token, because a graph takes no empty axis."""
    return padded([[*ids] or [PAD_ID] for ids in rows])
