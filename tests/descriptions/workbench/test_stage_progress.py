"""The progress of a workbench: lists, their changes, and when a change is shown."""

from __future__ import annotations

from dataclasses import replace

from harness.descriptions.workbench.arms import CLEAN, Arm
from harness.descriptions.workbench.stage_progress import StageProgress
from harness.types import CaseFacts, Status, ToolEdit, TrialResult, Variant

WITHOUT = Arm(variant=Variant(name="without find", tools={"find": ToolEdit(description="")}))
SOME = Arm(variant=Variant(name="x", tools={"find": None}), cases=frozenset({"case 0"}))
STUDIES = {CLEAN.key: "clean", WITHOUT.key: "ablation", SOME.key: "ablation"}


def trial(model: str, case: int, status: Status, number: int = 1, of: int = 1) -> TrialResult:
    return TrialResult(
        key=f"{model}{case}{number}",
        suite="s",
        case=CaseFacts(name=f"case {case}"),
        model=model,
        trial=number,
        repeats=of,
        status=status,
    )


def of(cases: int) -> StageProgress:
    return StageProgress([CLEAN, WITHOUT, SOME], ["m"], cases, STUDIES)


def test_a_list_is_told_when_its_last_case_has_ended() -> None:
    progress = of(2)
    assert progress.add_results([trial("m", 0, "passed")]) == []
    assert progress.add_results([trial("m", 1, "failed")]) == [
        "[clean 1/1] the server's own list: 50 % passed (2 of 2 cases)"
    ]
    assert progress.add_results([trial("m+without find", 0, "failed")]) == []
    assert progress.describe_list("m+without find") == (
        "[ablation 0/2] without find: −100 points so far (1 of 2 cases)"
    )
    assert progress.add_results([trial("m+without find", 1, "failed")]) == [
        "[ablation 1/2] without find: −50 points (2 of 2 cases)"
    ]
    assert progress.add_results([trial("m+x", 0, "passed")]) == [
        "[ablation 2/2] x: 0 points (1 of 1 cases)"
    ]
    assert progress.has_changes("m+without find")
    assert not progress.has_changes("m+x")


def test_cases_of_one_test_are_no_evidence_of_their_own() -> None:
    told = []
    for test in (None, "t"):
        progress = of(40)
        for number in range(40):
            ends = trial("m", number, "passed"), trial("m+without find", number, "failed")
            progress.add_results([replace(end, case=replace(end.case, test=test)) for end in ends])
        told.append(progress.describe_list("m+without find"))
    assert ["shown" in line for line in told] == [True, False]


def test_lists_that_are_ahead_of_the_servers_own_are_compared_later() -> None:
    progress = of(1)
    (line,) = progress.add_results([trial("m+without find", 0, "failed")])
    assert "nothing to compare yet" in line
    progress.add_results([trial("m", 0, "passed")])
    assert "−100 points" in progress.describe_list("m+without find")


def test_trials_of_a_case_count_together_and_what_has_no_verdict_is_told() -> None:
    progress = of(2)
    progress.add_results([trial("m", 0, "passed", index, 2) for index in range(2)])
    progress.add_results([trial("m", 1, "error", index, 2) for index in range(2)])
    assert progress.describe_list("m").endswith("100 % passed (1 of 2 cases; 1 without a verdict)")
    progress.add_results([trial("m+x", 0, "failed", 0, 2), trial("m+x", 0, "passed", 1, 2)])
    assert "x: −50 points (1 of 1 cases)" in progress.describe_list("m+x")


def test_a_change_is_said_to_be_shown_only_when_every_look_allows_it() -> None:
    progress = of(60)
    progress.add_results(trial("m", case, "passed") for case in range(60))
    progress.add_results(trial("m+without find", case, "failed") for case in range(5))
    assert "shown" not in progress.describe_list("m+without find")
    progress.add_results(trial("m+without find", case, "failed") for case in range(5, 40))
    assert "−100 points so far (40 of 60 cases; shown: −100 to −" in progress.describe_list(
        "m+without find"
    )
