"""Runs compared as a user compares them.

Real runs against a provider on the wire, real run folders.
"""

from __future__ import annotations

from collections import Counter

import pytest

from harness.runlog.folders import run_ids
from tests.end_to_end.harness_process import Project, plain_server
from tests.fake_provider import FakeProvider, Incoming, Step, say
from tests.reports.packs import all_of

CASES = 8


class Moody:
    """Says yes, except to the prompts (by number) that its mood is against.

    ``flaky`` ones every other time.
    """

    def __init__(self) -> None:
        self.against: set[int] = set()
        self.flaky: set[int] = set()
        self._asked: Counter[int] = Counter()

    def __call__(self, request: Incoming) -> Step:
        number = int(request.prompt.split()[-1])
        self._asked[number] += 1
        refuses = number in self.against or (number in self.flaky and self._asked[number] % 2 == 0)
        return say("no" if refuses or request.body["model"] == "grump" else "yes")


def prepare(project: Project, provider: FakeProvider) -> None:
    url = f"{provider.url}/v1"
    models = {
        name: {"type": "openai", "model": name, "base_url": url, "api_key": "test-key"}
        for name in ("friend", "grump")
    }
    project.configure(models={"models": models})
    tests = [
        {
            "name": f"case{number}",
            "prompt": f"Say yes {number}",
            "assertions": {"answer_contains": ["yes"]},
        }
        for number in range(CASES)
    ]
    project.suite("mood", tests, server=plain_server())


def test_a_gate_that_no_loss_could_fire_is_refused_before_anything_is_run(
    project: Project,
) -> None:
    with FakeProvider(Moody()) as provider:
        prepare(project, provider)
        few = ("evals", "mood", "-m", "friend", "-k", "case[1-4]")
        assert project.run(*few).code == 0
        blind = project.run(*few, "--baseline", "latest", "--gate")
        (known,) = run_ids(project.folder / ".harness" / "runs")
        compared = project.run("compare", known, known, "--gate")
    assert (blind.code, compared.code) == (3, 3)
    assert "gate: no loss can fire it" in blind.stderr
    assert "gate: no loss can fire it" in compared.stderr


def test_a_regression_is_found_against_a_baseline_and_stops_the_gate(project: Project) -> None:
    moody = Moody()
    with FakeProvider(moody) as provider:
        prepare(project, provider)
        assert project.run("evals", "mood", "-m", "friend").code == 0
        moody.against = set(range(6))
        worse = project.run(
            "evals", "mood", "-m", "friend", "--baseline", "latest", "--gate", "--json-output"
        )
        moody.against = {0}
        known = run_ids(project.folder / ".harness" / "runs")
        unclear = project.run(
            "evals", "mood", "-m", "friend", "--baseline", known[0], "--gate", "5%"
        )
    assert worse.code == 1, worse.stderr
    result = worse.document["result"]
    (contrast,) = result["comparison"]["contrasts"]
    assert contrast["verdict"] == "worse"
    assert contrast["differences"] == []
    assert contrast["effects"][0]["p_value"] == 0.03125
    assert result["gate"]["passed"] is False
    assert unclear.code == 0, unclear.stdout + unclear.stderr
    assert "1 failed" in unclear.stdout
    assert "gate: the smallest loss that can fire it is" in unclear.stderr
    assert "gate: no evidence of a regression of more than 5 points" in unclear.stdout

    page = project.folder / "page.html"
    compared = project.run(
        "compare",
        known[0],
        known[1],
        "--report",
        "page.html",
        "--report",
        "markdown:note.md",
        "--gate",
    )
    assert compared.code == 1
    assert "A → B: worse" in compared.stdout
    assert "A → B: worse" in all_of(page.read_text("utf-8"))
    assert "worse (6)" in (project.folder / "note.md").read_text("utf-8")

    listed = project.run("runs", "--json-output", "-n", "2")
    assert listed.code == 0
    assert listed.document["result"]["known"] == 3
    assert [run["result"] for run in listed.document["result"]["runs"]] == [
        "7 passed, 1 failed",
        "2 passed, 6 failed",
    ]


def test_several_models_at_once_end_in_their_comparison(project: Project) -> None:
    with FakeProvider(Moody()) as provider:
        prepare(project, provider)
        finished = project.run("evals", "mood", "-m", "friend", "-m", "grump")
    assert finished.code == 1
    assert "A → B: worse" in finished.stdout
    assert "model was friend, is grump" in finished.stdout
    again = project.run("compare", "latest")
    assert again.stdout.strip() in finished.stdout


def test_trials_stop_when_their_case_is_decided(project: Project) -> None:
    moody = Moody()
    moody.flaky = {3}
    with FakeProvider(moody) as provider:
        prepare(project, provider)
        finished = project.run("evals", "mood", "-m", "friend", "-k", "case3", "--trials", "2..6")
        asked = len(provider.journal)
        resumed = project.run("evals", "--resume")
        assert len(provider.journal) == asked == 2
    assert finished.code == resumed.code == 1
    assert "6 planned: 1 passed, 1 failed, 4 skipped" in finished.stdout
    assert "case3  1 of 2 trials passed, 4 more not needed" in finished.stdout
    assert "flaky (passed sometimes): case3 1/2" in finished.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("compare", "--gate", "a", "b"), 3, "Write a RUN before --gate"),
        (("evals", "--baseline", "nothing"), 3, "there is no run named"),
        (("runs",), 0, "holds no run yet"),
    ],
)
def test_what_cannot_be_compared_is_told_before_anything_runs(
    project: Project, arguments: tuple[str, ...], code: int, words: str
) -> None:
    finished = project.run(*arguments)
    assert (finished.code, words in finished.stderr) == (code, True), finished.stderr
    assert "Traceback" not in finished.stderr
