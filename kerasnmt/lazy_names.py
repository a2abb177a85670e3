"""Names of a package whose modules are imported on first use."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, modules: Mapping[str, Sequence[str]]
) -> tuple[list[str], Callable[[str], Any]]:
    """Make `__all__` and `__getattr__` of a package that imports its modules on first use.

    ```python
    __all__, __getattr__ = lazy_names(__name__, {"scenes": ["Scene", "builtin_scenes"]})
    ```

    No name may be that of a module of the package: the import of the module would hide it.

    Args:
        package: Name of the package.
        modules: Public names by the module that defines them, relative to the package; or, for
            names of other packages, absolute, beginning with `kerasnmt.`.

    Returns:
        The sorted names, and the function that finds one.
    """
    homes = {name: module for module, names in modules.items() for name in names}

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        module = home if home.startswith("kerasnmt.") else f"{package}.{home}"
        return getattr(import_module(module), name)

    return sorted(homes), find
