"""Logins by OAuth, at a server and an authorization server over real HTTP."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp.client.auth import OAuthFlowError
from mcp.shared.auth import AuthorizationCodeResult

from harness.base.errors import ServerError, UsageError
from harness.sessions.identity import oauth
from harness.sessions.identity.deliveries.oauth import OAuthDelivery
from harness.sessions.identity.oauth import Person
from harness.sessions.pool import open_sessions
from harness.types import IdentitySpec, JsonObject, ServerSpec, ToolRequest, TransportSpec
from tests.clock import BOUND_S
from tests.end_to_end.harness_process import HARNESS, Project
from tests.sessions.identity.oauth_server import Authorization, serving

pytestmark = pytest.mark.slow

ME = {"account": "me"}


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Authorization]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with serving() as state:
        yield state


class Consenting:
    """A person who agrees at once."""

    redirect_uri = "http://127.0.0.1:9/callback"

    def __init__(self) -> None:
        self.asked = 0
        self._answer: dict[str, str] = {}

    async def open_page(self, url: str) -> None:
        self.asked += 1
        async with httpx2.AsyncClient() as client:
            answered = await client.get(url, follow_redirects=False)
        self._answer = dict(httpx2.URL(answered.headers["location"]).params)

    async def wait_answer(self) -> AuthorizationCodeResult:
        return AuthorizationCodeResult(**self._answer)


class Refusing(Consenting):
    async def wait_answer(self) -> AuthorizationCodeResult:
        raise OAuthFlowError("the login was refused: access_denied")


def spec_of(state: Authorization, kind: str = "http", **settings: Any) -> ServerSpec:
    return ServerSpec(
        name="far",
        transport=TransportSpec(kind="http", url=f"{state.url}/mcp"),
        identity=IdentitySpec(via="oauth", settings=settings),
    )


def use(
    spec: ServerSpec,
    person: Person | None = None,
    users: tuple[JsonObject | None, ...] = (ME,),
    learned: list[str] | None = None,
) -> list[str]:
    """Call the tool once as each user, all in one pool; return the texts."""

    async def run() -> list[str]:
        texts = []
        learn = (learned if learned is not None else []).append
        with anyio.fail_after(BOUND_S):
            async with open_sessions(learn, person=person) as pool:
                for user in users:
                    async with pool.lend_session(spec, user) as session:
                        request = ToolRequest(id="1", tool="echo", arguments={})
                        made = await session.call(request, reply=1, epoch=anyio.current_time())
                        texts.append(str(made.outcome))
        return texts

    return anyio.run(run)


def test_a_person_logs_in_once_and_later_runs_use_the_login(server: Authorization) -> None:
    person, learned = Consenting(), list[str]()
    assert use(spec_of(server), person, learned=learned) == ["ok"]
    assert person.asked == 1
    # Nobody is there any more.
    assert use(spec_of(server)) == ["ok"]
    assert server.grants == ["authorization_code"]
    (token,) = server.valid
    assert token in learned


def test_a_token_that_is_refused_is_renewed_without_a_person(server: Authorization) -> None:
    use(spec_of(server), Consenting())
    for _ in range(2):
        server.revoke_access()
        assert use(spec_of(server)) == ["ok"]
    assert server.grants == ["authorization_code", "refresh_token", "refresh_token"]


def test_an_account_that_is_not_logged_in_is_told_the_command(server: Authorization) -> None:
    with pytest.raises(ServerError) as told:
        use(spec_of(server))
    assert """harness login far --user-context '{"account": "me"}'""" in str(told.value)
    use(spec_of(server), Consenting())
    server.revoke_access()
    server.renewals.clear()
    with pytest.raises(ServerError, match="harness login far"):
        use(spec_of(server))


def test_each_account_has_its_own_login(server: Authorization, tmp_path: Path) -> None:
    person = Consenting()
    assert use(spec_of(server), person, (ME, {"account": "you"}, ME)) == ["ok"] * 3
    assert person.asked == 2
    files = list((tmp_path / "state" / "harness" / "logins").iterdir())
    assert [file.stat().st_mode & 0o777 for file in files] == [0o600, 0o600]


def test_an_anonymous_caller_sends_no_token(server: Authorization) -> None:
    use(spec_of(server), Consenting())
    server.shown.clear()
    with pytest.raises(ServerError, match="401"):
        use(spec_of(server), Consenting(), (None,))
    assert set(server.shown) == {""}


def test_a_client_logs_in_by_its_secret_and_no_file_keeps_it(
    server: Authorization, tmp_path: Path
) -> None:
    settings = {
        "flow": "client_credentials",
        "client_id": "{client}",
        "client_secret": "{key}",
        "authorization_server": server.url,
    }
    user, learned = {"client": "robot", "key": server.secret}, list[str]()
    assert use(spec_of(server, **settings), None, (user,), learned) == ["ok"]
    assert server.grants == ["client_credentials"]
    assert server.secret in learned
    assert not (tmp_path / "state").exists()
    with pytest.raises(ServerError, match="cannot be logged in to: Token exchange failed"):
        use(spec_of(server, **settings), None, ({**user, "key": "wrong"},))


def test_a_secret_goes_to_its_own_issuer_alone(server: Authorization) -> None:
    settings: dict[str, Any] = {"flow": "client_credentials", "client_id": "a"}
    settings["client_secret"] = server.secret
    with pytest.raises(ServerError, match="cannot be logged in to"):
        use(spec_of(server, **settings, authorization_server="https://login.example.com"))
    assert server.grants == []
    told = [words for _, words, _ in OAuthDelivery(**settings).find_problems(settings)]
    assert told == ["a client with a secret needs 'authorization_server'."]


def test_a_refused_login_is_told_and_the_earlier_one_stays(server: Authorization) -> None:
    use(spec_of(server), Consenting())
    with pytest.raises(ServerError, match="the login was refused: access_denied"):
        use(spec_of(server), Refusing())
    # The login that stood before still does.
    assert use(spec_of(server)) == ["ok"]


def test_a_template_without_its_attribute_is_an_error_before_anything_is_asked(
    server: Authorization,
) -> None:
    with pytest.raises(UsageError, match="client_id of this user_context is missing"):
        use(spec_of(server, client_id="{client}"), Consenting())
    assert server.shown == []


@pytest.mark.parametrize(
    ("manner", "words"),
    [
        ("hang", "/token gave no answer in time"),
        ("endless", "sends no end"),
        ("packed", "compresses unasked"),
        ("no JSON", "cannot be logged in to"),
    ],
)
def test_an_authorization_server_that_misbehaves_is_named_in_bounded_time(
    server: Authorization, monkeypatch: pytest.MonkeyPatch, manner: str, words: str
) -> None:
    monkeypatch.setattr(oauth, "ANSWER_S", 0.5)
    server.token_manner = manner
    with pytest.raises(ServerError, match=words):
        use(spec_of(server), Consenting())


def test_harness_login_opens_the_page_and_the_next_command_is_logged_in(
    server: Authorization, tmp_path: Path
) -> None:
    project = Project(tmp_path)
    entry = {"url": f"{server.url}/mcp", "identity": {"via": "oauth"}}
    project.configure(servers={"far": entry})
    case = {"name": "a", "prompt": "Echo", "assertions": {"must_call": ["echo"]}}
    project.suite("far", [{**case, "user_context": ME}], server="far")
    environment = project._environment({"XDG_STATE_HOME": str(tmp_path / "state")})
    process = subprocess.Popen(
        [*HARNESS, "login", "far", "--no-browser"],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        page = next(line.strip() for line in process.stderr if line.strip().startswith("http"))
        assert httpx2.get(page, follow_redirects=True).status_code == 200
        stdout, _ = process.communicate(timeout=BOUND_S)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0
    assert stdout.startswith("Logged in to far: 1 tool.")
    done = project.run("evals", "far", "--model", "lexical", XDG_STATE_HOME=str(tmp_path / "state"))
    assert project.log().results[0].status in {"passed", "failed"}, done.stdout
    (token,) = server.valid
    log = next((tmp_path / ".harness" / "runs").glob("*/log.jsonl")).read_text()
    assert token not in log + done.stdout + done.stderr + stdout
    forgot = project.run("login", "far", "--forget", XDG_STATE_HOME=str(tmp_path / "state"))
    assert forgot.code == 0
    assert not list((tmp_path / "state" / "harness" / "logins").iterdir())


def test_a_server_without_oauth_has_no_login(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.configure(servers={"far": {"url": "http://127.0.0.1:9/mcp"}})
    done = project.run("login", "far")
    assert done.code == 3
    assert "identity: {via: oauth}" in done.stderr


def test_a_damaged_file_of_a_login_asks_the_person_again(
    server: Authorization, tmp_path: Path
) -> None:
    use(spec_of(server), Consenting())
    (file,) = (tmp_path / "state" / "harness" / "logins").iterdir()
    for text in ("", "{", "[]", json.dumps({"tokens": {"access_token": 5}, "client": 3})):
        file.write_text(text)
        person = Consenting()
        assert use(spec_of(server), person) == ["ok"]
        assert person.asked == 1
