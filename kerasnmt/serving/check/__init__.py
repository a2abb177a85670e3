"""Check that TF Serving can serve an export, with the TensorFlow C API."""
