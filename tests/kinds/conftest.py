from tests.cli.conftest import (
    kerasnmt,
    load_export_once,
    load_model_once,
    load_once,
    load_run_once,
)
from tests.serving.conftest import served_here

__all__ = [
    "kerasnmt",
    "load_export_once",
    "load_model_once",
    "load_once",
    "load_run_once",
    "served_here",
]
