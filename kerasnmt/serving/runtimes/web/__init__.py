"""Exports for browsers and Node: a site of static files."""
