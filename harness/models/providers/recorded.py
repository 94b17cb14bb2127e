"""Recorded outputs of a model in a leaderboard, judged without asking a model."""

from __future__ import annotations

from harness.models.model import Provider

PROVIDER = Provider(opens=None, answers="outputs")
"""``--model recorded:FILE``."""
