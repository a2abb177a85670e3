"""Import of the modules of a package on first use."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, modules: Mapping[str, Sequence[str]]
) -> tuple[list[str], Callable[[str], Any]]:
    """Return `__all__` and `__getattr__` of a package that imports its modules on first use.

    ```python
    __all__, __getattr__ = lazy_names(__name__, {"scenes": ["Scene", "builtin_scenes"]})
    ```

    A public name must differ from the names of the modules, because the import of a module with the
    same name would hide it.

    Args:
        package: Name of the package.
        modules: Dict from modules to the public names that they define. A module is relative to the
            package, or an absolute name that starts with `kerasnmt.`.

    Returns:
        The sorted names, and a function that returns the object of a name.
    """
    homes = {name: module for module, names in modules.items() for name in names}

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        module = home if home.startswith("kerasnmt.") else f"{package}.{home}"
        return getattr(import_module(module), name)

    return sorted(homes), find
