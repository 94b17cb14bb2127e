"""What a provider does not take is known beforehand, and said."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from harness.models.model import get_temperature, is_own, list_unsent
from tests.models.support import spec_for


@pytest.mark.parametrize(
    ("base_url", "own"),
    [
        (None, True),
        ("https://api.openai.com/v1", True),
        (" https://api.openai.com/v1/", True),
        ("http://localhost:11434/v1", False),
        ("https://api.openai.com.example.com/v1", False),
        ("nonsense", False),
    ],
)
def test_the_providers_own_api_is_known_by_its_address(base_url: str | None, own: bool) -> None:
    assert is_own(spec_for("chat", None, base_url=base_url)) is own


@pytest.mark.parametrize(
    ("api", "settings", "sent"),
    [
        ("messages", {}, None),
        ("messages", {"headers": {"Anthropic-Version": "2023-06-01"}}, 0.0),
        ("messages", {"headers": {"anthropic-version": "2026-10-21"}}, None),
        ("chat", {}, 0.0),
        ("chat", {"model_id": "o3"}, 0.0),
        ("responses", {"model_id": "gpt-5"}, 0.0),
    ],
)
def test_a_temperature_is_sent_or_the_reason_is_said(
    api: Any, settings: dict[str, Any], sent: float | None
) -> None:
    spec = spec_for(api, None, temperature=0.0, **settings)
    assert get_temperature(spec) == sent
    assert bool(list_unsent(spec)) is (sent is None)


def test_a_temperature_that_nobody_configured_is_not_missed() -> None:
    assert list_unsent(spec_for("messages", None)) == ()


def test_no_sdk_is_imported_to_know_this() -> None:
    code = (
        "import sys, harness.models.model; print(sorted({'anthropic', 'openai', 'httpx2'} & "
        "sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.strip() == "[]"
