"""OpenAI's models in a resource of Azure: each is asked by the name of its deployment."""

from __future__ import annotations

import re

from harness.models.model import Provider, Service
from harness.models.providers.openai import DIALECT

SERVICE = Service(
    url="https://openai.azure.com",  # each resource has a host below it
    key_variable="AZURE_OPENAI_API_KEY",
    base_url_variable="AZURE_OPENAI_ENDPOINT",
    ids=re.compile(r"(?!)"),  # none: people name their deployments as they like
    key_optional=True,
)
"""Azure OpenAI."""

PROVIDER = Provider(
    opens="harness.models.azure:AzureChat",
    service=SERVICE,
    dialect=DIALECT,
    takes=("image",),
    hears=True,
)
"""``type: azure``."""
