"""Reference states of a fresh copy, on a pool in memory (on real servers: tests of whole runs)."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from harness.base import HarnessError
from harness.judging.checks import VOCABULARY
from harness.runner.end_state import EndStates, run_query
from harness.types import (
    Case,
    Limits,
    Outcome,
    ScriptedCall,
    ServerSpec,
    StateQuery,
    StateReading,
    ToolRequest,
    TransportSpec,
)
from tests.support import MemorySession, a_case

SERVER = ServerSpec(name="orders", transport=TransportSpec(command="orders"))
[(_, CHECK)] = VOCABULARY.parse("end_state", {"tool": "look", "same_state_as": []})


class Copies:
    """Lends a session whose server refuses to write what is not there."""

    def __init__(self) -> None:
        self.sent: list[list[str]] = []

    @asynccontextmanager
    async def lend_session(self, *_who: Any) -> AsyncIterator[MemorySession]:
        session = MemorySession(self._answer)
        yield session
        self.sent.append([request.tool for request in session.sent])

    async def _answer(self, request: ToolRequest) -> tuple[Outcome, str]:
        return (
            ("tool_error", "no such order") if request.arguments.get("id") == 404 else ("ok", "5")
        )


def case(*written: int) -> Case:
    setup = tuple(ScriptedCall(tool="write", arguments={"id": number}) for number in written)
    return a_case(checks=(CHECK,), setup=setup)


def test_a_fresh_copy_is_set_up_as_the_case_is_once_for_each_setup() -> None:
    copies, states = Copies(), EndStates()

    async def read() -> list[StateReading]:
        found = [
            await states.read_references(one, SERVER, copies)  # type: ignore[arg-type]
            for one in (case(7), case(7), case(), case(404))
        ]
        return [reading for (reading,) in found]

    first, again, bare, failed = anyio.run(read)
    assert [sent[:1] for sent in copies.sent] == [["write"], [], ["write"]]
    assert first is again
    assert first is not bare
    assert failed.error == "setup call 1 failed: write → tool_error: no such order"


class LateCopies(Copies):
    """Lends a session after a while, whose server answers after a while."""

    def __init__(self, *, lent_after_s: float, answers_after_s: float) -> None:
        super().__init__()
        self._lent_after_s, self._answers_after_s = lent_after_s, answers_after_s

    @asynccontextmanager
    async def lend_session(self, *who: Any) -> AsyncIterator[MemorySession]:
        await anyio.sleep(self._lent_after_s)
        async with super().lend_session(*who) as session:
            yield session

    async def _answer(self, request: ToolRequest) -> tuple[Outcome, str]:
        await anyio.sleep(self._answers_after_s)
        return "ok", "5"


@pytest.mark.parametrize(
    ("lent_after_s", "answers_after_s", "late"), [(0.12, 0.0, False), (0.0, 0.12, True)]
)
def test_a_state_has_the_time_of_its_case_and_waiting_for_a_copy_costs_none_of_it(
    lent_after_s: float, answers_after_s: float, *, late: bool
) -> None:
    copies: Any = LateCopies(lent_after_s=lent_after_s, answers_after_s=answers_after_s)
    asked = replace(case(7), limits=Limits(timeout_s=0.1))
    (reading,) = anyio.run(EndStates().read_references, asked, SERVER, copies)
    assert (reading.error == "it was not read within the case's 0.1 s") is late


def test_two_columns_of_one_name_are_an_error_and_never_one_of_them(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "orders.sqlite")) as database:
        database.execute("CREATE TABLE orders (id INTEGER)")
        database.execute("INSERT INTO orders VALUES (7)")
        database.commit()

    def ask(sql: str) -> Any:
        query = StateQuery(sql=sql, database=str(tmp_path / "orders.sqlite"))
        return anyio.run(run_query, replace(SERVER, queries={"all": query}), "all")

    assert ask("SELECT a.id, b.id AS other FROM orders a, orders b") == [{"id": 7, "other": 7}]
    with pytest.raises(HarnessError, match="two columns named id: name them with AS"):
        ask("SELECT a.id, b.id FROM orders a, orders b")
