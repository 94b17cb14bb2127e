"""The JSON-RPC frames in the log are those on the server's own wire, and no secret is in them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any

import pytest

from harness.sessions.call_record import restore_frame
from harness.types import ToolCall
from tests.browser import CHROMIUM, DRIVER, MISSING, Browser
from tests.end_to_end.harness_process import Project
from tests.end_to_end.servers import gallery_server, tap
from tests.end_to_end.servers.tap import Tap, relay, tapped
from tests.fake_provider import FakeProvider, Incoming, Step, call, say
from tests.reports.packs import all_of
from tests.sessions.http_servers import running

GALLERY, CANARY = str(gallery_server.__file__), gallery_server.CANARY
ARGUMENTS: dict[str, dict[str, Any]] = {
    "add": {"a": 2, "b": 3},
    "album": {},
    "poem": {},
    "visit": {},
    "refuse": {},
    "no_such_tool": {"words": "of forty-eight letters and of some more than that"},
}
USER = {"role": "clerk", "api_token": "canary-of-the-user-31415926"}

PICTURE = """
const folds = [...document.querySelectorAll('.trace details')];
const fold = folds.find((one) => one.innerText.startsWith("image"));
if (fold) fold.open = true;
return Boolean(fold);
"""
SHOWN = "return [...document.querySelectorAll('.frames pre')].map((one) => one.textContent)"


def does_as_told(request: Incoming) -> Step:
    return say("Done.") if request.turn else call(request.prompt, ARGUMENTS[request.prompt])


def run(project: Project, server: dict[str, Any]) -> None:
    """Ask for each tool once."""
    tests = [
        {
            "name": tool,
            "prompt": tool,
            "user_context": USER,
            "assertions": {"answer_contains": ["Done."]},
        }
        for tool in ARGUMENTS
    ]
    project.suite("frames", tests, server={"identity": "meta", **server})
    with FakeProvider(does_as_told) as provider:
        fake = {"type": "openai", "model": "m", "api_key": "test-key"}
        project.configure(models={"models": {"fake": {**fake, "base_url": f"{provider.url}/v1"}}})
        finished = project.run("evals", "frames", "--model", "fake", "--report", "html")
    assert finished.code == 0, finished.stdout + finished.stderr


@contextmanager
def over_stdio(project: Project, protocol: str) -> Iterator[Tap]:
    path = project.folder.parent / f"{project.folder.name}-wire.jsonl"
    args = [tap.__file__, str(path), sys.executable, GALLERY]
    run(project, {"command": sys.executable, "args": args, "protocol": protocol})
    yield tapped(path)


@contextmanager
def over_http(project: Project, protocol: str) -> Iterator[Tap]:
    with running(GALLERY) as server, relay(server.port) as found:
        run(project, {"url": found.url, "protocol": protocol})
        yield found


def calls_of(project: Project) -> dict[str, ToolCall]:
    return {
        one.tool: one for _, said in project.log() if said is not None for one in said.tool_calls
    }


def without_secrets(frame: dict[str, Any]) -> dict[str, Any]:
    text = json.dumps(frame)
    for secret in (CANARY, USER["api_token"]):
        text = text.replace(secret, "[redacted]")
    clean: dict[str, Any] = json.loads(text)
    return clean


def expected(wire: Tap) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """Return the request and the response of each tool as the tap saw them, without secrets."""
    answered = {one["id"]: one for one in wire.to_client if "id" in one and "method" not in one}
    found = {}
    for request in wire.to_server:
        if request["method"] == "tools/call":
            response = without_secrets(answered[request["id"]])
            found[request["params"]["name"]] = (without_secrets(request), response)
    return found


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(way, marks=() if way == (over_http, "2026-07-28") else pytest.mark.slow)
        for way in product((over_http, over_stdio), ("legacy", "2026-07-28"))
    ],
    ids=lambda param: f"{param[0].__name__} {param[1]}",
)
def crossed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Project, Tap]]:
    over, protocol = request.param
    project = Project(tmp_path_factory.mktemp("project"))
    with over(project, protocol) as wire:
        yield project, wire


def test_the_frames_of_each_call_are_those_that_a_tap_on_the_wire_saw_without_secrets(
    crossed: tuple[Project, Tap],
) -> None:
    project, wire = crossed
    made = calls_of(project)
    frames = expected(wire)
    assert set(frames) == set(made) == set(ARGUMENTS)
    for tool, one in made.items():
        assert one.wire is not None
        assert one.wire.request is not None
        assert one.wire.response is not None
        request, response = frames[tool]
        assert one.wire.id == str(request["id"])
        assert restore_frame(one.wire.request, one) == request
        assert restore_frame(one.wire.response, one) == response


@pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason=MISSING)
@pytest.mark.slow
def test_the_trace_shows_the_frames_as_they_crossed(
    crossed: tuple[Project, Tap], browser: Browser
) -> None:
    project, wire = crossed
    (report,) = project.folder.rglob("*.html")
    shown = {}
    for number in range(1, len(ARGUMENTS) + 1):
        browser.open(f"{report.as_uri()}#case-{number}")
        browser.until(lambda: browser.run("return document.querySelector('.trace .frames')"))
        request, response = browser.run(SHOWN)
        shown[json.loads(request)["params"]["name"]] = (json.loads(request), json.loads(response))
        if browser.run(PICTURE):
            browser.until(
                lambda: browser.run("return document.querySelector('img.media').naturalWidth")
            )
    frames = expected(wire)
    # The picture stands above its frame, behind a click.
    frames["album"][1]["result"]["content"][1]["data"] = (
        "[image image/png, 10 kB, not given to a model]"
    )
    assert shown == frames
    assert browser.complaints() == []


def test_what_the_record_has_anyway_is_not_kept_twice(crossed: tuple[Project, Tap]) -> None:
    project, _ = crossed
    lines = project.log().path.read_text("utf-8").splitlines()
    (line,) = (line for line in lines if '"case":{"name":"poem"' in line)
    assert calls_of(project)["poem"].text == gallery_server.POEM
    assert line.count("Line 199 of a long poem") == 3  # text, structured, and told to the model


def test_no_token_in_a_meta_is_written_anywhere(crossed: tuple[Project, Tap]) -> None:
    project, wire = crossed
    frames = json.dumps([wire.to_server, wire.to_client])
    assert CANARY in frames
    assert USER["api_token"] in frames
    written = {path for path in project.folder.rglob("*") if path.is_file()}
    (report,) = (path for path in written if path.suffix == ".html")
    told = all_of(report.read_text("utf-8"))
    assert '"session_token": "[redacted]"' in told
    for path in written - {project.folder / "evals" / "frames.yml"}:  # which says who asks
        told += path.read_text("utf-8", "replace")
    assert CANARY not in told
    assert USER["api_token"] not in told
