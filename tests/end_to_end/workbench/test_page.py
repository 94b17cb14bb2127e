"""The workbench's page from the command line: written at the end, however that came."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.harness_process import Project, finish, provided
from tests.end_to_end.workbench.test_run import CASES, TOOLS, WEIGHT, by_words, worded
from tests.fake_provider import Incoming, Step
from tests.reports.packs import blocks_of


def data_of(page: Path) -> Any:
    """Return what the page was written from."""
    return blocks_of(page.read_text("utf-8"))["overview"]


@pytest.mark.slow
def test_ctrl_c_leaves_a_whole_report_and_a_page_of_what_is_there(project: Project) -> None:
    project.suite("shop", CASES, server=worded(project, TOOLS))
    asked: list[str] = []

    def interrupt_then_answer(request: Incoming) -> Step:
        if not request.turn:
            asked.append(request.prompt)
            if len(asked) == 14:
                os.kill(process.pid, signal.SIGINT)
        return by_words(request)

    with provided(project, interrupt_then_answer):
        process = project.start(
            *("workbench", "shop", "--studies", "ablation", "--concurrency", "1"),
            *("--report", "html:out/page.html", "--report", "found.json"),
        )
        finished = finish(process)
    assert finished.code == 130, finished.stderr
    assert len(asked) < len(CASES) * 7, "it was ended early"
    assert "ended early: interrupted" in finished.stdout
    assert "ablation:" in finished.stdout
    shown = data_of(project.folder / "out" / "page.html")
    assert any("ended early: interrupted" in words for words in shown["notices"])
    [model] = shown["models"]
    assert [study["name"] for study in model["studies"]] == ["ablation"]
    assert 0 < model["list"]["measured"] < model["list"]["parts"]
    document = json.loads((project.folder / "found.json").read_text("utf-8"))
    assert document["reason"] == "interrupted"
    again = project.run("workbench", "--from", "latest", "--report", "html")
    assert f"report .harness/runs/{document['run_id']}/workbench.html" in again.stdout


def test_the_page_shows_the_weight_of_a_sentence_beside_its_words(project: Project) -> None:
    project.suite("shop", CASES, server=worded(project, TOOLS))
    with provided(project, by_words):
        finished = project.run(
            *("workbench", "shop", "--studies", "ablation,confusion", "--report", "page.html")
        )
    assert finished.code == 0, finished.stderr
    assert f"[clean 1/1] the server's own list: 100 % passed ({len(CASES)} of" in finished.stderr
    assert "sentence 2: −100 points" in finished.stderr
    shown = data_of(project.folder / "page.html")
    parts = shown["models"][0]["list"]["tools"][0]["parts"]
    weights = {part["text"]: part["weight"] for part in parts}
    assert weights.pop(WEIGHT) == 1.0
    assert set(weights.values()) == {0.0}
    assert len(shown["conversations"]) == len(CASES)


def test_a_format_that_a_workbench_does_not_have_is_refused_before_anything_is_started(
    project: Project,
) -> None:
    refused = project.run("workbench", "shop", "--report", "junit")
    assert refused.code == 3
    assert "Formats: html, json." in refused.stderr


@pytest.mark.slow
def test_every_study_has_a_section_of_its_own_shape(project: Project) -> None:
    wordings = [{**one, "wordings": [f"Get me {str(one['prompt'])[5:]}"]} for one in CASES]
    project.suite("shop", wordings, server=worded(project, TOOLS))
    finished = project.run(
        *("workbench", "shop", "--model", "lexical", "--mutants", "4", "--decoys", "2"),
        *("--report", "page.html"),
    )
    assert finished.code == 0, finished.stderr
    shown = data_of(project.folder / "page.html")
    [model] = shown["models"]
    kinds = {
        study["name"]: {widget["kind"] for widget in study["widgets"]} for study in model["studies"]
    }
    assert kinds["confusion"] >= {"heat", "table"}
    assert kinds["decoys"] >= {"curve", "table"}
    assert kinds["kill-score"] >= {"cards", "table"}
    for name in ("coverage", "cost", "order", "paraphrase", "steering"):
        assert kinds[name] >= {"table", "raw"}, name
    captions = {
        study["name"]: [one.get("caption") for one in study["widgets"]]
        for study in model["studies"]
    }
    assert captions["steering"][0].startswith("Share of the calls")
    assert captions["paraphrase"][0].startswith("Do the verdicts depend")
    assert captions["order"][0].startswith("Does the place")
    tests = [card["paste"] for one in model["studies"] for widget in one["widgets"]
             if widget["kind"] == "cards" for card in widget["cards"]]  # fmt: skip
    assert all("must_call" in test or not test for test in tests)
