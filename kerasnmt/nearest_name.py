"""Error messages for unknown names, with the most similar known name."""

import difflib
from collections.abc import Iterable


def unknown_name_message(name: str, known: Iterable[str], what: str) -> str:
    """Return an error message for an unknown name, with the most similar known name.

    Args:
        name: Unknown name. Only the part after the last dot is compared.
        known: Known names.
        what: Kind of the name, such as `"model"`.

    Returns:
        One line, such as `unknown model 'bahdanau_gur'; did you mean 'bahdanau_gru'?`. If no known
        name is similar, the line lists the known names.
    """
    known = list(known)
    nearest = nearest_name(name, known)
    hint = f"did you mean '{nearest}'?" if nearest else f"known: {', '.join(known)}"
    return f"unknown {what} '{name}'; {hint}"


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most similar to a name, or None if no name is similar.

    Args:
        name: Unknown name; see `unknown_name_message`.
        known: Known names.
    """
    by_last_part = {candidate.rpartition(".")[2]: candidate for candidate in known}
    nearest = difflib.get_close_matches(name.rpartition(".")[2], by_last_part, n=1)
    return by_last_part[nearest[0]] if nearest else None
