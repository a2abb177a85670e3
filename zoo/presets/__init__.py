"""Presets of the package `kerasnmt-presets`, which kerasnmt finds by an entry point."""
