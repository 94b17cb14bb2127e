"""The head of a report names the server under test."""

import csv
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from harness.pytest_plugin.failure_text import format_totals
from harness.reports.build import build_report
from harness.reports.formats.html_report.overview import build_overview
from harness.runlog import RunLog
from tests.reports.formats.test_console import summary
from tests.reports.run_logs import write_log
from tests.reports.sample_logs import written

SERVERS: dict[str, Any] = {
    "hr": {"command": "/opt/venv/bin/python", "args": ["-m", "servers.hr"], "built_in": True},
    "shop": {"command": "/opt/venv/bin/python", "args": ["shop.py", "--port", "80"]},
    "mail": {"command": None, "args": [], "url": "https://mail.example:8443/mcp"},
    "shop+mail": {"command": None, "args": [], "url": None, "members": [{}, {}]},
}
SUITES = {"s": {"file": "s.yml", "cases": {"c": "d"}, "servers": ["hr", "shop+mail"]}}


@pytest.fixture
def log(tmp_path: Path) -> RunLog:
    """Return the log of a run on a built-in server and on two joined ones."""
    return write_log(tmp_path / "r" / "log.jsonl", {"c": "p"}, servers=SERVERS, suites=SUITES)


def test_people_read_the_name_of_each_server_and_how_it_is_run(log: RunLog) -> None:
    assert summary(log).startswith(
        "s\n"
        "server hr  (built in)\n"
        "server shop  (python shop.py --port 80)\n"
        "server mail  (at mail.example:8443)\n"
        "model m  (openai)\n"
    )
    assert (
        " · server `hr` `(built in)`, `shop` `(python shop.py --port 80)`, `mail` "
        "`(at mail.example:8443)` · run `r`\n"
    ) in written(log, "markdown")
    named = "hr (built in), shop (python shop.py --port 80), mail (at mail.example:8443)"
    report = build_report(log)
    assert build_overview(report, log)["servers"] == named
    assert named in report._repr_html_()
    assert list(format_totals(report))[:2] == [
        "server hr  (built in)",
        "server shop  (python shop.py --port 80)",
    ]


def test_programs_read_the_servers_of_each_suite(log: RunLog) -> None:
    assert json.loads(written(log, "json"))["result"]["servers"] == ["hr", "shop+mail"]
    assert '<property name="server" value="hr, shop+mail" />' in written(log, "junit")


def test_programs_read_the_servers_of_each_trial_and_of_a_run_for_code_scanning(
    log: RunLog,
) -> None:
    (line,) = map(json.loads, written(log, "jsonl").splitlines())
    assert line["metadata"]["harness"]["server"] == "hr, shop+mail"
    (row,) = csv.DictReader(StringIO(written(log, "csv").lstrip("\ufeff")))
    assert row["server"] == "hr, shop+mail"
    (run,) = json.loads(written(log, "sarif"))["runs"]
    assert run["properties"] == {
        "servers": [
            "hr (built in)",
            "shop (python shop.py --port 80)",
            "mail (at mail.example:8443)",
        ]
    }


def test_a_log_that_names_no_servers_has_none(tmp_path: Path) -> None:
    log = write_log(tmp_path / "r" / "log.jsonl", {"c": "p"})
    (line,) = map(json.loads, written(log, "jsonl").splitlines())
    assert line["metadata"]["harness"]["server"] is None


def test_a_command_line_of_any_length_is_a_short_line(tmp_path: Path) -> None:
    servers = {"shop": {"command": "sh", "args": ["-c", "a\n" * 500]}}
    log = write_log(tmp_path / "r" / "log.jsonl", {"c": "p"}, servers=servers)
    (line,) = [line for line in summary(log).splitlines() if line.startswith("server ")]
    assert len(line) < 80


def test_the_functions_of_a_suite_in_python_are_one_server_and_of_many_the_rest_is_counted(
    tmp_path: Path,
) -> None:
    of_functions = {"command": "python", "args": ["-m", "harness.suites.in_python.server", "x"]}
    servers = {
        **{f"s::case_{number}": of_functions for number in range(9)},
        **{f"own_{number}": {"url": f"http://{number}.example/mcp"} for number in range(9)},
    }
    log = write_log(tmp_path / "r" / "log.jsonl", {"c": "p"}, servers=servers)
    named = [line for line in summary(log).splitlines() if line.startswith("server ")]
    assert named == [
        "server s  (functions of the suite)",
        *(f"server own_{number}  (at {number}.example)" for number in range(5)),
        "server … 4 more",
    ]
