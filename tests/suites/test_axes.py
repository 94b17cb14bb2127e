"""An axis is added by one declaration: log, resume, shards, merging and all outputs follow."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.end_to_end.harness_process import Finished, Project, finish, plain_server, provided
from tests.fake_provider import FakeProvider, Incoming, Step, call, say

WITH_WEATHER = """
from dataclasses import dataclass

from harness.suites import axes


@dataclass(frozen=True)
class Weather:
    name: str


axes.AXES = (
    *axes.AXES,
    axes.Axis(
        name="weather",
        doc="What fails.",
        choose=lambda suite, request: (None, Weather("outage")),
        describe=lambda weather: {"digest": "d1", "words": "all calls fail"},
        reword=lambda case, weather: case.with_prompt(f"{case.prompt} ({weather.name})"),
    ),
)

from harness.cli import main

main()
"""
"""The command ``harness`` with one declaration more."""

TESTS = [
    {"name": name, "prompt": f"Echo {name}.", "assertions": {"must_call": [{"tool": "echo"}]}}
    for name in ("a", "b")
]
EDITED = {"edited": {"tools": {"echo": {"description": "Says it again."}}}}
VARIANTS = ("--variant", "none", "--variant", "edited")
ENTRANTS = ["m", "m+outage", "m+edited", "m+edited+outage"]

Harness = Callable[..., Finished]


def by_prompt(request: Incoming) -> Step:
    """Call the tool, but in an outage."""
    said = json.dumps(request.body["messages"])
    return say("Done.") if request.turn or "(outage)" in said else call("echo", {"n": 7})


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.fixture
def provider(project: Project) -> Iterator[FakeProvider]:
    project.suite("first", TESTS, server=plain_server(), variants=EDITED)
    with provided(project, by_prompt) as server:
        yield server


@pytest.fixture
def harness(project: Project) -> Harness:
    def run(*arguments: str) -> Finished:
        process = subprocess.Popen(
            [sys.executable, "-c", WITH_WEATHER, *arguments],
            cwd=project.folder,
            env=project._environment({}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        return finish(process)

    return run


def statuses(project: Project) -> dict[str, str]:
    return {f"{one.case.name} {one.entrant}": one.status for one in project.log().results}


EXPECTED = {
    f"{case} {entrant}": "failed" if "outage" in entrant else "passed"
    for case in ("a", "b")
    for entrant in ENTRANTS
}


@pytest.mark.slow
def test_the_log_has_the_axis_and_a_run_is_taken_up_where_it_lacks_a_value(
    project: Project, provider: FakeProvider, harness: Harness
) -> None:
    harness("evals", "first", *VARIANTS)
    log = project.log()
    assert statuses(project) == EXPECTED
    assert log.header.axes["weather"] == {"outage": {"digest": "d1", "words": "all calls fail"}}
    assert list(log.header.entrants) == ENTRANTS
    assert log.header.entrants["m+edited+outage"] == {
        "model": "m",
        "variant": "edited",
        "weather": "outage",
    }
    assert len({one.key for one in log.results}) == len(EXPECTED)

    lines = log.path.read_text("utf-8").splitlines(keepends=True)
    left = [one for one in lines if '"weather":"outage"' not in one or '"kind":"header"' in one]
    log.path.write_text("".join(left[:-1]), "utf-8")
    asked = len(provider.journal)
    harness("evals", "--resume")
    assert statuses(project) == EXPECTED
    assert len(provider.journal) == asked + 4  # one reply to each case of two entrants

    without = project.run("evals", "--resume", log.header.run_id)
    assert without.code == 3
    assert "weather outage (all calls fail; digest d1) is gone" in without.stderr


@pytest.mark.slow
def test_shards_are_merged_and_their_entrants_compared(
    project: Project, provider: FakeProvider, harness: Harness
) -> None:
    parts = []
    for part in ("1/2", "2/2"):
        harness("evals", "first", *VARIANTS, "--shard", part)
        parts.append(project.log().header.run_id)
    harness("merge", *parts)
    assert statuses(project) == EXPECTED
    compared = harness("compare", "latest", "--json-output").document["result"]
    sides = [(side["model"], side["variant"], side["weather"]) for side in compared["sides"]]
    assert sides == [
        ("m", None, None),
        ("m", None, "outage"),
        ("m", "edited", None),
        ("m", "edited", "outage"),
    ]
    first = compared["contrasts"][0]
    assert "weather was none, is outage (all calls fail; digest d1)" in first["differences"]
    assert [case["change"] for case in first["cases"]] == ["worse", "worse"]


@pytest.mark.slow
def test_every_output_names_the_axis(
    project: Project, provider: FakeProvider, harness: Harness, tmp_path: Path
) -> None:
    files = [tmp_path / f"report.{suffix}" for suffix in ("json", "jsonl", "csv", "xml")]
    shown = harness("evals", "first", *(f"--report={file}" for file in files)).stdout
    assert ["case", "m", "m+outage"] in [line.split() for line in shown.splitlines()]
    document = json.loads(files[0].read_text("utf-8"))
    assert [one["weather"] for one in document["result"]["suites"]] == [None, "outage"]
    trials = [json.loads(one) for one in files[1].read_text("utf-8").splitlines()]
    weathers = {one["metadata"]["harness"]["weather"]: one["pass"] for one in trials}
    assert weathers == {None: True, "outage": False}
    with files[2].open(encoding="utf-8-sig") as stream:
        assert [one["weather"] for one in csv.DictReader(stream)] == ["", "outage"] * 2
    assert '<property name="weather" value="outage" />' in files[3].read_text("utf-8")
    for table in ("trials", "cases"):
        sql = f'select "case", weather, status from {table} order by 1, 2'
        rows = harness("query", "latest", sql, "--json-output").document["result"]["rows"]
        assert [[*row.values()] for row in rows] == [
            ["a", None, "passed"],
            ["a", "outage", "failed"],
            ["b", None, "passed"],
            ["b", "outage", "failed"],
        ]
