"""Installed fonts for the scripts of texts."""

import functools
from collections.abc import Iterable


def font_families(texts: Iterable[str]) -> list[str]:
    """Return the font families that cover texts: the default one, then those for its gaps.

    Matplotlib falls back from family to family for each character, but only along such a list.

    Args:
        texts: The texts, in regular weight.

    Returns:
        Names for the `fontfamily` of a text. A character that no installed font has is drawn as a
        box.
    """
    from matplotlib.font_manager import fontManager

    families = ["sans-serif"]
    missing = {ord(character) for text in texts for character in text} - _characters("sans-serif")
    for family in sorted(fontManager.get_font_names()) if missing else ():
        # The last-resort font claims to have every character and draws boxes.
        if missing & _characters(family) and not family.startswith("Last Resort"):
            families.append(family)
            missing -= _characters(family)
    return families


@functools.cache
def _characters(family: str) -> frozenset[int]:
    """Return the code points of the regular font of a family."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    return frozenset(get_font(findfont(FontProperties(family=[family]))).get_charmap())
