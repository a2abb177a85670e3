"""SavedModels, which TF Serving runs."""
