"""Files of the page of a model."""

from importlib.resources import files


def page_file(name: str) -> str:
    """Return the text of a file."""
    return files("kerasnmt.viz").joinpath("page", name).read_text(encoding="utf-8")
