"""Requests to caption images."""

from collections.abc import Mapping
from typing import Any

from kerasnmt.kinds.fields import ImageField
from kerasnmt.kinds.kind import Kind, Usage


class CaptionKind(Kind):
    """Images to caption."""

    fields = (ImageField("image", "--image FILES"),)
    lead = "image"
    drawing = "regions"

    def task(self, model: Any, **options: Any) -> Any:
        """Return a `CaptioningTask`; see `Kind`."""
        from kerasnmt.tasks.captioning import CaptioningTask

        return CaptioningTask(model, **options)

    @property
    def contract(self) -> Any:
        """See `Kind`."""
        from kerasnmt.serving.contract.caption_contract import CaptionContract

        return CaptionContract()

    def usage(self, request: Mapping[str, str]) -> Usage:
        """See `Kind`."""
        preparation = (
            "from kerasnmt.data import builtin_scenes\n\n"
            'images = [scene.image for scene in builtin_scenes(3, "test")]\n'
        )
        return Usage("caption(images)", " --image picture.png", preparation)
