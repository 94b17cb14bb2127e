"""The replies of a recorded run, served again while the server is live."""

from __future__ import annotations

from harness.models.traits import Provider

PROVIDER = Provider(opens="harness.models.replayed_replies:ReplayModel", answers="replies")
"""``--model replay:RUN``."""
