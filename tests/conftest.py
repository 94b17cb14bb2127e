"""Fixtures and settings for every test."""

import gc
import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from harness.base.redaction import KNOWN
from tests.browser import Browser, a_browser
from tests.end_to_end.warm import share

# A busy machine is no bug: time is bounded for each test as a whole. In CI the examples are fixed
# every time, so that a red run is a change's own fault; elsewhere they are new each time, to find
# what is not known yet. `make test` draws a few of them for each property, `make proofs` thirty
# times as many.
settings.register_profile(
    "harness",
    deadline=None,
    max_examples=int(os.environ.get("HARNESS_EXAMPLES", "10")),
    derandomize=not {"CI", "HARNESS_FIXED_EXAMPLES"}.isdisjoint(os.environ),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("harness")

# While the tests are collected, hundreds of thousands of objects come into being and none is
# garbage.
gc.set_threshold(200_000, 50, 100)


def pytest_configure(config: pytest.Config) -> None:
    """Start the process that tests fork others from once for all the workers of xdist."""
    if config.getoption("numprocesses", None):
        config.add_cleanup(share().close)


def pytest_collection_finish() -> None:
    gc.freeze()  # nor will it be while the tests run: it is not looked at again
    gc.set_threshold(10_000, 10, 10)  # some tests make hundreds of thousands of objects


@pytest.fixture(autouse=True)
def nothing_is_secret_yet() -> None:
    """What one test makes known as a secret, another may show."""
    KNOWN.forget()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with a_browser(tmp_path_factory.mktemp("profile")) as found:
        yield found
