import numpy as np
import pytest

from kerasnmt.viz import image_attention_figure

IMAGE = np.full((8, 12, 3), 200, "uint8")
WEIGHTS = np.array([[0.7, 0.1, 0.1, 0.05, 0.05, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]])


def panels(figure):
    return [axes for axes in figure.axes if axes.images]


def test_the_image_is_lit_where_a_word_looks():
    figure = image_attention_figure(IMAGE, WEIGHTS, ["a", "$dog"], (2, 3), "a $dog")
    plain, first, second = panels(figure)
    np.testing.assert_array_equal(plain.images[0].get_array(), IMAGE)
    assert [axes.get_title() for axes in (first, second)] == ["a", "$dog"]
    assert [axes.texts[0].get_text() for axes in (first, second)] == ["0.70", "1.00"]
    lit = np.asarray(second.images[0].get_array())[..., 0]
    # Regions of 4 by 4 pixels. The corner of the last one is bright, and distant regions are dark.
    assert lit[7, 11] == 200 and (lit[:, :6] == 50).all() and (lit[:2] == 50).all()
    assert 50 < lit[5, 8] < 200
    lit = np.asarray(first.images[0].get_array())[..., 0]
    # Halfway between the centers of the first two regions, the brightness is (1 + 1 / 7) / 2.
    expected = 200 * (0.25 + 0.75 * (1 - 0.375 * 6 / 7))
    np.testing.assert_allclose(lit[0, 3], expected, atol=1)
    assert figure._suptitle.get_text() == "a $dog"


def test_frames_and_rows_of_panels(tmp_path):
    marked = np.zeros((7, 6), bool)
    marked[2, [1, 5]] = True
    weights = np.tile(WEIGHTS[:1], (7, 1))
    figure = image_attention_figure(IMAGE[..., :1], weights, [*"abcdefg"], (2, 3), marked=marked)
    frames = [len(axes.patches) for axes in panels(figure)]
    assert frames == [0, 0, 0, 2, 0, 0, 0, 0]
    one, other = panels(figure)[3].patches
    assert one.get_xy() == (3.5, -0.5) and other.get_xy() == (7.5, 3.5)
    assert (one.get_width(), one.get_height()) == (4, 4)
    figure.savefig(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("image", "words", "grid", "marked", "message"),
    [
        (IMAGE, ["a"], (2, 3), None, r"weights of .*here \(1, 6\). Received: weights.shape=\(2"),
        (IMAGE, ["a", "b"], (2, 2), None, r"here \(2, 4\)"),
        (IMAGE[0], ["a", "b"], (2, 3), None, r"Received: image.shape=\(12, 3\)"),
        (IMAGE, ["a", "b"], (2, 3), np.ones(6, bool), r"Received: marked.shape=\(6,\)"),
    ],
)
def test_shapes_that_do_not_fit(image, words, grid, marked, message):
    with pytest.raises(ValueError, match=message):
        image_attention_figure(image, WEIGHTS, words, grid, marked=marked)
