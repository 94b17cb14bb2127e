"""Replays the replies of a recorded run with a live server."""

from __future__ import annotations

from harness.models.model import Provider

PROVIDER = Provider(opens="harness.models.replayed_replies:ReplayModel", answers="replies")
"""``--model replay:RUN``."""
