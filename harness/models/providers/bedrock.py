"""Anthropic's models on AWS Bedrock."""

from __future__ import annotations

import re

from harness.models.model import Provider, Service
from harness.models.providers.anthropic import DIALECT, refuse_temperature

SERVICE = Service(
    url="https://amazonaws.com",  # each region has a host below it
    key_variable="AWS_BEARER_TOKEN_BEDROCK",
    base_url_variable="ANTHROPIC_BEDROCK_BASE_URL",
    ids=re.compile(r"(?:[a-z]+(?:-[a-z]+)?\.)?anthropic\.claude-"),
    key_optional=True,
)
"""Bedrock."""

PROVIDER = Provider(
    opens="harness.models.bedrock:BedrockModel",
    service=SERVICE,
    dialect=DIALECT,
    takes=("image", "file"),
    temperature_refused=refuse_temperature,
)
"""``type: bedrock``."""
