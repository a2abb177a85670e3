"""`kerasnmt attention`."""

from pathlib import Path
from typing import Annotated

import typer

from kerasnmt.cli.loading import load_translator


def attention(
    model: Annotated[
        Path, typer.Argument(metavar="RUN_OR_EXPORT", help="Folder of a run, or of an export.")
    ],
    text: Annotated[str, typer.Argument(help="A sentence to translate.")],
    output: Annotated[
        Path, typer.Option("--output", metavar="FILE", help="Picture to write: .png, .svg, .pdf.")
    ],
) -> None:
    """Translate a sentence and draw where each word of the translation looked."""
    from matplotlib.figure import Figure

    from kerasnmt.viz import attention_figure

    formats = Figure().canvas.get_supported_filetypes()
    if output.suffix[1:].lower() not in formats:
        raise ValueError(
            "Expected a file whose name ends in the format of the picture, one of "
            f"{', '.join(sorted(formats))}. Received: --output {output}"
        )
    translator = load_translator(model)
    (attended,) = translator.attention([text])
    if not attended.target_tokens:
        raise ValueError(f"Expected a text with at least one token. Received: text={text!r}")
    figure = attention_figure(
        attended.weights, attended.source_tokens, attended.target_tokens, title=None
    )
    output.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(output)
    print(*translator.translate([text]))
    print(output)
