"""Too few open files are reported as harness's own fault, not a server's."""

from __future__ import annotations

import errno
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from harness.base.errors import OutOfResources, ServerError
from harness.sessions.identity.deliveries import meta
from harness.sessions.pool import open_sessions
from harness.sessions.processes.process import find_shortage
from harness.sessions.transports.kinds import http, stdio
from harness.types import ServerSpec
from tests.sessions.http_servers import Running, running
from tests.sessions.servers import HERE, ServerFactory, call

pytestmark = pytest.mark.anyio
LOADED = (http, stdio, meta)
"""Loaded here: without files nothing can be."""


@contextmanager
def no_more_files() -> Iterator[None]:
    """Let nobody open a file within the block."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    probe = os.dup(0)  # the lowest number that is free
    held = []
    try:
        highest = max(int(name) for name in os.listdir("/proc/self/fd") if name.isdigit())  # noqa: PTH208 - names are wanted
        while (number := os.dup(0)) <= highest:
            held.append(number)
        held.append(number)
        resource.setrlimit(resource.RLIMIT_NOFILE, (number + 1, limits[1]))
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        for each in (probe, *held):
            os.close(each)


@pytest.fixture(scope="module")
def shop() -> Iterator[Running]:
    with running(str(HERE / "bad_http_server.py")) as server:
        yield server


async def test_a_server_that_cannot_be_started_for_want_of_files_is_not_blamed_and_tried_again(
    server: ServerFactory,
) -> None:
    spec = server("ok")
    async with open_sessions() as pool:
        for _ in range(5):
            with no_more_files(), pytest.raises(OutOfResources) as failed:
                async with pool.lend_session(spec, None):
                    pass
            assert failed.value.fault == "harness"
            assert "(EMFILE). The server is not at fault: lower --concurrency" in str(failed.value)
        async with pool.lend_session(spec, None) as session:
            assert (await call(session, "echo")).outcome == "ok"


async def test_a_server_that_cannot_be_reached_for_want_of_files_is_not_blamed(
    shop: Running,
) -> None:
    async with open_sessions() as pool:
        async with pool.lend_session(
            shop.at("good?first"), None
        ) as session:  # all modules and certificates are loaded
            assert (await call(session, "echo")).outcome == "ok"
        spec: ServerSpec = shop.at("good?second")
        with no_more_files(), pytest.raises(OutOfResources) as failed:
            async with pool.lend_session(spec, None):
                pass
        assert failed.value.fault == "harness"
        async with pool.lend_session(spec, None) as session:
            assert (await call(session, "echo")).outcome == "ok"


def test_other_errors_of_the_system_are_no_shortage() -> None:
    assert find_shortage(OSError(errno.ECONNREFUSED, "refused"), "x") is None
    assert find_shortage(ValueError("no"), "x") is None
    assert ServerError("x").fault == "server"
    wrapped = ExceptionGroup("some", [RuntimeError("a"), OSError(errno.ENOMEM, "none")])
    assert "ENOMEM" in str(find_shortage(wrapped, "starting"))
    assert str(OutOfResources("a\n    b").copy_for_trial(" (again)")) == "a (again)\n    b"
