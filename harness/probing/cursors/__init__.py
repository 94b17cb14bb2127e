"""Cursors of other callers: whoever sends one must get no more than with their own."""
