"""Learning curves."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

_BLUE, _ORANGE, _INK = "#1f66a8", "#d9792b", "#1f2933"


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
            points = [
                (epoch["seconds"] / 60, epoch[key])
                for epoch in history
                if epoch.get(key) is not None
            ]
            if points:
                colour = _BLUE if name == "validation" else _ORANGE
                axes.plot(*zip(*points, strict=True), "o-", color=colour, markersize=4, label=name)
        _dress(axes, title)
    all_axes[0].legend(frameon=False, labelcolor=_INK)
    return figure


def _dress(axes: Axes, title: str) -> None:
    """Set the title and the style of a panel."""
    axes.set_title(title, loc="left", color=_INK, fontsize=11, fontweight="bold")
    axes.set_xlabel("minutes of training", color=_INK)
    axes.set_xlim(left=0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color("#9aa5b1")
    axes.tick_params(color="#9aa5b1", labelcolor=_INK, labelsize=9)
    axes.grid(color="#e4e7eb", linewidth=0.8)
    axes.set_axisbelow(True)
