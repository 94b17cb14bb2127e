"""A canary in every place where a user may put a secret, and none of them in any output of any
command.

Servers and a model's endpoint tell all that they were given, plain and encoded, wherever they can.
A new place is one row of `PLACES`; a new command is one row of `COMMANDS`.
"""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
import yaml

from tests.end_to_end.harness_process import Finished, Project, finish
from tests.end_to_end.policies.telltale_server import forms
from tests.end_to_end.policies.telltale_web import Web, telltale_web
from tests.end_to_end.warm import WarmProcess
from tests.reports.packs import all_of
from tests.web.support import served

SERVER = Path(__file__).with_name("telltale_server.py")
PLACES = (
    "model api_key", "model base_url password", "model base_url query", "model header", ("model "
        "body"),
    "server env", "server env DSN", "server env by variable", "server --option value", ("server "
        "--option=value"),
    "server -pVALUE", "server DSN", "server encoded DSN", "server -H", "server sh -c", ("server "
        "URL "
        "user"),
    "server URL query", "server header", "server bearer header", "query command", "query database",
    "reset argument", "identity header template", "identity variable template",
    "token_command argument", ("issued "
        "token"),
    "user_context api_key", "user_context of another", "setup password", "teardown token",
    "expected argument", "client env", "client header", "client input", "command line",
    "command line user_context",
)  # fmt: skip
CANARY = {place: f"{number:02}Zq~K9x/w+v{number:02}" for number, place in enumerate(PLACES)}
ISSUER = """
import json, sys
sys.stderr.write(" ".join(sys.argv))
json.load(sys.stdin)
print("TOKEN")
"""


def case(**more: Any) -> dict[str, Any]:
    expected = {
        "tool": "look",
        "args": {"text": "the order", "access_token": CANARY["expected argument"]},
    }
    scripted = {
        "setup": [{"tool": "login", "args": {"password": CANARY["setup password"]}}],
        "teardown": [{"tool": "login", "args": {"session_token": CANARY["teardown token"]}}],
    }
    return {
        "name": "orders",
        "prompt": "Look up the order.",
        "assertions": {"must_call": [expected], "answer_contains": ["nothing of the kind"]},
        **scripted,
        **more,
    }


def write(project: Project, web: Web) -> None:
    """Put every canary into its place."""
    of = CANARY
    stdio: dict[str, Any] = {"command": sys.executable, "protocol": "legacy"}
    project.configure(
        models={
            "models": {
                "telltale": {
                    "type": "openai",
                    "model": "m",
                    "api_key": of["model api_key"],
                    "base_url": "http://ada:"
                    f"{quote(of['model base_url password'], safe='')}@{web.place}/v1"
                    f"?api_key={quote(of['model base_url query'], safe='')}",
                    "headers": {"X-Gateway": of["model header"]},
                    "body": {"gateway_token": of["model body"]},
                    "max_retries": 0,
                }
            }
        },
        servers={
            "desk": {
                **stdio,
                "args": [
                    str(SERVER), "serve", "--token", of["server --option value"],
                    f"--api-key={of['server --option=value']}", f"-p{of['server -pVALUE']}",
                    f"postgres://shop:{quote(of['server DSN'], safe='~+')}@db/x",
                    f"postgres://shop:{quote(of['server encoded DSN'], safe='')}@db/x",
                    "-H", f"X-Api-Key: {of['server -H']}", "-c",
                    f"PGPASSWORD='{of['server sh -c']}' psql",
                ],
                "env": {
                    "SHOP_API_KEY": of["server env"],
                    "DATABASE": f"postgres://shop:{quote(of['server env DSN'], safe='')}@db/x",
                    "FROM_OUTSIDE": "${SHOP_TOKEN}",
                },
                "identity": {"via": "env", "variables": {"DESK_SECRET": of[("identity variable "
        "template")]}},
                "queries": {
                    "open": {"command": (f"{sys.executable} state.py --secret "
        f"{of['query command']}")},
                    "rows": {"sql": "SELECT 1", "database": (f"host=h "
        f"password={of['query database']}")},
                },
                "reset": {"tool": "login", "args": {"admin_token": of["reset argument"]}},
            },
            "gate": {
                "url": f"http://{web.place}/mcp?key={quote(of['server URL query'], safe='')}",
                "headers": {
                    "X-Tenant-Key": of["server header"],
                    "Authorization": f"Bearer {of['server bearer header']}",
                },
                "protocol": "legacy",
            },
            "user": {
                "url": f"http://ada:{quote(of['server URL user'], safe='')}@{web.place}/mcp",
                "identity": {"via": "header", "headers": {"X-Desk-Key": of[("identity header "
        "template")]}},
                "protocol": "legacy",
            },
            "bank": {
                "url": f"http://{web.place}/mcp",
                "identity": {
                    "via": "bearer",
                    "token_command": (f"{sys.executable} issue.py --client-secret "
        f"{of['token_command argument']}"),
                },
                "protocol": "legacy",
            },
            "crash": {**stdio, "args": [str(SERVER), "crash", "--token", of[("server --option "
        "value")]]},
        },
    )  # fmt: skip
    (project.folder / "issue.py").write_text(ISSUER.replace("TOKEN", of["issued token"]))
    users = [
        {"role": "clerk", "api_key": of[f"user_context {who}"]} for who in ("api_key", "of another")
    ]
    project.suite(
        "desk",
        [case(user_context=users[0]), case(name="other", user_context=users[1])],
        server="desk",
    )
    project.suite("crash", [case(user_context=users[0])], server="crash")
    for name in ("gate", "user"):
        project.suite(name, [case(user_context=users[0])], server=name)
    project.suite("bank", [case(user_context=users[0])], server="bank")
    client = {"command": sys.executable, "args": [str(SERVER), "serve", "${input:desk-password}"]}
    remote = {"url": f"http://{web.place}/mcp", "headers": {"X-Api-Key": of["client header"]}}
    config = {
        "mcpServers": {"local": {**client, "env": {"API_TOKEN": "${CLIENT}"}}, "remote": remote}
    }
    (project.folder / ".mcp.json").write_text(json.dumps(config))


EVERY_REPORT = [part for form in ("jsonl", "json", "junit", "markdown", "csv", "html", "github")
                for part in ("--report", f"{form}:out/report.{form}")]  # fmt: skip
CONTEXT = json.dumps({"role": "clerk", "api_key": CANARY["command line user_context"]})
TYPED = f"{sys.executable} {SERVER} serve --token '{CANARY['command line']}'"
COMMANDS = (
    ("evals", "desk", "gate", "user", "bank", *EVERY_REPORT),
    ("evals", "desk", "--debug", "--json-output"),
    ("evals", "desk", "--server", TYPED, "-u", CONTEXT),
    ("evals", "--resume"),
    ("evals", "desk", "--model", "telltale", "--debug", *EVERY_REPORT),
    ("evals", "crash", "--debug"),
    ("evals", "crash", "--json-output"),
    ("evals", "desk", "gate", "--dry-run"),
    ("evals", "desk", "gate", "--dry-run", "--json-output"),
    ("evals", "desk", "--mcp-config", ".mcp.json", "--server", "local"),
    ("evals", "desk", "--mcp-config", ".mcp.json", "--server", "remote"),
    ("evals", "desk", "--judge-model", "telltale"),
    ("view", "--no-open"),
    ("runs",),
    ("runs", "--json-output"),
    ("compare", "latest", "latest", "--report", "html:out/compare.html"),
    ("compare", "latest", "latest", "--json-output"),
    ("grade", "latest", "--debug"),
    ("grade", "latest", "--json-output"),
    ("tools", "desk"),
    ("tools", "desk", "--json-output"),
    ("tools", "bank", "-u", CONTEXT),
    ("tools", "--server", TYPED),
    ("tools", "crash"),
    ("tools", "crash", "--json-output"),
    ("lint", "gate"),
    ("lint", "desk", "--json-output"),
    ("lint", "crash"),
    ("models",),
    ("models", "--json-output"),
    ("init", "--server", TYPED, "--name", "drafted"),
    ("init", "desk", "--name", "again", "-u", CONTEXT),
    ("init", "crash"),
    ("probe", "desk"),
    ("probe", "desk", "--json-output"),
    ("probe", "crash"),
    ("export", "otel", "--content"),
    ("query", "latest", "select text, arguments from calls", "--json-output"),
)


OFTEN = {0, 1, 5, 7, 19, 25, 28, 30}
"""Those that `make test` runs; all others are run with the slow proofs."""


@pytest.fixture(scope="module")
def web() -> Iterator[Web]:
    with telltale_web() as found:
        yield found


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, web: Web) -> Project:
    project = Project(
        tmp_path_factory.mktemp("canaries"),
        {
            "SHOP_TOKEN": CANARY["server env by variable"],
            "CLIENT": CANARY["client env"],
            "DESK_PASSWORD": CANARY["client input"],
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://{web.place}",
            "COLUMNS": "60",
        },
    )
    write(project, web)
    return project


@pytest.fixture(scope="module")
def written(project: Project) -> frozenset[Path]:
    """The files in which a user has written the secrets down."""
    return frozenset(path for path in project.folder.rglob("*") if path.is_file())


def found_in(text: str) -> list[str]:
    """Return the places whose secret stands in ``text`` in any form, with its surroundings."""
    found = []
    for place, canary in CANARY.items():
        for form in {*forms(canary), quote(canary), canary[:12], canary[-12:]}:
            before, hit, after = text.partition(form)
            found += [f"{place}: …{before[-60:]}{hit}{after[:60]}…"] if hit else []
    return found


def told_by(finished: Finished) -> str:
    return f"{finished.stdout}\n{finished.stderr}"


def files_below(project: Project, written: frozenset[Path]) -> dict[str, list[str]]:
    """Return the files that harness wrote with a secret in them.

    An upload is kept as its user wrote it.
    """
    return {
        str(path.relative_to(project.folder)): found
        for path in sorted(project.folder.rglob("*"))
        if path.is_file() and path not in written and path.name != "suite.yml"
        if (found := found_in(all_of(path.read_text("utf-8", "replace"))))
    }


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(
            arguments,
            marks=() if number in OFTEN else pytest.mark.slow,
            id=" ".join(arguments)[:60],
        )
        for number, arguments in enumerate(COMMANDS)
    ],
)
def test_no_command_shows_or_writes_a_secret(
    project: Project, written: frozenset[Path], web: Web, arguments: tuple[str, ...]
) -> None:
    finished = project.run(*arguments)
    said = told_by(finished)
    assert "Traceback" not in said
    assert found_in(said) == []
    assert files_below(project, written) == {}
    assert found_in(b"\n".join(web.traces).decode("latin-1")) == []


def test_the_servers_did_tell_and_what_they_told_is_marked(
    project: Project, written: frozenset[Path]
) -> None:
    project.run("evals", "desk")
    log = project.log()
    assert [run.status for run in log.results] == ["failed", "failed"], [
        run.error for run in log.results
    ]
    assert log.path.read_text("utf-8").count("[redacted]") > 100
    users = [run.case.user_context for run in log.results]
    assert users[0] != users[1], "identities that differ by a secret alone are still told apart"


def test_a_password_that_was_redacted_is_still_the_same_when_it_is_judged_again(
    project: Project,
) -> None:
    project.run("evals", "desk")
    before = [run.status for run in project.log().results]
    project.run("grade", "latest")
    assert [run.status for run in project.log().results] == before, [
        run.skip_reason for run in project.log().results
    ]


@pytest.mark.slow
def test_the_page_shows_no_secret(project: Project, written: frozenset[Path]) -> None:
    project.run("evals", "desk")
    run = project.log().header.run_id
    suite = yaml.safe_dump(
        {"suite": "sent", "server": "desk", "tests": [case(user_context={"api_key": "u" * 3})]}
    )
    with served(project) as page:
        begun = page.post("/evaluations", suite, "sent.yml", server="desk", model="lexical")
        said = [begun.text]
        if begun.status_code == httpx2.codes.ACCEPTED:
            said += [str(event) for event in page.events(begun.json()["id"])]
        paths = (
            "/evaluations",
            f"/evaluations/{run}",
            f"/evaluations/{run}/events",
            f"/evaluations/{run}/download",
        )
        said += [
            page.client.get(path).text
            for path in (*paths, f"/runs/{run}/report", f"/runs/compare?a={run}&b={run}")
        ]
        said += [page.client.post("/evaluations/check", files={"file": ("sent.yml", suite)}).text]
    assert len("".join(said)) > 10_000
    assert found_in("\n".join(said)) == []
    assert files_below(project, written) == {}
    kept = list(project.folder.rglob("runs/*/suite.yml"))
    assert [stat.S_IMODE(path.stat().st_mode) for path in kept] == [0o600]


def test_pytest_shows_no_secret(project: Project, written: frozenset[Path]) -> None:
    home = str(project.folder / "home")
    plain = {
        "PATH": os.environ["PATH"],
        "HOME": home,
        "LANG": "C.UTF-8",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    env = {**plain, **project.env}
    wanted = [
        "-p",
        "harness.pytest_plugin",
        "evals/desk.yml",
        "evals/crash.yml",
        "--junitxml",
        "out/junit.xml",
    ]
    finished = finish(WarmProcess(wanted, project.folder, env, program="pytest"))
    assert "2 failed, 1 error" in finished.stdout, told_by(finished)
    assert found_in(told_by(finished)) == []
    assert files_below(project, written) == {}
