"""The data of the grid: a cell for each case and model, and rates for each column."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.reports.build import build_report
from harness.reports.viewer.grid import build_grid
from harness.reports.viewer.trace import build_bars, describe_refusal
from harness.runlog import RunLog
from harness.types import (
    AssistantMessage,
    Reply,
    Status,
    ToolCall,
    ToolRequest,
    Transcript,
    UserMessage,
)
from tests.reports.sample_logs import a_conversation, a_log, a_run, an_ordinary_log


def grid_of(log: RunLog) -> Any:
    return build_grid(build_report(log), log)


def test_a_column_has_the_rate_of_its_own_model_and_none_is_pooled(tmp_path: Path) -> None:
    trials = [
        (a_run(f"c{n}", "failed" if n < bad else "passed", model=model), a_conversation("t"))
        for model, bad in (("good", 1), ("poor", 3))
        for n in range(4)
    ]
    (axis,) = grid_of(a_log(tmp_path, trials, models=("good", "poor")))["axes"]
    assert [(one["title"], one["rates"][0]["text"]) for one in axis["columns"]] == [
        ("good", "75 % (30–95 %)"),
        ("poor", "25 % (5–70 %)"),
    ]


def test_a_model_on_several_suites_has_a_rate_for_each(tmp_path: Path) -> None:
    ends: tuple[tuple[str, Status], ...] = (("shop", "passed"), ("mail", "failed"))
    trials = [(a_run("a", status, suite=suite), a_conversation("t")) for suite, status in ends]
    found = grid_of(a_log(tmp_path, trials, suites=("shop", "mail")))
    rates = found["axes"][0]["columns"][0]["rates"]
    assert [(rate["suite"], rate["text"].split()[0]) for rate in rates] == [
        ("shop", "100"),
        ("mail", "0"),
    ]


def test_a_cell_has_the_first_line_of_the_failure_and_what_can_be_filtered_by(
    tmp_path: Path,
) -> None:
    cells = {cell["case"]: cell for cell in grid_of(an_ordinary_log(tmp_path))["cells"]}
    mistaken = cells["mistaken"]
    assert mistaken["status"] == "failed"
    assert mistaken["problem"] == "Expected call not found"
    assert mistaken["failed"] == ["must_call"]
    assert mistaken["tools"] == ["get_order", "get_orders"]
    assert (cells["often"]["passed"], cells["often"]["planned"]) == (2, 3)
    assert cells["often"]["trials"] == ["passed", "failed", "passed"]
    assert len(cells["often"]["at"]) == 3


def test_tests_of_several_identities_can_be_put_into_columns_of_identities(tmp_path: Path) -> None:
    ends: tuple[tuple[str, Status], ...] = (("admin", "passed"), ("guest", "failed"))
    trials = [
        (
            a_run(f"read [{who}]", status, identity=who, group="read", user_context={"role": who}),
            a_conversation("t"),
        )
        for who, status in ends
    ]
    by_model, by_identity = grid_of(a_log(tmp_path, trials))["axes"]
    assert by_model["name"] == "model"
    assert by_identity["row"] == ["suite", "group"]
    assert [one["key"] for one in by_identity["columns"]] == [["admin", "m"], ["guest", "m"]]


def test_the_place_of_a_cell_in_the_log_is_that_of_its_line(tmp_path: Path) -> None:
    log = an_ordinary_log(tmp_path)
    data = log.path.read_bytes()
    for cell in grid_of(log)["cells"]:
        for offset in cell["at"]:
            assert cell["case"].encode() in data[offset:].splitlines()[0]


def a_call(**facts: Any) -> ToolCall:
    given: dict[str, Any] = {
        "tool": "t",
        "arguments": {},
        "outcome": "ok",
        "reply": 1,
        "request_id": "r",
    }
    return ToolCall(**(given | facts))


def test_each_reply_and_each_call_is_a_bar_and_an_inferred_one_says_so() -> None:
    asked = Reply(tool_requests=(ToolRequest(id="r", tool="t"),))
    said = Transcript(
        messages=(
            UserMessage(text="?"),
            AssistantMessage(reply=asked),
            AssistantMessage(reply=Reply(text="done", waited_s=0.5), asked_s=1.25, answered_s=2.75),
        ),
        tool_calls=(a_call(started_s=1.0, duration_s=0.25),),
        latency_s=3.0,
    )
    assert [
        (bar["who"], bar["begin"], bar["end"], bar["measured"]) for bar in build_bars(said)
    ] == [
        ("model", 0.0, 1.0, False),
        ("tool", 1.0, 1.25, True),
        ("model", 1.25, 2.75, True),
    ]
    assert build_bars(said)[0]["words"] == "1.0 s from 0 ms on (inferred)"
    assert build_bars(said)[2]["words"] == "1.5 s from 1.2 s on, of that waiting 500 ms"


def test_a_log_without_times_has_no_bars() -> None:
    said = a_conversation("t")
    calls = tuple(replace(call, duration_s=0.0) for call in said.tool_calls)
    assert build_bars(replace(said, tool_calls=calls)) == []


def test_it_is_said_who_refused_a_call() -> None:
    refused = a_call(outcome="denied", refusal="protocol_error", error_code=-32001)
    assert describe_refusal(refused).endswith("with a JSON-RPC error -32001.")
    assert "harness did not send it" in describe_refusal(a_call(outcome="blocked"))
    assert describe_refusal(a_call()) == ""
