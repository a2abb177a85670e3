"""Exports for ONNX Runtime."""
