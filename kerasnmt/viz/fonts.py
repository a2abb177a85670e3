"""Installed fonts for the scripts of texts."""

import functools
from collections.abc import Iterable


def font_families(texts: Iterable[str]) -> list[str]:
    """Return the font families for texts: the default family, and others for missing characters.

    For each character, Matplotlib uses the first family of the list that has it.

    Args:
        texts: Texts, in regular weight.

    Returns:
        Values for the `fontfamily` of a text. If no installed font has a character, Matplotlib
        draws a box.
    """
    from matplotlib.font_manager import fontManager

    families = ["sans-serif"]
    missing = {ord(character) for text in texts for character in text} - _characters("sans-serif")
    for family in sorted(fontManager.get_font_names()) if missing else ():
        # The last-resort font claims to have every character, but draws boxes.
        if missing & _characters(family) and not family.startswith("Last Resort"):
            families.append(family)
            missing -= _characters(family)
    return families


@functools.cache
def _characters(family: str) -> frozenset[int]:
    """Return the code points of the regular font of a family."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    return frozenset(get_font(findfont(FontProperties(family=[family]))).get_charmap())
