"""Exports for TF Serving, CTranslate2 and LiteRT, their check, clients, and a server."""

from kerasnmt.lazy_names import lazy_names

# The child process of `check_export` must not import TensorFlow.
__all__, __getattr__ = lazy_names(
    __name__,
    {
        "check.check_export": ["check_export"],
        "check.check_report": ["CheckReport"],
        "client.grpc_client": ["GrpcClient"],
        "client.rest_client": ["RestClient"],
        "client.serving_client": ["TransientError"],
        "export.ctranslate2_export": ["export_ctranslate2"],
        "export.ctranslate2_model": ["load_ctranslate2"],
        "export.export_module": ["ExportModule"],
        "export.litert": ["export_lite", "load_lite"],
        "export.saved_model": ["export_model", "export_next_version", "load_export"],
        "export.stored_weights": ["StoredWeights"],
        "kerasnmt.tasks.sentence_attention": ["SentenceAttention"],
        "kerasnmt.tasks.translator": ["Translator"],
        "server.rest_app": ["RestApp"],
        "server.server_config": ["write_server_config"],
    },
)
