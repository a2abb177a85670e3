"""Parts of the configs of Keras objects."""

from collections.abc import Iterator
from typing import Any


def parts_of_config(config: Any) -> Iterator[dict]:
    """Yield every dict of a config."""
    if isinstance(config, dict):
        yield config
        config = list(config.values())
    if isinstance(config, list | tuple):
        for part in config:
            yield from parts_of_config(part)
