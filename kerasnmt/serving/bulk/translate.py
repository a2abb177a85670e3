"""Translation as a transform of Apache Beam."""

from pathlib import Path
from typing import Any

import apache_beam as beam
from apache_beam.ml.inference.base import RunInference

from kerasnmt.serving.bulk.export_handler import ExportHandler


class Translate(beam.PTransform):
    """Translates the rows of a collection with an export.

    A row is a dict with a text for each field of the model, `text`, and `context` if the model
    reads contexts. The result is a collection of the same rows, with all their keys, and with
    `translation` and `score` in addition. A row whose text is None has the translation None and the
    score None. A text that is too long for the model is truncated, and counted in the metric
    `truncated` of Beam.

    If the fields are lists of texts, so are `translation` and `score`. Such blocks cost less than
    single rows, because Beam handles a block at once.

    Each worker process loads the export once.

    Args:
        export: Path of a version, `<name>/<version>`, or `<name>` for its newest version, in the
            file system of the workers.
        batch_size: Number of rows that the model translates at once.
        max_wait: Seconds for which a row of a stream waits for others of similar length, or None
            outside of streams.

    Attributes:
        handler: The `ExportHandler` of `RunInference`.

    Raises:
        ValueError: If there is no export, or the export does not translate.
    """

    def __init__(
        self, export: str | Path, *, batch_size: int = 64, max_wait: float | None = None
    ) -> None:
        super().__init__()
        self.handler = ExportHandler(export, batch_size=batch_size, max_wait=max_wait)

    def expand(self, rows: Any) -> Any:
        """Return the collection of translated rows."""
        return rows | RunInference(self.handler)
