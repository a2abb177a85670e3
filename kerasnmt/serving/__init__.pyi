"""Exports for TF Serving, other programs and browsers, their check, clients, and a server."""

from .check.check_export import check_export
from .check.check_report import CheckReport
from .client.grpc_client import GrpcClient
from .client.rest_client import RestClient
from .client.serving_client import TransientError
from .client.translator import SentenceAttention, Translator
from .runtimes.ctranslate2.export import export_ctranslate2
from .runtimes.ctranslate2.model import load_ctranslate2
from .runtimes.export_module import ExportModule
from .runtimes.litert.export import export_lite, load_lite
from .runtimes.onnx.export import export_onnx
from .runtimes.saved_model.export import export_model, export_next_version, load_export
from .runtimes.stored_weights import StoredWeights
from .runtimes.web.export import export_web
from .server.rest_app import RestApp
from .server.server_config import write_server_config

__all__ = [
    "CheckReport",
    "ExportModule",
    "GrpcClient",
    "RestApp",
    "RestClient",
    "SentenceAttention",
    "StoredWeights",
    "TransientError",
    "Translator",
    "check_export",
    "export_ctranslate2",
    "export_lite",
    "export_model",
    "export_next_version",
    "export_onnx",
    "export_web",
    "load_ctranslate2",
    "load_export",
    "load_lite",
    "write_server_config",
]
