"""Installed fonts for the scripts of texts."""

import functools
import unicodedata
import warnings
from collections.abc import Collection, Iterable, Iterator

from matplotlib.font_manager import FontProperties, findfont, findSystemFonts, fontManager, get_font

_REGULAR = range(400, 501)
_BOXES = "Last Resort"  # the fonts that claim to have every character, but draw boxes


def font_families(texts: Iterable[str]) -> list[str]:
    """Return the font families for texts: the default family, and others for missing characters.

    For each character, Matplotlib uses the first family of the list that has it. If no installed
    font has a character, Matplotlib draws a box, and one warning says which font to install.

    Args:
        texts: Texts, in regular weight.

    Returns:
        Values for the `fontfamily` of a text.
    """
    families = ["sans-serif"]
    missing = {
        ord(one) for text in texts for one in text if unicodedata.category(one)[0] not in "CZ"
    }
    missing -= _characters(findfont(FontProperties(family=families)))
    for family, path in _installed() if missing else ():
        if missing & _characters(path):
            families.append(family)
            missing -= _characters(path)
    if missing:
        fonts = ", ".join(sorted({_font_for(chr(one)) for one in missing}))
        warnings.warn(
            f"No installed font has {len(missing)} of the characters, such as "
            f"{chr(min(missing))}. Boxes are drawn for them. Install a font such as {fonts}.",
            stacklevel=4,
        )
        # By its name, this font is used without a warning for each character.
        families += [name for name in fontManager.get_font_names() if name.startswith(_BOXES)]
    return families


def _installed() -> Iterator[tuple[str, str]]:
    """Yield the family and the path of each regular font, sorted by family."""

    def listed(paths: Collection[str] | None = None) -> list[tuple[str, str]]:
        return sorted(
            (font.name, font.fname)
            for font in fontManager.ttflist
            if font.style == "normal" and font.weight in _REGULAR
            if not font.name.startswith(_BOXES) and (paths is None or font.fname in paths)
        )

    yield from listed()
    # Matplotlib keeps a list of fonts on disk, which lacks those that were installed later.
    new = set(findSystemFonts()) - {font.fname for font in fontManager.ttflist}
    for path in new:
        try:
            fontManager.addfont(path)
        except (OSError, RuntimeError):  # a damaged font
            continue
    yield from listed(new)


def _font_for(character: str) -> str:
    """Return the name of a font that has a character."""
    if unicodedata.category(character) == "So":
        return "Noto Emoji"
    if unicodedata.east_asian_width(character) in "WFH":
        return "Noto Sans CJK"
    script = unicodedata.name(character, "").split(" ")[0]
    return (
        f"Noto Sans {script.title()}" if unicodedata.category(character)[0] in "LM" else "Noto Sans"
    )


@functools.cache
def _characters(path: str) -> frozenset[int]:
    """Return the code points of a font."""
    return frozenset(get_font(path).get_charmap())
