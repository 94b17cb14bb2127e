"""No model: what the results of cases that only make calls are recorded under."""

from __future__ import annotations

from harness.models.model import Provider

PROVIDER = Provider(opens=None, answers="nothing")
"""Chosen by harness alone, for cases with ``call:``."""
