"""Exports for CTranslate2 that have been loaded, without TensorFlow where that is possible."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kerasnmt.checksum import sha256
from kerasnmt.extras import extras
from kerasnmt.runtime.onnx_model import as_bytes
from kerasnmt.serving.runtimes.ctranslate2.runtime import CTranslate2Runtime
from kerasnmt.serving.runtimes.plain_files import DESCRIPTION, TOKENIZERS
from kerasnmt.tasks.served_model import ABSENT_SCORE, ServedModel
from kerasnmt.text.without_tensorflow import plain_tokenizer

_END = "</s>"
# A beam search ends after this multiple of the beam size in finished hypotheses. With 1, which is
# CTranslate2's default, it misses the best hypothesis of about 1% of the sentences of Tatoeba.
_PATIENCE = 2
# Maximum number of texts in a batch. Longer lists of texts are sorted by length, and divided among
# the cores.
_BATCH_SIZE = 16


def load_ctranslate2(directory: str | Path) -> ServedModel:
    """Load an export for CTranslate2, with its tokenizers, for `Translator`.

    It needs the package ctranslate2, which is in the extra `ctranslate2`. It runs on the CPU, where
    each core translates other texts. With SentencePiece tokenizers, it does not import TensorFlow.
    Several threads can use it.

    Args:
        directory: Path of a folder that `export_ctranslate2` wrote.

    Returns:
        The export. It has the signatures of a SavedModel, `serving_default`, `n_best` and
        `attention`.

    Raises:
        ValueError: If `export_ctranslate2` did not write the folder, or a file is damaged.
        ModuleNotFoundError: If the package is not installed.
    """
    directory = Path(directory)
    CTranslate2Runtime().check_files(directory)
    try:
        description = json.loads((directory / DESCRIPTION).read_bytes())
        for name, digest in description["files"].items():
            if sha256(directory / name) != digest:
                raise ValueError(f"{name} is damaged. Copy or export it again")
        return CTranslate2Model(directory, description)
    except (ValueError, TypeError, KeyError, AttributeError, RuntimeError, OSError) as error:
        raise ValueError(f"{directory}: the export cannot be loaded: {error}") from error


def need_ctranslate2() -> Any:
    """Return the package ctranslate2.

    Raises:
        ModuleNotFoundError: If it is not installed. The error says how to install it.
    """
    with extras():
        import ctranslate2
    return ctranslate2


class _Hypothesis(NamedTuple):
    """Hypothesis, with its end token.

    Attributes:
        tokens: Tokens.
        score: Log-probability divided by the length penalty.
    """

    tokens: list[str]
    score: float


class CTranslate2Model(ServedModel):
    """Model of CTranslate2, with its tokenizers.

    Args:
        directory: Path of the folder.
        description: Content of its `kerasnmt.json`.
    """

    fields = ("text",)

    def __init__(self, directory: Path, description: dict[str, Any]) -> None:
        self.description = description
        tokenizers = json.loads((directory / TOKENIZERS).read_bytes())
        self._source, *others = map(plain_tokenizer, tokenizers.values())
        self._target = others[0] if others else self._source
        self._source_tokens = _vocabulary(directory, "source")
        self._target_ids = {
            one: number for number, one in enumerate(_vocabulary(directory, "target"))
        }
        # Several threads for one batch would wait for each other for longer than they compute.
        self._translator = need_ctranslate2().Translator(
            str(directory), inter_threads=os.cpu_count() or 1, intra_threads=1
        )
        self.signatures: dict[str, Callable[..., dict[str, np.ndarray]]] = {
            "serving_default": self._best,
            "n_best": self._ranked,
            "attention": self._attended,
        }

    def source_lengths(self, text: Sequence[str | bytes]) -> list[int]:
        """Count the tokens of each text, including the end token."""
        return [len(ids) + 1 for ids in self._source.encode([*map(as_bytes, text)])]

    def _best(self, text: Sequence[str | bytes]) -> dict[str, np.ndarray]:
        best = [hypotheses[0] for hypotheses in self._search(self._read(text))]
        translation = np.array(self._written(best), object)
        return {"translation": translation, "score": np.array([f.score for f in best], "float32")}

    def _ranked(self, text: Sequence[str | bytes]) -> dict[str, np.ndarray]:
        shape = (len(text), self.description["beam_size"])
        translations, scores = np.full(shape, b"", object), np.full(shape, ABSENT_SCORE, "float32")
        for row, hypotheses in enumerate(self._search(self._read(text), number=shape[1])):
            # Different tokens can give the same text. Only the best of them stays.
            ranked: dict[bytes, float] = {}
            for written, one in zip(self._written(hypotheses), hypotheses, strict=True):
                ranked.setdefault(written, one.score)
            for rank, (written, score) in enumerate([*ranked.items()][: shape[1]]):
                translations[row, rank], scores[row, rank] = written, score
        return {"translations": translations, "scores": scores}

    def _attended(self, text: Sequence[str | bytes]) -> dict[str, np.ndarray]:
        source = self._read(text)
        target = [hypotheses[0].tokens for hypotheses in self._search(source)]
        source_tokens, target_tokens = _padded(source), _padded(target)
        weights = np.zeros((*target_tokens.shape, source_tokens.shape[1]), "float32")
        # The translations are read again as prefixes of a greedy search. In a beam search for
        # several texts, CTranslate2 4.8 returns the attention of the first token of another text.
        # One text alone can have another translation, if there is a shortlist.
        results = self._translator.translate_batch(
            source,
            target_prefix=[tokens[:-1] for tokens in target],
            beam_size=1,
            **self._limits,
            return_attention=True,
        )
        for row, (tokens, result) in enumerate(zip(target, results, strict=True)):
            if tokens:
                of_tokens = result.attention[0][: len(tokens)]
                weights[row, : len(tokens), : len(source[row])] = of_tokens
        return {"source_tokens": source_tokens, "target_tokens": target_tokens, "weights": weights}

    def _read(self, text: Sequence[str | bytes]) -> list[list[str]]:
        """Return the tokens of each text, with the end token."""
        most = self.description["max_length"] - 1
        rows = self._source.encode([*map(as_bytes, text)])
        return [[*(self._source_tokens[number] for number in ids[:most]), _END] for ids in rows]

    @property
    def _limits(self) -> dict[str, Any]:
        return {
            "min_decoding_length": 0,
            "max_decoding_length": self.description["max_length"],
            "max_input_length": 0,
            "max_batch_size": _BATCH_SIZE,
            "return_end_token": True,
        }

    def _search(self, source: list[list[str]], *, number: int = 1) -> Iterator[list[_Hypothesis]]:
        """Yield the hypotheses of each text, at least `number` if there are so many, best first."""
        beam_size, alpha = self.description["beam_size"], self.description["length_penalty"]
        # CTranslate2 divides by n^alpha, which only ranks its finished hypotheses. So Wu's formula
        # can rank all of them again.
        wu = self.description["length_normalization"] == "wu"
        results = self._translator.translate_batch(
            source,
            beam_size=beam_size,
            patience=_PATIENCE,
            num_hypotheses=_PATIENCE * beam_size if wu and alpha and beam_size > 1 else number,
            length_penalty=alpha,
            **self._limits,
            use_vmap=bool(self.description.get("shortlist")),
            disable_unk=self.description.get("allow_unknown") is False,
            return_scores=True,
        )
        for result in results:
            hypotheses = [*map(_Hypothesis, result.hypotheses, result.scores)]
            if wu:
                hypotheses = [
                    one._replace(score=one.score * _from_length_to_wu(one, alpha))
                    for one in hypotheses
                ]
                hypotheses.sort(key=lambda one: -one.score)
            yield hypotheses

    def _written(self, hypotheses: Sequence[_Hypothesis]) -> list[bytes]:
        """Return the text of each hypothesis."""
        ids = [[self._target_ids[token] for token in one.tokens] for one in hypotheses]
        return [text.encode() for text in self._target.decode(ids)]


def _from_length_to_wu(hypothesis: _Hypothesis, alpha: float) -> float:
    """Return n^alpha divided by ((5 + n) / 6)^alpha; see `kerasnmt.decoding.SearchOptions`."""
    length = len(hypothesis.tokens)
    return (6 * length / (5 + length)) ** alpha


def _vocabulary(directory: Path, side: str) -> list[str]:
    """Return the tokens of the source or the target, by id."""
    shared = directory / "shared_vocabulary.json"
    path = shared if shared.exists() else directory / f"{side}_vocabulary.json"
    return json.loads(path.read_bytes())


def _padded(rows: Sequence[Sequence[str]]) -> np.ndarray:
    """Return tokens as `bytes` in an array `[batch, length]`, padded with empty strings."""
    padded = np.full((len(rows), max(map(len, rows), default=0)), b"", object)
    for row, tokens in enumerate(rows):
        padded[row, : len(tokens)] = [token.encode() for token in tokens]
    return padded
