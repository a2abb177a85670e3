"""Error messages for unknown names, with the most similar known name."""

import difflib
import re
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

    A similar name, or its beginning, is spelled much like the name, and has each of its words,
    perhaps with mistakes. So `luong_local_p_lstm` is not similar to `luong_mlp_lstm`, nor
    `batch_size` to `batch_type`.

    Args:
        name: Unknown name; see `unknown_name_message`.
        known: Known names.
    """
    by_last_part = {candidate.rpartition(".")[2]: candidate for candidate in known}
    last = name.rpartition(".")[2]
    similar = difflib.get_close_matches(last, by_last_part, n=len(by_last_part) or 1)
    return next((by_last_part[one] for one in similar if _is_similar(one, last)), None)


def _is_similar(known: str, name: str) -> bool:
    """Return whether a known name, or its beginning, is like a name, and has its words."""
    beginning = known[: len(name)]
    words, given = (re.split(r"[\W_]+", one) for one in (known, name))
    return bool(difflib.get_close_matches(name, [known, beginning], cutoff=0.75)) and all(
        word in known or _is_among(word, words) for word in given
    )


def _is_among(word: str, words: list[str]) -> bool:
    """Return whether a word, perhaps with a mistake, is one of the words."""
    as_long = [one for one in words if len(one) == len(word)]  # df may be a mistake for de
    near = difflib.get_close_matches
    return bool(near(word, words) or near(word, as_long, cutoff=0.5))
