"""Server of a model, and configuration files of TF Serving."""
