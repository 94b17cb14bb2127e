"""What a model did elsewhere in a leaderboard: judged, and not asked (`harness.runner.recordings`)."""

from __future__ import annotations

from harness.models.traits import Provider

PROVIDER = Provider(opens=None, answers="outputs")
"""``--model recorded:FILE``."""
