"""What TF Serving is given, the proof that it can serve it, and its clients."""

from importlib import import_module
from typing import Any

# Loaded when first asked for: the process that plays the server must not import TensorFlow.
_HOMES = {
    "CaptionModule": "kerasnmt.serving.caption_module",
    "CheckReport": "kerasnmt.serving.check_report",
    "ForcedDecoding": "kerasnmt.serving.forced_decoding",
    "GrpcClient": "kerasnmt.serving.grpc_client",
    "RestApp": "kerasnmt.serving.rest_app",
    "RestClient": "kerasnmt.serving.rest_client",
    "SentenceAttention": "kerasnmt.serving.sentence_attention",
    "StoredWeights": "kerasnmt.serving.stored_weights",
    "StoryModule": "kerasnmt.serving.story_module",
    "ContextTextModule": "kerasnmt.serving.context_text_module",
    "TextModule": "kerasnmt.serving.text_module",
    "TransientError": "kerasnmt.serving.transient_error",
    "Translator": "kerasnmt.serving.translator",
    "check_export": "kerasnmt.serving.check",
    "export_lite": "kerasnmt.serving.lite_export",
    "export_model": "kerasnmt.serving.export",
    "export_next_version": "kerasnmt.serving.export",
    "load_export": "kerasnmt.serving.export",
    "load_lite": "kerasnmt.serving.lite_export",
    "write_server_config": "kerasnmt.serving.server_config",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
