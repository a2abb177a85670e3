"""`kerasnmt attention`."""

import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from kerasnmt.atomic_write import atomic_write
from kerasnmt.cli.loading import is_trained, load_run, load_run_translator, load_translator
from kerasnmt.cli.options import Context, Model, Tags
from kerasnmt.cli.requests import check_fields, checked_tags, read_lines, tagged, text_fields
from kerasnmt.cli.tokens import token_kinds

_PAGES = (".html", ".htm")


def attention(
    model: Model,
    texts: Annotated[list[str], typer.Argument(metavar="TEXT...", help="A sentence, or several.")],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            metavar="FILE",
            help="Picture to write: .png, .svg, .pdf; or a page for a browser: .html.",
        ),
    ],
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            help="Translation to draw instead of the model's, for a run or a preset.",
        ),
    ] = None,
    context: Context = None,
    tags: Tags = None,
    pieces: Annotated[
        bool,
        typer.Option("--pieces", help="Draw the tokens of the model instead of words."),
    ] = False,
) -> None:
    """Translate sentences and draw the attention weights of each word of the translation.

    A picture shows one sentence. A page shows any number of sentences, and highlights the weights
    of a word. For a run or a preset, it also shows the probabilities of the words.
    """
    is_page = output.suffix.lower() in _PAGES
    if not is_page:
        _check_picture(output, texts)
    if target is not None and (len(texts) > 1 or not texts[0].strip() or not target.strip()):
        raise ValueError(
            "Expected a text and a translation. Received: "
            f"{', '.join(f'text={text!r}' for text in texts)}, --target {target!r}"
        )
    contexts = read_lines("--context", context, len(texts))
    if is_page:
        if pieces:
            raise ValueError("Expected no --pieces for a page, which shows words and pieces.")
        _write_page(model, texts, contexts, tags, target, output)
        return
    if target is None:
        translator = load_translator(model)
        check_fields(translator.fields, text_fields(contexts))
        (text,) = tagged(texts, checked_tags(tags, translator))
        (attended,) = translator.attention([text], contexts=contexts)
        ((target, _),) = translator.best_as_a_whole([text], contexts=contexts)
        kinds = token_kinds(translator.description, text, target, attended)
    else:
        translator = load_run_translator(model)
        check_fields(translator.fields, text_fields(contexts))
        (text,) = tagged(texts, checked_tags(tags, translator))
        (attended,) = translator.forced_attention([text], [target], contexts=contexts)
        kinds = [translator.description[f"{side}_kind"] for side in ("source", "target")]
    if not attended.target_tokens:
        raise ValueError(f"Expected a text with at least one token. Received: text={text!r}")
    if not pieces:
        attended = attended.by_words(*kinds)
    with atomic_write(output) as path:
        attended.figure().savefig(path)
    print(target)
    print(output)


def _check_picture(output: Path, texts: list[str]) -> None:
    """Check that the output is a picture, of one sentence."""
    from matplotlib.figure import Figure

    formats = Figure().canvas.get_supported_filetypes()
    if output.suffix[1:].lower() not in formats:
        raise ValueError(
            f"Expected an extension of a picture, one of {', '.join(sorted(formats))}, or html for "
            f"a page. Received: --output {output}"
        )
    if len(texts) > 1:
        raise ValueError(
            f"Expected one text for a picture, or --output FILE.html for a page of several texts. "
            f"Received: {len(texts)} texts, --output {output}"
        )


def _write_page(
    model: str,
    texts: list[str],
    contexts: list[str] | None,
    tags: list[str] | None,
    target: str | None,
    output: Path,
) -> None:
    """Write a page of the attention of some sentences, and print their translations."""
    from kerasnmt.viz import attention_page

    if target is not None or is_trained(model):
        sentences = _inspections(model, texts, contexts, tags, target)
        targets = [sentence.text for sentence in sentences]
    else:
        translator = load_translator(model)
        check_fields(translator.fields, text_fields(contexts))
        texts = tagged(texts, checked_tags(tags, translator))
        sentences = translator.attention(texts, contexts=contexts)
        targets = [best for best, _ in translator.best_as_a_whole(texts, contexts=contexts)]
        for text, sentence in zip(texts, sentences, strict=True):
            if not sentence.target_tokens:
                raise _no_tokens(text)
    with atomic_write(output) as path:
        path.write_text(attention_page(sentences, f"Attention of {model}"), encoding="utf-8")
    print(*targets, output, sep="\n")


def _no_tokens(text: str) -> ValueError:
    return ValueError(f"Expected texts with at least one token. Received: text={text!r}")


def _inspections(
    model: str,
    texts: list[str],
    contexts: list[str] | None,
    tags: list[str] | None,
    target: str | None,
) -> list[Any]:
    """Return what the model thinks of its own translations, or of a given one."""
    loaded, options = load_run(model)
    from kerasnmt.tasks import Explorer, task_of

    task: Any = task_of(loaded, **options)
    explorer = Explorer(task)
    check_fields(task.fields, text_fields(contexts))
    texts = tagged(texts, checked_tags(tags, task))
    inspections = []
    for index, text in enumerate(texts):
        request = {"text": text} if contexts is None else {"text": text, "context": contexts[index]}
        if target is None:
            (ids, *_) = explorer.search(request).ids
        else:
            ids = explorer.encode(request, target)
        if not ids:
            raise _no_tokens(text)
        if message := explorer.truncated(request):
            warnings.warn(message.replace("the text", f"text {index + 1}"), stacklevel=1)
        inspections.append(explorer.inspect(request, ids))
    return inspections
