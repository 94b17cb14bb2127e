"""The runs that the benchmark logs, read with or without the package."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import UsageError
from harness.leaderboards.agentdojo.recordings import (
    PLACEHOLDERS,
    assign_versions,
    load_pipelines,
    read_runs,
)
from harness.types import JsonObject
from tests.leaderboards.agentdojo.support import call, log, say

OLD = {"user_tasks": {"user_task_0": "Pay."}, "injection_tasks": {"injection_task_0": "Steal."}}
NEW = {
    "user_tasks": {"user_task_0": "Pay the bill."},
    "injection_tasks": {"injection_task_0": "Steal.", "injection_task_1": "Lie."},
}
VERSIONS: dict[str, Any] = {"v1": {"banking": OLD}, "v2": {"banking": NEW}, "v3": {"banking": NEW}}


def written(folder: Path, *rows: JsonObject) -> Path:
    path = folder / "runs.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def versions_of(folder: Path, *rows: JsonObject) -> list[str | None]:
    runs = list(read_runs(written(folder, *rows)))
    return [run.version for run in assign_versions(runs, VERSIONS, {"dos"})]


def test_a_run_without_version_has_the_oldest_that_asks_in_its_words(tmp_path: Path) -> None:
    assert versions_of(tmp_path, log([say("Pay.")])) == ["v1"]
    assert versions_of(tmp_path, log([say("Pay the bill.")])) == ["v2"]
    named = log([say("Pay the bill.")], benchmark_version="v3")
    assert versions_of(tmp_path, named) == ["v3"]
    # In words of no version, only the tasks count.
    attack = {"injection_task_id": "injection_task_1", "attack_type": "dos"}
    assert versions_of(tmp_path, log([say("Pay now.")], **attack)) == ["v2"]


def test_a_pipeline_has_one_version_unless_a_run_is_in_older_words(tmp_path: Path) -> None:
    plain = {"injection_task_id": "injection_task_0", "attack_type": "direct"}
    stated = {**plain, "injections": {"place": "Please: Steal."}}
    late = log([say("Pay the bill.")], injection_task_id="injection_task_1", attack_type="direct")
    alone = log([say("Pay.")], **stated)
    assert versions_of(tmp_path, late, alone) == ["v2", "v1"]
    assert versions_of(tmp_path, late, log([say("Pay the bill.")], **stated)) == ["v2", "v2"]


def test_logs_from_before_the_calls_had_placeholders_are_judged_by_an_older_release(
    tmp_path: Path,
) -> None:
    def older(*rows: JsonObject) -> list[bool]:
        runs = list(read_runs(written(tmp_path, *rows)))
        return [run.older for run in assign_versions(runs, VERSIONS, {"dos"})]

    early = call("pay", {"amount": 1})
    late = [{**early[0], "tool_calls": [{**early[0]["tool_calls"][0], PLACEHOLDERS: None}]}]
    old, idle = log([say("Pay."), *early]), log([say("Pay.")])
    # A run without calls goes with its pipeline, and without any nothing is known.
    assert older(old, idle) == [True, True]
    assert older(idle) == [False]
    # One later log shows that the pipeline was not run with an older release.
    assert older(old, log([say("Pay."), *late])) == [False, False]
    assert older(old, log([say("Pay.")], benchmark_version="v1")) == [False, False]
    assert older(old, log([say("Pay.")], pipeline_name="x", benchmark_version="v1")) == [
        True,
        False,
    ]
    # That release has no version as late as this one.
    assert older(log([say("Pay the bill."), *early])) == [False]


def test_calls_without_results_are_no_part_of_the_conversation(tmp_path: Path) -> None:
    asked = call("send_money", {"amount": 1})
    path = written(tmp_path, log([say("Pay."), *call("read_file", {}, "text"), asked[0]], None))
    [run] = read_runs(path)
    assert [len(reply.tool_requests) for reply in run.transcript.all_replies] == [1, 0]
    assert run.unsent == ({"function": "send_money", "args": {"amount": 1}},)


def test_blocks_of_later_logs_are_read_as_text_and_errors_as_errors(tmp_path: Path) -> None:
    blocks = [{"type": "text", "content": "Paid"}, {"type": "text", "content": "it."}]
    rows = log([say("Pay."), *call("pay", {}, error="ValueError: no")], blocks)
    [run] = read_runs(written(tmp_path, rows))
    assert run.transcript.answer == "Paid\nit."
    [answer] = [one for m in run.transcript.messages if m.role == "tool" for one in m.answers]
    assert (answer.text, answer.is_error) == ("ValueError: no", True)


def test_a_run_without_messages_is_an_error_and_never_judged(tmp_path: Path) -> None:
    [run] = read_runs(written(tmp_path, log([], None)))
    assert run.transcript.error is not None
    assert "no messages" in run.transcript.error.message


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("nonsense", "runs.jsonl:2 is not JSON"),
        ("[1]", "runs.jsonl:2 is not an object"),
        ('{"messages": []}', "runs.jsonl:2 has no 'suite_name'"),
        (json.dumps(log([{"role": "robot"}])), "has the role 'robot'"),
        (
            json.dumps(log([say("Pay.")], utility="yes")),
            "runs.jsonl:2.utility is not true or false",
        ),
        (json.dumps(log([say("Pay.")], injections={"a": 1})), "has a value that is not a text"),
    ],
)
def test_what_is_no_log_of_the_benchmark_is_refused_with_its_line(
    tmp_path: Path, row: str, message: str
) -> None:
    path = written(tmp_path, log([say("Pay.")]))
    path.write_text(f"{path.read_text()}{row}\n")
    with pytest.raises(UsageError) as refused:
        list(read_runs(path))
    assert message in str(refused.value)


def test_a_version_that_the_package_lacks_is_refused_with_its_line(tmp_path: Path) -> None:
    path = written(tmp_path, log([say("Pay.")]), log([say("Pay.")], benchmark_version="v9"))
    with pytest.raises(UsageError, match=r"runs.jsonl:2 is of version 'v9'"):
        load_pipelines(path, {"versions": VERSIONS, "attacks": {}})


def test_a_run_that_the_models_api_ended_is_judged_by_the_benchmarks_own_rule(
    tmp_path: Path,
) -> None:
    late = log([say("Pay."), *call("pay", {})], None, error="context_length_exceeded")
    first = log([say("Pay.")], None, error="internal server error")
    for run in read_runs(written(tmp_path, late, first)):
        assert (run.transcript.stop, run.transcript.error) == ("reply_limit", None)
        assert run.error is not None


def _write_blocks(row: dict[str, Any]) -> None:
    for message in row["messages"]:
        if isinstance(message["content"], str):
            message["content"] = [{"type": "text", "content": message["content"]}]
        elif message["content"] is None:
            message["content"] = [{"type": "redacted_thinking", "content": None}]


def _write_nulls(row: dict[str, Any]) -> None:
    for message in row["messages"]:
        message["content"] = message["content"] or None


def _leave_out(row: dict[str, Any]) -> None:
    for key in ("error", "attack_type", "injection_task_id", "injections"):
        del row[key]
    for message in row["messages"]:
        for key in ("tool_calls", "error", "tool_call"):
            if not message.get(key) or message["role"] == "tool":
                message.pop(key, None)
        for asked in message.get("tool_calls", ()):
            del asked["id"]


def _add_keys(row: dict[str, Any]) -> None:
    row["later"] = 1
    row["messages"].insert(0, {"role": "system", "content": "Be brief."})
    for message in row["messages"]:
        message["later"] = [1]


@pytest.mark.parametrize("rewrite", [_write_blocks, _write_nulls, _leave_out, _add_keys])
def test_a_run_is_the_same_in_each_releases_spelling(
    tmp_path: Path, rewrite: Callable[[dict[str, Any]], None]
) -> None:
    row = dict(log([say("Pay."), *call("read_file", {"path": "a"}), *call("pay", {})]))
    [plain] = read_runs(written(tmp_path, row))
    rewrite(row)
    assert list(read_runs(written(tmp_path, row))) == [plain]


ODD: list[Any] = [None, "", "x", 0, -1.5, True, [], {}, [None], {"a": None}, ["a"], 10**30]


@given(data=st.data())
def test_whatever_stands_anywhere_in_a_log_it_is_read_or_refused_with_file_and_line(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    row = log([say("Pay."), *call("pay", {"to": ["Bob"]}, error="no")], injections={"a": "b"})
    at: Any = row
    while True:
        key = data.draw(st.sampled_from([*at] if isinstance(at, dict) else [*range(len(at))]))
        if not at[key] or not isinstance(at[key], list | dict) or data.draw(st.booleans()):
            break
        at = at[key]
    if isinstance(at, list) or data.draw(st.booleans()):
        at[key] = data.draw(st.sampled_from(ODD))
    else:
        del at[key]
    line = json.dumps(row)
    cut = data.draw(st.sampled_from([len(line), len(line) // 2, len(line) - 1]))
    path = tmp_path_factory.getbasetemp() / "odd.jsonl"
    path.write_text(f"{json.dumps(log([say('Pay.')]))}\n{line[:cut]}\n")
    try:
        load_pipelines(path, {"versions": VERSIONS, "attacks": {}})
    except UsageError as error:
        assert f"{path}:2" in str(error)  # noqa: PT017 - both ends are right


def test_a_folder_of_logs_and_a_compressed_file_are_read_alike(tmp_path: Path) -> None:
    place = tmp_path / "gpt" / "banking" / "user_task_0" / "none"
    place.mkdir(parents=True)
    (place / "none.json").write_text(json.dumps(log([say("Pay.")]), indent=4))
    packed = tmp_path / "gpt" / "more.jsonl.gz"
    packed.write_bytes(gzip.compress(json.dumps(log([say("Pay.")])).encode()))
    assert [run.case for run in read_runs(tmp_path)] == ["banking-user_task_0"] * 2
    contents = {"versions": VERSIONS, "attacks": {"dos": True}}
    [pipeline] = load_pipelines(tmp_path, contents).values()
    assert len(pipeline.get_transcripts("banking-user_task_0")) == 2
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="there is no run of AgentDojo"):
        load_pipelines(tmp_path / "empty", contents)
