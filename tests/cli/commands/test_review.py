import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.base.errors import UsageError
from harness.cli.commands import compare, judge_check, review, view
from harness.types import CheckResult
from tests.reports.sample_logs import a_log, a_run

RUN = "20260101T000000Z-shop-aaaaaa"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / ".harness" / "runs" / RUN
    folder.mkdir(parents=True)
    facts = {"judge": "gpt", "score": 0.2, "explanation": "Too rude."}
    check = CheckResult(
        kind="answer_judge",
        label="polite",
        verdict="failed",
        actual=facts,
        traits=("judge_decides",),
    )
    runs = [
        a_run("bad", "failed", checks=(check,)),
        a_run("twice", trial=1, repeats=2),
        a_run("twice", trial=2, repeats=2),
    ]
    a_log(folder, [(run, None) for run in runs], run_id=RUN)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(*arguments: str) -> Result:
    return CliRunner().invoke(review.command, arguments, catch_exceptions=False)


def test_a_verdict_is_overruled_and_then_listed_with_its_note(project: Path) -> None:
    assert said("latest").output == "Nobody has reviewed this run.\n"
    answer = said("latest", "bad", "--overrule", "--note", "Polite enough.", "--by", "Ann")
    assert answer.output == said("latest").output
    assert answer.output.splitlines() == [
        "1 reviewed, 1 overruled",
        "failed, overruled to passed by Ann  shop::bad with m",
        "    Polite enough.",
    ]
    found = json.loads(said("latest", "--json-output").output)["result"]
    assert [one["note"] for one in found["trials"].values()] == ["Polite enough."]
    shown = CliRunner().invoke(view.command, ["--no-open"])
    assert shown.output.splitlines()[-1] == "1 reviewed, 1 overruled"


def test_the_same_run_before_and_after_is_better_only_if_people_count(project: Path) -> None:
    folder = project / ".harness" / "runs"
    (folder / "20260102T000000Z-shop-bbbbbb").mkdir()
    copy = folder / "20260102T000000Z-shop-bbbbbb" / "log.jsonl"
    copy.write_bytes((folder / RUN / "log.jsonl").read_bytes())
    said("latest", "shop::bad", "--overrule", "--note", "Polite.", "--by", "Ann")
    for options, better in (([], 0), (["--by-people"], 1)):
        answer = CliRunner().invoke(compare.command, [RUN, "latest", "--json-output", *options])
        (contrast,) = json.loads(answer.output)["result"]["contrasts"]
        assert contrast["effects"][0]["better"] == better


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["latest", "bda", "--accept"], "the run has no case 'bda'"),
        (["latest", "bad"], "say what you think of the verdict"),
        (["latest", "--accept"], "name the case"),
        (["latest", "twice", "--accept"], "has 2 trials"),
        (["latest", "twice", "--accept", "--trial", "3"], "no trial of 'twice' is of that"),
    ],
)
def test_what_cannot_be_meant_is_an_error(project: Path, arguments: list[str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        said(*arguments, "--by", "Ann")


def test_one_of_several_trials_is_picked(project: Path) -> None:
    answer = said("latest", "twice", "--accept", "--trial", "2", "--by", "Ann")
    assert answer.output.splitlines()[1:] == [
        "passed, accepted by Ann  shop::twice with m, trial 2"
    ]


def test_judge_check_measures_the_judge_of_a_run_by_its_reviews(project: Path) -> None:
    def checked(*options: str) -> Result:
        return CliRunner().invoke(judge_check.command, ["--run", "latest", *options])

    assert checked().exit_code == 2
    said("latest", "bad", "--overrule", "--note", "Polite enough.", "--by", "Ann")
    answer = checked()
    assert answer.exit_code == 0
    assert "judge gpt: 1 answers reviewed by people" in answer.output
    assert "agreement 0.00" in answer.output
    assert "Ann says pass (Polite enough.), judge fail: Too rude." in answer.output
    (judge,) = json.loads(checked("--json-output").output)["judges"]
    assert (judge["judge"], judge["agreement"], judge["confusion"]) == (
        "gpt",
        0.0,
        [[0, 1], [0, 0]],
    )
