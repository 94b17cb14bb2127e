"""Which users share a process, which get a new one, and how many processes there are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from harness.base.errors import ServerError, UsageError
from harness.sessions import pool
from harness.sessions.pool import open_sessions
from harness.sessions.processes.process import MAX_STARTS
from harness.sessions.session import Session
from harness.types import USER_CONTEXT_META_KEY, IdentitySpec, JsonObject, ServerSpec
from tests.clock import BOUND_S
from tests.sessions.servers import ServerFactory, alive, all_gone, call

pytestmark = pytest.mark.anyio


async def test_nothing_is_started_before_it_is_needed(server: ServerFactory, marker: str) -> None:
    async with open_sessions():
        assert alive(marker) == []


async def test_one_user_has_one_process_also_when_trials_start_together(
    server: ServerFactory, marker: str
) -> None:
    sessions: list[Session] = []
    spec = server("ok")
    async with open_sessions() as sharing:

        async def trial() -> None:
            async with sharing.lend_session(spec, {"role": "user"}) as session:
                sessions.append(session)
                await call(session, "echo")

        async with anyio.create_task_group() as tasks:
            for _ in range(10):
                tasks.start_soon(trial)
        async with sharing.lend_session(spec, {"role": "user"}) as session:
            sessions.append(session)
        assert len(alive(marker)) == 1
    assert len({id(session) for session in sessions}) == 1


async def test_each_user_and_each_server_has_a_process_of_its_own(
    server: ServerFactory, marker: str
) -> None:
    async with open_sessions() as sharing:
        for user in ({"role": "user"}, {"role": "admin"}, None):
            async with sharing.lend_session(server("ok"), user) as session:
                await call(session, "echo")
        async with sharing.lend_session(server("ok", env={"OTHER": "1"}), None):
            assert len(alive(marker)) == 4


async def test_a_lost_server_is_started_again_for_the_next_case(
    server: ServerFactory, marker: str
) -> None:
    async with open_sessions() as sharing:
        async with sharing.lend_session(server("ok"), None) as first:
            assert (await call(first, "crash")).outcome == "server_lost"
        async with sharing.lend_session(server("ok"), None) as second:
            assert (await call(second, "echo")).outcome == "ok"
        assert second is not first
        assert len(alive(marker)) == 1


async def test_without_isolation_all_users_share_a_process_and_each_is_told_apart(
    server: ServerFactory, marker: str
) -> None:
    spec = server("ok", isolation="none")
    told: list[object] = []
    async with open_sessions() as sharing:
        sharing.prestart(spec, {"role": "admin"})
        users = ({"role": "user"}, {"role": "admin"}, None)
        async with sharing.lend_sessions(spec, users) as sessions:
            for session in sessions:
                structured = (await call(session, "echo")).structured or {}
                told.append((structured["meta"] or {}).get(USER_CONTEXT_META_KEY))
            assert len(alive(marker)) == 1
    assert told == [*users]


async def test_users_share_no_process_that_learns_who_asks_when_it_starts(
    server: ServerFactory,
) -> None:
    by_env = server(
        "ok", isolation="none", identity=IdentitySpec(via="env", settings={"variables": {"R": "r"}})
    )
    async with open_sessions() as sharing:
        with pytest.raises(UsageError, match="isolation 'none' needs identity 'meta'"):
            async with sharing.lend_session(by_env, None):
                pass


async def test_isolation_by_case_gives_each_loan_a_process_that_ends_with_it(
    server: ServerFactory, marker: str
) -> None:
    spec = server("ok", isolation="case")
    async with open_sessions() as sharing:
        async with sharing.lend_session(spec, None) as one, sharing.lend_session(spec, None) as two:
            assert one is not two
            assert len(alive(marker)) == 2
            await call(one, "echo")
            await call(two, "echo")
        assert all_gone(marker)


async def test_whoever_only_looked_at_the_tools_leaves_a_fresh_process_to_the_next(
    server: ServerFactory, marker: str
) -> None:
    spec = server("ok", isolation="case")
    async with open_sessions() as sharing:
        async with sharing.lend_session(spec, None) as looking:
            assert looking.tools.tools
        async with sharing.lend_session(spec, None) as trial:
            assert trial is looking
            await call(trial, "echo")
        async with sharing.lend_session(spec, None) as another:
            assert another is not looking
        assert len(alive(marker)) == 1


async def test_everybody_who_waits_for_a_start_that_fails_is_told(server: ServerFactory) -> None:
    errors: list[ServerError] = []
    async with open_sessions() as sharing:

        async def trial() -> None:
            with pytest.raises(ServerError) as caught:
                async with sharing.lend_session(server("exit_in_handshake"), None):
                    pass
            errors.append(caught.value)

        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(trial)
        assert {str(error) for error in errors} == {
            (
                "server 'exit_in_handshake' exited with code 3 while starting; "
                "its last words: cannot open the database\n    bye"
            )
        }
        assert len({id(error) for error in errors}) == 5


async def started(starts: Path) -> int:
    return len(await anyio.Path(starts).read_text())


@pytest.mark.parametrize("isolation", ["identity", "case"])
async def test_a_server_that_does_not_start_is_started_once_in_a_run(
    server: ServerFactory, tmp_path: Path, isolation: str
) -> None:
    spec = server(
        "flaky", env={"STARTS": str(tmp_path / "starts"), "GOOD": ""}, isolation=isolation
    )
    async with open_sessions() as sharing:
        for _ in range(6):
            with pytest.raises(ServerError) as caught:
                async with sharing.lend_session(spec, None):
                    pass
    assert str(caught.value) == "server 'flaky' exited with code 1 while starting (not tried again)"
    assert await started(tmp_path / "starts") == 1


@pytest.mark.parametrize("isolation", ["identity", "case"])
async def test_a_start_in_advance_that_failed_is_not_repeated(
    server: ServerFactory, tmp_path: Path, isolation: str
) -> None:
    starts = tmp_path / "starts"
    spec = server("flaky", env={"STARTS": str(starts), "GOOD": ""}, isolation=isolation)
    async with open_sessions() as sharing:
        sharing.prestart(spec, None)
        with anyio.fail_after(BOUND_S):
            while not await anyio.Path(starts).exists():  # noqa: ASYNC110 - a process writes it
                await anyio.sleep(0.01)
        for _ in range(2):
            with pytest.raises(ServerError):
                async with sharing.lend_session(spec, None):
                    pass
            sharing.prestart(spec, None)
    assert await started(starts) == 1


@pytest.mark.parametrize(
    ("identity", "starts"),
    [(IdentitySpec(), 1), (IdentitySpec(via="env", plain={"json_variable": "WHO"}), 2)],
    ids=lambda value: value.via if isinstance(value, IdentitySpec) else "",
)
async def test_one_user_learns_from_another_that_a_server_does_not_start(
    server: ServerFactory, tmp_path: Path, identity: IdentitySpec, starts: int
) -> None:
    spec = server("flaky", env={"STARTS": str(tmp_path / "starts"), "GOOD": ""}, identity=identity)
    async with open_sessions() as sharing:
        for role in ("clerk", "admin", "clerk"):
            with pytest.raises(ServerError, match="exited with code 1 while starting"):
                async with sharing.lend_session(spec, {"role": role}):
                    pass
    # an environment that names the user may be why
    assert await started(tmp_path / "starts") == starts


async def test_a_server_that_has_started_before_is_tried_three_times_in_a_row(
    server: ServerFactory, tmp_path: Path
) -> None:
    spec = server("flaky", env={"STARTS": str(tmp_path / "starts"), "GOOD": "1"})
    async with open_sessions() as sharing:
        async with sharing.lend_session(spec, None) as session:
            await call(session, "crash")
        for _ in range(5):
            with pytest.raises(ServerError):
                async with sharing.lend_session(spec, None):
                    pass
    assert await started(tmp_path / "starts") == 1 + MAX_STARTS == 4


async def test_one_failed_start_counts_once_for_all_who_waited(
    server: ServerFactory, tmp_path: Path
) -> None:
    spec = server("flaky", env={"STARTS": str(tmp_path / "starts"), "GOOD": "1 3"})
    async with open_sessions() as sharing:
        async with sharing.lend_session(spec, None) as session:
            await call(session, "crash")

        async def trial() -> None:
            with pytest.raises(ServerError):
                async with sharing.lend_session(spec, None):
                    pass

        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(trial)
        async with sharing.lend_session(spec, None) as session:
            assert (await call(session, "echo")).outcome == "ok"


async def test_a_start_that_succeeds_makes_up_for_those_that_failed(
    server: ServerFactory, tmp_path: Path
) -> None:
    spec = server("flaky", env={"STARTS": str(tmp_path / "starts"), "GOOD": "1 4 7"})
    outcomes: list[str | None] = []
    async with open_sessions() as sharing:
        for _ in range(7):
            try:
                async with sharing.lend_session(spec, None) as session:
                    outcomes.append((await call(session, "crash")).outcome)
            except ServerError:
                outcomes.append(None)
    assert outcomes == [*["server_lost", None, None] * 2, "server_lost"]


async def test_a_start_that_is_cancelled_goes_on_for_the_others(server: ServerFactory) -> None:
    spec = server("ok")
    async with open_sessions() as sharing:
        with anyio.move_on_after(0.001):
            async with sharing.lend_session(spec, None):
                await anyio.sleep(5)
        with anyio.fail_after(BOUND_S):
            async with sharing.lend_session(spec, None) as session:
                assert (await call(session, "echo")).outcome == "ok"


async def test_the_longest_idle_server_makes_room(
    server: ServerFactory, marker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "MAX_PROCESSES", 2)
    spec = server("ok")
    async with open_sessions() as sharing:
        async with sharing.lend_session(spec, {"id": 1}) as first:
            pass
        async with sharing.lend_session(spec, {"id": 2}) as second:
            pass
        async with sharing.lend_session(spec, {"id": 1}) as again:
            assert again is first
        async with sharing.lend_session(spec, {"id": 3}):
            assert len(alive(marker)) == 2
        assert (first.loss_reason, second.loss_reason) == (None, "server 'ok' was ended by harness")


async def test_when_all_are_busy_a_trial_waits_for_its_turn(
    server: ServerFactory, marker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "MAX_PROCESSES", 2)
    spec = server("ok")
    most = 0
    async with open_sessions() as sharing:

        async def trial(user: int) -> None:
            nonlocal most
            async with sharing.lend_session(spec, {"id": user}) as session:
                most = max(most, len(alive(marker)))
                assert (await call(session, "echo")).outcome == "ok"

        with anyio.fail_after(BOUND_S):
            async with anyio.create_task_group() as tasks:
                for user in range(6):
                    tasks.start_soon(trial, user)
    assert most == 2


async def test_those_who_need_several_servers_at_once_never_wait_for_each_other(
    server: ServerFactory, marker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "MAX_PROCESSES", 3)
    spec = server("ok")
    joined = ServerSpec(name="two", members=(replace(spec, name="a"), replace(spec, name="b")))
    async with open_sessions() as sharing:

        async def trial(user: int) -> None:
            contexts: list[JsonObject | None] = [{"id": user}, {"id": user + 100}]
            async with sharing.lend_sessions(spec, contexts) as lent:
                assert [(await call(session, "echo")).outcome for session in lent] == ["ok", "ok"]
                assert len(alive(marker)) <= 3

        with anyio.fail_after(BOUND_S):
            async with anyio.create_task_group() as tasks:
                for user in range(4):
                    tasks.start_soon(trial, user)
            async with sharing.lend_session(joined, None) as session:
                assert len(session.tools.tools) > 1
            with pytest.raises(
                ServerError, match=r"'two' is needed 4 times at once, .* at most 3 servers"
            ):
                async with sharing.lend_sessions(joined, [{"id": 1}, {"id": 2}]):
                    pass


async def test_trials_that_wait_for_room_share_one_process_too(
    server: ServerFactory, marker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "MAX_PROCESSES", 1)
    spec = server("ok")
    sessions: list[Session] = []
    async with open_sessions() as sharing:

        async def trial() -> None:
            async with sharing.lend_session(spec, {"id": 2}) as session:
                sessions.append(session)

        with anyio.fail_after(BOUND_S):
            async with anyio.create_task_group() as tasks, sharing.lend_session(spec, {"id": 1}):
                for _ in range(3):
                    tasks.start_soon(trial)
                await anyio.wait_all_tasks_blocked()
    assert len({id(session) for session in sessions}) == 1


@pytest.mark.parametrize("isolation", ["identity", "case"])
async def test_a_prestarted_server_is_the_one_that_is_lent(
    server: ServerFactory, marker: str, isolation: str
) -> None:
    spec = server("ok", isolation=isolation)
    async with open_sessions() as sharing:
        sharing.prestart(spec, None)
        with anyio.fail_after(BOUND_S):
            while not alive(marker):  # noqa: ASYNC110 - the process is all there is to see of it
                await anyio.sleep(0.001)
        async with sharing.lend_session(spec, None) as session:
            assert (await call(session, "echo")).outcome == "ok"
            assert len(alive(marker)) == 1


async def test_a_prestart_that_fails_is_told_to_nobody_and_tried_again(
    server: ServerFactory,
) -> None:
    spec = server("exit_in_handshake")
    async with open_sessions() as sharing:
        sharing.prestart(spec, None)
        with pytest.raises(ServerError, match="exited with code 3"):
            async with sharing.lend_session(spec, None):
                pass
