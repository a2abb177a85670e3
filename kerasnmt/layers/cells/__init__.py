"""Recurrent cells for encoders and decoders."""
