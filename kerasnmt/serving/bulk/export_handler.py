"""Model handler of Apache Beam for exports."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

from apache_beam.metrics import Metrics
from apache_beam.ml.inference.base import ModelHandler

from kerasnmt.kinds import kind_of
from kerasnmt.serving.runtimes.version_folder import find_export
from kerasnmt.sizes import check_size

# Texts of a batch in a stream differ in length by less than a factor of two.
_BOUNDARIES = [16, 32, 64, 128, 256, 512]
# Largest weight of the rows that a worker translates at once. They are sorted by length.
LARGEST_WEIGHT = 1 << 18


def weight(texts: str | Sequence[str | None] | None) -> int:
    """Return the weight of a text, or of several: characters, and 64 for each text."""
    if isinstance(texts, list):
        return sum(map(weight, texts))
    return 64 + len(texts or "")


class ExportHandler(ModelHandler):
    """Handler of `RunInference` around an export.

    An example is a row, a dict with a text for each field of the model, or a dict with a list of
    texts for each field. Its prediction is the same dict with `translation` and `score`; see
    `Translate`.

    The rows of a batch are sorted by length, and the model translates `batch_size` of them at once.
    Beam collects rows up to `LARGEST_WEIGHT`. In a stream, Beam collects rows whose lengths are in
    the same bucket.

    Args:
        export: Path of a version, `<name>/<version>`, or `<name>` for its newest version, in the
            file system of the workers.
        batch_size: Number of rows that the model translates at once.
        max_wait: Seconds for which a row of a stream waits for others, or None outside of streams.

    Raises:
        ValueError: If there is no export, or the export does not translate.
    """

    def __init__(
        self, export: str | Path, *, batch_size: int = 64, max_wait: float | None = None
    ) -> None:
        check_size("batch_size", batch_size)
        version, description = find_export(export)
        self.export = str(version.absolute())
        self.fields = tuple(description["inputs"])
        if not kind_of(self.fields).translates:
            raise ValueError(
                f"Expected an export that translates. Received: {version}, which reads "
                f"{' and '.join(self.fields)}."
            )
        self.batch_size = batch_size
        # Beam counts rows in a stream, and their weight elsewhere.
        largest = LARGEST_WEIGHT if max_wait is None else batch_size
        super().__init__(
            min_batch_size=largest,
            max_batch_size=largest,
            max_batch_duration_secs=max_wait,
            element_size_fn=self.weight,
            batch_length_fn=self.length,
            batch_bucket_boundaries=_BOUNDARIES,
            env_vars={"TF_CPP_MIN_LOG_LEVEL": "3"},
        )

    def weight(self, row: Mapping[str, Any]) -> int:
        """Return the weight of an example."""
        return sum(weight(row[field]) for field in self.fields)

    def length(self, row: Mapping[str, Any]) -> int:
        """Return the length of the text of an example, in characters."""
        texts = _listed(row["text"])
        return max((len(text or "") for text in texts), default=0)

    def load_model(self) -> Any:
        """Load the export, once per process."""
        from kerasnmt.serving.runtimes.saved_model.export import load_export
        from kerasnmt.tasks import Translator

        return Translator(load_export(self.export))

    def run_inference(
        self,
        batch: Sequence[Mapping[str, Any]],
        model: Any,
        inference_args: Mapping[str, Any] | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Yield the examples of a batch with their translations and scores.

        Args:
            batch: The examples.
            model: The result of `load_model`.
            inference_args: Not used.
        """
        columns = {
            field: [*chain.from_iterable(_listed(row[field]) for row in batch)]
            for field in self.fields
        }
        complete = [None not in row for row in zip(*columns.values(), strict=True)]
        request = {
            field: [text for text, kept in zip(texts, complete, strict=True) if kept]
            for field, texts in columns.items()
        }
        Metrics.counter("kerasnmt", "truncated").inc(len(model.truncated(request["text"])))
        outputs = iter(model.ask(request, batch_size=self.batch_size, first_number=None))
        answers = (next(outputs) if kept else (None, None) for kept in complete)
        for row in batch:
            own = [*islice(answers, len(_listed(row["text"])))]
            translations, scores = [one for one, _ in own], [score for _, score in own]
            is_list = isinstance(row["text"], list)
            yield {
                **row,
                "translation": translations if is_list else translations[0],
                "score": scores if is_list else scores[0],
            }

    def get_num_bytes(self, batch: Sequence[Mapping[str, Any]]) -> int:
        """Return the weight of a batch, because Beam would pickle it to count bytes."""
        return sum(map(self.weight, batch))

    def get_metrics_namespace(self) -> str:
        """Return the namespace of Beam's metrics about the model."""
        return "kerasnmt"


def _listed(texts: Any) -> list[Any]:
    return texts if isinstance(texts, list) else [texts]
