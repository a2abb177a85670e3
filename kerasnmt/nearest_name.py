"""Errors for names that do not exist, with the name that was probably meant."""

import difflib
from collections.abc import Iterable


def unknown_name_message(name: str, known: Iterable[str], what: str) -> str:
    """Says that a name is unknown and which known one is nearest.

    Args:
        name: the name that was given. Of a dotted name the last part is compared, as the parts
            before it are shared with the known ones.
        known: the names that exist.
        what: what is named, such as `"model"`.

    Returns:
        One line: `unknown model 'bahdanau_gur'; did you mean 'bahdanau_gru'?`, or the known names
        where none is near.
    """
    known = list(known)
    nearest = nearest_name(name, known)
    hint = f"did you mean '{nearest}'?" if nearest else f"known: {', '.join(known)}"
    return f"unknown {what} '{name}'; {hint}"


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is nearest to a name; None if none is near.

    Args:
        name: The name that was given; see `unknown_name_message`.
        known: The names that exist.
    """
    by_last_part = {candidate.rpartition(".")[2]: candidate for candidate in known}
    nearest = difflib.get_close_matches(name.rpartition(".")[2], by_last_part, n=1)
    return by_last_part[nearest[0]] if nearest else None
