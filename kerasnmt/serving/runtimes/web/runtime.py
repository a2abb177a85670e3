"""Runtime of exports for browsers and Node."""

from pathlib import Path
from typing import Any

from kerasnmt.serving.runtimes.onnx.runtime import OnnxRuntime
from kerasnmt.serving.runtimes.plain_files import MODEL


class WebRuntime(OnnxRuntime):
    """Browsers and Node. In Python, ONNX Runtime runs the model of a site."""

    name = "web"
    title = "browsers"
    about = "web writes a site of static files, whose model runs in the browser and in Node."
    mark = "kerasnmt.js"
    own_options = frozenset({"ort", "about"})
    further_files = tuple(
        f"{MODEL}/{name}" for name in (OnnxRuntime.mark, *OnnxRuntime.further_files)
    )

    def export(self, model: Any, directory: Path, **options: Any) -> str:
        """Write a site; see `export_web`."""
        from kerasnmt.serving.runtimes.web.export import export_web

        return export_web(model, directory, **options)
