"""Outcomes of scenarios, told from checks and requests as the package wrote them."""

from __future__ import annotations

from typing import Any

import pytest

from harness.agents.conformance.outcomes import (
    ScenarioResult,
    ServerOffer,
    find_unscored,
    judge_scenario,
)

OFFER = ServerOffer(
    capabilities={"tools": {}, "resources": {"subscribe": False}},
    names={"tool": ["search"], "prompt": [], "resource": ["notes://all", "notes://one/*"]},
)
IMAGE = [{"method": "tools/call", "name": "test_image_content"}]
MIXED = [*IMAGE, {"method": "ping"}]


def check(words: str = "", status: str = "FAILURE", **rest: Any) -> dict[str, Any]:
    return {"id": "a-check", "status": status, "errorMessage": words, **rest}


def judge(*checks: dict[str, Any], asked: Any = (), offer: Any = OFFER) -> ScenarioResult:
    return judge_scenario("a-scenario", checks, asked, offer)


PASSED = check(status="SUCCESS")
NO_IMAGE = check("No image content found")


@pytest.mark.parametrize(
    ("checks", "asked", "status"),
    [
        pytest.param([PASSED], (), "passed", id="all of its checks passed"),
        pytest.param([PASSED, NO_IMAGE], (), "failed", id="a check failed"),
        pytest.param([NO_IMAGE], IMAGE, "not testable", id="asks only for a tool that is lacking"),
        pytest.param([PASSED], IMAGE, "not testable", id="takes any answer about a lacking tool"),
        pytest.param([NO_IMAGE], MIXED, "failed", id="also asks for what every server has"),
        pytest.param(
            [check("Server executed 'test_image_content'")],
            MIXED,
            "not testable",
            id="the failed check names the lacking tool",
        ),
        pytest.param(
            [check("Not testable: no tool with x-mcp-header", details={"untestable": True})],
            (),
            "not testable",
            id="the failed check says so itself",
        ),
        pytest.param(
            [check("resultType is missing", id="wire-schema-valid")],
            IMAGE,
            "failed",
            id="a message breaks the schema",
        ),
        pytest.param(
            [check("did not complete within 2000ms", id="scenario-timeout")],
            IMAGE,
            "failed",
            id="a lacking tool is never answered",
        ),
        pytest.param(
            [PASSED, check("Failed: fetch failed", "WARNING")],
            IMAGE,
            "failed",
            id="only warns that there was no answer",
        ),
        pytest.param([check("Skipped", "SKIPPED")], (), "not testable", id="checked nothing"),
        pytest.param([], (), "not testable", id="made no check"),
    ],
)
def test_a_scenario_that(checks: Any, asked: Any, status: str) -> None:
    assert judge(*checks, asked=asked).status == status


def test_nothing_is_excused_if_it_is_not_known_what_the_server_has() -> None:
    assert judge(NO_IMAGE, asked=IMAGE, offer=None).status == "failed"


def test_a_result_has_the_words_of_checks_and_what_is_lacking() -> None:
    warned = check("No serverInfo", "WARNING")
    failed = judge(PASSED, NO_IMAGE, NO_IMAGE, warned)
    assert (failed.why, failed.warnings) == (("No image content found",), ("No serverInfo",))
    assert (failed.passed, failed.total) == (1, 3)
    assert judge(NO_IMAGE, asked=IMAGE).why == ("needs tool 'test_image_content'",)


@pytest.mark.parametrize(
    ("method", "name", "lack"),
    [
        ("tools/call", "search", None),
        ("prompts/get", "greeting", ("prompt", "greeting")),
        ("resources/read", "notes://one/7", None),
        ("resources/read", "test://static", ("resource", "test://static")),
        # Absent on purpose: the answer to it is what is tested.
        ("resources/read", "test://nonexistent-resource", None),
        ("resources/subscribe", "notes://all", ("capability", "subscribe")),
        ("logging/setLevel", None, ("capability", "logging")),
        ("tasks/get", None, ("capability", "io.modelcontextprotocol/tasks")),
        ("ping", None, None),
    ],
)
def test_what_a_request_needs_is_compared_with_what_the_server_has(
    method: str, name: str | None, lack: Any
) -> None:
    assert OFFER.find_lack({"method": method, "name": name}) == lack


def test_scenarios_that_are_not_required_are_read_from_the_summary() -> None:
    printed = """Total: 114 passed, 56 failed

Not scored for 2026-07-28: 13 scenario(s) run, 11 failing. These do not affect conformance.
  ✗ tasks-lifecycle (extension)
  ✓ http-header-validation (pending)
"""
    assert dict(find_unscored(printed)) == {
        "tasks-lifecycle": "extension",
        "http-header-validation": "pending",
    }
