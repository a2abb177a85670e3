"""Decoders, their cells, readouts, generators and gates."""
