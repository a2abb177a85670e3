"""Development server, and configuration files of TF Serving."""
