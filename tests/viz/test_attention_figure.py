import subprocess
import sys
import warnings
from itertools import pairwise

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb

from kerasnmt.viz import attention_figure, figure_to_image
from kerasnmt.viz.fonts import font_families

NONE, ALL = to_rgb("#f1f4f9"), to_rgb("#0a2f5e")


def draw(rows, columns, **options):
    weights = np.full((rows, columns), 1 / columns)
    source = [f"▁Quellwort{i}" for i in range(columns)]
    return attention_figure(weights, source, [f"▁word{i}" for i in range(rows)], **options)


def test_tokens_and_weights_stand_where_they_belong():
    weights = [[0, 1, 0], [0, 0, 1]]
    figure = attention_figure(weights, ["a", "b", "c"], ["x", "y"], "title")
    axes, bar = figure.axes
    image = figure_to_image(figure)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["a", "b", "c"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["x", "y"]
    assert axes.get_title(loc="left") == "title"
    heat = axes.get_window_extent()
    for row, label in enumerate(axes.get_yticklabels()):
        box = label.get_window_extent()
        assert box.x1 < heat.x0
        assert (box.y0 + box.y1) / 2 == pytest.approx(
            heat.y1 - (row + 0.5) * heat.height / 2, abs=9
        )
    for column, label in enumerate(axes.get_xticklabels()):
        box = label.get_window_extent()
        assert box.y0 >= heat.y1
        assert abs(box.x0 - heat.x0 - (column + 0.5) * heat.width / 3) < heat.width / 6
    for row, column in np.ndindex(2, 3):
        x = round(heat.x0 + (column + 0.5) * heat.width / 3)
        y = image.shape[0] - round(heat.y1 - (row + 0.5) * heat.height / 2)
        expected = ALL if weights[row][column] else NONE
        np.testing.assert_allclose(image[y, x, :3] / 255, expected, atol=0.01)
    assert bar.get_ylim() == (0, 1)
    assert [label.get_text() for label in bar.get_yticklabels()] == ["0.0", "0.5", "1.0"]


def test_colours_span_zero_to_one_whatever_the_weights():
    figure = attention_figure([[0.2, 0.3]], ["a", "b"], ["x"])
    assert figure.axes[0].images[0].get_clim() == (0, 1)
    assert figure.axes[1].get_ylim() == (0, 1)


@pytest.mark.parametrize(
    ("rows", "columns"), [(1, 1), (2, 2), (1, 40), (40, 1), (13, 17), (60, 60)]
)
def test_labels_never_overlap_and_nothing_is_cut_off(rows, columns):
    figure = draw(rows, columns, title="a title that is longer than two tokens are wide")
    axes, bar = figure.axes
    renderer = FigureCanvasAgg(figure).get_renderer()
    box, (width, height) = figure.get_tightbbox(renderer), figure.get_size_inches()
    assert min(box.x0, box.y0, width - box.x1, height - box.y1) > 0.1

    for labels in (axes.get_yticklabels(), bar.get_yticklabels()[::-1]):
        boxes = [label.get_window_extent(renderer) for label in labels]
        assert all(upper.y0 > lower.y1 for upper, lower in pairwise(boxes))

    # Slanted labels: their lines of text are further apart than a line is high.
    labels = axes.get_xticklabels()
    distance = axes.get_window_extent(renderer).width / columns * np.sin(np.radians(45))
    assert {label.get_rotation() for label in labels} == {45}
    for label in labels:
        label.set_rotation(0)
        assert label.get_window_extent(renderer).height < distance


def test_the_figure_grows_with_the_tokens():
    small, large = draw(2, 3).get_size_inches(), draw(60, 50).get_size_inches()
    assert (small < 4).all()
    assert (large > 12).all()


def test_a_figure_of_the_largest_size_stays_an_image_of_moderate_size():
    assert max(figure_to_image(draw(60, 60)).shape) < 3000


@pytest.mark.parametrize("place", range(3))
def test_texts_are_no_formulas(place):
    texts = ["a", "b", "c"]
    texts[place] = r"$\frac$"  # Matplotlib refuses to draw it as a formula
    source, target, title = texts
    figure = attention_figure([[1]], [source], [target], title)
    assert figure_to_image(figure).min() < 255


@pytest.mark.parametrize(
    ("shape", "rows", "columns"), [((2, 3), 3, 2), ((3,), 1, 3), ((0, 2), 0, 2), ((2, 0), 2, 0)]
)
def test_wrong_shape(shape, rows, columns):
    with pytest.raises(ValueError) as caught:
        attention_figure(np.zeros(shape), ["a"] * columns, ["b"] * rows)
    assert str(caught.value) == (
        "attention_figure expects weights of shape [target tokens, source tokens], at least one of "
        f"each: here {(rows, columns)}. Received: weights.shape={shape}"
    )


class TestFonts:
    def test_the_default_family_is_enough_for_many_scripts(self):
        assert font_families(["word", "größer", "Ключ", "λόγος", "שלום", "سلام", "▁"]) == [
            "sans-serif"
        ]

    def test_other_installed_fonts_fill_in(self):
        # Matplotlib ships fonts with this letter; its default font has none.
        families = font_families(["a", "𝒞"])
        assert families[0] == "sans-serif"
        assert len(families) == 2
        assert not families[1].startswith("Last Resort")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            figure_to_image(attention_figure([[1]], ["𝒞"], ["𝒞"], "𝒞"))

    def test_a_character_that_no_font_has_is_drawn_as_a_box(self):
        missing = "\U000fffff"
        assert font_families([missing]) == ["sans-serif"]
        with pytest.warns(UserWarning, match="missing from font"):
            figure_to_image(attention_figure([[1]], [missing], ["a"]))


class TestFigureToImage:
    def test_pixels(self):
        figure = attention_figure([[1]], ["a"], ["x"])
        image = figure_to_image(figure)
        width, height = figure.get_size_inches() * figure.dpi
        assert image.dtype == np.uint8
        assert image.shape == (int(height), int(width), 4)
        assert (image[0, 0] == 255).all()
        assert image.flags.writeable

    def test_pyplot_is_never_imported(self):
        script = (
            "import sys, kerasnmt.viz as viz\n"
            "assert 'matplotlib' not in sys.modules\n"
            "viz.figure_to_image(viz.attention_figure([[1]], 'a', 'b'))\n"
            "viz.figure_to_image(viz.learning_curve_figure([{'seconds': 1, 'loss': 1}]))\n"
            "assert 'matplotlib' in sys.modules\n"
            "assert 'matplotlib.pyplot' not in sys.modules\n"
        )
        subprocess.run([sys.executable, "-c", script], check=True)
