"""A mistake in an output, with its official name."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """Why an output is wrong."""

    error_type: str
    """The official name of the mistake: ``value_error:string``."""
    message: str
    """The mistake in words."""
