"""Encoders, their recurrent layers, and bridges to a decoder."""
