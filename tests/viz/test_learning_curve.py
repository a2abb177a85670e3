import numpy as np
import pytest

from kerasnmt.viz import figure_to_image, learning_curve_figure, learning_curves_figure


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


def test_curves_of_several_runs():
    histories = {
        "small": [{"seconds": 60, "val_loss": 4.0}, {"seconds": 120, "val_loss": 3.0}],
        "_large": [{"seconds": 90, "val_loss": 2.0, "val_bleu": 5.0}],
    }
    losses, bleu = learning_curves_figure(histories).axes
    assert curves(losses) == {"small": [[1, 4], [2, 3]], "large": [[1.5, 2]]}
    assert curves(bleu) == {"large": [[1.5, 5]]}
    lines = losses.get_lines()
    assert len({line.get_color() for line in lines}) == len({line.get_marker() for line in lines})
    assert len(losses.get_legend().get_texts()) == 2
    (losses,) = learning_curves_figure({"runs/$a$": histories["small"]}).axes
    (name,) = losses.get_legend().get_texts()
    assert name.get_text() == "runs/$a$" and not name.get_parse_math()
    many = {str(number): histories["small"] for number in range(20)}
    (losses,) = learning_curves_figure(many).axes
    styles = {(line.get_color(), line.get_marker()) for line in losses.get_lines()}
    assert len(styles) == 20
    with pytest.raises(ValueError, match="Expected at least one run"):
        learning_curves_figure({})
