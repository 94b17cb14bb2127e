"""Google's Gemini, by the endpoint of its API that is compatible with OpenAI's."""

from __future__ import annotations

import re

from harness.models.model import Provider, Service
from harness.models.providers.openai import GEMINI

SERVICE = Service(
    url="https://generativelanguage.googleapis.com/v1beta/openai",
    key_variable="GEMINI_API_KEY",
    base_url_variable="GEMINI_BASE_URL",
    ids=re.compile(r"gemini-\d"),
    well_known=("gemini-2.5-pro", "gemini-2.5-flash"),
)
"""Google's own API."""

PROVIDER = Provider(
    opens="harness.models.gemini:open_gemini",
    service=SERVICE,
    aliases=("google",),
    dialect=GEMINI,
    takes=("image", "audio"),
    hears=True,
)
"""``type: gemini``."""
