import io
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from harness.base.errors import UsageError
from harness.judging.trial import written_call_warnings
from harness.reports.comparing.comparison_types import Comparison, Contrast, Effect
from harness.reports.comparing.console import print_comparison
from harness.reports.comparing.contrasts import compare_logs
from harness.reports.comparing.gate import judge_gate
from harness.reports.comparing.sentences import describe_effect
from harness.runlog import RunLog
from harness.types import AssistantMessage, Reply, Tool, ToolList, Transcript, Usage
from tests.reports.logs import a_transcript
from tests.reports.run_logs import Results, write_log
from tests.reports.sample_logs import a_log, a_run


class Runs:
    """Writes logs below one folder, each in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._number = count(1)

    def __call__(self, results: Results | Mapping[str, Results], **facts: object) -> RunLog:
        return write_log(self._folder / f"run{next(self._number)}" / "log.jsonl", results, **facts)  # type: ignore[arg-type]


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path)


def cases(**amounts: int) -> dict[str, str]:
    """Return so many cases of each result: ``cases(p=3, f=2)``."""
    numbers = count()
    return {
        f"case{next(numbers)}": letters
        for letters, amount in amounts.items()
        for _ in range(amount)
    }


def only(comparison: Comparison) -> tuple[Contrast, Effect]:
    (contrast,) = comparison.contrasts
    return contrast, contrast.effects[0]


def test_one_trial_each_is_compared_by_mcnemar(runs: Runs) -> None:
    contrast, effect = only(compare_logs([runs(cases(p=20)), runs(cases(f=6, p=14))]))
    assert (effect.better, effect.worse, effect.same, effect.not_judged) == (0, 6, 14, 0)
    assert (effect.before, effect.after, effect.difference) == pytest.approx((1.0, 0.7, -0.3))
    assert (effect.test, effect.p_value, effect.interval_method) == (
        "McNemar",
        0.03125,
        "Newcombe, paired",
    )
    assert effect.evidence == "worse"
    assert contrast.cases[0].change == "worse"


def test_five_lost_cases_are_no_evidence_however_bad_it_looks(runs: Runs) -> None:
    _, effect = only(compare_logs([runs(cases(p=5)), runs(cases(f=5))]))
    assert (effect.p_value, effect.evidence) == (0.0625, "undecided")
    assert effect.smallest is None


@pytest.mark.parametrize(
    ("amount", "words"), [(1, "1 case is too few"), (5, "5 cases are too few")]
)
def test_too_little_evidence_is_told_in_good_grammar(runs: Runs, amount: int, words: str) -> None:
    comparison = compare_logs([runs(cases(p=amount)), runs(cases(f=amount))])
    told = list(describe_effect(only(comparison)[1], comparison))
    assert [sentence for sentence in told if sentence.startswith(words)], told


def test_an_improvement_is_told_too(runs: Runs) -> None:
    _, effect = only(compare_logs([runs(cases(f=8)), runs(cases(p=8))]))
    assert effect.evidence == "better"


def test_repeats_are_compared_by_their_case_means(runs: Runs) -> None:
    before = runs({"a": "ppp", "b": "pfp", "c": "ppp", "d": "fff"})
    after = runs({"a": "ppf", "b": "pff", "c": "fff", "d": "fff"})
    contrast, effect = only(compare_logs([before, after]))
    assert effect.test == "sign-flip"
    assert effect.p_value == 2 / 2**3
    assert [pair.difference for pair in contrast.cases] == pytest.approx(
        [-1 / 3, -1 / 3, -1.0, 0.0]
    )
    assert effect.interval_method == "paired t"
    assert contrast.before.rate == pytest.approx((1 + 2 / 3 + 1 + 0) / 4)


def test_a_case_counts_once_however_often_it_was_run(runs: Runs) -> None:
    contrast, effect = only(
        compare_logs([runs({"a": "p" * 9, "b": "f"}), runs({"a": "p" * 9, "b": "f"})])
    )
    assert contrast.before.rate == effect.before == 0.5


def test_cases_that_all_moved_alike_still_get_an_interval(runs: Runs) -> None:
    before, after = {f"case{i}": "pp" for i in range(7)}, {f"case{i}": "pf" for i in range(7)}
    _, effect = only(compare_logs([runs(before), runs(after)]))
    assert effect.interval_method == "Newcombe, unpaired"
    assert effect.interval is not None
    assert effect.interval[0] < -0.5 < effect.interval[1]
    assert effect.evidence == "worse"


def test_what_was_not_judged_is_counted_and_in_no_rate(runs: Runs) -> None:
    before = runs({"a": "p", "b": "p", "c": "e", "d": "p", "e": "pe"})
    after = runs({"a": "p", "b": "e", "c": "f", "d": "s", "e": "pp"})
    contrast, effect = only(compare_logs([before, after]))
    assert (effect.pairs, effect.not_judged) == (2, 3)
    assert (effect.before, effect.after) == (1.0, 1.0)
    unjudged = {pair.case: (pair.before.unjudged, pair.after.unjudged) for pair in contrast.cases}
    assert unjudged["b"] == ((), ("error (server)",))
    assert unjudged["d"] == ((), ("skipped (budget)",))
    assert unjudged["e"] == (("error (server)",), ())
    assert contrast.after.counts.error == 1


def test_a_call_written_as_text_says_nothing_about_a_change_of_words(tmp_path: Path) -> None:
    reply = AssistantMessage(reply=Reply(written_call="get_order"))
    as_text = written_call_warnings(Transcript(messages=(reply,)))
    passed, written = a_run("case", "passed"), a_run("case", "failed", checks=as_text)
    logs = [
        a_log(tmp_path / str(place), [(one, a_transcript())])
        for place, one in enumerate((passed, written))
    ]
    for contrast, effect in (only(compare_logs(logs)), only(compare_logs(logs[::-1]))):
        assert (effect.pairs, effect.not_judged, effect.worse) == (0, 1, 0)
        assert "skipped (a call written as text)" in {
            *contrast.cases[0].before.unjudged,
            *contrast.cases[0].after.unjudged,
        }


def test_a_case_that_an_interrupted_run_never_reached_is_not_judged(runs: Runs) -> None:
    header = {"suites": {"s": {"cases": {"a": "d", "b": "d"}}}, "planned": 2, "finished": False}
    contrast, effect = only(compare_logs([runs({"a": "p", "b": "p"}), runs({"a": "p"}, **header)]))
    assert effect.not_judged == 1
    assert contrast.cases[1].after.unjudged == ("no record",)


def test_cases_of_one_side_alone_are_named_and_not_compared(runs: Runs) -> None:
    contrast, effect = only(
        compare_logs([runs({"a": "p", "old": "p"}), runs({"a": "p", "new": "f"})])
    )
    assert (contrast.only_before, contrast.only_after) == (("s::old",), ("s::new",))
    assert effect.pairs == 1


def test_runs_that_share_no_case_show_nothing(runs: Runs) -> None:
    _, effect = only(compare_logs([runs({"a": "p"}), runs({"b": "p"})]))
    assert (effect.pairs, effect.before, effect.p_value, effect.evidence) == (
        0,
        None,
        None,
        "undecided",
    )


def test_every_suite_is_tested_and_holm_corrects_for_all_tests(runs: Runs) -> None:
    before = runs({"one": cases(p=10), "two": cases(p=10)})
    after = runs({"one": cases(f=6, p=4), "two": cases(p=10)})
    comparison = compare_logs([before, after])
    overall, one, two = comparison.contrasts[0].effects
    assert (overall.suite, one.suite, two.suite) == (None, "one", "two")
    assert comparison.tests == 3
    assert (one.p_value, one.p_adjusted, one.evidence) == (
        0.03125,
        0.09375,
        "undecided",
    )
    assert two.p_adjusted == 1


def test_further_runs_are_each_compared_with_the_first(runs: Runs) -> None:
    comparison = compare_logs([runs(cases(p=4)), runs(cases(p=3, f=1)), runs(cases(f=4))])
    assert [(c.before.name, c.after.name) for c in comparison.contrasts] == [("A", "B"), ("A", "C")]
    assert [side.run_id for side in comparison.sides] == ["run1", "run2", "run3"]
    assert comparison.tests == 2


def test_the_models_of_one_run_are_compared_with_its_first(runs: Runs) -> None:
    log = runs(
        {}, models={"x": {"a": "p", "b": "p"}, "y": {"a": "p", "b": "f"}, "z": {"a": "f", "b": "f"}}
    )
    comparison = compare_logs([log])
    assert [(c.before.model, c.after.model) for c in comparison.contrasts] == [
        ("x", "y"),
        ("x", "z"),
    ]
    assert comparison.contrasts[0].differences[0] == "model was x, is y"


@pytest.mark.parametrize("axis", ["fault", "attack"])
def test_what_was_disturbed_is_no_side_of_a_comparison_of_models(runs: Runs, axis: str) -> None:
    arms = {name: {"a": "p"} for name in ("x", "x · late", "y", "y · late")}
    entrants = {
        name: {"model": name[0], **({axis: "late"} if "late" in name else {})} for name in arms
    }
    contrast, _ = only(compare_logs([runs({}, models=arms, entrants=entrants)]))
    assert (contrast.before.model, contrast.after.model) == ("x", "y")
    alone = {name: facts for name, facts in entrants.items() if name.startswith("x")}
    with pytest.raises(UsageError, match="holds one model"):
        compare_logs([runs({}, models={name: {"a": "p"} for name in alone}, entrants=alone)])


def test_runs_of_the_same_models_are_compared_model_by_model(runs: Runs) -> None:
    models = {"x": {"a": "p"}, "y": {"a": "f"}}
    comparison = compare_logs([runs({}, models=models), runs({}, models=models)])
    assert [(c.before.model, c.after.model) for c in comparison.contrasts] == [
        ("x", "x"),
        ("y", "y"),
    ]


def test_runs_of_one_model_each_are_compared_across_models(runs: Runs) -> None:
    contrast, _ = only(compare_logs([runs({"a": "p"}, model="x"), runs({"a": "p"}, model="y")]))
    assert "model was x, is y" in contrast.differences


def test_one_run_of_one_model_is_nothing_to_compare(runs: Runs) -> None:
    with pytest.raises(UsageError, match="run1 holds one model"):
        compare_logs([runs({"a": "p"})])


def test_runs_that_share_no_model_are_refused_with_their_models(runs: Runs) -> None:
    with pytest.raises(UsageError, match=r"run1 \(x, y\) and run2 \(z\) share no model"):
        compare_logs(
            [runs({}, models={"x": {"a": "p"}, "y": {"a": "p"}}), runs({"a": "p"}, model="z")]
        )


def a_list(digest: str, *tools: Tool) -> ToolList:
    return ToolList(tools=tools, digest=digest)


def test_what_differs_in_the_setting_stands_on_top(runs: Runs) -> None:
    look, gone = Tool(name="look", input_schema={}), Tool(name="gone", input_schema={})
    described = Tool(name="look", input_schema={}, description="Looks.")
    before = runs({"a": "p"}, tools=[a_list("1", look, gone)], settings={"judge": {"s": "j"}})
    after = runs(
        {"a": "p"}, tools=[a_list("2", described)], digests={"a": "other"}, harness_version="1"
    )
    contrast, _ = only(compare_logs([before, after]))
    assert set(contrast.differences) == {
        "suite s: case a has changed",
        "judge was {'s': 'j'}, is unset",
        "harness was 0, is 1",
        "tool look: description changed",
        "tool gone is gone",
    }


def test_tools_that_only_the_users_of_other_cases_see_are_no_difference(runs: Runs) -> None:
    shared, other = (
        a_list("1", Tool(name="look", input_schema={})),
        a_list("2", Tool(name="admin", input_schema={})),
    )
    contrast, _ = only(
        compare_logs([runs({"a": "p"}, tools=[shared, other]), runs({"a": "p"}, tools=[shared])])
    )
    assert contrast.differences == ()


def test_a_run_in_which_no_server_came_up_does_not_look_as_if_every_tool_were_gone(
    runs: Runs,
) -> None:
    before = runs({"a": "p"}, tools=[a_list("1", Tool(name="look", input_schema={}))])
    contrast, _ = only(compare_logs([before, runs({"a": "e"})]))
    assert contrast.differences == ("no tool list was seen in B",)


def test_cost_tokens_and_time_are_those_of_the_shared_cases(runs: Runs) -> None:
    usage = Usage(input_tokens=10, output_tokens=5, cost_usd=0.5)
    contrast, _ = only(
        compare_logs(
            [
                runs({"a": "p", "alone": "p"}, usage=usage),
                runs({"a": "pp"}, usage=Usage(cost_usd=None)),
            ]
        )
    )
    assert (contrast.before.usage, contrast.before.latency_s) == (usage, 1.0)
    assert contrast.after.usage.cost_usd is None


def test_the_gate_needs_evidence_beyond_the_margin(runs: Runs) -> None:
    comparison = compare_logs([runs(cases(p=40)), runs(cases(f=8, p=32))])
    effect = comparison.contrasts[0].effects[0]
    assert effect.interval is not None
    assert [found.suite for _, found in judge_gate(comparison).regressions] == [None]
    assert judge_gate(comparison, 0.05).regressions
    assert not judge_gate(comparison, -effect.interval[1] + 0.001).regressions
    assert not judge_gate(comparison, 0.2).regressions


def test_the_gate_does_not_mind_an_improvement_or_a_lack_of_evidence(runs: Runs) -> None:
    assert not judge_gate(compare_logs([runs(cases(f=40)), runs(cases(p=40))])).regressions
    assert not judge_gate(compare_logs([runs(cases(p=5)), runs(cases(f=5))])).regressions


@given(
    st.dictionaries(
        st.text("abc", min_size=1, max_size=3), st.text("pfesc", min_size=1, max_size=4), min_size=1
    )
)
@settings(max_examples=40, deadline=None)
def test_a_run_compared_with_itself_is_never_evidence(results: dict[str, str]) -> None:
    with TemporaryDirectory() as folder:
        log = Runs(Path(folder))(results)
        comparison = compare_logs([log, log])
    contrast, effect = only(comparison)
    assert effect.evidence in {"undecided", "equivalent"}
    assert effect.better == effect.worse == 0
    assert effect.same + effect.not_judged == len(results)
    assert effect.p_value in {None, 1.0}
    assert effect.difference in {None, 0.0}
    assert contrast.differences == contrast.only_before == contrast.only_after == ()
    assert not judge_gate(comparison).regressions


def simulated(
    random: Random, rates: list[float], loss: float, trials: int
) -> tuple[dict[str, str], dict[str, str]]:
    def draw(rate: float) -> str:
        return "".join("p" if random.random() < rate else "f" for _ in range(trials))

    before = {f"case{i}": draw(rate) for i, rate in enumerate(rates)}
    return before, {f"case{i}": draw(rate - loss) for i, rate in enumerate(rates)}


SIMULATED = 60


def found(random: Random, runs: Runs, loss: float, trials: int) -> int:
    """Return in how many of `SIMULATED` pairs of runs a true loss is found."""
    amount = 0
    for _ in range(SIMULATED):
        before, after = simulated(
            random, [random.uniform(0.6, 1.0) for _ in range(40)], loss, trials
        )
        amount += bool(judge_gate(compare_logs([runs(before), runs(after)])).regressions)
    return amount


FOUR = pytest.param(4, marks=pytest.mark.slow)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("loss", "trials"), [(0.29, 1), pytest.param(0.15, 4, marks=pytest.mark.slow)]
)
def test_a_true_regression_is_found_as_often_as_promised(
    runs: Runs, loss: float, trials: int
) -> None:
    # Four in five are promised for the difference that `smallest` names; 60 draws leave ±10 points.
    random = Random(20)
    before, after = simulated(random, [random.uniform(0.6, 1.0) for _ in range(40)], loss, trials)
    _, effect = only(compare_logs([runs(before), runs(after)]))
    assert effect.smallest == pytest.approx(loss, abs=0.07)
    assert found(random, runs, loss, trials) >= 0.7 * SIMULATED


@pytest.mark.slow
@pytest.mark.parametrize("trials", [1, FOUR])
def test_without_a_true_difference_a_false_alarm_is_rare(runs: Runs, trials: int) -> None:
    # One in forty is allowed: the level is two-sided, and the gate looks at one side.
    assert found(Random(21), runs, 0.0, trials) <= 4


def test_many_equal_cases_are_equivalent_and_few_are_undecided(tmp_path: Path) -> None:
    def verdict(cases: int, margin: float = 0.05) -> tuple[str, int | None]:
        results = {f"case_{number}": "p" if number % 3 else "f" for number in range(cases)}
        logs = [write_log(tmp_path / f"{cases}{side}.jsonl", results) for side in "ab"]
        effect = compare_logs(logs, margin).contrasts[0].effects[0]
        return effect.evidence, effect.cases_to_decide

    assert verdict(200) == ("equivalent", None)
    found, to_decide = verdict(12)
    assert found == "undecided"
    assert to_decide is not None
    assert 12 < to_decide < 500
    assert verdict(12, margin=0.5) == ("equivalent", None)
    assert verdict(0 + 6, margin=0.01)[0] == "undecided"


def test_a_found_difference_is_better_or_worse_however_wide_the_margin(tmp_path: Path) -> None:
    before = {f"case_{number}": "f" if number < 8 else "p" for number in range(30)}
    after = dict.fromkeys(before, "p")
    logs = [write_log(tmp_path / "a.jsonl", before), write_log(tmp_path / "b.jsonl", after)]
    assert compare_logs(logs, 1.0).contrasts[0].effects[0].evidence == "better"
    assert compare_logs(logs[::-1], 1.0).contrasts[0].effects[0].evidence == "worse"


def test_cases_without_a_verdict_that_ended_alike_are_one_line_with_the_first_of_them(
    runs: Runs,
) -> None:
    names = [f"case{i:02d}" for i in range(24)]
    header = {"suites": {"s": {"cases": dict.fromkeys(names, "d")}}, "finished": False}
    before = runs(dict.fromkeys(names, "p"))
    after = runs({"case00": "p", "case01": "e"}, planned=24, **header)
    console = Console(file=io.StringIO(), width=100)
    print_comparison(compare_logs([before, after]), console)
    file = console.file
    assert isinstance(file, io.StringIO)
    lines = [line.strip() for line in file.getvalue().splitlines()]
    start = lines.index("not judged")
    assert lines[start + 1 :] == [
        "case01  1/1 → error (server)",
        "case02, case03, case04, case05, case06 and 17 more  1/1 → no record",
    ]
