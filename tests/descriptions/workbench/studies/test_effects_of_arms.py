"""Ablation, A/B, cost and decoys: the effect of an arm compared with the clean arm."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from harness.base.stats.paired_tests import compute_mcnemar_p
from harness.descriptions.workbench.arms import iterate_parts, iterate_tool_parts, remove_part
from harness.descriptions.workbench.studies import ab, ablation, cost, decoys
from harness.descriptions.workbench.study import OtherServer, StudyOptions
from harness.types import Usage, Variant
from tests.descriptions.workbench.benches import Trials, bench, case, measured, tool

TOOLS = [tool("find", "Find orders. Use it for invoices.")]
NAMES = [f"c{number:03}" for number in range(40)]
CASES = [case(name, must_call=["find"]) for name in NAMES]
PARTS = list(iterate_tool_parts(TOOLS))  # name, sentence 1, sentence 2


def ends(failed: int, names: list[str] = NAMES) -> Mapping[str, Trials]:
    return {
        name: [("f", None) if place < failed else ("p", "find")] for place, name in enumerate(names)
    }


def test_the_part_without_which_cases_fail_carries_weight(tmp_path: Path) -> None:
    arms = [
        (None, ends(0)),
        (remove_part(PARTS[0], TOOLS), ends(1)),
        (remove_part(PARTS[1], TOOLS), ends(0)),
        (remove_part(PARTS[2], TOOLS), ends(12)),
    ]
    result = ablation.STUDY.read(bench(CASES, TOOLS), measured(tmp_path, *arms))
    first, second, third = result.facts["parts"]
    assert (first["label"], first["verdict"], first["says"]) == (
        "find: sentence 2",
        "better",
        "carries weight",
    )
    assert first["effect"] == pytest.approx(12 / 40)
    assert first["p_adjusted"] == pytest.approx(3 * compute_mcnemar_p(0, 12))
    assert first["interval"][0] > 0
    assert (second["effect"], second["verdict"]) == (pytest.approx(1 / 40), "undecided")
    assert third["effect"] == 0
    assert third["interval"][0] < 0 < third["interval"][1]
    certain, likely = result.findings
    assert certain.text == (
        "Without find: sentence 2 (“Use it for invoices.”) 30 points of pass rate are lost."
    )
    assert certain.certain
    assert likely.text.endswith("3 points of pass rate are lost, which may be chance.")
    assert not likely.certain


def test_a_part_that_does_harm_is_told_as_a_gain_without_it(tmp_path: Path) -> None:
    arms = [(None, ends(20)), (remove_part(PARTS[1], TOOLS), ends(8))]
    result = ablation.STUDY.read(bench(CASES, TOOLS), measured(tmp_path, *arms))
    [part] = result.facts["parts"]
    assert (part["verdict"], part["says"]) == ("worse", "does harm")
    assert "30 points of pass rate are gained." in result.findings[0].text


def test_a_sentence_of_the_instructions_carries_weight_like_one_of_a_tool(tmp_path: Path) -> None:
    stage = bench(CASES, TOOLS, instructions=({"shop": "Ask first. Be brief."},))
    parts = list(iterate_parts(stage.texts))
    ended = {"sentence 1": ends(14), "all": ends(15)}
    arms = [
        (
            remove_part(part, TOOLS),
            ended.get(part.label.split(": ")[1], ends(0)) if part.tool is None else ends(0),
        )
        for part in parts
    ]
    run = measured(tmp_path, (None, ends(0)), *arms)
    first, second, *_ = ablation.STUDY.read(stage, run).facts["parts"]
    assert (first["label"], first["says"]) == ("the server's instructions: all", "carries weight")
    assert (second["label"], second["says"]) == (
        "the server's instructions: sentence 1",
        "carries weight",
    )
    facts = cost.STUDY.read(stage, run).facts
    assert facts["tokens"] == sum(part.tokens for part in parts if part.kind != "all")


def test_a_finding_quotes_the_beginning_of_long_instructions(tmp_path: Path) -> None:
    stage = bench(CASES, TOOLS, instructions=({"shop": "Ask first. " * 500},))
    whole = next(iterate_parts(stage.texts))
    run = measured(tmp_path, (None, ends(0)), (remove_part(whole, TOOLS), ends(14)))
    [finding] = ablation.STUDY.read(stage, run).findings
    assert "(“Ask first. Ask first." in finding.text
    assert len(finding.text) < 400


def test_instructions_that_differ_by_caller_are_said_to_be_removed_as_a_whole(
    tmp_path: Path,
) -> None:
    stage = bench(CASES, TOOLS, instructions=({"shop": "Ask. Wait."}, {"shop": "Wait."}))
    result = ablation.STUDY.read(stage, measured(tmp_path, (None, ends(0))))
    assert "differ by caller" in result.notes[0]


def test_too_few_cases_for_so_many_parts_are_told_and_nothing_is_claimed(tmp_path: Path) -> None:
    few = NAMES[:5]
    arms = [(None, ends(0, few)), (remove_part(PARTS[2], TOOLS), ends(5, few))]
    result = ablation.STUDY.read(bench(CASES[:5], TOOLS), measured(tmp_path, *arms))
    assert result.facts["parts"][0]["verdict"] == "undecided"
    assert "cannot show the effect" in result.notes[0]


def test_a_b_says_better_worse_equivalent_or_undecided_and_how_many_cases_decide(
    tmp_path: Path,
) -> None:
    good, bad, open_ = (
        Variant(name=name, order=seed) for seed, name in enumerate(("good", "bad", "open"))
    )
    arms = [(None, ends(15)), (good, ends(3)), (bad, ends(32)), (open_, ends(14))]
    result = ab.STUDY.read(
        bench(CASES, TOOLS, versus=(good, bad, open_)), measured(tmp_path, *arms)
    )
    assert result.headline == "good: better, bad: worse, open: undecided"
    assert [one["verdict"] for one in result.facts["variants"]] == ["better", "worse", "undecided"]
    assert result.facts["variants"][2]["cases_to_decide"] > 40
    assert [finding.certain for finding in result.findings] == [True, True]
    assert ab.STUDY.read(bench(CASES, TOOLS), measured(tmp_path / "x")).facts["variants"] == []


def test_another_server_is_judged_together_with_the_variants(tmp_path: Path) -> None:
    short = Variant(name="short", order=1)
    other = OtherServer(name="next", tools=(tool("find", "Find."),), not_asked={"c000": "why"})
    options = StudyOptions(against="next")
    stage = bench(CASES, TOOLS, versus=(short,), other=other, options=options)
    own = measured(tmp_path / "a", (None, ends(15)), (short, ends(12)))
    alone = ab.STUDY.read(stage, own)
    assert alone.headline == "short: undecided"
    assert "next has not been tried yet." in alone.notes
    on_other = {name: end for name, end in ends(1).items() if name != "c000"}
    there = measured(tmp_path / "b", (None, {**on_other, "c001": [("e", None)]}))
    own.other = there
    result = ab.STUDY.read(stage, own)
    assert result.headline == "short: undecided, next: better"
    against = result.facts["against"]
    assert (against["cases"], against["not_judged"]) == (38, 1)
    # Two versions at once: Holm counts the better of them twice.
    assert against["p_adjusted"] == pytest.approx(2 * compute_mcnemar_p(13, 0))
    assert result.notes[0] == (
        "1 case cannot be asked of next and is left out of the comparison: c000 (why)."
    )
    assert result.notes[1].startswith("1 trial on next has no verdict")
    listed = {one["tool"]: one["changed"] for one in against["tools"]}
    assert listed == {"find": ("description",)}


def test_equivalent_needs_an_interval_within_the_margin(tmp_path: Path) -> None:
    same = Variant(name="same", order=1)
    options = StudyOptions(margin=0.15)
    arms = [(None, ends(0)), (same, ends(0))]
    run = measured(tmp_path, *arms)
    result = ab.STUDY.read(bench(CASES, TOOLS, versus=(same,), options=options), run)
    assert result.facts["variants"][0]["verdict"] == "equivalent"
    result = ab.STUDY.read(bench(CASES, TOOLS, versus=(same,)), run)
    assert result.facts["variants"][0]["verdict"] == "undecided"  # 40 cases do not show 5 points


def test_words_that_cost_and_carry_nothing_are_told_with_their_tokens(tmp_path: Path) -> None:
    options = StudyOptions(margin=0.15)
    arms = [
        (None, {**ends(0), "c000": [("f", None)]}),
        (remove_part(PARTS[0], TOOLS), ends(1)),
        (remove_part(PARTS[1], TOOLS), ends(1)),
        (remove_part(PARTS[2], TOOLS), ends(20)),
    ]
    run = measured(tmp_path, *arms, usage=Usage(input_tokens=90, output_tokens=10))
    result = cost.STUDY.read(bench(CASES, TOOLS, options=options), run)
    facts = result.facts
    assert facts["tokens"] == sum(part.tokens for part in PARTS)
    idle = [one["label"] for one in facts["parts"] if one["idle"]]
    assert idle == ["find: sentence 1"]  # the name does nothing here either, but has to be there
    assert facts["idle_tokens"] == PARTS[1].tokens
    assert facts["selection"] == {
        "trials": 40,
        "right": 39,
        "tokens": 4000,
        "tokens_each": pytest.approx(4000 / 39),
    }
    assert "a right first call takes 103 tokens" in result.headline
    assert "find: sentence 1 is the longest" in result.findings[0].text


def test_a_list_that_drowns_the_right_tool_shows_a_fall_by_kind(tmp_path: Path) -> None:
    options = StudyOptions(decoys=(8, 500))
    stage = bench(CASES, TOOLS, options=options)
    arms = {arm.variant.name: arm.variant for arm in decoys.STUDY.arms(stage) if arm.variant}
    # The built-in pack has 150 tools, and one tool has eight near relatives.
    assert list(arms) == [
        "8 unrelated tools more",
        "150 unrelated tools more",
        "8 similar tools more",
    ]
    lost = {name: [("f", "!find_archived")] for name in NAMES[:25]}
    run = measured(
        tmp_path,
        (None, ends(0)),
        (arms["8 unrelated tools more"], ends(0)),
        (arms["150 unrelated tools more"], ends(0)),
        (arms["8 similar tools more"], {**ends(0), **lost}),
    )
    result = decoys.STUDY.read(stage, run)
    unrelated, near = result.facts["kinds"]
    assert unrelated["fall"] == pytest.approx(0, abs=1e-9)
    assert "fall by 0.00 with each doubling" in result.lines[0]
    assert unrelated["interval"][0] < 0 < unrelated["interval"][1]
    assert unrelated["verdict"] == "show no trend"
    assert near["fall"] > near["interval"][0] > 0
    assert near["verdict"] == "make it worse"
    assert near["lengths"][1] == {
        "added": 8,
        "pass_rate": 15 / 40,
        "cases": 40,
        "decoy_called_first": 25,
        "trials": 40,
    }
    assert [point["added"] for point in near["curve"]][-1] == pytest.approx(8)
    [finding] = result.findings
    assert "similar tools more" in finding.text
    assert result.notes == (
        "There are only 150 unrelated tools to add, so a list with 500 more was not tried.",
        "There are only 8 similar tools to add, so a list with 500 more was not tried.",
    )
