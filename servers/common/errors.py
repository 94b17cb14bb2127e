"""The error of a server that cannot start."""

from __future__ import annotations


class CannotStart(Exception):
    """What a command line asks for cannot be done; the text says why."""
