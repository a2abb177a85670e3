import subprocess
import sys
import warnings
from itertools import pairwise

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.font_manager import fontManager
from matplotlib.text import Text

from kerasnmt.viz import attention_figure, figure_to_image
from kerasnmt.viz.fonts import _font_for, font_families

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


def test_a_source_from_right_to_left_has_its_columns_from_right_to_left():
    figure = attention_figure([[1, 0, 0]], ["אוהב", "Tom", "</s>"], ["I"], coverage=[1, 0, 0.5])
    axes, below, _ = figure.axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["</s>", "Tom", "אוהב"]
    np.testing.assert_array_equal(axes.images[0].get_array(), [[0, 0, 1]])
    assert [bar.get_height() for bar in below.patches] == [0.5, 0, 1]


another = pytest.mark.thorough("another size shows it")
SIZES = [(1, 1), (1, 40), (40, 1), *(pytest.param(n, n + 4, marks=another) for n in (2, 13, 56))]


@pytest.mark.parametrize("with_probability", [False, True])
@pytest.mark.parametrize(("rows", "columns"), SIZES)
def test_labels_never_overlap_and_nothing_is_cut_off(rows, columns, with_probability):
    title = "a title that is longer than two tokens are wide"
    probability = np.linspace(0, 1, rows) if with_probability else None
    figure = draw(rows, columns, title=title, generate_probability=probability)
    axes, bar = figure.axes
    renderer = FigureCanvasAgg(figure).get_renderer()
    box, (width, height) = figure.get_tightbbox(renderer), figure.get_size_inches()
    assert min(box.x0, box.y0, width - box.x1, height - box.y1) > 0.1

    for labels in (axes.get_yticklabels(), bar.get_yticklabels()[::-1]):
        boxes = [label.get_window_extent(renderer) for label in labels]
        assert all(upper.y0 > lower.y1 for upper, lower in pairwise(boxes))

    (title,) = axes.findobj(lambda artist: isinstance(artist, Text) and artist.get_text() == title)
    labels = axes.get_xticklabels()
    slanted = [label.get_window_extent(renderer) for label in labels]
    assert title.get_window_extent(renderer).y0 > max(box.y1 for box in slanted)
    written = [label.get_window_extent(renderer) for label in bar.get_yticklabels()]
    heat = axes.get_window_extent(renderer)
    assert min(box.x0 for box in written) > heat.x1
    if with_probability:  # the label of p_gen begins above the bar
        assert slanted[-1].y0 > max(box.y1 for box in written) - 1
        return

    # Slanted labels: their lines of text are further apart than a line is high.
    distance = heat.width / columns * np.sin(np.radians(45))
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
        "Expected weights of shape [target tokens, source tokens], at least one of each, here "
        f"{(rows, columns)}. Received: weights.shape={shape}"
    )


class TestGenerateProbability:
    WEIGHTS = ((0, 1, 0), (0, 0, 1))

    def draw(self, probability=(1, 0), title=None):
        tokens = ["a", "b", "c"], ["x", "y"]
        return attention_figure(self.WEIGHTS, *tokens, title, generate_probability=probability)

    def test_it_is_one_more_column_a_gap_apart(self):
        figure = self.draw()
        axes, bar = figure.axes
        image = figure_to_image(figure)
        heat = axes.get_window_extent()
        cell = 0.46 * figure.dpi
        gap = 0.14 * figure.dpi
        assert heat.width == pytest.approx(4 * cell + gap)
        assert heat.height == pytest.approx(2 * cell)

        def colour(row, x):
            y = image.shape[0] - round(heat.y1 - (row + 0.5) * cell)
            return image[y, round(heat.x0 + x), :3] / 255

        for row, column in np.ndindex(2, 3):
            expected = ALL if self.WEIGHTS[row][column] else NONE
            np.testing.assert_allclose(colour(row, (column + 0.5) * cell), expected, atol=0.01)
        for row, expected in enumerate((ALL, NONE)):
            np.testing.assert_allclose(colour(row, 3.5 * cell + gap), expected, atol=0.01)
            np.testing.assert_allclose(colour(row, 3 * cell + gap / 2), 1, atol=0.01)
        assert bar.get_ylim() == (0, 1)
        assert bar.get_ylabel() == "weight, p_gen"
        assert bar.get_window_extent().x0 > heat.x1

    def test_its_label_stands_above_it_like_the_source_tokens(self):
        figure = self.draw()
        axes = figure.axes[0]
        figure_to_image(figure)
        labels = axes.get_xticklabels()
        assert [label.get_text() for label in labels] == ["a", "b", "c", "p_gen"]
        assert [label.get_text() for label in axes.get_yticklabels()] == ["x", "y"]
        heat, box = axes.get_window_extent(), labels[3].get_window_extent()
        assert labels[3].get_rotation() == 45
        assert box.y0 >= heat.y1
        assert heat.x1 - 0.46 * figure.dpi < box.x0 < heat.x1

    def test_the_same_colours_whatever_the_values(self):
        tokens = ["a", "b"], ["x", "y"]
        figure = attention_figure([[0.2, 0.3]] * 2, *tokens, generate_probability=(0.3, 0.4))
        axes, bar = figure.axes
        assert (axes.get_xlabel(), axes.get_ylabel()) == ("source", "translation")
        assert bar.get_ylim() == (0, 1)
        one, other = axes.images
        assert one.get_clim() == other.get_clim() == (0, 1)
        np.testing.assert_allclose(other.get_array(), [[0.3], [0.4]], rtol=1e-6)
        np.testing.assert_array_equal(one.cmap(0.3), other.cmap(0.3))

    def test_none_draws_what_was_drawn_before(self):
        tokens = ["a", "b", "c"], ["x", "y"]
        before = attention_figure(self.WEIGHTS, *tokens, "title")
        np.testing.assert_array_equal(
            figure_to_image(self.draw(None, "title")), figure_to_image(before)
        )
        assert before.axes[1].get_ylabel() == "weight"
        assert before.axes[0].get_window_extent().width == pytest.approx(3 * 0.46 * before.dpi)

    @pytest.mark.parametrize("shape", [(3,), (1,), (2, 1), ()])
    def test_wrong_shape(self, shape):
        with pytest.raises(ValueError) as caught:
            self.draw(np.zeros(shape))
        assert str(caught.value) == (
            "Expected generate_probability for each target token, here 2. "
            f"Received: generate_probability.shape={shape}"
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

    def test_a_joiner_needs_no_other_font(self, monkeypatch):
        monkeypatch.setattr("kerasnmt.viz.fonts._installed", lambda: iter(()))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            figure = attention_figure([[0.5] * 2], ["yes", "￭."], ["￭,"])
        assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["▪,"]

    def test_one_warning_says_which_font_to_install(self, monkeypatch):
        # As if only Matplotlib's fonts were installed.
        monkeypatch.setattr("kerasnmt.viz.fonts._installed", lambda: iter(()))
        with pytest.warns(UserWarning) as caught:
            figure_to_image(attention_figure([[0.5] * 2], ["私が", "好き"], ["はい"], "ह"))
        ours = [str(one.message) for one in caught if "No installed font" in str(one.message)]
        assert ours == [
            "No installed font has 7 of the characters, such as ह. Boxes are drawn for them. "
            "Install a font such as Noto Sans CJK, Noto Sans Devanagari."
        ]
        if any(name.startswith("Last Resort") for name in fontManager.get_font_names()):
            assert len(caught) == 1  # Matplotlib 3.10 and later

    @pytest.mark.parametrize(
        ("character", "font"),
        [
            *(("한", "Noto Sans CJK"), ("。", "Noto Sans CJK"), ("ि", "Noto Sans Devanagari")),
            *(("ต", "Noto Sans Thai"), ("က", "Noto Sans Myanmar"), ("🙂", "Noto Emoji")),
        ],
    )
    def test_the_font_for_a_character(self, character, font):
        assert _font_for(character) == font

    def test_a_font_that_was_installed_later(self, monkeypatch):
        # Matplotlib's list on disk does not have it yet.
        default = [font for font in fontManager.ttflist if font.name == "DejaVu Sans"]
        later = [font for font in fontManager.ttflist if font.name == "STIXGeneral"]
        monkeypatch.setattr(fontManager, "ttflist", default)
        monkeypatch.setattr(
            "kerasnmt.viz.fonts.findSystemFonts", lambda: [font.fname for font in later]
        )
        assert font_families(["𝒞"]) == ["sans-serif", "STIXGeneral"]


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


def test_coverage_stands_below_its_words():
    figure = draw(3, 2, coverage=[0.5, 2.5], generate_probability=[0.1, 0.2, 0.3])
    axes, below, _ = figure.axes
    renderer = FigureCanvasAgg(figure).get_renderer()
    heat, bars = axes.get_window_extent(renderer), below.get_window_extent(renderer)
    assert bars.y1 < heat.y0 and (bars.x0, bars.x1) == pytest.approx((heat.x0, heat.x1))
    assert below.get_xlim() == axes.get_xlim()
    assert [bar.get_height() for bar in below.patches] == pytest.approx([0.5, 2.5])
    assert [bar.get_x() + bar.get_width() / 2 for bar in below.patches] == pytest.approx([0, 1])
    assert below.lines[0].get_ydata() == [1, 1]
    assert [label.get_text() for label in below.get_yticklabels()] == ["0", "2"]
    box, (width, height) = figure.get_tightbbox(renderer), figure.get_size_inches()
    assert min(box.x0, box.y0, width - box.x1, height - box.y1) > 0.1


def test_coverage_of_another_length():
    with pytest.raises(ValueError, match=r"coverage for each source token, here 2\. .*\(3,\)"):
        draw(3, 2, coverage=[0.1, 0.2, 0.3])
