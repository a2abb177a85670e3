"""Exports for TF Serving and LiteRT, their check, clients, and a server for development."""

from importlib import import_module
from typing import Any

# Loaded on first use: the process that plays the server must not import TensorFlow.
_HOMES = {
    "CaptionModule": "kerasnmt.serving.export.caption_module",
    "CheckReport": "kerasnmt.serving.check.check_report",
    "ForcedDecoding": "kerasnmt.serving.client.forced_decoding",
    "GrpcClient": "kerasnmt.serving.client.grpc_client",
    "RestApp": "kerasnmt.serving.server.rest_app",
    "RestClient": "kerasnmt.serving.client.rest_client",
    "SentenceAttention": "kerasnmt.serving.client.sentence_attention",
    "StoredWeights": "kerasnmt.serving.export.stored_weights",
    "StoryModule": "kerasnmt.serving.export.story_module",
    "ContextTextModule": "kerasnmt.serving.export.context_text_module",
    "TextModule": "kerasnmt.serving.export.text_module",
    "TransientError": "kerasnmt.serving.client.serving_client",
    "Translator": "kerasnmt.serving.client.translator",
    "check_export": "kerasnmt.serving.check.check_export",
    "export_lite": "kerasnmt.serving.export.litert",
    "export_model": "kerasnmt.serving.export.saved_model",
    "export_next_version": "kerasnmt.serving.export.saved_model",
    "load_export": "kerasnmt.serving.export.saved_model",
    "load_lite": "kerasnmt.serving.export.litert",
    "write_server_config": "kerasnmt.serving.server.server_config",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
