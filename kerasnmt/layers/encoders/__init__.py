"""Encoders, the layers that they stack, and bridges to a decoder."""
