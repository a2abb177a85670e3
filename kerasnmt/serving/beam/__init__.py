"""Bulk translation with Apache Beam, which the extra `beam` installs."""

from kerasnmt.lazy_names import lazy_names

# The files of a job are planned without TensorFlow.
__all__, __getattr__ = lazy_names(
    __name__,
    {
        "export_handler": ["ExportHandler"],
        "translate": ["Translate"],
        "translate_files": ["TranslateFiles"],
    },
)
