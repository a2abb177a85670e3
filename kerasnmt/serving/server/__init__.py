"""A server for development, and the configuration files of TF Serving."""
