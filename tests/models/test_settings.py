"""What a provider does not take is known beforehand, and said."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from harness.models.providers.openai import is_reasoning
from harness.models.settings import is_own, temperature, unsent
from tests.models.support import spec_for


@pytest.mark.parametrize(
    "model_id", ["o1", "o3-mini", "gpt-5", "gpt-5.1-codex", "openai/gpt-5-nano", "gpt-6-astra"]
)
def test_reasoning_models_are_known_by_name(model_id: str) -> None:
    assert is_reasoning(spec_for("chat", None, model_id=model_id))


@pytest.mark.parametrize(
    "model_id",
    [
        "gpt-4o",
        "gpt-4.1",
        "gpt-35-turbo",
        "gpt-oss-20b",
        "gpt-5-chat-latest",
        "llama3",
        "olmo-2",
        "qwen-o1x",
    ],
)
def test_other_models_are_not_taken_for_reasoning_models(model_id: str) -> None:
    assert not is_reasoning(spec_for("chat", None, model_id=model_id))


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
        ("chat", {"model_id": "o3"}, None),
        ("responses", {"model_id": "gpt-5"}, None),
    ],
)
def test_a_temperature_is_sent_or_the_reason_is_said(
    api: Any, settings: dict[str, Any], sent: float | None
) -> None:
    spec = spec_for(api, None, temperature=0.0, **settings)
    assert temperature(spec) == sent
    assert bool(unsent(spec)) is (sent is None)


def test_a_temperature_that_nobody_configured_is_not_missed() -> None:
    assert unsent(spec_for("messages", None)) == ()


def test_no_sdk_is_imported_to_know_this() -> None:
    code = (
        "import sys, harness.models.settings; print(sorted({'anthropic', 'openai', 'httpx2'} & "
        "sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.strip() == "[]"
