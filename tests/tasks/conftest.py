from tests.cli.conftest import seeds

__all__ = ["seeds"]
