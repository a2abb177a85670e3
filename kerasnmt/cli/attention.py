"""`kerasnmt attention`."""

from pathlib import Path
from typing import Annotated

import typer

from kerasnmt.cli.loading import load_run_translator, load_translator
from kerasnmt.cli.options import Context, Model
from kerasnmt.cli.requests import check_fields, read_contexts, text_fields
from kerasnmt.cli.tokens import token_kind


def attention(
    model: Model,
    text: Annotated[str, typer.Argument(help="A sentence.")],
    output: Annotated[
        Path, typer.Option("--output", metavar="FILE", help="Picture to write: .png, .svg, .pdf.")
    ],
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            help="Translation to draw instead of the model's, for a run or a preset.",
        ),
    ] = None,
    context: Context = None,
    pieces: Annotated[
        bool, typer.Option("--pieces", help="Draw the tokens of the model instead of words.")
    ] = False,
) -> None:
    """Translate a sentence and draw the attention weights of each word of the translation."""
    from matplotlib.figure import Figure

    formats = Figure().canvas.get_supported_filetypes()
    if output.suffix[1:].lower() not in formats:
        raise ValueError(
            f"Expected an extension of a picture, one of {', '.join(sorted(formats))}. "
            f"Received: --output {output}"
        )
    contexts = read_contexts(context, 1)
    if target is None:
        translator = load_translator(model)
        check_fields(translator.fields, text_fields(context))
        (attended,) = translator.attention([text], contexts=contexts)
        (target,) = translator.translate([text], contexts=contexts)
        sides = (
            ("source", text, attended.source_tokens),
            ("target", target, attended.target_tokens),
        )
        kinds = [token_kind(translator.description, *side) for side in sides]
    else:
        if not text.strip() or not target.strip():
            raise ValueError(
                f"Expected a text and a translation. Received: text={text!r}, --target {target!r}"
            )
        translator = load_run_translator(model)
        check_fields(translator.fields, text_fields(context))
        (attended,) = translator.forced_attention([text], [target], contexts=contexts)
        kinds = [translator.description[f"{side}_kind"] for side in ("source", "target")]
    if not attended.target_tokens:
        raise ValueError(f"Expected a text with at least one token. Received: text={text!r}")
    if not pieces:
        attended = attended.by_words(*kinds)
    output.parent.mkdir(parents=True, exist_ok=True)
    attended.figure().savefig(output)
    print(target)
    print(output)
