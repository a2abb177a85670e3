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
    by_last_part = {candidate.rpartition(".")[2]: candidate for candidate in known}
    nearest = difflib.get_close_matches(name.rpartition(".")[2], by_last_part, n=1)
    if nearest:
        hint = f"did you mean '{by_last_part[nearest[0]]}'?"
    else:
        hint = f"known: {', '.join(by_last_part.values())}"
    return f"unknown {what} '{name}'; {hint}"
