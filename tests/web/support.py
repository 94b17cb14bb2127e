"""The page as its users meet it.

`harness serve` as a process, with a fake model and a quick server behind it.
"""

from __future__ import annotations

import csv
import io
import json
import re
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from harness.web.pages import api_document
from tests.browser import Browser
from tests.end_to_end.harness_process import Project, plain_server
from tests.fake_provider import FakeProvider, Incoming, Step, call, say, stall
from tests.reports.sample_logs import HOSTILE

WAIT_S = 60.0
"""Bound of everything that is waited for; all of it takes a second or two."""
KEY = "test-key-0123456789"
HOSTILE_ANSWER = "\n".join(HOSTILE).replace("\ud800", "")
COLUMNS = ("test_id", "query", "expected_tool", "expected_args", "expected_response_contains")


API = api_document()
"""What is documented of the API."""
_ANYWHERE = {"401", "403", "421"}


def documented(answer: httpx2.Response) -> None:
    """Require that whatever the API answers is documented."""
    path = answer.request.url.path
    place = (
        path if path in API["paths"] else re.sub(r"^(/evaluations|/runs)/[^/]+", r"\1/{id}", path)
    )
    if place in API["paths"]:
        known = API["paths"][place][answer.request.method.lower()]["responses"].keys() | _ANYWHERE
        assert str(answer.status_code) in known, (
            f"{answer.request.method} {path} answers {answer.status_code}"
        )


def script(request: Incoming) -> Step:
    """Answer by what the prompt asks for."""
    if "stall later" in request.prompt and not request.turn:
        return call("echo", {"n": 7})
    if "stall" in request.prompt:
        return stall(None)
    if "hostile" in request.prompt:
        return say(HOSTILE_ANSWER) if request.turn else call("echo", {HOSTILE[0]: HOSTILE[0]})
    if "wrong" in request.prompt:
        return say("I do not know.")
    return say("Done.") if request.turn else call("echo", {"n": 7})


def dataset(queries: Sequence[str]) -> str:
    """Return a dataset that expects ``echo`` with 7, a row for each query."""
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(COLUMNS)
    for number, query in enumerate(queries, start=1):
        writer.writerow([number, query, "echo", '{"n": 7}', "done"])
    return stream.getvalue()


@dataclass(frozen=True)
class Event:
    """One server-sent event."""

    id: str
    name: str
    data: Any


@dataclass
class Page:
    """A page that is being served."""

    process: subprocess.Popen[str]
    url: str
    """Scheme, host and port."""
    project: Project
    address: str = ""
    """What was printed."""
    client: httpx2.Client = field(init=False)

    def __post_init__(self) -> None:
        self.client = httpx2.Client(
            base_url=self.url, timeout=WAIT_S, event_hooks={"response": [documented]}
        )

    def post(
        self, path: str, content: str | bytes, name: str = "tests.csv", **fields: str
    ) -> httpx2.Response:
        return self.client.post(path, files={"file": (name, content)}, data=fields)

    def begin(self, content: str, name: str = "tests.csv", **fields: str) -> str:
        answer = self.post(
            "/evaluations", content, name, **{"model": "fake", "server": "plain", **fields}
        )
        assert answer.status_code == 202, answer.text
        return str(answer.json()["id"])

    def events(self, run: str, last_seen: str | None = None) -> Iterator[Event]:
        headers = {} if last_seen is None else {"Last-Event-ID": last_seen}
        with self.client.stream("GET", f"/evaluations/{run}/events", headers=headers) as answer:
            assert answer.status_code == 200
            yield from events(answer.iter_lines())

    def get(self, run: str) -> Any:
        return self.client.get(f"/evaluations/{run}").json()

    def until(self, run: str, name: str) -> Event:
        return next(event for event in self.events(run) if event.name == name)


def events(lines: Iterator[str]) -> Iterator[Event]:
    """Read server-sent events as a browser does."""
    fields: dict[str, str] = {}
    for line in lines:
        if not line:
            if "data" in fields:
                yield Event(
                    fields.get("id", ""), fields.get("event", "message"), json.loads(fields["data"])
                )
            fields = {}
        elif not line.startswith(":"):
            name, _, value = line.partition(":")
            fields[name] = value.removeprefix(" ")


def a_project(folder: Path, provider: FakeProvider) -> Project:
    project = Project(folder, {"KEY": KEY})
    project.configure(
        models={
            "models": {
                "fake": {
                    "type": "openai",
                    "model": "gpt-4o",
                    "base_url": f"{provider.url}/v1",
                    "api_key": "${KEY}",
                    "max_retries": 0,
                }
            }
        },
        servers={"plain": plain_server(protocol="legacy")},
    )
    return project


@contextmanager
def served(project: Project, *options: str, **env: str) -> Iterator[Page]:
    """Serve the page of ``project``.

    At the end it is stopped with Ctrl-C, unless it is over already.
    """
    process = project.start("serve", "--port", "0", *options, **env)
    try:
        page = _page(process, project)
        with page.client:
            yield page
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        try:
            process.communicate(timeout=WAIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise


def _page(process: subprocess.Popen[str], project: Project) -> Page:
    assert process.stdout is not None
    timer = threading.Timer(WAIT_S, process.kill)
    timer.start()
    address = process.stdout.readline().strip()
    timer.cancel()
    assert address, process.stderr.read() if process.stderr else ""
    return Page(process, address.partition("/evaluation")[0], project, address)


def multipart(fields: Mapping[str, str], content: bytes, name: str) -> tuple[bytes, str]:
    """Return a body as no well-behaved client would make it, and its content type."""
    parts = [
        f'--x\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'
        for key, value in fields.items()
    ]
    head = f'--x\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    return "".join(
        [*parts, head]
    ).encode() + content + b"\r\n--x--\r\n", "multipart/form-data; boundary=x"


def open_form(browser: Browser, page: Page) -> None:
    """Open the form without what an earlier test has left in it, and wait until it is shown."""
    browser.open(f"{page.url}/health")
    browser.run("sessionStorage.clear()")
    browser.open(f"{page.url}/evaluation")
    # Until its choices are there, the form is hidden, and nothing in it takes the keyboard.
    browser.until(
        lambda: browser.run("return !document.getElementById('main').matches('.loading')")
    )
