"""Bulk translation with Apache Beam, which the extra `beam` installs."""

from .export_handler import ExportHandler
from .translate import Translate
from .translate_files import TranslateFiles

__all__ = ["ExportHandler", "Translate", "TranslateFiles"]
