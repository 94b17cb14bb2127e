"""Every output says of a field what the record of the trial says."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from typing import Any

import pytest

from docs.site.reference.tables import record_page
from harness.reports.build import build_report
from harness.reports.record_fields import (
    CONVERSATION_FIELDS,
    RECORD_FIELDS,
    RESULT_FIELDS,
    RecordField,
    choose_fields,
    find_record,
)
from harness.reports.telemetry.conventions import OF_TRIAL
from harness.reports.telemetry.spans import build_trace
from harness.reports.trial_record import AXIS_FIELDS, TrialRecord
from harness.runlog import RunLog, read_log
from harness.types import Report, TrialResult
from tests.reports.querying.support import json_report, jsonl_report, objects
from tests.reports.querying.varied_logs import varied_log
from tests.reports.sample_logs import written

Records = Mapping[str, Mapping[str, Any]]
"""Key of a trial → its record."""


@pytest.fixture(scope="module", params=[1, 2, 3])
def log(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> RunLog:
    return read_log(varied_log(tmp_path_factory.mktemp("run") / "log.jsonl", request.param))


@pytest.fixture(scope="module")
def report(log: RunLog) -> Report:
    return build_report(log)


@pytest.fixture(scope="module")
def records(log: RunLog, report: Report) -> Records:
    return {one.key: find_record(one, log) for one in report.results}


def record_whole(result: TrialResult, log: RunLog) -> TrialRecord:
    return TrialRecord(result, log.reviews.get(result.key), log.read_transcript(result.key))


def test_jsonl_has_the_values_of_the_record(log: RunLog, records: Records) -> None:
    of_contract = {"case_id": "case", "timestamp": "finished_at"}
    for line in jsonl_report(log.path):
        metadata = line.pop("metadata")
        ours = metadata.pop("harness")
        assert line.pop("pass") == (ours["status"] == "passed")
        told = {of_contract.get(name, name): value for name, value in line.items()}
        assert told | ours | {"metadata": metadata} == records[ours["key"]]


def test_json_has_the_values_of_the_record(log: RunLog, records: Records) -> None:
    names: set[str] = set()
    for part in json_report(log.path)["suites"]:
        for test in part["tests"]:
            record = records[test["key"]]
            names |= record.keys() & test.keys()
            own = {**record, "status": test["status"], "mark": test["mark"]}  # the whole test's
            assert {name: test[name] for name in record.keys() & test.keys()} == {
                name: own[name] for name in record.keys() & test.keys()
            }
            assert record["trial"] in [one["trial"] for one in test.get("trials", [record])]
            for one in test.get("trials", ()):
                (other,) = (
                    other
                    for other in records.values()
                    if (
                        other["suite"],
                        other["case"],
                        other["model"],
                        other["variant"],
                        other["trial"],
                    )
                    == (part["suite"], test["name"], part["model"], part["variant"], one["trial"])
                )
                assert one == {name: other[name] for name in one}
    errors = {"error", "error_kind", "error_detail", "skip_reason"}
    assert names | errors == {*RESULT_FIELDS} - {
        *("suite", "case", "model", "latency_ms"),
        *AXIS_FIELDS,
    }


def test_csv_has_the_values_of_the_record(log: RunLog, records: Records) -> None:
    for row in csv.DictReader(io.StringIO(written(log, "csv")[1:], newline="")):
        record = records[row["key"]]
        assert row.keys() == record.keys()
        assert row == {name: _as_cell(value) for name, value in record.items()}


def test_sql_has_the_values_of_the_record(log: RunLog, report: Report) -> None:
    rows = {row["key"]: row for row in objects(log.path, "select * from trials")}
    assert rows.keys() == {one.key for one in report.results if find_record(one, log)["trial"]}
    for result in report.results:
        if result.key in rows:
            trial = TrialRecord(
                result, log.reviews.get(result.key), log.read_transcript(result.key)
            )
            record = choose_fields(trial, [field.name for field in RECORD_FIELDS])
            row = rows[result.key]
            assert {
                field.name: _from_sql(field, row[field.name]) for field in RECORD_FIELDS
            } == record


def test_spans_have_the_values_of_the_record(log: RunLog, report: Report, records: Records) -> None:
    for result in report.results:
        if (transcript := log.read_transcript(result.key)) is not None:
            trace = build_trace(log.header.run_id, result, transcript, {}, content=True)
            told = trace.spans[0].attributes
            record = records[result.key]
            assert {field: told.get(name) for name, field in OF_TRIAL.items()} == {
                field: record[field] for field in OF_TRIAL.values()
            }


def test_trials_count_from_1(records: Records) -> None:
    assert {record["trial"] for record in records.values() if record["repeats"] > 1} == {1, 2, 3, 4}


def test_a_field_says_when_it_is_null(log: RunLog, report: Report) -> None:
    for result in report.results:
        trial = record_whole(result, log)
        for field in RECORD_FIELDS:
            assert trial.read(field.name) is not None or field.null, field.name


def test_the_record_without_the_conversation_needs_none() -> None:
    assert {field.name for field in RECORD_FIELDS} == {*RESULT_FIELDS, *CONVERSATION_FIELDS}
    assert len({field.name for field in RECORD_FIELDS}) == len(RECORD_FIELDS)


def test_the_page_has_every_field() -> None:
    page = record_page()
    assert [
        field.name for field in RECORD_FIELDS if f"| `{field.name}` | {field.kind} |" not in page
    ] == []
    assert "| `latency_s` | REAL | seconds |" in page


def _as_cell(value: Any) -> str:
    if isinstance(value, list):
        return "; ".join(value)
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return "" if value is None else str(value)


def _from_sql(field: RecordField, value: Any) -> Any:
    if value is None or field.kind not in {"JSON", "BOOLEAN"}:
        return value
    return json.loads(value) if field.kind == "JSON" else bool(value)
