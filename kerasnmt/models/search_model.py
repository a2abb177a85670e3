"""What every model can do that predicts a target step by step."""

from collections.abc import Mapping, Sequence
from typing import Any

import keras
from keras import ops

from kerasnmt.decoding import Hypotheses, SearchOptions, search
from kerasnmt.ids import END_ID, PAD_ID, START_ID
from kerasnmt.models.checks import check_integers


class SearchModel(keras.Model):
    """Search, translation, scores, alignments and export, for a model with `encode` and `step`.

    `Seq2Seq` and `Ensemble` are such models. Each has

    - `encode(inputs, steps=0)`, which returns first states, with room for so many steps, and a
      memory; of the inputs it takes those of the source;
    - `memory_mask(memory)`, which says what of a memory is real;
    - `step(ids, states, memory)`, which returns log-probabilities, records and states;
    - `token_log_probability(inputs, targets)` and `attend(inputs)`, for given targets;
    - `source_tokenizer` and `target_tokenizer`, or None where only ids are fed;
    - `reads_context`, whether it reads a second text beside the source;
    - `has_attention`, whether the records hold `weights`, and `copies`, whether the ids of words
      outside the vocabulary are predicted.

    Args:
        source_tokenizer: a `kerasnmt.text` tokenizer, or None where only ids are fed.
        target_tokenizer: likewise.
    """

    def __init__(self, source_tokenizer: Any, target_tokenizer: Any, **kwargs) -> None:
        super().__init__(**kwargs)
        self.source_tokenizer = source_tokenizer
        self.target_tokenizer = target_tokenizer
        self._graphs = _Graphs()

    def search(
        self,
        inputs: Any,
        *,
        prefix_ids: Any = None,
        n_best: int = 1,
        with_records: bool = False,
        **options,
    ) -> Hypotheses:
        """Find the best targets of given sources, in graph; no target holds padding or start.

        Args:
            inputs: what `encode` takes, for example `{"source_ids": int32 [batch,
                source_length]}`; those of the target, as `call` takes them, are left out. An array
                alone is `source_ids`.
            prefix_ids: int32 `[batch, prefix_length]`, padded on the right with 0: the words that
                each target begins with; None for none.
            n_best: number of targets a source, at most the number of hypotheses.
            with_records: whether the attention weights are returned with the targets.
            **options: of `kerasnmt.decoding.SearchOptions`, such as `beam_size=5`.

        Returns:
            `Hypotheses` of ids `[batch, n_best, max_length]`, scores `[batch, n_best]` and
            records `{"weights": [batch, n_best, max_length, source_length]}`, or `{}` where none
            are asked for or the model has no attention; of a pointer-generator
            `generate_probability` `[batch, n_best, max_length]` as well. A model that copies finds
            extended ids.

        Raises:
            ValueError: an option or `n_best` is out of range, or a coverage penalty is asked of a
                model without attention.
        """
        search_options = SearchOptions.from_keywords(options)
        if search_options.coverage_penalty:
            self._need_attention()
        inputs = _of_the_source(inputs)
        if prefix_ids is not None:
            check_integers("prefix_ids", prefix_ids)
            prefix_ids = ops.cast(prefix_ids, "int32")
        states, memory = self.encode(inputs, steps=search_options.max_length)
        source_mask = self.memory_mask(memory)
        return search(
            self.step,
            states,
            memory,
            ops.full_like(source_mask[:, 0], START_ID, dtype="int32"),
            source_mask,
            search_options,
            end_id=END_ID,
            pad_id=PAD_ID,
            never_ids=(PAD_ID, START_ID),
            n_best=n_best,
            prefix_ids=prefix_ids,
            with_records=with_records,
            sampled_from=inputs,
        )

    def translate(
        self,
        texts: Sequence[str],
        *,
        contexts: Sequence[str] | None = None,
        prefixes: Sequence[str] | None = None,
        replace_unknown: bool = False,
        dictionary: Mapping[str, str] | None = None,
        batch_size: int = 64,
        **options,
    ) -> list[str]:
        """Translate texts, with the same graph that `export` writes.

        Args:
            texts: one sentence each. An empty text gives an empty translation; a text of more
                than `max_length` tokens is cut there, with a warning.
            contexts: of a model that reads a context, that of each text, which may be empty; of
                others None. Of more than 1,000 tokens the rest is left out.
            prefixes: for each text the words that its translation has to begin with, or an empty
                string; None for none. Of words outside the vocabulary the unknown word remains.
            replace_unknown: whether each unknown word of a translation is replaced by the source
                word that it attends to most; for a model that does not copy by itself.
            dictionary: how source words are written when they replace; those it lacks stay.
            batch_size: number of texts translated at once.
            **options: of `kerasnmt.decoding.SearchOptions`, such as `beam_size=5`.

        Returns:
            one translation for each text, in order.

        Raises:
            ValueError: the model has no tokenizers, an option is out of range, `texts` is one
                string, there are not as many prefixes or contexts as texts, contexts are missing
                where the model reads them, or Keras does not run on TensorFlow.
        """
        self._need_tokenizers()
        SearchOptions.from_keywords(options)  # and no other options
        translator = self._graphs.translator(
            self, replace_unknown=replace_unknown, dictionary=dictionary, **options
        )
        return translator.translate(
            texts, contexts=contexts, prefixes=prefixes, batch_size=batch_size
        )

    def score(
        self,
        sources: Sequence[str],
        targets: Sequence[str],
        *,
        contexts: Sequence[str] | None = None,
        batch_size: int = 64,
    ) -> list[float]:
        """Return the log-probabilities of given translations, for reranking and filtering.

        log p(target | source) = sum_t log p(y_t | y_1 ... y_{t-1}, source), the end token included,
        divided by nothing. Longer translations have lower ones: to compare sentences of other
        lengths, divide by their numbers of words.

        Args:
            sources: one sentence each.
            targets: their translations.
            contexts: their contexts, for a model that reads them.
            batch_size: number of pairs at once.

        Returns:
            one natural logarithm for each pair, in order.

        Raises:
            ValueError: the model has no tokenizers, there are not as many targets as sources,
                `batch_size` is below 1, or Keras does not run on TensorFlow.
        """
        self._need_tokenizers()
        return self._graphs.forced_decoding(self).score(
            sources, targets, contexts=contexts, batch_size=batch_size
        )

    def align(
        self,
        sources: Sequence[str],
        targets: Sequence[str],
        *,
        contexts: Sequence[str] | None = None,
        batch_size: int = 64,
    ) -> list[list[tuple[int, int]]]:
        """Align the words of sources with those of given translations, by attention.

        The model reads each translation as if it had made it; a target word is linked with the
        source word that it attends to most, pieces merged to words.

        Args:
            sources: one sentence each.
            targets: their translations.
            contexts: their contexts, for a model that reads them.
            batch_size: number of pairs at once.

        Returns:
            for each pair the links (source word, target word), counted from 0; words are what
            `str.split` finds. `kerasnmt.viz` writes them in the Pharaoh format and scores them.

        Raises:
            ValueError: the model has no tokenizers or no attention, there are not as many targets
                as sources, `batch_size` is below 1, or Keras does not run on TensorFlow.
        """
        self._need_tokenizers()
        self._need_attention()
        from kerasnmt.text import word_indices
        from kerasnmt.viz import word_alignment

        attended = self._graphs.forced_decoding(self).attention(
            sources, targets, contexts=contexts, batch_size=batch_size
        )
        source_kind, target_kind = self.source_tokenizer.kind, self.target_tokenizer.kind
        return [
            word_alignment(
                sentence.weights,
                word_indices(sentence.source_tokens, source_kind),
                word_indices(sentence.target_tokens, target_kind),
            )
            for sentence in attended
        ]

    def export(
        self,
        directory: str,
        *,
        replace_unknown: bool = False,
        dictionary: Mapping[str, str] | None = None,
        weights: str = "float32",
        **options,
    ) -> str:
        """Write a SavedModel for TF Serving: text in, text out.

        It is written whole or not at all. For the signatures see `kerasnmt.serving.TextModule`.

        Args:
            directory: where to write, in TF Serving's shape `<name>/<version>`, the version a
                number; must not exist.
            replace_unknown: see `translate`; fixed in the export, as all options are.
            dictionary: see `translate`.
            weights: the numbers in which the weights are stored: "float32", or for a smaller
                export "float16" or "int8", see `kerasnmt.serving.StoredWeights`.
            **options: of `kerasnmt.decoding.SearchOptions`, such as `beam_size=5`.

        Returns:
            the directory.

        Raises:
            ValueError: the model has no tokenizers, the directory exists, or an option is out of
                range.
        """
        self._need_tokenizers()
        from kerasnmt.serving import export_model

        return export_model(
            self,
            directory,
            replace_unknown=replace_unknown,
            dictionary=dictionary,
            weights=weights,
            **options,
        )

    def serving_module(self, **options) -> Any:
        """Return what `export` writes, with these options.

        Returns:
            a `kerasnmt.serving.TextModule`, or a `ContextTextModule` of a model that reads a
            context.
        """
        self._need_tokenizers()
        from kerasnmt.serving import ContextTextModule, TextModule

        return (ContextTextModule if self.reads_context else TextModule)(self, **options)

    def _need_attention(self) -> None:
        if not self.has_attention:
            raise ValueError(
                f"Expected a model with attention. Received: {self.name}, which has none. Choose "
                "another of kerasnmt.zoo."
            )

    def _need_tokenizers(self) -> None:
        # Asked before anything that needs TensorFlow is imported.
        if self.source_tokenizer is None:
            raise ValueError(
                "Expected a model with tokenizers, to take text. Received: a model made of "
                "vocabulary sizes. Make it with tokenizers, or feed token ids to model.search."
            )


def _of_the_source(inputs: Any) -> dict[str, Any]:
    """Leave out what a batch holds of its targets; ids become int32."""
    inputs = inputs if isinstance(inputs, Mapping) else {"source_ids": inputs}
    read = {}
    for name, value in inputs.items():
        if name.endswith("_ids") and name != "target_ids":
            check_integers(name, value)
            read[name] = ops.cast(value, "int32")
        elif name not in ("target_ids", "alignments"):
            read[name] = ops.convert_to_tensor(value)
    return read


class _Graphs:
    """The traced graphs of `translate` or `caption`, one for each set of options, and others."""

    def __init__(self) -> None:
        self._made = {}

    def translator(self, model: SearchModel, **options) -> Any:
        from kerasnmt.serving import Translator

        dictionary = options["dictionary"] or {}
        key = tuple(sorted({**options, "dictionary": tuple(sorted(dictionary.items()))}.items()))
        if key not in self._made:
            self._made[key] = Translator(model.serving_module(**options))
        return self._made[key]

    def captioner(self, model: SearchModel, **options) -> Any:
        key = tuple(sorted(options.items()))
        if key not in self._made:
            self._made[key] = model.serving_module(**options)
        return self._made[key]

    def forced_decoding(self, model: SearchModel) -> Any:
        from kerasnmt.serving import ForcedDecoding

        if "forced" not in self._made:
            self._made["forced"] = ForcedDecoding(model)
        return self._made["forced"]
