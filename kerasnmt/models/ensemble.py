"""Ensemble of models."""

import math
from collections.abc import Sequence
from typing import Any, NoReturn

import keras
from keras import ops

from kerasnmt.models.translation_model import TranslationModel


@keras.saving.register_keras_serializable("kerasnmt")
class Ensemble(TranslationModel):
    """Models that search together, with the mean of their probabilities of the next word.

    An ensemble has the methods of a `TranslationModel`. Its members may have different
    architectures and sizes. Train each of them separately. The ensemble has the search options of
    the first one.

    Args:
        models: Translation models, such as `Seq2Seq`, with the same tokenizers, or with the same
            vocabularies if they take only ids. Either all of them copy, or none.

    Raises:
        ValueError: If there are no models, one does not translate, their tokenizers differ, or only
            some of them copy.
    """

    def __init__(self, models: Sequence[TranslationModel], **kwargs) -> None:
        models = list(models)
        _check_members(models)
        super().__init__(models[0].source_tokenizer, models[0].target_tokenizer, **kwargs)
        self.models = models
        self.shortlist = next((one.shortlist for one in models if one.shortlist), None)
        self.search_options = models[0].search_options
        self.built = True

    def set_language(self, language: str) -> None:
        """Read sources without a tag as texts in a language, also in the members."""
        super().set_language(language)
        for model in self.models:  # whose tokenizers a loaded ensemble has
            model.set_language(language)

    def save_to_preset(self, *args: Any, **kwargs) -> str:
        """Raise an error, because a preset contains one model.

        Raises:
            ValueError: Always.
        """
        raise ValueError(
            "Expected one model for a preset. Received: an ensemble. Save each of its models, and "
            "create the ensemble from the loaded models."
        )

    def __call__(self, *args: Any, **kwargs) -> NoReturn:
        """Raise an error, because an ensemble does not train, and has no logits.

        Raises:
            ValueError: Always.
        """
        raise ValueError(
            "Expected one model to train, evaluate or call. Received: an ensemble, which searches "
            "and scores with trained models. Train each of its models, or call translate, score or "
            "search."
        )

    compile = fit = evaluate = predict = __call__

    @property
    def has_attention(self) -> bool:
        """Whether all members have attention."""
        return all(model.has_attention for model in self.models)

    @property
    def reads_context(self) -> bool:
        """Whether a member reads a context in addition to the source."""
        return any(model.reads_context for model in self.models)

    @property
    def copies(self) -> bool:
        """Whether the members copy words of the source."""
        return self.models[0].copies

    def encode(self, inputs: dict[str, Any], steps: int = 0) -> tuple[list, list]:
        """Read the source; see `SearchModel.encode`.

        Returns:
            The first states and the memories of the members.
        """
        read = [model.encode(inputs, steps=steps) for model in self.models]
        states, memories = zip(*read, strict=True)
        return list(states), list(memories)

    def _target_size(self, inputs: dict[str, Any]) -> int:
        return self.models[0]._target_size(inputs)

    def memory_mask(self, memory: list) -> Any:
        """Return the mask of the source; see `SearchModel.memory_mask`."""
        return self.models[0].memory_mask(memory[0])

    def output_rows(self, ids: Any) -> list:
        """Return the output weights of some ids of each member; see `SearchModel.output_rows`."""
        return [model.output_rows(ids) for model in self.models]

    def step(
        self, ids: Any, states: list, memory: list, *rows: list
    ) -> tuple[Any, dict[str, Any], list]:
        """Predict the next token of each hypothesis; see `SearchModel.step`.

        Args:
            ids: Previous tokens, int32 `[batch, hypotheses]`.
            states: States of the members.
            memory: Memories of the members.
            *rows: Output weights of the members, or nothing.

        Returns:
            The logarithm of the mean of the members' probabilities, the mean of their records, and
            their new states.
        """
        steps = [
            model.step(ids, *arguments)
            for model, *arguments in zip(self.models, states, memory, *rows, strict=True)
        ]
        log_probabilities, records, new_states = zip(*steps, strict=True)
        sizes = [values.shape[-1] for values in log_probabilities]
        if len(set(sizes)) > 1:
            raise ValueError(
                f"Expected models with the same target vocabulary. Received: sizes {sizes}."
            )
        return _log_mean(log_probabilities), _mean_records(records), list(new_states)

    def token_log_probability(self, inputs: dict[str, Any], targets: Any) -> Any:
        """Return the log-probability of each token; see `SearchModel`."""
        return _log_mean([model.token_log_probability(inputs, targets) for model in self.models])

    def attend(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Return the mean of the members' records for given targets; see `SearchModel`."""
        self._need_attention()
        return _mean_records([model.attend(inputs) for model in self.models])

    def inspect(self, inputs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Return the members' mean probabilities and records; see `SearchModel`."""
        log_probabilities, records = zip(
            *(model.inspect(inputs) for model in self.models), strict=True
        )
        return _log_mean(log_probabilities), _mean_records(records)


def _check_members(models: list[Any]) -> None:
    """Check that models can search together."""
    if not models:
        raise ValueError("Expected at least one model. Received: models=[]")
    for model in models:
        if not isinstance(model, TranslationModel):
            raise ValueError(
                f"Expected models that translate. Received: {model.name}, a {type(model).__name__}."
            )
    first = models[0]
    for number, model in enumerate(models[1:], start=1):
        sides = {
            "source_tokenizer": (first.source_tokenizer, model.source_tokenizer),
            "target_tokenizer": (first.target_tokenizer, model.target_tokenizer),
        }
        for side, tokenizers in sides.items():
            if not _equal(*tokenizers):
                raise ValueError(
                    "Expected models with the same tokenizers. Received: models[0], "
                    f"{first.name}, and models[{number}], {model.name}, with different {side}s. "
                    "Train them with one tokenizer."
                )
        if first.copies != model.copies:
            copying, other = (first, model) if first.copies else (model, first)
            raise ValueError(
                "Expected models that all copy words of the source, or none. Received: "
                f"{copying.name}, which copies, and {other.name}, which does not."
            )


def _equal(one: Any, other: Any) -> bool:
    """Return whether two tokenizers are equal or both None."""
    if one is other or None in (one, other):
        return one is other
    return type(one) is type(other) and one.get_config() == other.get_config()


def _log_mean(log_probabilities: Sequence[Any]) -> Any:
    """Return the logarithm of the mean of probabilities, from log-probabilities of one shape."""
    if len(log_probabilities) == 1:
        return log_probabilities[0]
    total = ops.logsumexp(ops.stack(log_probabilities), axis=0)
    return total - math.log(len(log_probabilities))


def _mean_records(records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the mean of each record that all members have.

    If only some members have a separate pointer, the others point with their attention.
    """
    if any("pointer_weights" in record for record in records):
        records = [{"pointer_weights": record["weights"], **record} for record in records]
    common = set.intersection(*map(set, records))
    return {
        name: ops.mean(ops.stack([record[name] for record in records]), axis=0)
        for name in records[0]
        if name in common
    }
