"""Scripts and style of the viewer; no code of Python."""
