"""The proof that TF Serving can serve an export, through the TensorFlow C API."""
