"""Codes of languages."""

import functools
from collections.abc import Iterable

# Largest distance between languages that langcodes calls close: Croatian is read as Serbo-Croatian.
_CLOSE = 9


def language_code(language: str) -> str:
    """Return the shortest code of a language: "de" for "deu" and "de-AT".

    Raises:
        ValueError: If there is no such language.
    """
    from langcodes import Language, LanguageTagError

    try:
        found = Language.get(language).prefer_macrolanguage()
    except LanguageTagError:
        found = Language.make()
    if not (found.language and found.is_valid()):
        raise ValueError(
            "Expected a language by its code of ISO 639-1 or 639-3, such as de or deu. Received: "
            f"{language!r}"
        )
    return found.language


def closest_tag(language: str, tags: Iterable[str]) -> str | None:
    """Return the tag of a model for a language, such as `<deu>` for "de" and "de-AT".

    Args:
        language: Code of a language, with or without angle brackets.
        tags: Tags of the model. Some may be no languages.

    Returns:
        The tag of the same language or of the closest one, or None if there is none.
    """
    from langcodes import closest_match

    known = {code: tag for tag in tags if _is_language(code := tag.strip("<>"))}
    if not _is_language(code := language.strip("<>")):
        return None
    found, _ = closest_match(language_code(code), [*known], max_distance=_CLOSE)
    return known.get(found)


def are_languages(tags: Iterable[str]) -> bool:
    """Return whether there are tags, and each of them is the code of a language."""
    codes = [tag.strip("<>") for tag in tags]
    return bool(codes) and all(map(_is_language, codes))


@functools.lru_cache(maxsize=1000)
def _is_language(code: str) -> bool:
    try:
        return bool(language_code(code))
    except ValueError:
        return False
