"""Page of attention weights in one file."""

from collections.abc import Sequence
from html import escape
from json import dumps
from typing import Any

from kerasnmt.viz.directions import is_right_to_left
from kerasnmt.viz.page_files import page_file

# The file loads nothing.
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
)


def attention_page(sentences: Sequence[Any], title: str = "Attention") -> str:
    """Return a page that shows attention weights, in one file of HTML.

    The page draws ribbons or a heat map, in words or pieces, and highlights the weights of a word.
    It needs no network. Where scripts do not run, it shows a table of the weights.

    ```python
    page = kerasnmt.viz.attention_page(model.attention(["I love you.", "Good morning."]))
    pathlib.Path("attention.html").write_text(page, encoding="utf-8")
    ```

    Args:
        sentences: Results of `model.attention`, or of `kerasnmt.tasks.Explorer.inspect`, with which
            the page also shows probabilities, other words, and the heads of a Transformer.
        title: Title of the page.

    Returns:
        The HTML.

    Raises:
        ValueError: If there is no sentence, or one of them has no target tokens.
    """
    documents = [sentence.document() for sentence in sentences]
    if not documents:
        raise ValueError("Expected at least one sentence. Received: sentences=[]")
    for number, document in enumerate(documents):
        if not document["target"]["tokens"]:
            raise ValueError(
                "Expected sentences with at least one target token. Received: none in "
                f"sentences[{number}]."
            )
    style, drawing, script = (page_file(name) for name in ("page.css", "drawing.js", "file.js"))
    # "</" in a text would end the script.
    data = dumps(documents, ensure_ascii=False).replace("<", "\\u003c")
    tables = "".join(map(attention_table, documents))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>
{style}</style>
</head>
<body>
<header><h1>{escape(title)}</h1></header>
<main id="main">{tables}</main>
<script type="application/json" id="sentences">{data}</script>
<script>
{drawing}{script}</script>
</body>
</html>
"""


def attention_table(document: dict[str, Any]) -> str:
    """Return the weights of a sentence as an HTML table, without scripts.

    Args:
        document: From `SentenceAttention.document`.

    Returns:
        A table with a row for each target token, and a column for each source token. A cell has the
        weight in percent, and a background that is darker for larger weights.
    """
    sources = [source for source in document["sources"] if "weights" in source]
    columns = [token for source in sources for token in source["tokens"]]
    heads = [_cell("th", token) for token in columns]
    direction = "rtl" if is_right_to_left(columns) else "ltr"
    rows = []
    for index, token in enumerate(document["target"]["tokens"]):
        weights = [weight for source in sources for weight in source["weights"][index]]
        cells = [
            _cell("td", f"{weight:.0%}" if weight >= 0.005 else "", weight) for weight in weights
        ]
        rows.append(f"<tr>{_cell('th', token)}{''.join(cells)}</tr>")
    return f"<table dir={direction}><tr><th></th>{''.join(heads)}</tr>{''.join(rows)}</table>"


def _cell(tag: str, text: str, weight: float | None = None) -> str:
    # In a dark notebook, the text of light cells must not be light as well.
    color = "#fff" if weight is not None and weight > 0.55 else "#111"
    shade = "" if weight is None else f' style="background:{_mixed(weight)};color:{color}"'
    return f"<{tag} dir=auto{shade}>{escape(text)}</{tag}>"


def _mixed(weight: float) -> str:
    """Return the color of a weight, from white to blue."""
    red, green, blue = (round(255 + weight * (full - 255)) for full in (31, 95, 191))
    return f"#{red:02x}{green:02x}{blue:02x}"
