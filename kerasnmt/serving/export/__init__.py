"""Content of an export, and how it is written and loaded."""
