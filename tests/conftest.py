"""Fixtures and settings for every test."""

import os

import pytest
from hypothesis import HealthCheck, settings

# A busy machine is no bug: time is bounded for each test as a whole. In CI the examples are the same every
# time, so that a red run is a change's own fault; elsewhere they are new each time, to find what is not known yet.
settings.register_profile(
    "harness", deadline=None, derandomize="CI" in os.environ, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("harness")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
