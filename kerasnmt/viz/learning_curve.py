"""Learning curves."""

from collections.abc import Mapping, Sequence
from itertools import cycle

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kerasnmt.viz.heat_maps import INK, text_style

_BLUE, _ORANGE = "#1f66a8", "#d9792b"
# Colours that colour-blind people can tell apart (Okabe and Ito 2008), and marks in addition.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
_MARKS = "osD^vPX*"


def learning_curve_figure(history: Sequence[dict]) -> Figure:
    """Draw the losses and the validation BLEU over the minutes of training.

    Args:
        history: Dict of each epoch, such as `history` in `results.json`, with `seconds` from the
            start of training to the end of the epoch, `loss`, `val_loss` and `val_bleu`. A value
            that was not measured is absent or None.

    Returns:
        A Matplotlib figure, with a panel for the losses and, if an epoch has a BLEU score, a panel
        for BLEU; see `attention_figure`.

    Raises:
        ValueError: If `history` is empty.
    """
    if not history:
        raise ValueError("Expected at least one epoch. Received: history=[]")
    panels = [("loss per token", {"loss": "training", "val_loss": "validation"})]
    if any(epoch.get("val_bleu") is not None for epoch in history):
        panels.append(("validation BLEU", {"val_bleu": "validation"}))

    figure = Figure(figsize=(4.6 * len(panels), 3.4), dpi=150, layout="constrained")
    all_axes = figure.subplots(1, len(panels), squeeze=False)[0]
    for axes, (title, curves) in zip(all_axes, panels, strict=True):
        for key, name in curves.items():
            if points := _points(history, key):
                colour = _BLUE if name == "validation" else _ORANGE
                axes.plot(*zip(*points, strict=True), "o-", color=colour, markersize=4, label=name)
        _dress(axes, title)
    all_axes[0].legend(frameon=False, labelcolor=INK)
    return figure


def learning_curves_figure(histories: Mapping[str, Sequence[dict]]) -> Figure:
    """Draw the validation losses and BLEU of several training runs over their minutes.

    Args:
        histories: The history of each run, by its name; see `learning_curve_figure`.

    Returns:
        A Matplotlib figure, with a panel for the losses and, if an epoch has a BLEU score, a panel
        for BLEU.

    Raises:
        ValueError: If there is no run.
    """
    if not histories:
        raise ValueError("Expected at least one run. Received: histories={}")
    panels = {"val_loss": "validation loss per token", "val_bleu": "validation BLEU"}
    if not any(_points(history, "val_bleu") for history in histories.values()):
        del panels["val_bleu"]
    figure = Figure(figsize=(4.6 * len(panels), 3.4), dpi=150, layout="constrained")
    all_axes = figure.subplots(1, len(panels), squeeze=False)[0]
    for axes, (key, title) in zip(all_axes, panels.items(), strict=True):
        styles = zip(histories.items(), cycle(_COLOURS), cycle(_MARKS), strict=False)
        for (name, history), colour, mark in styles:
            if points := _points(history, key):
                # A name that begins with an underscore would be left out of the legend.
                label = name.lstrip("_") or name
                line = {"color": colour, "marker": mark, "markersize": 4}
                axes.plot(*zip(*points, strict=True), label=label, **line)
        _dress(axes, title)
    style = text_style(*histories)
    for name in all_axes[0].legend(frameon=False).get_texts():
        name.set(**style)
    return figure


def _points(history: Sequence[dict], key: str) -> list[tuple[float, float]]:
    """Return the minutes and the values of the epochs that have a value."""
    return [(epoch["seconds"] / 60, epoch[key]) for epoch in history if epoch.get(key) is not None]


def _dress(axes: Axes, title: str) -> None:
    """Set the title and the style of a panel."""
    axes.set_title(title, loc="left", color=INK, fontsize=11, fontweight="bold")
    axes.set_xlabel("minutes of training", color=INK)
    axes.set_xlim(left=0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color("#9aa5b1")
    axes.tick_params(color="#9aa5b1", labelcolor=INK, labelsize=9)
    axes.grid(color="#e4e7eb", linewidth=0.8)
    axes.set_axisbelow(True)
