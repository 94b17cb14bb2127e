"""Anthropic's models on Google's Vertex AI."""

from __future__ import annotations

import re

from harness.models.model import Provider, Service
from harness.models.providers.anthropic import DIALECT, refuse_temperature

SERVICE = Service(
    url="https://aiplatform.googleapis.com",
    key_variable="CLOUDSDK_AUTH_ACCESS_TOKEN",
    base_url_variable="ANTHROPIC_VERTEX_BASE_URL",
    ids=re.compile(r"claude-[a-z0-9-]+@"),
    key_optional=True,
)
"""Vertex AI."""

PROVIDER = Provider(
    opens="harness.models.vertex:VertexModel",
    service=SERVICE,
    dialect=DIALECT,
    takes=("image", "file"),
    temperature_refused=refuse_temperature,
)
"""``type: vertex``."""
