import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from kerasnmt.viz import attention_heads_figure, figure_to_image

SOURCE, TARGET = ["▁two", "▁dogs", "."], ["▁zwei", "▁Hunde"]


def test_every_head_has_its_place():
    weights = np.random.default_rng(0).uniform(size=(3, 2, 2, 3))
    figure = attention_heads_figure(weights, SOURCE, TARGET, "a title")
    maps = figure.axes
    assert len(maps) == 6
    corners = {}
    for axes in maps:
        name = axes.get_xlabel()
        layer, head = (int(word) - 1 for word in (name.split()[1].rstrip(","), name.split()[3]))
        np.testing.assert_allclose(axes.images[0].get_array(), weights[layer, head], rtol=1e-6)
        assert axes.images[0].get_clim() == (0, 1)
        box = axes.get_window_extent()
        corners[layer, head] = box.x0, box.y0
        # Tokens stand at the left of each row and above each column of maps.
        labels = [label.get_text() for label in axes.get_yticklabels()]
        assert labels == (TARGET if head == 0 else [])
        labels = [label.get_text() for label in axes.get_xticklabels()]
        assert labels == (SOURCE if layer == 0 else [])
    # Layers from the top down, heads from left to right.
    assert corners[0, 0][1] > corners[1, 0][1] > corners[2, 0][1]
    assert corners[0, 0][0] == corners[2, 0][0] < corners[0, 1][0]


def test_nothing_is_cut_off_and_no_maps_overlap():
    weights = np.zeros((2, 4, 2, 3))
    figure = attention_heads_figure(weights, ["▁Donaudampfschiff", "$x$", "."], TARGET)
    renderer = FigureCanvasAgg(figure).get_renderer()
    box, (width, height) = figure.get_tightbbox(renderer), figure.get_size_inches()
    assert min(box.x0, box.y0, width - box.x1, height - box.y1) > 0.1
    boxes = [axes.get_window_extent(renderer) for axes in figure.axes]
    for number, one in enumerate(boxes):
        assert not any(one.overlaps(other) for other in boxes[number + 1 :])
    assert figure_to_image(figure).min() < 255


@pytest.mark.parametrize("shape", [(2, 3), (1, 1, 3, 2), (0, 1, 2, 3), (1, 0, 2, 3)])
def test_wrong_shape(shape):
    with pytest.raises(ValueError, match=r"\(…, 2, 3\)\. Received: weights\.shape=\("):
        attention_heads_figure(np.zeros(shape), SOURCE, TARGET)
