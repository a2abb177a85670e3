"""Tags in texts, such as `<de>` or `<V>`, which are single tokens."""

import re
from collections.abc import Collection, Container, Iterable

# A tag: no spaces and no angle brackets between angle brackets.
TAG = re.compile(r"<[^<>\s\0]+>")
_TAG_OR_CHARACTER = re.compile(f"{TAG.pattern}|.", re.DOTALL)
# Code points of a plane for private use, which stand for tags while TensorFlow reads a text.
FIRST_CODE_POINT, LAST_CODE_POINT = 0xF0000, 0xFFFFF
_PRIVATE = re.compile(f"[{chr(FIRST_CODE_POINT)}-{chr(LAST_CODE_POINT)}]")
# Special tokens, and the pieces of SentencePiece that are bytes.
_RESERVED = {"<pad>", "<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))}


def is_tag(text: str) -> bool:
    """Return whether a text is a single tag."""
    return bool(TAG.fullmatch(text)) and text not in _RESERVED


def with_tags(text: str, tags: str | Iterable[str]) -> str:
    """Return a text with tags in front, which tokenizers with `tags=True` read as single tokens.

    ```python
    with_tags("walk", "V;PST;3;SG")  # "<V><PST><3><SG>walk"
    with_tags("Good morning", ["de"])  # "<de>Good morning"
    ```

    Args:
        text: A source. White space at its start is removed. A text of white space alone gets no
            tags, because it has no translation.
        tags: See `written_tags`. Without tags, the text stays as it is.

    Raises:
        ValueError: See `written_tags`.
    """
    written = written_tags(tags)
    return "".join([*written, text.lstrip()]) if written and text.strip() else text


def written_tags(tags: str | Iterable[str]) -> list[str]:
    """Return tags as they stand in a text, such as `<V>`.

    Args:
        tags: Tags with `;` or spaces between them, as in UniMorph, or a list of tags. A tag may
            have its angle brackets, and needs nothing between them.

    Raises:
        ValueError: If a tag contains spaces or further angle brackets, or is the name of a special
            token, such as `<s>`.
    """
    names = re.split(r"[;\s]+|(?<=>)(?=<)", tags) if isinstance(tags, str) else tags
    written = [name if name[0] + name[-1] == "<>" else f"<{name}>" for name in names if name]
    for tag in written:
        if not is_tag(tag):
            raise ValueError(
                "Expected tags without spaces and angle brackets inside, such as V;PST or <V>, "
                f"and no special token, such as <s>. Received: {tag!r} in {tags!r}."
            )
    return written


def default_start(tags: str | Iterable[str], known: Collection[str]) -> str:
    """Return the default tags of a tokenizer as they stand in front of a text.

    Args:
        tags: See `written_tags`.
        known: Tags of the tokenizer's vocabulary.

    Raises:
        ValueError: If a tag is malformed or not in the vocabulary.
    """
    written = written_tags(tags)
    unknown = [tag for tag in written if tag not in known]
    if unknown:
        raise ValueError(unknown_tags_message("default_tags", known, ", ".join(unknown)))
    return "".join(written)


def unknown_tags_message(what: str, known: Collection[str], received: str) -> str:
    """Return an error message for tags that a model does not know.

    Args:
        what: What was expected, such as "tags".
        known: Tags of the model.
        received: What was received.
    """
    if known:
        return f"Expected {what} that the model knows: {some_tags(known)}. Received: {received}."
    return (
        "Expected no tags and no language, because the vocabulary has no tags. Received: "
        f"{received}. Leave them out, or train a model with tags."
    )


def some_tags(known: Collection[str], most: int = 50) -> str:
    """Return the first tags of a model, sorted, for an error."""
    return ", ".join(sorted(known)[:most]) + (", …" if len(known) > most else "")


def tags_of(texts: Iterable[str]) -> list[str]:
    """Return the different tags in texts, sorted by code points."""
    return sorted({tag for text in texts for tag in TAG.findall(text) if is_tag(tag)})


def unknown_tags(texts: Iterable[str], known: Iterable[str]) -> list[str]:
    """Return the tags in texts that a model does not know, which it reads as other tokens."""
    return sorted({*tags_of(texts)} - {*known})


def characters_and_tags(text: str, tags: Container[str]) -> list[str]:
    """Split a text into characters. A tag of `tags` is one, and a private code point is U+FFFD."""
    parts = _TAG_OR_CHARACTER.findall(_PRIVATE.sub("\ufffd", text))
    return [unit for part in parts for unit in ([part] if part in tags else part)]
