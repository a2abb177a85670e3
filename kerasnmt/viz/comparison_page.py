"""Page that compares training runs, in one file."""

import io
from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

from kerasnmt.viz.learning_curve import learning_curves_figure

# The file loads nothing and has no scripts.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; }
.scroll { overflow-x: auto; }
th, td { padding: .25rem .6rem; text-align: start; border-bottom: 1px solid #8886; }
.runs { font-size: .85rem; }
.runs td:nth-child(n+3), .runs th:nth-child(n+3), .score { text-align: end;
  font-variant-numeric: tabular-nums; white-space: nowrap; }
article { margin: 1.5rem 0; }
article table { width: 100%; margin: .3rem 0; }
article th { width: 12rem; font-weight: 600; overflow-wrap: anywhere; }
p.source { margin: 0; font-weight: 600; }
figure { margin: 1rem 0; background: #fff; }
figure svg { max-width: 100%; height: auto; }
"""


class ComparedSentence(NamedTuple):
    """Sentence of the test data, and what each run makes of it.

    Attributes:
        source: The sentence.
        references: Its translations in the test data.
        translations: Translation of each run.
        scores: Score of each translation, from 0 to 100.
    """

    source: str
    references: Sequence[str]
    translations: Sequence[str]
    scores: Sequence[float]


def comparison_page(
    table: Sequence[Sequence[str]],
    histories: Mapping[str, Sequence[dict]],
    sentences: Sequence[ComparedSentence],
    *,
    note: str = "",
    title: str = "Comparison",
) -> str:
    """Return a page that compares training runs, in one file of HTML without scripts.

    It has the table, the learning curves, and the sentences whose translations differ.

    Args:
        table: Rows of cells. The first row is the heading, and the first column has the names.
        histories: History of each run, by its name; see `learning_curves_figure`.
        sentences: Sentences in the order of the page, with the runs in the order of the table.
        note: Line under the table, such as the data of the scores.
        title: Title of the page.

    Returns:
        The HTML.

    Raises:
        ValueError: If a sentence has not a translation and a score of each run.
    """
    heading, *rows = table
    names = [row[0] for row in rows]
    articles = "".join(_article(sentence, names) for sentence in sentences)
    body = "".join(f"<tr>{_cells('td', row)}</tr>" for row in rows)
    differ = f"<h2>Sentences that differ most</h2>{articles}" if articles else ""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>{escape(title)}</h1>
<div class="scroll"><table class="runs"><tr>{_cells("th", heading)}</tr>{body}</table></div>
<p>{escape(note)}</p>
<h2>Learning curves</h2>
<figure>{_svg(histories)}</figure>
{differ}
</body>
</html>
"""


def _cells(tag: str, cells: Sequence[str]) -> str:
    return "".join(f"<{tag} dir=auto>{escape(cell)}</{tag}>" for cell in cells)


def _article(sentence: ComparedSentence, names: Sequence[str]) -> str:
    rows = [
        f"<tr><th>reference</th><td dir=auto>{escape(one)}</td><td></td></tr>"
        for one in sentence.references
    ]
    if not len(names) == len(sentence.translations) == len(sentence.scores):
        raise ValueError(
            f"Expected a translation and a score of each of {len(names)} runs. Received: "
            f"{len(sentence.translations)} and {len(sentence.scores)}."
        )
    for name, text, score in zip(names, sentence.translations, sentence.scores, strict=True):
        rows.append(
            f"<tr><th>{escape(name)}</th><td dir=auto>{escape(text)}</td>"
            f'<td class="score">{score:.1f}</td></tr>'
        )
    source = f'<p class="source" dir=auto>{escape(sentence.source)}</p>'
    return f"<article>{source}<table>{''.join(rows)}</table></article>"


def _svg(histories: Mapping[str, Sequence[dict]]) -> str:
    """Return the learning curves as an element of HTML, equal for equal histories."""
    from matplotlib import rc_context

    file = io.StringIO()
    with rc_context({"svg.hashsalt": "kerasnmt"}):
        none = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        learning_curves_figure(histories).savefig(file, format="svg", metadata=none)
    return file.getvalue()[file.getvalue().index("<svg") :]
