"""Several models that search as one."""

import math
from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from kerasnmt.models.search_model import SearchModel


@keras.saving.register_keras_serializable("kerasnmt")
class Ensemble(SearchModel):
    """Several models that search as one, each next word by the mean of their probabilities.

    `search`, `translate`, `score`, `align`, `export` and `save` are those of a single model; its
    members are trained alone. They may be of different kinds and sizes.

    Args:
        models: `Seq2Seq` models of the same tokenizers or, where only ids are fed, of the same
            vocabularies; all of them copy, or none.

    Raises:
        ValueError: there are no models, their tokenizers differ, or only some of them copy.
    """

    def __init__(self, models: Sequence[keras.Model], **kwargs) -> None:
        models = list(models)
        if not models:
            raise ValueError("Expected at least one model. Received: models=[]")
        first = models[0]
        for number, model in enumerate(models[1:], start=1):
            for side in ("source_tokenizer", "target_tokenizer"):
                if not _equal(getattr(first, side), getattr(model, side)):
                    raise ValueError(
                        "Expected models of the same tokenizers. Received: models whose "
                        f"{side} differs, models[0], {first.name}, and models[{number}], "
                        f"{model.name}. Train them with one tokenizer."
                    )
            if first.copies != model.copies:
                copying, other = (first, model) if first.copies else (model, first)
                raise ValueError(
                    "Expected models of which all copy words of the source, or none. Received: "
                    f"{copying.name}, which copies, and {other.name}, which does not."
                )
        super().__init__(first.source_tokenizer, first.target_tokenizer, **kwargs)
        self.models = models
        self.built = True

    @property
    def has_attention(self) -> bool:
        """Whether all members have attention, of which there is then a mean."""
        return all(model.has_attention for model in self.models)

    @property
    def reads_context(self) -> bool:
        """Whether a member reads a second text beside the source, its context."""
        return any(model.reads_context for model in self.models)

    @property
    def copies(self) -> bool:
        """Whether the members copy words of the source."""
        return self.models[0].copies

    def encode(self, inputs: dict[str, Any], steps: int = 0) -> tuple[list, list]:
        """Read the source; see `Seq2Seq.encode`.

        Returns:
            the first states and the memories, one of each member.
        """
        read = [model.encode(inputs, steps=steps) for model in self.models]
        states, memories = zip(*read, strict=True)
        return list(states), list(memories)

    def memory_mask(self, memory: list) -> Any:
        """Return which positions of the memories are real; see `Seq2Seq.memory_mask`."""
        return self.models[0].memory_mask(memory[0])

    def step(self, ids: Any, states: list, memory: list) -> tuple[Any, dict[str, Any], list]:
        """Make one step of search; see `Seq2Seq.step`.

        Args:
            ids: the words before, int32 `[batch, hypotheses]`.
            states: of each member.
            memory: of each member.

        Returns:
            the logarithm of the mean of the members' probabilities; the mean of their records;
            and the new states.
        """
        steps = [
            model.step(ids, *given)
            for model, *given in zip(self.models, states, memory, strict=True)
        ]
        log_probabilities, records, states = zip(*steps, strict=True)
        sizes = [found.shape[-1] for found in log_probabilities]
        if len(set(sizes)) > 1:
            raise ValueError(
                f"Expected models of the same target vocabulary. Received: sizes {sizes}."
            )
        return _log_mean(log_probabilities), _mean_records(records), list(states)

    def token_log_probability(self, inputs: dict[str, Any], targets: Any) -> Any:
        """Return the log-probability of each token of given targets; see `Seq2Seq`."""
        return _log_mean([model.token_log_probability(inputs, targets) for model in self.models])

    def attend(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Return the mean of the members' records of given targets; see `Seq2Seq.attend`."""
        self._need_attention()
        return _mean_records([model.attend(inputs) for model in self.models])

    def get_config(self) -> dict:
        """Return the constructor's arguments, the members with their tokenizers."""
        serialize = keras.saving.serialize_keras_object
        return {**super().get_config(), "models": [serialize(model) for model in self.models]}

    @classmethod
    def from_config(cls, config: dict) -> "Ensemble":
        """Make the ensemble from `get_config`."""
        models = [keras.saving.deserialize_keras_object(model) for model in config["models"]]
        return cls(**{**config, "models": models})


def _equal(one: Any, other: Any) -> bool:
    if one is other or None in (one, other):
        return one is other
    return type(one) is type(other) and one.get_config() == other.get_config()


def _log_mean(log_probabilities: Sequence[Any]) -> Any:
    """Logarithm of the mean of probabilities, of tensors of one shape."""
    if len(log_probabilities) == 1:
        return log_probabilities[0]
    total = ops.logsumexp(ops.stack(log_probabilities), axis=0)
    return total - math.log(len(log_probabilities))


def _mean_records(records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Mean of the records that all members have."""
    common = set.intersection(*map(set, records))
    return {
        name: ops.mean(ops.stack([record[name] for record in records]), axis=0)
        for name in records[0]
        if name in common
    }
