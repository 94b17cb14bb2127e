"""One provider for each module, and the client of OpenAI that talks to it."""

from __future__ import annotations

from collections.abc import Iterator

import openai
import pytest

from tests.fake_provider import FakeProvider
from tests.fake_provider.steps import Answer
from tests.fake_provider.streaming.answers import a_provider


@pytest.fixture(scope="module")
def provider() -> Iterator[tuple[FakeProvider, list[Answer]]]:
    """The provider, and the answers that it is still to give."""
    with a_provider() as opened:
        yield opened


@pytest.fixture(scope="module")
def openai_client(provider: tuple[FakeProvider, list[Answer]]) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(
        base_url=f"{provider[0].url}/v1", api_key="test-key", max_retries=0
    ) as opened:
        yield opened
