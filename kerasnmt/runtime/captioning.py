"""Models that caption images on ONNX Runtime."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kerasnmt.ids import PAD_ID
from kerasnmt.runtime.images import decoded_images
from kerasnmt.runtime.onnx_model import array_of_tokens
from kerasnmt.runtime.search_model import OnnxSearchModel


class OnnxCaptioning(OnnxSearchModel):
    """Model that captions images.

    It answers as `kerasnmt.tasks.CaptioningTask` does.
    """

    def __init__(
        self, directory: Path, description: Mapping[str, Any], tokenizers: Mapping[str, Any]
    ) -> None:
        super().__init__(directory, description, tokenizers)
        self.signatures = {"serving_default": self._best}
        if "weights" in self._records:
            self.signatures["attention"] = self._attended

    def _best(self, image: Sequence[bytes]) -> dict[str, np.ndarray]:
        images, readable = self._read(image)
        hypotheses = self._found({"images": images})
        written = self._target.decode(hypotheses.ids[:, 0].tolist())
        captions = np.array([caption.encode() for caption in written], object)
        return {
            "caption": np.where(readable, captions, b""),
            "score": np.where(readable, hypotheses.scores[:, 0], np.float32(0)),
        }

    def _attended(self, image: Sequence[bytes]) -> dict[str, np.ndarray]:
        images, readable = self._read(image)
        hypotheses = self._found({"images": images}, with_records=True)
        ids = np.where(readable[:, None], hypotheses.ids[:, 0], PAD_ID)
        ids = ids[:, : np.count_nonzero(ids, axis=1).max(initial=0)]
        weights = hypotheses.records["weights"][:, 0, : ids.shape[1]]
        return {
            "target_tokens": array_of_tokens(self._target, ids, [()] * len(ids)),
            "weights": np.where(ids[:, :, None] == PAD_ID, np.float32(0), weights),
        }

    def _read(self, image: Sequence[bytes]) -> tuple[np.ndarray, np.ndarray]:
        return decoded_images(image, *self.description["image_shape"])
