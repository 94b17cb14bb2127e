"""Which variants a run tries: by name, by file, from a program, and what cannot be had."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.base.errors import InvalidInput, UsageError
from harness.runner.planning.model_choice import (
    check_prompts,
    list_decoy_servers,
    merge_variants,
    refuse_faults_of_recorded,
    refuse_recorded,
    refuse_twins,
)
from harness.suites.axes import choose_variants, describe_values
from harness.types import (
    Decoys,
    FaultRule,
    FaultSet,
    ModelSpec,
    SimulatedUser,
    Suite,
    ToolEdit,
    Variant,
)
from tests.reports.run_logs import write_log
from tests.support import a_case

SHORT, LONG = Variant(name="short", order=1), Variant(name="long", order=2)
SUITE = Suite(name="shop", cases=(), variants=(SHORT, LONG))
MODEL = ModelSpec(name="m", provider="lexical", model_id="m")


def test_without_a_wish_the_server_s_own_list_is_shown() -> None:
    assert choose_variants(SUITE, ()) == (None,)


def test_variants_are_named_once_each_in_the_order_of_the_wish() -> None:
    assert choose_variants(SUITE, ("long", "none", "short", "long")) == (LONG, None, SHORT)


def test_an_unknown_name_is_told_with_what_there_is() -> None:
    with pytest.raises(UsageError, match="no variant 'sort' in suite 'shop'") as refused:
        choose_variants(SUITE, ("sort",))
    assert "short" in str(refused.value.meant)
    with pytest.raises(UsageError, match="no variant") as refused:
        choose_variants(Suite(name="bare", cases=()), ("short",))
    assert "variants:" in str(refused.value.meant)


def test_a_file_and_the_suite_may_not_mean_two_things_by_one_name(tmp_path: Path) -> None:
    path = tmp_path / "more.yml"
    path.write_text("variants: {short: {order: {seed: 9}}}")
    with pytest.raises(UsageError, match="two different variants are named 'short'"):
        choose_variants(SUITE, ("short", str(path)))
    assert choose_variants(SUITE, (f"{path}:short",))[0] == Variant(name="short", order=9)


def test_two_suites_may_not_mean_two_things_by_one_name() -> None:
    other = Variant(name="short", order=9)
    refuse_twins([(MODEL, {"variant": SHORT}), (MODEL, {"variant": SHORT}), (MODEL, {})])
    with pytest.raises(UsageError, match="two suites have different variants named 'short'"):
        refuse_twins([(MODEL, {"variant": SHORT}), (MODEL, {"variant": other})])


def test_two_entrants_may_not_have_one_name() -> None:
    with pytest.raises(UsageError, match=r"two entrants of this run .* the name 'm\+short'"):
        refuse_twins([(MODEL, {"variant": SHORT}), (replace(MODEL, name="m+short"), {})])


def test_a_program_s_variants_stand_beside_those_of_the_suite() -> None:
    mine = Variant(name="mine", order=3)
    assert merge_variants((SHORT,), (mine, SHORT)) == (SHORT, mine)
    with pytest.raises(UsageError, match="two different variants"):
        merge_variants((SHORT,), (Variant(name="short", order=9),))


def test_servers_whose_tools_are_decoys_are_named_once() -> None:
    bank = Variant(name="a", add=(Decoys(source="server:bank"), Decoys(), Decoys(source="bfcl")))
    again = Variant(name="b", add=(Decoys(source="server:bank", count=2),))
    assert list_decoy_servers([SHORT, bank, again]) == ("bank",)


def test_other_words_are_for_tests_that_there_are_and_that_have_a_prompt() -> None:
    suite = Suite(
        name="shop", cases=(a_case(name="open"), a_case(name="talk", user=SimulatedUser()))
    )
    good = Variant(name="good", prompts={"open": "Other words."})
    check_prompts([suite], [SHORT, good])
    bad = Variant(name="bad", prompts={"opem": "x", "talk": "y"})
    with pytest.raises(InvalidInput) as refused:
        check_prompts([suite], [bad])
    typo, talk = refused.value.problems
    assert "'opem', which no suite here has" in typo.message
    assert "Did you mean 'open'?" in str(typo.meant)
    assert "'talk', whose user is simulated" in talk.message


# ── Models that repeat what they said ────────────────────────────────────────────────────────

BRIEF = Variant(name="short", tools={"find": ToolEdit(description="Finds.")})


def test_outputs_of_a_leaderboard_are_not_asked_about_a_variant_and_it_is_named() -> None:
    model = ModelSpec(name="gpt", provider="recorded", model_id="x")
    with pytest.raises(UsageError, match=r"gpt repeats what was said .* the variant 'short'"):
        refuse_recorded([(model, BRIEF)])


def test_nothing_goes_wrong_with_recorded_outputs_and_the_error_says_what_to_leave_out() -> None:
    model = ModelSpec(name="gpt", provider="recorded", model_id="x")
    lost = FaultSet(name="book#1:lost_answer", faults=(FaultRule(do="lost_answer", on="book"),))
    words = r"gpt has recorded outputs.* the fault 'book#1:lost_answer'"
    with pytest.raises(UsageError, match=words) as caught:
        refuse_faults_of_recorded([(model, lost)])
    assert "--faults none" in str(caught.value.meant)
    refuse_faults_of_recorded([(MODEL, lost), (replace(model, provider="replay"), lost)])


def test_a_run_is_replayed_under_the_edits_that_it_was_made_under_whatever_their_name(
    tmp_path: Path,
) -> None:
    path = tmp_path / "log.jsonl"
    write_log(path, {"a": "p"}, axes=describe_values([{"variant": BRIEF}]))
    replayed = ModelSpec(name="again", provider="replay", model_id=str(path))
    refuse_recorded([(replayed, BRIEF)])
    refuse_recorded([(replayed, replace(BRIEF, name="brief"))])
    other = replace(BRIEF, tools={"find": ToolEdit(description="Seeks.")})
    with pytest.raises(UsageError, match="repeats what was said"):
        refuse_recorded([(replayed, other)])
