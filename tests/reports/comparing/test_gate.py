"""A gate says which losses it can see, and every change of a subject that never varies is one."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest

from harness.base.errors import UsageError
from harness.base.stats.effects import merge_pair, paired_effects, smallest_loss
from harness.base.stats.units import Trials
from harness.reports.comparing.contrasts import ComparedRun, compare_logs
from harness.reports.comparing.gate import anticipate_gate, judge_gate
from harness.runlog import RunLog
from tests.reports.run_logs import write_log

LEXICAL = {"m": {"provider": "lexical", "model_id": "lexical"}}
RECORDED = {"m": {"provider": "recorded", "model_id": "answers.jsonl", "digest": "a"}}
MOVED = {"m": {"provider": "recorded", "model_id": "elsewhere.jsonl", "digest": "a"}}
OTHER = {"m": {"provider": "recorded", "model_id": "answers.jsonl", "digest": "b"}}
UNREAD = {"m": {"provider": "recorded", "model_id": "answers.jsonl"}}


def cases(letters: str) -> dict[str, str]:
    return {f"c{place}": letter for place, letter in enumerate(letters)}


def said(models: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a header says of the model, if it says anything special."""
    return {"described": models} if models else {}


def runs(
    folder: Path, before: str, after: str, *models: Mapping[str, Any], **header: Any
) -> list[RunLog]:
    both = models * 2 if len(models) == 1 else models or ({}, {})
    return [
        write_log(folder / name / "log.jsonl", cases(letters), **said(it), **header)
        for name, letters, it in zip("ab", (before, after), both, strict=True)
    ]


@pytest.mark.parametrize("margin", [0.0, 0.05, 0.2])
@pytest.mark.parametrize("passing", range(10))
def test_the_smallest_loss_is_the_smallest_of_all_losses_that_fire(
    passing: int, margin: float
) -> None:
    before: list[Trials] = [*[(1, 1)] * passing, *[(0, 1)] * (9 - passing)]
    fewest = None
    for lost in reversed(range(passing + 1)):
        after: list[Trials] = [(0, 1)] * lost + before[lost:]
        (effect,) = paired_effects([[*zip(before, after, strict=True)]])
        assert effect is not None
        if effect.verdict == "worse" and (not margin or effect.interval[1] < -margin):
            fewest = lost
    found = smallest_loss([[one] for one in before], beyond=margin)
    assert (found and found.lost) == fewest


@pytest.mark.parametrize(
    ("letters", "tests"), [("p" * 5, None), ("p" * 6, 6), ("p" * 30, 6), ("f" * 9, None)]
)
def test_six_cases_have_to_fall_before_anything_is_evidence(
    tmp_path: Path, letters: str, tests: int | None
) -> None:
    before, after = runs(tmp_path, letters, letters)
    gate = judge_gate(compare_logs([before, after]))
    assert (gate.loss and gate.loss.lost) == tests
    early = anticipate_gate(ComparedRun.from_log(before), after.header, 0.0)
    assert (early.loss, early.is_blind) == (gate.loss, gate.is_blind)
    if tests is None:
        with pytest.raises(UsageError, match="no loss can fire it"):
            early.refuse_if_blind()


def test_a_baseline_without_any_of_the_cases_sees_no_loss(tmp_path: Path) -> None:
    before, after = runs(tmp_path, "p" * 9, "p" * 9)
    other = write_log(tmp_path / "other" / "log.jsonl", cases("p" * 9), suite="other")
    assert not anticipate_gate(ComparedRun.from_log(before), after.header, 0.0).is_blind
    gate = anticipate_gate(ComparedRun.from_log(other), after.header, 0.0)
    with pytest.raises(UsageError, match="no verdict on any of these cases"):
        gate.refuse_if_blind()


def test_the_rows_of_one_test_are_not_six_losses() -> None:
    assert smallest_loss([[(1, 1)] * 8]) is None


@pytest.mark.slow
@pytest.mark.parametrize("margin", [0.0, 0.05, 0.3])
def test_no_simulated_run_fires_a_gate_by_less_than_the_smallest_loss(margin: float) -> None:
    rng, fired = Random(7), 0
    for _ in range(4_000):
        trials = rng.choice((1, 1, 3))
        tests = [[trials] * rng.choice((1, 1, 2, 5)) for _ in range(rng.randrange(1, 14))]
        chance, later = rng.uniform(0.6, 1), rng.uniform(0, 0.6)
        before, after = (
            [[(sum(rng.random() < it for _ in range(of)), of) for of in test] for test in tests]
            for it in (chance, later)
        )
        pairs = [
            merge_pair([*zip(one, other, strict=True)])
            for one, other in zip(before, after, strict=True)
        ]
        (effect,) = paired_effects([pairs])
        assert effect is not None
        if effect.verdict == "worse" and (not margin or effect.interval[1] < -margin):
            fired += 1
            least = smallest_loss(before, beyond=margin)
            worse = sum(new[0] / new[1] < old[0] / old[1] for old, new in pairs)
            assert least is not None
            assert least.lost <= worse
    assert fired > 400


def a_matrix(folder: Path, ends: Mapping[str, str]) -> list[RunLog]:
    """Write two runs of tests whose cases ended so: the letters before, and those after."""
    return [
        write_log(
            folder / side / "log.jsonl",
            {
                f"{test}[{place}]" if len(letters) > 1 else test: letter
                for test, letters in ((test, both.split()[number]) for test, both in ends.items())
                for place, letter in enumerate(letters)
            },
            described=LEXICAL,
        )
        for number, side in enumerate("ab")
    ]


def test_the_smallest_loss_of_what_never_varies_is_in_cases_of_a_matrix(tmp_path: Path) -> None:
    logs = a_matrix(tmp_path, {"one": "p p", "many": "ppff pfff"})
    comparison = compare_logs(logs)
    assert comparison.contrasts[0].effects[0].tests == 2

    def verdict(margin: float) -> str:
        return "\n".join(judge_gate(comparison, margin).write_sentences())

    always = "for the subject always answers the same"
    assert verdict(0.0) == (
        "gate: evidence of a regression (A → B: 1 of 5 cases got worse, −12 points)\n"
        f"gate: the smallest loss that could have fired it is any of 3 passing cases, {always}"
    )
    assert verdict(0.125) == (
        "gate: no evidence of a regression of more than 12 points\n"
        "gate: the smallest loss that could have fired it is any of more than 12 points, from 1 of "
        f"the 3 passing cases on, {always}"
    )
    assert "evidence of a regression of more than 12 points (A" in verdict(0.12)


def test_a_loss_of_just_the_margin_is_none_beyond_it(tmp_path: Path) -> None:
    comparison = compare_logs(runs(tmp_path, "p" * 20, "p" * 19 + "f", LEXICAL))
    assert not judge_gate(comparison, 0.05).regressions
    assert judge_gate(comparison, 0.049).regressions
    loss = judge_gate(comparison, 0.05).loss
    assert loss is not None
    assert loss.lost == 2


def test_with_repeats_on_either_side_no_loss_in_points_is_the_smallest(tmp_path: Path) -> None:
    once, thrice = runs(tmp_path, "p" * 8, "p" * 8)[0], cases("p" * 8)
    after = write_log(tmp_path / "c" / "log.jsonl", dict.fromkeys(thrice, "ppp"))
    gate = judge_gate(compare_logs([once, after]))
    words = "gate: the smallest loss that can fire it is one in 6 of the 8 passing cases"
    assert gate.describe_loss("can fire") == words
    early = anticipate_gate(ComparedRun.from_log(once), after.header, 0.0)
    assert early.describe_loss("can fire") == words


def test_of_several_suites_each_has_a_stricter_test(tmp_path: Path) -> None:
    suites = {name: cases("p" * 6) for name in "xyz"}
    logs = [write_log(tmp_path / name / "log.jsonl", suites) for name in "ab"]
    gate = judge_gate(compare_logs(logs))
    assert gate.loss is not None
    assert gate.loss.lost == 8  # 2/2^8 is below 5 % of four tests


@pytest.mark.parametrize("models", [(LEXICAL,), (RECORDED,), (RECORDED, MOVED)])
def test_what_always_answers_the_same_has_changed_where_one_case_has(
    tmp_path: Path, models: tuple[Mapping[str, Any], ...]
) -> None:
    comparison = compare_logs(runs(tmp_path, "ppf", "pff", *models))
    effect = comparison.contrasts[0].effects[0]
    assert (effect.evidence, effect.certain, effect.cases_to_decide) == ("worse", True, None)
    gate = judge_gate(comparison)
    assert "\n".join(gate.write_sentences()) == (
        "gate: evidence of a regression (A → B: 1 of 3 cases got worse, −33 points)\n"
        "gate: the smallest loss that could have fired it is 1 of the 2 passing cases "
        "(33 points), for the subject always answers the same"
    )
    assert judge_gate(comparison, 0.3).regressions
    assert not judge_gate(comparison, 0.4).regressions
    assert gate.to_json()["smallest_loss"] == {
        "unit": "cases",
        "lost": 1,
        "passing": 2,
        "difference": pytest.approx(-1 / 3),
        "divisible": False,
    }


JUDGED = {"settings": {"judge_models": {"j": {"provider": "openai", "model_id": "j"}}}}


@pytest.mark.parametrize(
    ("models", "before", "header"),
    [
        ((), "ppf", {}),
        ((RECORDED, OTHER), "ppf", {}),
        ((UNREAD,), "ppf", {}),
        ((LEXICAL,), "ppf", JUDGED),
    ],
    ids=["a model", "two recordings", "unread", "a judge"],
)
def test_what_may_answer_otherwise_needs_a_test(
    tmp_path: Path, models: tuple[Any, ...], before: str, header: dict[str, Any]
) -> None:
    comparison = compare_logs(runs(tmp_path, before, "pff", *models, **header))
    effect = comparison.contrasts[0].effects[0]
    assert (effect.evidence, effect.certain) == ("undecided", False)
    assert judge_gate(comparison).is_blind


@pytest.mark.parametrize(("models", "certain"), [(LEXICAL, False), (RECORDED, True)])
def test_trials_of_the_baseline_that_differ_show_that_the_server_varies(
    tmp_path: Path, models: Mapping[str, Any], certain: bool
) -> None:
    logs = [
        write_log(tmp_path / name / "log.jsonl", {"a": letters, "b": "ppp"}, **said(models))
        for name, letters in (("a", "ppp"), ("b", "ppf"))
    ]
    assert compare_logs(logs).contrasts[0].effects[0].certain is certain


def test_better_and_worse_by_as_much_is_a_regression_and_no_verdict(tmp_path: Path) -> None:
    comparison = compare_logs(runs(tmp_path, "pf", "fp", LEXICAL))
    assert comparison.contrasts[0].effects[0].evidence == "undecided"
    assert judge_gate(comparison).regressions
    assert not judge_gate(comparison, 0.05).regressions


def test_every_loss_that_fires_is_at_least_the_smallest() -> None:
    before: list[Trials] = [*[(1, 1)] * 7, (0, 1)]
    least = smallest_loss([[one] for one in before])
    assert least is not None
    for ends in product((0, 1), repeat=8):
        (effect,) = paired_effects(
            [[(one, (end, 1)) for one, end in zip(before, ends, strict=True)]]
        )
        if effect is not None and effect.verdict == "worse":
            assert sum(end == 0 for end in ends[:7]) >= least.lost
