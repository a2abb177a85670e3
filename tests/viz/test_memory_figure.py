import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from kerasnmt.viz import memory_figure

SENTENCES = ["Mary went home.", "John got the $5 milk.", "Mary left."]
WEIGHTS = [[0.25, 0.5, 0.25], [0.0, 1.0, 0.0]]


def test_sentences_are_rows_and_hops_columns():
    figure = memory_figure(WEIGHTS, SENTENCES, "Where is Mary? away", supporting=[0, 2])
    axes = figure.axes[0]
    rows = [label.get_text() for label in axes.get_yticklabels()]
    assert rows == ["▸ Mary went home.", "John got the $5 milk.", "▸ Mary left."]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["hop 1", "hop 2"]
    assert axes.get_title(loc="left") == "Where is Mary? away"
    np.testing.assert_array_equal(axes.images[0].get_array(), np.transpose(WEIGHTS))
    assert axes.images[0].get_clim() == (0, 1)
    box = figure.get_tightbbox(FigureCanvasAgg(figure).get_renderer())
    width, height = figure.get_size_inches()
    assert min(box.x0, box.y0, width - box.x1, height - box.y1) > 0.1


def test_nothing_is_marked_without_supporting_sentences():
    axes = memory_figure(WEIGHTS, SENTENCES).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == SENTENCES


@pytest.mark.parametrize(
    ("weights", "sentences", "supporting", "message"),
    [
        (np.transpose(WEIGHTS), SENTENCES, (), r"here 3 sentences. Received: .*=\(3, 2\)"),
        ([0.5, 0.5], SENTENCES[:2], (), r"Received: weights.shape=\(2,\)"),
        (np.zeros((3, 0)), [], (), r"at least one of each, here 0 sentences"),
        (WEIGHTS, SENTENCES, [1, 3], r"sentences from 0 to 2. Received: 3"),
    ],
)
def test_what_does_not_fit(weights, sentences, supporting, message):
    with pytest.raises(ValueError, match=message):
        memory_figure(weights, sentences, supporting=supporting)
