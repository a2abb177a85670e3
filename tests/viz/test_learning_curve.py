import numpy as np
import pytest

from kerasnmt.viz import figure_to_image, learning_curve_figure


def curves(axes):
    return {line.get_label(): line.get_xydata().tolist() for line in axes.get_lines()}


def test_curves_over_minutes():
    history = [
        {"epoch": 1, "seconds": 60, "loss": 5.0, "val_loss": 4.0, "val_bleu": None},
        {"epoch": 2, "seconds": 150, "loss": 3.0, "val_loss": 3.5, "val_bleu": 20.0},
        {"epoch": 3, "seconds": 210, "loss": 2.0, "val_loss": None},
        {"epoch": 4, "seconds": 300, "loss": 1.0, "val_loss": 3.0, "val_bleu": 0.0},
    ]
    losses, bleu = learning_curve_figure(history).axes
    assert curves(losses) == {
        "training": [[1, 5], [2.5, 3], [3.5, 2], [5, 1]],
        "validation": [[1, 4], [2.5, 3.5], [5, 3]],
    }
    assert curves(bleu) == {"validation": [[2.5, 20], [5, 0]]}
    assert [axes.get_title(loc="left") for axes in (losses, bleu)] == [
        "loss per token",
        "validation BLEU",
    ]
    assert {axes.get_xlabel() for axes in (losses, bleu)} == {"minutes of training"}
    assert losses.get_xlim()[0] == bleu.get_xlim()[0] == 0
    assert [text.get_text() for text in losses.get_legend().get_texts()] == [
        "training",
        "validation",
    ]


@pytest.mark.parametrize("extra", [{}, {"val_bleu": None}])
def test_no_panel_without_bleu(extra):
    figure = learning_curve_figure([{"epoch": 1, "seconds": 6, "loss": 2.0, **extra}])
    (losses,) = figure.axes
    assert curves(losses) == {"training": [[0.1, 2]]}
    assert (np.unique(figure_to_image(figure)) < 255).any()


def test_no_history():
    with pytest.raises(ValueError, match=r"Expected at least one epoch\. Received: history=\[\]$"):
        learning_curve_figure([])
