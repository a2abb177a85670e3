"""Models that translate on ONNX Runtime."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kerasnmt.columns import as_string
from kerasnmt.decoding.hypotheses import Hypotheses
from kerasnmt.ids import (
    END_ID,
    MAX_CONTEXT_LENGTH,
    PAD_ID,
    SOURCE_IDS,
    START_ID,
    UNKNOWN_ID,
    extended,
)
from kerasnmt.runtime.onnx_model import array_of_tokens, as_bytes, padded
from kerasnmt.runtime.search import IMPOSSIBLE, Arrays
from kerasnmt.runtime.search_model import OnnxSearchModel
from kerasnmt.runtime.terms import Alternative, Terms
from kerasnmt.tasks.served_model import ABSENT_SCORE, Progress
from kerasnmt.tasks.streaming import as_text_step, check_streams, joined, settled_words
from kerasnmt.tasks.wanted_terms import checked_parts
from kerasnmt.text.parts import Parts, looked_up
from kerasnmt.text.sentence_case import has_lowercase, in_capitals, in_sentence_case
from kerasnmt.text.sentence_ends import join_texts
from kerasnmt.text.term_lines import MOST_TERM_TOKENS, parse_terms
from kerasnmt.token_confidence import NUMBERS, token_confidence

Texts = Sequence[str | bytes]


class _Source(NamedTuple):
    """Texts that a model reads.

    Attributes:
        inputs: Ids with the end token, int32 `[batch, length]` each, padded with 0.
        unknown_words: Words of the extended ids of each row.
        words: Word of each source position, with the spelling that it has in a target, if unknown
            words of the target are replaced.
        known: Translation of each text in the lexicon, or "".
        capitals: Whether each translation is written in capitals.
    """

    inputs: Arrays
    unknown_words: list[list[str]]
    words: list[list[str]]
    known: list[str]
    capitals: list[bool]

    @property
    def empty(self) -> np.ndarray:
        """Boolean `[batch]`, True for texts without tokens."""
        return self.inputs["source_ids"][:, :1].ravel() == END_ID

    def with_prefixes(self, prefixes: Texts) -> "_Source":
        """Return the texts. Those with a prefix are not in the lexicon.

        They are not in capitals if the prefix has lowercase letters.
        """
        lower = [has_lowercase(as_string(prefix)) for prefix in prefixes]
        return self._replace(
            known=["" if prefix else one for one, prefix in zip(self.known, prefixes, strict=True)],
            capitals=[one and not no for one, no in zip(self.capitals, lower, strict=True)],
        )

    def repeated(self, times: int) -> "_Source":
        """Return the texts, each of them several times."""
        inputs = {name: np.repeat(one, times, axis=0) for name, one in self.inputs.items()}
        columns: Any = ([row for row in column for _ in range(times)] for column in self[1:])
        return _Source(inputs, *columns)


class OnnxTranslation(OnnxSearchModel):
    """Model that translates."""

    def __init__(
        self, directory: Path, description: Mapping[str, Any], tokenizers: Mapping[str, Any]
    ) -> None:
        super().__init__(directory, description, tokenizers)
        self._dictionary = description["dictionary"] or {}
        self._lexicon = description.get("lexicon") or {}
        self._sentence_case = description.get("sentence_case", False)
        self._parts = Parts.of(description)
        self.signatures: dict[str, Callable[..., dict[str, np.ndarray]]] = {
            "serving_default": self._best,
            "n_best": self._ranked,
            "confidence": self._judged,
            "n_best_confidence": self._all_judged,
            "forced_prefix": self._continued,
            "score": self._scored,
        }
        if not self._options.samples:
            self.signatures["with_terms"] = self._with_terms
            self.signatures["forced_prefix_with_terms"] = self._with_terms
        if "weights" in self._records:
            self.signatures["attention"] = self._attended
            self.signatures["forced_attention"] = self._aligned

    def source_lengths(self, text: Texts) -> list[int]:
        """Count the tokens of each text, or of its longest sentence, including the end token."""
        rows = self._sentences(text)
        return [max(len(ids) for ids in self._encoded(row)) + 1 for row in rows]

    def progress(self, request: Mapping[str, str | bytes]) -> Iterator[Progress]:
        """Translate one text, and return an iterator of the words as they are made.

        See `kerasnmt.tasks.ServedModel`.

        Raises:
            ValueError: If the search draws several samples.
        """
        check_streams(self._options)
        request = {name: one for name, one in request.items() if one or name != "prefix"}
        text: Any = as_string(request["text"]) if self._parts else request["text"]
        (parts,) = checked_parts([text], ["prefix" in request], self._parts, 1)
        streams = [self._streamed(**{**request, "text": part}) for part in parts]
        return joined(streams) if self._parts else streams[0]

    def _streamed(
        self,
        text: str | bytes,
        context: str | bytes | None = None,
        prefix: str | bytes | None = None,
    ) -> Iterator[Progress]:
        source = self._read([text], None if context is None else [context])
        if prefix:
            source = source.with_prefixes([prefix])
        (known,) = source.known
        if source.empty[0] or known:
            yield Progress(known, "", 0.0)
            return
        (words,) = self._words(source)
        prefix_ids = None if prefix is None else padded(self._target_ids([prefix], source))
        with_records = self.description["replace_unknown"]

        def steps() -> Iterator[Any]:
            for told in self._steps(
                source.inputs, prefix_ids=prefix_ids, with_records=with_records
            ):
                records = {name: one[:, :, None] for name, one in told.records.items()}
                ids = self._replaced(Hypotheses(told.ids[:, :, None], None, records), source)
                yield as_text_step(told._replace(ids=ids[:, :, 0]))

        def decode(hypotheses: list[list[int]]) -> list[str]:
            return self._target.decode(hypotheses, [words] * len(hypotheses))

        found = settled_words(steps(), decode, self._target.kind)
        yield from map(Progress.upper, found) if source.capitals[0] else found

    def _best(self, text: Texts, context: Texts | None = None) -> dict[str, np.ndarray]:
        if self._parts is None:
            return self._first(self._read(text, context))
        sentences = self._sentences(text)
        rows = np.repeat(np.arange(len(text)), np.array([*map(len, sentences)], int))
        contexts = None if context is None else [context[row] for row in rows.tolist()]
        best = self._first(self._read([one for row in sentences for one in row], contexts))
        joined = [
            join_texts([one.decode() for one in best["translation"][rows == row]]).encode()
            for row in range(len(text))
        ]
        scores = np.bincount(rows, best["score"], len(text)).astype("float32")
        return {"translation": np.array(joined, object), "score": scores}

    def _sentences(self, text: Texts) -> list[list[bytes]]:
        """Return the parts of each text that are translated one by one."""
        if self._parts is None:
            return [[as_bytes(one)] for one in text]
        return [[*map(as_bytes, self._parts.split(as_string(one)))] for one in text]

    def _continued(
        self, prefix: Texts, text: Texts, context: Texts | None = None
    ) -> dict[str, np.ndarray]:
        source = self._read(text, context).with_prefixes(prefix)
        return self._first(source, prefix_ids=padded(self._target_ids(prefix, source)))

    def _with_terms(
        self,
        terms: Texts,
        text: Texts,
        context: Texts | None = None,
        prefix: Texts | None = None,
    ) -> dict[str, np.ndarray]:
        source = self._read(text, context)
        read = [*map(self._read_terms, terms, source.unknown_words)]
        written = np.full((len(read), max((len(row) for _, row in read), default=0)), b"", object)
        for row, (_, forms) in enumerate(read):
            written[row, : len(forms)] = forms
        options: dict[str, Any] = {
            "terms": Terms([row for row, _ in read], *self._target.word_places)
        }
        if prefix is not None:
            source = source.with_prefixes(prefix)
            options["prefix_ids"] = padded(self._target_ids(prefix, source))
        has_terms = zip(source.capitals, terms, strict=True)
        source = source._replace(capitals=[one and not line for one, line in has_terms])
        return {**self._first(source, **options), "written": written}

    def _read_terms(
        self, line: str | bytes, known: list[str]
    ) -> tuple[list[Alternative], list[bytes]]:
        """Turn a line of terms into ids; see `kerasnmt.text.TranslationCodec.encode_terms`."""
        most = self._options.max_length
        written, total = [], 0
        forms: list[tuple[int, Alternative]] = []
        read = parse_terms(as_bytes(line).decode("utf-8", "surrogateescape"))
        for number, term in enumerate(read, start=1):
            for text in term.alternatives:
                phrases = self._target.phrases(text.encode("utf-8", "surrogateescape"))
                ids = [self._extended(*phrase, known) for phrase in phrases]
                whole, ids = ids[0], [one[: most + 1] for one in ids]
                can_write = UNKNOWN_ID not in ids[0]
                written.append(self._target.decode([whole], [known])[0] if can_write else "")
                total += sum(map(len, ids))
                # A wanted term needs room for the end token.
                longest = most - 1 if term.wanted else most
                forms += [
                    (form, (number if term.wanted else 0, tuple(one)))
                    for form, one in enumerate(ids)
                    if can_write
                    and UNKNOWN_ID not in one
                    and 0 < len(one) <= longest
                    and total <= MOST_TERM_TOKENS
                ]
        # First, a row has all alternatives in the first form.
        forms.sort(key=lambda form: form[0])
        return [alternative for _, alternative in forms], [one.encode() for one in written]

    def _ranked(self, text: Texts, context: Texts | None = None) -> dict[str, np.ndarray]:
        source = self._read(text, context)
        hypotheses = self._search(source, n_best=self._options.hypotheses)
        translations = np.full(hypotheses.scores.shape, b"", object)
        scores = np.full(hypotheses.scores.shape, ABSENT_SCORE, "float32")
        for row, texts in enumerate(self._texts(self._replaced(hypotheses, source), source)):
            # Different tokens can give the same text. Only the best of them stays.
            ranked: dict[bytes, float] = {}
            for one, score in zip(texts, hypotheses.scores[row], strict=True):
                if score > ABSENT_SCORE / 2:
                    ranked.setdefault(one, score)
            translations[row, : len(ranked)] = [*ranked]
            scores[row, : len(ranked)] = [*ranked.values()]
        translations[source.empty], scores[source.empty] = b"", ABSENT_SCORE
        scores[source.empty, 0] = 0.0
        return {"translations": translations, "scores": scores}

    def _attended(self, text: Texts, context: Texts | None = None) -> dict[str, np.ndarray]:
        source = self._read(text, context)
        hypotheses = self._search(source, with_records=True)
        ids = self._replaced(hypotheses, source)[:, 0]
        ids[source.empty] = PAD_ID
        length = np.count_nonzero(ids, axis=1).max(initial=0)
        records = {name: record[:, 0, :length] for name, record in hypotheses.records.items()}
        for record in records.values():
            record[source.empty] = 0.0
        return self._tokens(source, ids[:, :length]) | records

    def _judged(self, text: Texts, context: Texts | None = None) -> dict[str, np.ndarray]:
        judged = self._all_judged(text, context, n_best=1)
        return {name: one[:, 0] for name, one in judged.items()}

    def _all_judged(
        self, text: Texts, context: Texts | None = None, n_best: int | None = None
    ) -> dict[str, np.ndarray]:
        source = self._read(text, context)
        n_best = n_best or self._options.hypotheses
        hypotheses = self._search(source, n_best=n_best)
        empty = source.empty[:, None]
        ids = np.where(empty[..., None], PAD_ID, hypotheses.ids)
        ids = ids[..., : np.count_nonzero(ids, axis=2).max(initial=0)]
        rows, _, length = shape = ids.shape
        written = np.where(ids != PAD_ID, self._replaced(hypotheses, source)[..., :length], PAD_ID)
        repeated = source.repeated(n_best)
        numbers, _ = self._forced(repeated, ids.reshape(rows * n_best, length))
        words, flat = self._words(repeated), written.reshape(rows * n_best, length)
        nothing = np.where(np.arange(n_best) == 0, np.float32(0), np.float32(ABSENT_SCORE))
        outputs = {
            "translation": np.array(self._texts(written, source), object).reshape(rows, n_best),
            "score": np.where(empty, nothing, hypotheses.scores),
            "target_tokens": array_of_tokens(self._target, flat, words).reshape(shape),
            **{name: one.reshape(shape) for name, one in numbers.items()},
        }
        if calibration := self.description.get("calibration"):
            parameters = np.array([*calibration.values()], "float32")
            outputs["calibration"] = np.broadcast_to(parameters, (rows, n_best, len(parameters)))
        return outputs

    def _scored(
        self, target: Texts, text: Texts, context: Texts | None = None
    ) -> dict[str, np.ndarray]:
        source = self._read(text, context, cut=False)
        targets = self._targets(target, source)
        numbers, _ = self._forced(source, targets)
        length = np.count_nonzero(targets, axis=1)
        return {"score": numbers["log_probability"].sum(axis=1), "length": length}

    def _aligned(
        self, target: Texts, text: Texts, context: Texts | None = None
    ) -> dict[str, np.ndarray]:
        source = self._read(text, context, cut=False)
        targets = self._targets(target, source)
        return self._tokens(source, targets) | self._forced(source, targets)[1]

    def _read(self, text: Texts, context: Texts | None = None, cut: bool = True) -> _Source:
        """Turn texts into ids, truncated to the lengths of the search."""
        limits = (self._options.max_length - 1, MAX_CONTEXT_LENGTH - 1) if cut else (None, None)
        read, tags = self._cased(text), self.description["source_tags"]
        columns = [read] if context is None else [read, context]
        inputs: dict[str, list[list[int]]] = {}
        unknown_words: list[list[str]] = []
        words: list[list[str]] = []
        for name, column, limit in zip(SOURCE_IDS, columns, limits, strict=False):
            inputs[name], inputs[extended(name)] = [], []
            for row, one in enumerate(column):
                ids, parts = self._source.split(self._source.normalize_source(as_bytes(one)))
                ids, parts = ids[:limit], parts[:limit]
                if name == SOURCE_IDS[0]:
                    unknown_words.append([])
                    words.append([self._dictionary.get(part) or part for part in parts])
                known = unknown_words[row]
                known += dict.fromkeys(
                    part for part in _unknown(ids, parts) if part and part not in known
                )
                inputs[name].append(ids)
                inputs[extended(name)].append(self._extended(ids, parts, known))
        arrays = {
            name: padded([[*ids, END_ID] for ids in rows])
            for name, rows in inputs.items()
            if self._copies or name in SOURCE_IDS
        }
        return _Source(
            arrays,
            unknown_words,
            words,
            known=[*map(self._known, text)],
            capitals=[self._sentence_case and in_capitals(as_string(one), tags) for one in text],
        )

    def _encoded(self, text: Texts) -> list[list[int]]:
        """Return the ids of whole texts, without the end token."""
        return self._source.encode([*map(as_bytes, self._cased(text))])

    def _cased(self, text: Texts) -> Texts:
        """Return texts in sentence case, if the model reads them so. Others stay as they are."""
        if not self._sentence_case:
            return text
        tags = self.description["source_tags"]
        pairs = ((one, in_sentence_case(as_string(one), tags)) for one in text)
        return [one if cased == as_string(one) else cased for one, cased in pairs]

    def _known(self, text: str | bytes) -> str:
        """Return the translation of a text in the lexicon, or an empty string."""
        return looked_up(as_string(text), self._lexicon, self.description["source_tags"])

    def _extended(self, ids: list[int], words: list[str], known: list[str]) -> list[int]:
        """Replace unknown ids by the extended ids of their words."""
        if not self._copies:
            return ids
        numbers = {word: len(self._target.entries) + rank for rank, word in enumerate(known)}
        return [
            numbers.get(word, number) if number == UNKNOWN_ID else number
            for number, word in zip(ids, words, strict=True)
        ]

    def _target_ids(self, target: Texts, source: _Source) -> list[list[int]]:
        texts = (
            in_sentence_case(as_string(text)) if upper and in_capitals(as_string(text)) else text
            for text, upper in zip(target, source.capitals, strict=True)
        )
        read = (self._target.split(as_bytes(text)) for text in texts)
        rows = zip(read, source.unknown_words, strict=True)
        return [self._extended(ids, words, known) for (ids, words), known in rows]

    def _targets(self, target: Texts, source: _Source) -> np.ndarray:
        return padded([[*ids, END_ID] for ids in self._target_ids(target, source)])

    def _search(self, source: _Source, *, with_records: bool = False, **options: Any) -> Hypotheses:
        with_records = with_records or self.description["replace_unknown"]
        return self._found(source.inputs, with_records=with_records, **options)

    def _forced(self, source: _Source, targets: np.ndarray) -> tuple[Arrays, Arrays]:
        """Return the confidence in the tokens of given targets, `[batch, length]`, and records."""
        if not targets.size:  # ONNX Runtime does not take empty batches
            return dict.fromkeys(NUMBERS, np.zeros(targets.shape, "float32")), {}
        states, memory, _ = self._graphs.encode(source.inputs)
        ids, steps = np.full((len(targets), 1), START_ID, "int32"), []
        for following in targets.T[..., None]:
            log_probabilities, records, states = self._graphs.step(ids, states, memory)
            records = records | token_confidence(np, log_probabilities, following)
            steps.append({name: record[:, 0] for name, record in records.items()})
            ids = following
        records = {name: np.stack([one[name] for one in steps], axis=1) for name in steps[0]}
        if self._copies:  # a target may have impossible tokens
            gains = records["log_probability"]
            gains[gains <= IMPOSSIBLE / 2] = np.log(1e-30)
        for record in records.values():
            record[targets == PAD_ID] = 0.0
        return {name: records.pop(name) for name in NUMBERS}, records

    def _first(self, source: _Source, **options: Any) -> dict[str, Any]:
        return self._first_of(self._search(source, **options), source)

    def _first_of(self, hypotheses: Hypotheses, source: _Source) -> dict[str, Any]:
        texts = self._texts(self._replaced(hypotheses, source), source)
        fixed = source.empty | np.array([*map(bool, source.known)], bool)
        rows = zip(source.known, fixed, texts, strict=True)
        first = [known.encode() if is_fixed else row[0] for known, is_fixed, row in rows]
        scores = np.where(fixed, np.float32(0), hypotheses.scores[:, 0])
        return {"translation": np.array(first, object), "score": scores}

    def _replaced(self, hypotheses: Hypotheses, source: _Source) -> np.ndarray:
        """Return the ids, where unknown ids become those of the source words they attend to."""
        if not (self.description["replace_unknown"] and hypotheses.ids.size):
            return hypotheses.ids
        weights = hypotheses.records["weights"]
        lengths = np.array([len(words) for words in source.words])[:, None, None, None]
        weights = np.where(np.arange(weights.shape[-1]) < lengths, weights, -1.0)
        positions = len(self._target.entries) + weights.argmax(axis=-1)
        return np.where(hypotheses.ids == UNKNOWN_ID, positions, hypotheses.ids).astype("int32")

    def _texts(self, ids: np.ndarray, source: _Source) -> list[list[bytes]]:
        """Return the texts of ids `[batch, n_best, length]`."""
        return [
            [
                (text.upper() if capitals else text).encode()
                for text in self._target.decode(rows.tolist(), [words] * len(rows))
            ]
            for rows, words, capitals in zip(ids, self._words(source), source.capitals, strict=True)
        ]

    def _words(self, source: _Source) -> list[list[str]]:
        """Return the words of ids outside the vocabulary, for each row."""
        return source.words if self.description["replace_unknown"] else source.unknown_words

    def _tokens(self, source: _Source, targets: np.ndarray) -> dict[str, np.ndarray]:
        """Return the tokens of the texts that are read, and of targets `[batch, length]`."""
        names = {"source_ids": "source_tokens", "context_ids": "context_tokens"}
        ids = {
            output: (self._source, source.inputs.get(extended(name), source.inputs[name]))
            for name, output in names.items()
            if name in source.inputs
        }
        ids["target_tokens"] = self._target, targets
        words = self._words(source)
        return {name: array_of_tokens(*pair, words) for name, pair in ids.items()}


def _unknown(ids: list[int], words: list[str]) -> list[str]:
    return [word for number, word in zip(ids, words, strict=True) if number == UNKNOWN_ID]
