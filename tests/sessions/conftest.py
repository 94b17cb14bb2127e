"""A factory of servers that checks, after each test, that none of them is left."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from functools import partial

import pytest

from harness.sessions import connection
from harness.sessions.processes import process
from tests.clock import BOUND_S
from tests.sessions.servers import ServerFactory, alive, all_gone, bad_server


@pytest.fixture(autouse=True)
def short_graces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait less for servers that do not leave by themselves, and long for what is bound to come."""
    monkeypatch.setattr(process, "EXIT_GRACE_S", 0.3)
    monkeypatch.setattr(process, "TERM_GRACE_S", 0.2)
    monkeypatch.setattr(process, "OBITUARY_S", BOUND_S)
    monkeypatch.setattr(connection, "LOST_S", BOUND_S)


@pytest.fixture
def marker() -> Iterator[str]:
    """A word that every process of this test carries in its command line."""
    word = f"marker-{uuid.uuid4().hex}"
    yield word
    assert all_gone(word), alive(word)


@pytest.fixture
def server(marker: str) -> ServerFactory:
    """Make a server of a mode of ``bad_server.py``."""
    return partial(bad_server, marker=marker)
