"""Version of the package, which the build also reads."""

__version__ = "0.2.0"
