"""Built-in scenes, which are images of colored shapes with captions in English and German."""

from __future__ import annotations

import zlib
from random import Random
from typing import NamedTuple

import numpy as np

from kerasnmt.sizes import check_size

# Cells on each side of the grid, and pixels on each side of a cell.
GRID, CELL = 4, 16
SPLITS = ("train", "validation", "test")
# Maximum number of scenes. There are more, but it takes longer and longer to draw a new one.
_MOST = 200_000

# English color: German stem, and values of red, green and blue.
_COLOURS = {
    "red": ("rot", (215, 50, 45)),
    "green": ("grün", (60, 170, 75)),
    "blue": ("blau", (55, 95, 215)),
    "yellow": ("gelb", (235, 205, 60)),
    "purple": ("violett", (150, 65, 190)),
}
# English noun: German noun and its gender.
_SHAPES = {
    "circle": ("Kreis", "m"),
    "square": ("Quadrat", "n"),
    "triangle": ("Dreieck", "n"),
    "diamond": ("Raute", "f"),
    "cross": ("Kreuz", "n"),
}
# Article and ending of the color, for the subject and after a preposition of place.
_NOMINATIVE = {"m": ("ein", "er"), "n": ("ein", "es"), "f": ("eine", "e")}
_DATIVE = {"m": ("einem", "en"), "n": ("einem", "en"), "f": ("einer", "en")}
_LEFT_OF, _ABOVE = ("left of", "links von"), ("above", "über")


class SceneObject(NamedTuple):
    """Shape in a cell of the grid.

    Attributes:
        colour: `"red"`, `"green"`, `"blue"`, `"yellow"` or `"purple"`.
        shape: `"circle"`, `"square"`, `"triangle"`, `"diamond"` or `"cross"`.
        row: Row of the cell, counted from 0 at the top.
        column: Column of the cell, counted from 0 at the left.
    """

    colour: str
    shape: str
    row: int
    column: int


class SceneCaption(NamedTuple):
    """Caption, and the objects that its words name.

    Attributes:
        text: Words, separated by single spaces.
        named: Index of the object that each word names, or None. Colors and shapes name objects;
            articles and relations do not.
    """

    text: str
    named: tuple[int | None, ...]


class Scene(NamedTuple):
    """Image of shapes.

    Attributes:
        image: Uint8 `[64, 64, 3]`, red, green and blue.
        captions: Captions in English, `"en"`, and German, `"de"`.
        objects: Shapes, in the order of the captions.
    """

    image: np.ndarray
    captions: dict[str, SceneCaption]
    objects: tuple[SceneObject, ...]

    def regions(self, rows: int = GRID, columns: int = GRID) -> np.ndarray:
        """Return a mask of the regions of the image in which each object lies.

        Args:
            rows: Number of rows of regions.
            columns: Number of columns of regions.

        Returns:
            Boolean `[objects, rows * columns]`, row by row from the top. True if the center of a
            region is in the object's cell.
        """
        row, column = np.divmod(np.arange(rows * columns), columns)
        row, column = (row + 0.5) * GRID // rows, (column + 0.5) * GRID // columns
        return np.stack([(row == one.row) & (column == one.column) for one in self.objects])


def builtin_scenes(size: int, split: str = "train", seed: int = 1) -> list[Scene]:
    """Draw scenes of one to three shapes, with captions in English and German.

    Each shape is near the center of a cell of a 4-by-4 grid, on a dark, noisy background. All
    shapes of a scene are different. A scene has one correct caption. It starts with the first shape
    in reading order, and states its relations to the other shapes, in reading order: the first
    shape is "left of" a shape in the same row, and "above" all others. For example: "a red circle
    left of a blue square and above a green cross", "ein roter Kreis links von einem blauen Quadrat
    und über einem grünen Kreuz".

    The same arguments always give the same scenes, and a smaller size gives the first scenes of a
    larger one. No arrangement of shapes occurs twice in a split, or in two splits, for any sizes
    and seeds.

    Args:
        size: Number of scenes.
        split: `"train"`, `"validation"` or `"test"`.
        seed: Seed of the scenes.

    Returns:
        A list of `Scene(image, captions, objects)`.

    Raises:
        ValueError: If `split` is unknown, or `size` is not an integer from 1 to 200,000.
    """
    if split not in SPLITS:
        raise ValueError(
            f"Expected a split of the built-in scenes. Received: split={split!r}. Choose one of "
            f"{', '.join(SPLITS)}."
        )
    check_size("size", size, most=_MOST)
    random = Random(seed)
    scenes: dict[str, Scene] = {}
    while len(scenes) < size:
        objects = _arranged(random)
        key = repr(objects)
        if key not in scenes and _split_of(key) == split:
            captions = {"en": _english(objects), "de": _german(objects)}
            noise = np.random.default_rng([seed, zlib.crc32(key.encode())])
            scenes[key] = Scene(_drawn(objects, noise), captions, objects)
    return list(scenes.values())


def _split_of(key: str) -> str:
    """Return the split of a scene, which depends on its checksum."""
    return {0: "validation", 1: "test"}.get(zlib.crc32(key.encode()) % 8, "train")


def _arranged(random: Random) -> tuple[SceneObject, ...]:
    """Draw shapes and their cells, in reading order."""
    count = random.choice((1, 2, 2, 3, 3, 3))
    kinds = random.sample([(c, s) for c in _COLOURS for s in _SHAPES], count)
    cells = sorted(random.sample(range(GRID * GRID), count))
    return tuple(
        SceneObject(*kind, *divmod(cell, GRID)) for kind, cell in zip(kinds, cells, strict=True)
    )


def _english(objects: tuple[SceneObject, ...]) -> SceneCaption:
    phrases = [(("a", one.colour, one.shape), number) for number, one in enumerate(objects)]
    return _caption(phrases, [words[0] for words in _relations(objects)], "and")


def _german(objects: tuple[SceneObject, ...]) -> SceneCaption:
    phrases = []
    for number, one in enumerate(objects):
        noun, gender = _SHAPES[one.shape]
        article, ending = (_DATIVE if number else _NOMINATIVE)[gender]
        phrases.append(((article, _COLOURS[one.colour][0] + ending, noun), number))
    return _caption(phrases, [words[1] for words in _relations(objects)], "und")


def _relations(objects: tuple[SceneObject, ...]) -> list[tuple[str, str]]:
    """Return the relation of the first shape to each other shape, in both languages."""
    return [_LEFT_OF if one.row == objects[0].row else _ABOVE for one in objects[1:]]


def _caption(
    phrases: list[tuple[tuple[str, str, str], int]], relations: list[str], conjunction: str
) -> SceneCaption:
    """Join the phrases of shapes by relations and, before the third, a conjunction."""
    words: list[str] = []
    named: list[int | None] = []
    for number, (phrase, one) in enumerate(phrases):
        between = [conjunction] if number == 2 else []
        between += relations[number - 1].split() if number else []
        words += [*between, *phrase]
        named += [None] * (len(between) + 1) + [one, one]
    return SceneCaption(" ".join(words), tuple(named))


def _drawn(objects: tuple[SceneObject, ...], random: np.random.Generator) -> np.ndarray:
    """Draw the image, uint8 `[64, 64, 3]`."""
    side = GRID * CELL
    ground = random.integers(20, 70)
    image = np.full((side, side, 3), ground, "int64")
    y, x = np.mgrid[:side, :side] + 0.5
    for one in objects:
        off_y, off_x = random.integers(-1, 2, 2)
        radius = random.integers(11, 15) / 2
        down = (y - (one.row + 0.5) * CELL - off_y) / radius
        right = (x - (one.column + 0.5) * CELL - off_x) / radius
        shade = random.integers(-20, 21)
        image[_inside(one.shape, right, down)] = np.add(_COLOURS[one.colour][1], shade)
    image += random.integers(-10, 11, image.shape)
    return np.clip(image, 0, 255).astype("uint8")


def _inside(shape: str, right: np.ndarray, down: np.ndarray) -> np.ndarray:
    """Return a mask of the points inside a shape, which spans -1 to 1 on both axes."""
    across, along = np.abs(right), np.abs(down)
    if shape == "circle":
        return across**2 + along**2 <= 1
    if shape == "square":
        return np.maximum(across, along) <= 0.9
    if shape == "triangle":
        return (2 * across <= down + 1) & (down <= 0.9)
    if shape == "diamond":
        return 1.25 * across + along <= 1
    return (np.minimum(across, along) <= 0.3) & (np.maximum(across, along) <= 1)
