"""No view of a log looks better than the exit code of the command that made it.

The commands and reports are those of the registries: one without a row here fails.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from harness.cli import COMMANDS
from harness.judging.exit_codes import (
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_NOTHING,
    EXIT_PASSED,
    EXIT_UNJUDGED,
)
from harness.reports.writers import WRITERS
from harness.runlog.folders import log_path
from harness.web.catalog import read_entry
from tests.evidence.made_logs import (
    SUITES,
    Desk,
    Make,
    cut_off,
    damaged,
    harness,
    made_by,
    make_project,
    write_reports,
    write_suite,
)
from tests.probing.loopback import on_loopback
from tests.reports.packs import blocks_of


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with on_loopback(Desk) as url:
        yield url


@pytest.fixture
def project(tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    make_project(tmp_path, url)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    return tmp_path


# ── Commands that make logs, and how they end ────────────────────────────────────────────────

RECORDED = Path(__file__).parents[1] / "end_to_end" / "recorded_program.py"
ONE = ("--concurrency", "1")
PROBE = ("--named-only",)


def by(*arguments: str) -> Make:
    return lambda _: made_by(*arguments)


def graded(folder: Path) -> tuple[int, str]:
    """Grade a good run by assertions that it does not fulfil."""
    run = made_by("evals", "good", *ONE)[1]
    write_suite(folder, "good", SUITES["good"].replace("must_call: get", "must_not_call: get"))
    return made_by("grade", run)


def graded_without_its_cases(folder: Path) -> tuple[int, str]:
    """Grade a good run whose cases are gone: all are skipped."""
    run = made_by("evals", "good", *ONE)[1]
    write_suite(folder, "good", SUITES["good"].replace("name: ", "name: new_"))
    return made_by("grade", run)


def graded_when(spoilt: Callable[[str], str]) -> Make:
    def make(_: Path) -> tuple[int, str]:
        run = made_by("evals", "good", *ONE)[1]
        return made_by("grade", spoilt(run))

    return make


def graded_probe(_: Path) -> tuple[int, str]:
    run = made_by("probe", "leaky", *PROBE)[1]
    return made_by("grade", run)


def merged(suite: str) -> Make:
    def make(_: Path) -> tuple[int, str]:
        runs = [made_by("evals", suite, *ONE, "--shard", f"{part}/2")[1] for part in (1, 2)]
        return made_by("merge", *runs)

    return make


def merged_with_one_cut_off(_: Path) -> tuple[int, str]:
    parts = ("1/2", "2/2")
    runs = [made_by("evals", "good", *ONE, "--trials", "2", "--shard", part)[1] for part in parts]
    return made_by("merge", cut_off(runs[0]), runs[1])


def overruled(_: Path) -> tuple[int, str]:
    """A person says that the machine was wrong: the exit code of the run stays what it was."""
    code, run = made_by("evals", "wrong", *ONE)
    assert harness("review", run, "two", "--overrule", "--note", "it is right")[0] == EXIT_PASSED
    return code, run


def worse_than_before(folder: Path) -> tuple[int, str]:
    """Every case passes by its threshold, and half as often as in the run to compare with."""
    tests = "".join(
        f"- {{name: t{n}, test: t{n}, prompt: Show the weather., pass_threshold: 0.5, "
        "assertions: {answer_contains: sky}}\n"
        for n in range(20)
    )
    write_suite(folder, "good", tests)
    before = made_by("evals", "good", *ONE, "--trials", "2")[1]
    write_suite(folder, "good", tests.replace(": sky", ": clear"))  # it is so every other time
    return made_by("evals", "good", *ONE, "--trials", "2", "--baseline", before, "--gate")


def with_changed_decisions(folder: Path) -> tuple[int, str]:
    made_by("probe", "sound", *PROBE, "--update", "kept.json")
    kept = folder / "kept.json"
    kept.write_text(kept.read_text("utf-8").replace('"allowed"', '"denied (other)"'), "utf-8")
    return made_by("probe", "sound", *PROBE, "--expect", "kept.json")


def as_another(name: str) -> Make:
    """Probe with an identity as which the server hangs up, or is interrupted."""

    def make(folder: Path) -> tuple[int, str]:
        write_suite(folder, "sound", SUITES["sound"], more=name)
        return made_by("probe", "sound", *PROBE)

    return make


def workbench_without_money(_: Path) -> tuple[int, str]:
    return made_by("workbench", "good", "--studies", "ablation", *ONE, "--max-cost", "0")


ENDINGS: Mapping[str, Mapping[str, tuple[int, Make]]] = {
    "evals": {
        "all passed": (EXIT_PASSED, by("evals", "good")),
        "a failed check": (EXIT_FAILED, by("evals", "wrong")),
        "a leak": (EXIT_FAILED, by("evals", "leaky")),
        "an error": (EXIT_UNJUDGED, by("evals", "broken")),
        "interrupted": (EXIT_INTERRUPTED, by("evals", "stopped", *ONE)),
        "interrupted in its last trial": (EXIT_INTERRUPTED, by("evals", "stopped_last", *ONE)),
        "no budget": (EXIT_UNJUDGED, by("evals", "good", *ONE, "--max-cost", "0")),
        "too many errors": (EXIT_UNJUDGED, by("evals", "broken", *ONE, "--max-errors", "1")),
        "fail fast": (EXIT_FAILED, by("evals", "wrong", *ONE, "--fail-fast")),
        "worse than the baseline": (EXIT_FAILED, worse_than_before),
        "nothing asked": (EXIT_NOTHING, by("evals", "good", "-k", "nothing")),
    },
    "probe": {
        "no finding": (EXIT_PASSED, by("probe", "sound", *PROBE)),
        "a leak": (EXIT_FAILED, by("probe", "leaky", *PROBE)),
        "little coverage": (EXIT_FAILED, by("probe", "sound", *PROBE, "--min-coverage", "100")),
        "a low score": (EXIT_FAILED, by("probe", "sound", *PROBE, "--min-score", "100")),
        "changed decisions": (EXIT_FAILED, with_changed_decisions),
        "nobody answers": (EXIT_UNJUDGED, as_another("ghost")),
        "interrupted": (EXIT_INTERRUPTED, as_another("stopper")),
        "nothing asked": (EXIT_NOTHING, by("probe", "good", *PROBE)),
    },
    "grade": {
        "a failed check": (EXIT_FAILED, graded),
        "only skipped": (EXIT_UNJUDGED, graded_without_its_cases),
        "a run that was killed": (EXIT_INTERRUPTED, graded_when(cut_off)),
        "a damaged line": (EXIT_UNJUDGED, graded_when(damaged)),
        "findings of a probe": (EXIT_FAILED, graded_probe),
    },
    "merge": {
        "all passed": (EXIT_PASSED, merged("good")),
        "a failed check": (EXIT_FAILED, merged("wrong")),
        "interrupted": (EXIT_INTERRUPTED, merged("stopped")),
        "a part that was killed": (EXIT_INTERRUPTED, merged_with_one_cut_off),
    },
    "review": {"an overruled failure": (EXIT_FAILED, overruled)},
    "workbench": {
        "no verdict": (EXIT_UNJUDGED, by("workbench", "broken", "--studies", "cost")),
        "no budget": (EXIT_UNJUDGED, workbench_without_money),
    },
}
"""Command → how a run of it ends → the exit code, and what makes it."""
OFTEN = frozenset(
    {"a failed check", "an error", "a leak", "findings of a probe"}
    | {"an overruled failure", "no verdict"}
)
"""Endings that `make test` tries; `make proofs` tries all."""

WITHOUT_A_LOG = frozenset(
    {"call", "compare", "completion", "convert", "export", "fetch", "init", "judge-check", "lint"}
    | {"lock", "login", "mcp", "models", "plan", "proxy-stdio", "query", "runs", "tools", "view"}
    | {"conformance"}
)
"""Commands that write no run log."""
WITHOUT_A_VERDICT = frozenset({"record"})
"""Commands whose exit code is another program's, and whose runs are not judged."""
BY_WORKERS = frozenset({"serve"})
"""Commands whose runs are those of ``evals`` in processes of their own."""


# ── Views, and whether all is well in them ───────────────────────────────────────────────────


def of_html(folder: Path) -> bool:
    shown = blocks_of((folder / "report.html").read_text("utf-8"))["overview"]
    return not shown["damaged"] and {cell["status"] for cell in shown["grid"]["cells"]} == {
        "passed"
    }


def of_junit(folder: Path, name: str = "junit.xml") -> bool:
    return not any(
        element.tag in ("failure", "error", "skipped") for element in ET.parse(folder / name).iter()
    )


def of_json(folder: Path) -> bool:
    result = json.loads((folder / "report.json").read_text("utf-8"))["result"]
    verdicts = [suite["all_passed"] for suite in result.get("suites", [result])]
    assert all(verdicts) == (result["exit_code"] == EXIT_PASSED), "one document, two verdicts"
    return all(verdicts)


def of_jsonl(folder: Path) -> bool:
    lines = (folder / "report.jsonl").read_text("utf-8").splitlines()
    return all(json.loads(line)["pass"] for line in lines)


def of_csv(folder: Path) -> bool:
    with (folder / "report.csv").open(encoding="utf-8-sig") as file:
        return all(row["status"] == "passed" for row in csv.DictReader(file))


def of_sarif(folder: Path) -> bool:
    run = json.loads((folder / "report.sarif").read_text("utf-8"))["runs"][0]
    assert bool(run["results"]) != run["invocations"][0]["executionSuccessful"]
    return not run["results"]


def of_markdown(folder: Path) -> bool:
    return (folder / "report.md").read_text("utf-8").startswith("## ✅")


def of_summary(folder: Path) -> bool:
    return (folder / "summary.md").read_text("utf-8").startswith("## ✅")


OF_REPORTS: Mapping[str, Callable[[Path], bool]] = {
    "html": of_html,
    "junit": of_junit,
    "junit10": partial(of_junit, name="junit10.xml"),
    "json": of_json,
    "jsonl": of_jsonl,
    "csv": of_csv,
    "sarif": of_sarif,
    "markdown": of_markdown,
    "github": of_summary,
}
"""Report → whether its file in a run's folder says that all is well."""


def of_view(run: str) -> bool:
    harness("view", run, "--no-open")
    return of_html(log_path(run).parent)


def of_runs(run: str) -> bool:
    listed = json.loads(harness("runs", "--json-output")[1])["result"]["runs"]
    found = next(one for one in listed if one["run_id"] == run)
    row = next(line for line in harness("runs")[1].splitlines() if line.endswith(run))
    assert bool(re.search(r"  \d+ passed  ", row)) == (found["exit_code"] == EXIT_PASSED), row
    return bool(found["exit_code"] == EXIT_PASSED)


def of_the_page(run: str) -> bool:
    entry = read_entry(log_path(run))
    return bool(re.fullmatch(r"\d+ passed", entry["result"]))


def of_grade(run: str) -> bool:
    return harness("grade", run)[0] == EXIT_PASSED


def of_compare(run: str) -> bool:
    side = json.loads(harness("compare", run, run, "--json-output")[1])["result"]["sides"][1]
    said = harness("compare", run, run)[1]
    perfect = side["rate"] == 1 and "exit code" not in said
    assert perfect <= (side["exit_code"] == EXIT_PASSED), said
    return bool(side["exit_code"] == EXIT_PASSED)


def of_query(run: str) -> bool:
    sql = "select exit_code, (select group_concat(distinct status) from cases) ended from runs"
    (row,) = json.loads(harness("query", run, sql, "--json-output")[1])["result"]["rows"]
    assert (row["ended"] == "passed") == (row["exit_code"] == EXIT_PASSED), row
    return bool(row["exit_code"] == EXIT_PASSED)


VIEWS: Mapping[str, Callable[[str], bool]] = {
    "view": of_view,
    "query": of_query,
    "runs": of_runs,
    "grade": of_grade,
    "compare": of_compare,
    "serve": of_the_page,
}
"""Command that shows a run → whether it says that all is well."""
NO_VIEWS = frozenset(
    {
        "call",
        "completion",
        "conformance",
        "convert",
        "evals",
        "export",
        "fetch",
        "init",
        "judge-check",
        "lint",
        "merge",
    }
    | {"lock", "login", "mcp", "models", "plan", "probe", "proxy-stdio", "record", "review"}
    | {"tools", "workbench"}
)
"""Commands that show no verdict of an earlier run, or make another run of it."""


# ── The table ────────────────────────────────────────────────────────────────────────────────


def test_every_command_has_its_row() -> None:
    assert ENDINGS.keys() | WITHOUT_A_LOG | WITHOUT_A_VERDICT | BY_WORKERS == set(COMMANDS)
    assert VIEWS.keys() | NO_VIEWS == set(COMMANDS)


def test_every_report_has_its_row() -> None:
    assert set(OF_REPORTS) == set(WRITERS.list_names())


@pytest.mark.parametrize(
    ("command", "ending"),
    [
        pytest.param(command, ending, marks=() if ending in OFTEN else pytest.mark.slow)
        for command, endings in ENDINGS.items()
        for ending in endings
    ],
)
def test_no_view_looks_better_than_the_exit_code(project: Path, command: str, ending: str) -> None:
    expected, make = ENDINGS[command][ending]
    code, run = make(project)
    assert code == expected
    if code == EXIT_NOTHING:
        assert not run
        return
    well = verdicts_of_views(run)
    assert {name for name, is_well in well.items() if is_well != (code == EXIT_PASSED)} == set()


def test_no_view_of_a_recorded_session_says_that_all_is_well(project: Path) -> None:
    program = (sys.executable, str(RECORDED), "end", json.dumps([["get", {}]]))
    code, run = made_by("record", "--suite", "good", "--", *program)
    assert code == EXIT_PASSED
    assert not any(verdicts_of_views(run).values())


def verdicts_of_views(run: str) -> dict[str, bool]:
    """Return for each view and report of ``run`` whether it says that all is well."""
    well = {name: is_well(run) for name, is_well in VIEWS.items()}
    write_reports(run)
    return well | {name: is_well(log_path(run).parent) for name, is_well in OF_REPORTS.items()}
