"""The token that a caller sends: made once, renewed in time, and requested from its source."""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import jwt
import pytest

from harness.base.errors import ServerError, UsageError
from harness.sessions.identity import token_command
from harness.sessions.identity.bearer import Bearer, Bearers, check_credential
from harness.sessions.identity.delivery import Identity
from harness.sessions.processes.guardian import Guardian
from harness.types import Credential, IdentitySpec, JsonObject, ServerSpec
from tests.clock import BOUND_S

USER = {"role": "admin", "name": "Zoë"}


class Clock:
    """A clock that tests turn."""

    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


async def shown(
    user: JsonObject | None,
    credential: Credential = "valid",
    *,
    after: tuple[float, ...] = (0.0,),
    learn: Callable[[str], None] = lambda _: None,
    **identity: Any,
) -> list[dict[str, str]]:
    """Return the headers that a caller sends, each after so many seconds."""
    spec = ServerSpec(name="s", identity=IdentitySpec(via="bearer", plain=identity))
    clock, headers = Clock(), []
    async with Guardian() as guardian, Bearers(guardian, learn) as bearers:
        bearer = Bearer(bearers, spec, Identity(user, credential), "http://s/mcp", now=clock)
        with anyio.fail_after(BOUND_S):
            for seconds in after:
                clock.now += seconds
                headers.append(await bearer.get_headers())
    return headers


def claims(headers: dict[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = jwt.decode(
        headers["Authorization"].removeprefix("Bearer "), options={"verify_signature": False}
    )
    return found


def command(script: str) -> str:
    return shlex.join([sys.executable, "-I", "-S", "-c", script])


@pytest.mark.anyio
async def test_the_token_is_for_the_server_and_about_the_user() -> None:
    (headers,) = await shown(USER)
    assert claims(headers)["aud"] == "http://s/mcp"
    assert claims(headers)["role"] == "admin"


@pytest.mark.anyio
async def test_nobody_and_who_shows_nothing_send_no_header() -> None:
    assert await shown(None) == [{}]
    assert await shown(USER, "none") == [{}]
    assert await shown(None, token_command="false") == [{}]


@pytest.mark.anyio
async def test_a_token_is_kept_and_renewed_before_it_expires() -> None:
    first, second, third = await shown(USER, after=(0, 200, 60))
    assert first == second != third


@pytest.mark.anyio
async def test_an_expired_token_is_not_renewed_into_a_good_one() -> None:
    first, second = await shown(USER, "expired", after=(0, 100_000))
    assert first == second


@pytest.mark.anyio
async def test_a_command_is_told_who_it_is_for_and_its_output_is_the_token_and_a_secret(
    tmp_path: Path,
) -> None:
    told = tmp_path / "told.json"
    script = (
        f"import sys; open({str(told)!r}, 'w').write(sys.stdin.read()); print('opaque-$HOME-token')"
    )
    secrets: list[str] = []
    (headers, again) = await shown(
        USER, token_command=command(script), learn=secrets.append, after=(0, 100_000)
    )
    assert headers == again == {"Authorization": "Bearer opaque-$HOME-token"}
    assert json.loads(told.read_text()) == USER
    assert secrets == ["opaque-$HOME-token"]


@pytest.mark.anyio
async def test_a_command_gets_what_it_needs_of_the_environment_and_no_secret_that_is_not_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = tmp_path / "seen.json"
    for name in (
        "ANTHROPIC_API_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "IDP_CLIENT_SECRET",
        "IDP_REGION",
        "HTTPS_PROXY",
    ):
        monkeypatch.setenv(name, f"value of {name}")
    secrets: list[str] = []
    script = (
        f"import json, os; json.dump(dict(os.environ), open({str(seen)!r}, 'w')); "
        f"print('opaque-token')"
    )
    named = ("IDP_CLIENT_SECRET", "IDP_REGION")
    await shown(USER, token_command=command(script), token_env=named, learn=secrets.append)
    environment = json.loads(seen.read_text())
    assert environment["PATH"] == os.environ["PATH"]
    assert [environment[name] for name in (*named, "HTTPS_PROXY")] == [
        f"value of {n}" for n in (*named, "HTTPS_PROXY")
    ]
    assert not {"ANTHROPIC_API_KEY", "AWS_SECRET_ACCESS_KEY"} & environment.keys()
    assert secrets == ["value of IDP_CLIENT_SECRET", "opaque-token"]


@pytest.mark.anyio
async def test_a_variable_of_a_command_that_is_not_set_is_named() -> None:
    with pytest.raises(ServerError, match="NO_SUCH_VARIABLE of its token_env is not set"):
        await shown(USER, token_command=command("print('x')"), token_env=("NO_SUCH_VARIABLE",))


@pytest.mark.anyio
async def test_a_command_is_asked_again_before_its_token_expires() -> None:
    token = jwt.encode({"exp": int(Clock().now) + 40}, "k" * 32, algorithm="HS256")
    # Thirteen more digits keep the signature readable as base64, and tell one answer from another.
    script = f"import time; print({token!r} + f'{{time.monotonic_ns() % 10**13:013d}}')"
    first, second, third = await shown(USER, token_command=command(script), after=(0, 25, 10))
    assert first == second != third


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("script", "problem"),
    [
        (
            "import sys; sys.stderr.write('one\\nlogged out'); sys.exit(3)",
            "ended with exit code 3; its last words: logged out",
        ),
        ("pass", "printed nothing"),
        ("print('hunter2 is\\nno token')", "printed no valid token"),
        ("print('hunter2' * 10_000)", "printed more than 65,536 bytes"),
    ],
)
async def test_a_command_that_gives_no_token_is_told_without_what_it_printed(
    script: str, problem: str
) -> None:
    with pytest.raises(ServerError, match=problem) as caught:
        await shown(USER, token_command=command(script))
    assert "hunter2" not in str(caught.value)


@pytest.mark.anyio
async def test_a_command_that_does_not_exist_is_told() -> None:
    with pytest.raises(ServerError, match=r"could not be started: .*no-such-command"):
        await shown(USER, token_command="no-such-command")


@pytest.mark.anyio
async def test_a_command_that_hangs_is_ended_with_all_that_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(token_command, "COMMAND_S", 0.5)
    pids = tmp_path / "pids"
    os.mkfifo(tmp_path / "never")
    script = f"echo $$ > {pids}; sleep 60 & echo $! >> {pids}; read x < {tmp_path / 'never'}"
    with pytest.raises(ServerError, match=r"did not end within 0.5 s"):
        await shown(USER, token_command=shlex.join(["sh", "-c", script]))
    with anyio.fail_after(BOUND_S):
        for pid in pids.read_text().split():
            while _runs(int(pid)):  # noqa: ASYNC110 - nobody tells us when a process is gone
                await anyio.sleep(0.01)


def _runs(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


@pytest.mark.parametrize(
    ("identity", "user", "credential", "problem"),
    [
        (IdentitySpec(), USER, "expired", "needs a bearer token, but 's' gets identities by meta"),
        (IdentitySpec(via="bearer"), None, "expired", "needs a user_context"),
        (
            IdentitySpec(via="bearer", settings={"token_command": "x"}),
            USER,
            "bad_signature",
            "come from its token_command",
        ),
        (IdentitySpec(via="bearer"), {"exp": 1}, "valid", "has 'exp'"),
    ],
)
def test_a_credential_that_cannot_be_shown_is_refused(
    identity: IdentitySpec, user: JsonObject | None, credential: Credential, problem: str
) -> None:
    with pytest.raises(UsageError, match=problem):
        check_credential(ServerSpec(name="s", identity=identity), user, credential)


def test_every_credential_that_can_be_shown_is_accepted() -> None:
    bearer = ServerSpec(name="s", identity=IdentitySpec(via="bearer"))
    others = ServerSpec(
        name="s", identity=IdentitySpec(via="bearer", settings={"token_command": "x"})
    )
    everything: tuple[Credential, ...] = (
        "valid",
        "none",
        "expired",
        "wrong_audience",
        "bad_signature",
    )
    for credential in everything:
        check_credential(bearer, USER, credential)
    for credential in everything[:2]:
        check_credential(bearer, None, credential)
        check_credential(others, USER, credential)
    check_credential(ServerSpec(name="s"), USER, "valid")
