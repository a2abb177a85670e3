"""What TF Serving is given, and the proof that it can serve it."""
