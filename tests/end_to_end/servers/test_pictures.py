"""Pictures of tools: shown to the models that take them, described to the others, kept once."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.runlog import find_log
from harness.types import ToolCall
from tests.end_to_end.harness_process import Project
from tests.end_to_end.servers import gallery_server
from tests.fake_provider import FakeProvider, call, say
from tests.reports.packs import all_of

PIXELS = gallery_server.PIXELS
SERVER = {"command": sys.executable, "args": [str(gallery_server.__file__)]}
CASE = {"name": "look", "prompt": "Show it.", "assertions": {"must_call": [{"tool": "album"}]}}
WORDS = "image image/png, 10 kB"
CHAT = "chat"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def look(project: Project, *arguments: str, **settings: Any) -> tuple[str, list[ToolCall]]:
    """Return the model's last request, and the calls in the log."""
    variants = {"plain": {"text_only": True}}
    project.suite("first", [CASE], server=SERVER, variants=variants)
    with FakeProvider(lambda told: say("The sea.") if told.turn else call("album", {})) as provider:
        entry = {"type": "openai", "model": "m", "api_key": "test-key", **settings}
        entry["base_url"] = f"{provider.url}/v1"
        project.configure(models={"default": "m", "models": {"m": entry}})
        finished = project.run("evals", "first", *arguments)
    assert finished.code == 0, finished.stdout + finished.stderr
    assert [one.rejected for one in provider.journal] == [None, None]
    calls = [call for _, said in project.log() if said is not None for call in said.tool_calls]
    return json.dumps(provider.journal[-1].body), calls


def logged(project: Project) -> str:
    return find_log("latest", project.folder / ".harness" / "runs").read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("api", [CHAT, "responses"])
def test_a_model_that_takes_pictures_is_given_them(project: Project, api: str) -> None:
    page, *others = (project.folder / name for name in ("p.html", "j.xml", "t.csv", "m.md"))
    reports = [word for path in (page, *others) for word in ("--report", path.name)]
    body, (made,) = look(project, *reports, api=api, takes=["image"])
    assert body.count(PIXELS) == 1
    assert f"[{WORDS}]" in body
    assert made.unseen == ()
    assert [(one.words, one.given, one.data) for one in made.media] == [(WORDS, True, PIXELS)]
    assert logged(project).count(PIXELS[:1_000]) == 1
    # Shown in the page behind a click, and never in a table.
    assert f"{WORDS}, given to the model" in all_of(page.read_text("utf-8"))
    assert PIXELS in all_of(page.read_text("utf-8"))
    assert PIXELS[:100] not in "".join(path.read_text("utf-8") for path in others)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("takes", "arguments"), [([], ()), (["audio"], ()), (["image"], ("--variant", "plain"))]
)
def test_another_model_is_told_of_them_and_the_report_says_so(
    project: Project, takes: list[str], arguments: tuple[str, ...]
) -> None:
    body, calls = look(project, *arguments, takes=takes)
    (made,) = [call for call in calls if call.unseen]
    assert PIXELS[:50] not in body
    assert f"[{WORDS}]" in body
    assert made.unseen == (WORDS,)
