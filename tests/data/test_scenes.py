"""The built-in scenes are drawn as the captions and the gold positions describe."""

import numpy as np
import pytest

from kerasnmt.data import SceneObject, builtin_scenes
from kerasnmt.data.scenes import _COLOURS, _english, _german


def test_no_arrangement_comes_twice():
    splits = {split: builtin_scenes(300, split) for split in ("train", "validation", "test")}
    other = builtin_scenes(300, seed=2)
    arrangements = {split: {scene.objects for scene in found} for split, found in splits.items()}
    assert [len(found) for found in arrangements.values()] == [300] * 3
    assert len(set.union(*arrangements.values())) == 900
    assert {scene.objects for scene in other} != arrangements["train"]
    assert {scene.objects for scene in other}.isdisjoint(arrangements["test"])
    again = builtin_scenes(40, "test")
    for one, same in zip(again, splits["test"], strict=False):
        assert one.captions == same.captions
        np.testing.assert_array_equal(one.image, same.image)
    assert {len(scene.objects) for scene in splits["train"]} == {1, 2, 3}


def test_shapes_are_where_the_gold_says():
    for scene in builtin_scenes(60, seed=3):
        image = scene.image.astype(float)
        assert scene.image.shape == (64, 64, 3) and scene.image.dtype == np.uint8
        # Colored pixels have different channels, unlike the noisy background.
        coloured = np.ptp(image, axis=2) > 45
        cells = coloured.reshape(4, 16, 4, 16).any(axis=(1, 3))
        gold = scene.regions()
        assert gold.shape == (len(scene.objects), 16)
        np.testing.assert_array_equal(cells.ravel(), gold.any(axis=0))
        np.testing.assert_array_equal(gold.sum(axis=1), 1)
        fine = scene.regions(8, 8).reshape(-1, 4, 2, 4, 2)
        np.testing.assert_array_equal(fine.all(axis=(2, 4)).reshape(gold.shape), gold)
        np.testing.assert_array_equal(fine.sum(axis=(1, 2, 3, 4)), 4)
        for one in scene.objects:
            cell = image.reshape(4, 16, 4, 16, 3)[one.row, :, one.column]
            shown = cell[np.ptp(cell, axis=2) > 45].mean(axis=0)
            distances = {
                colour: np.abs((shown - shown.mean()) - (rgb - np.mean(rgb))).sum()
                for colour, (_, rgb) in _COLOURS.items()
            }
            assert min(distances, key=distances.get) == one.colour


def test_captions_by_hand():
    objects = (
        SceneObject("red", "circle", 1, 0),
        SceneObject("blue", "square", 1, 3),
        SceneObject("green", "diamond", 2, 0),
    )
    english, german = _english(objects), _german(objects)
    assert english.text == "a red circle left of a blue square and above a green diamond"
    assert english.named == (None, 0, 0, *[None] * 3, 1, 1, *[None] * 3, 2, 2)
    assert german.text == (
        "ein roter Kreis links von einem blauen Quadrat und über einer grünen Raute"
    )
    assert german.named == (None, 0, 0, *[None] * 3, 1, 1, *[None] * 3, 2, 2)
    assert _german(objects[2:]).text == "eine grüne Raute"
    assert _german(objects[1:2]).text == "ein blaues Quadrat"
    assert _english(objects[1:2]).named == (None, 0, 0)


def test_words_name_their_objects():
    for scene in builtin_scenes(100):
        assert scene.captions.keys() == {"en", "de"}
        for caption in scene.captions.values():
            words = caption.text.split()
            assert len(words) == len(caption.named)
            assert [one for one in caption.named if one is not None] == sorted(
                [*range(len(scene.objects))] * 2
            )
        words = scene.captions["en"].text.split()
        for word, number in zip(words, scene.captions["en"].named, strict=True):
            if number is not None:
                assert word in scene.objects[number]
        places = [(one.row, one.column) for one in scene.objects]
        assert places == sorted(set(places))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"size": 1, "split": "dev"}, r"Received: split='dev'\. Choose one of train, validation"),
        ({"size": 0}, r"Expected size to be at least 1\. Received: size=0"),
        ({"size": 2.5}, r"an integer as size\. Received: size=2\.5"),
    ],
)
def test_arguments_that_do_not_fit(arguments, message):
    with pytest.raises(ValueError, match=message):
        builtin_scenes(**arguments)
