"""The same results under a second name are no further evidence: no interval gets narrower."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.console import Console

from harness.base.stats.effects import merge_pair, paired_effects
from harness.pytest_plugin.failure_text import format_totals
from harness.reports.build import build_report
from harness.reports.comparing.contrasts import compare_logs
from harness.reports.comparing.json_form import comparison_json
from harness.reports.comparing.sentences import describe_effect, effect_row
from harness.reports.formats.console import print_summary
from harness.reports.sections.sentences import format_effort
from harness.reports.viewer.run_summary import build_summary
from harness.runlog import Footer, Header, LogWriter, RunLog, TrialLine, read_log
from harness.types import CaseFacts
from tests.often import often
from tests.reports.packs import blocks_of
from tests.reports.querying.support import ask
from tests.reports.run_logs import a_run
from tests.reports.sample_logs import written
from tests.support import entrants_of

Results = Sequence[str]
"""The trials of each case: ``pp``, ``pf``."""
ONE = (("m",), (None,))


def a_log(
    folder: Path, results: Results, models: Sequence[str], ways: Sequence[str | None]
) -> RunLog:
    """Write a run in which every model, identity and value of a matrix has the same results."""
    folder.mkdir(parents=True, exist_ok=True)
    runs = []
    for place, model, way in product(range(len(results)), models, ways):
        name, test = (f"c{place}", None) if way is None else (f"c{place}[{way}]", f"c{place}")
        for trial, letter in enumerate(results[place], start=1):
            run = a_run("s", name, model, trial, letter)
            case = CaseFacts(name=name, test=test, **who_asks(test, way))
            runs.append(replace(run, case=case, repeats=len(results[place])))
    with LogWriter(folder / "log.jsonl") as log:
        log.append(
            Header(
                run_id=folder.name,
                started_at="2026-01-01T00:00:00Z",
                harness_version="0",
                planned=len(runs),
                suites={"s": {"cases": {run.case.name: "d" for run in runs}}},
                models={name: {"provider": "openai", "model_id": name} for name in models},
                entrants=entrants_of(models),
            )
        )
        for run in runs:
            log.append(TrialLine(run=run, transcript=None))
        log.append(Footer(finished_at="2026-01-01T00:01:00Z", elapsed_s=1.0))
    return read_log(folder / "log.jsonl")


def who_asks(test: str | None, way: str | None) -> dict[str, Any]:
    """Return what the cases of an identity have besides: a value of a matrix is no identity."""
    return {} if way is None or "=" in way else {"group": test, "identity": way}


def in_words(text: str) -> list[float]:
    found = re.findall(r"95 % interval (\d+)–(\d+) %", text)
    return [float(high) - float(low) for low, high in found]


def in_json(value: Any) -> list[float]:
    """Return the widths of all intervals in a JSON document, and its standard errors."""
    if isinstance(value, list):
        return [width for one in value for width in in_json(one)]
    if not isinstance(value, dict):
        return []
    found = [width for one in value.values() for width in in_json(one)]
    for key, one in value.items():
        if key in {"pass_rate_interval", "interval"} and one:
            found.append(one[1] - one[0])
        if key == "pass_hat_k_standard_error":
            found += [error for error in one.values() if error is not None]
        if key in {"p_value", "smallest_difference"} and one is not None:
            found.append(one)
    if {"rate", "low", "high"} <= value.keys():
        found.append(value["high"] - value["low"])
    return found


def of_console(log: RunLog) -> list[float]:
    stream = io.StringIO()
    print_summary(build_report(log), log, Console(file=stream, width=200))
    return in_words(stream.getvalue())


def of_query(log: RunLog) -> list[float]:
    rows = ask(log.path, "SELECT pass_rate_high - pass_rate_low FROM runs")
    return [width for (width,) in rows if width is not None]


VIEWS: Mapping[str, Callable[[RunLog], list[float]]] = {
    "console": of_console,
    "pytest": lambda log: in_words("\n".join(format_totals(build_report(log)))),
    "markdown": lambda log: in_words(written(log, "markdown")),
    "notebook": lambda log: in_words(build_report(log)._repr_html_()),
    "json": lambda log: in_json(json.loads(written(log, "json"))),
    "html": lambda log: in_json({"rates": blocks_of(written(log, "html"))["overview"]["rates"]}),
    "columns of the page": lambda log: in_words(
        json.dumps(blocks_of(written(log, "html"))["overview"]["grid"], ensure_ascii=False)
    ),
    "web": lambda log: in_json(build_summary(log, build_report(log))),
}
"""Output → the widths of all its intervals."""


def check(narrow: Sequence[float], wide: Sequence[float], where: str) -> None:
    """Require of the second that none of its figures is smaller than the least of the first."""
    assert min(wide, default=1.0) >= min(narrow) - 1e-9, where


RESULTS = st.integers(1, 3).flatmap(
    lambda trials: st.lists(st.text("pf", min_size=trials, max_size=trials), min_size=2, max_size=6)
)
DOUBLED = (
    (("m", "n", "o", "p"), (None,)),
    (("m", "m+short"), (None,)),
    (("m",), ("admin", "clerk", "guest")),
    (("m", "n"), ("admin", "clerk")),
    (("m",), ("file=a", "file=b", "file=c")),
)


@pytest.mark.parametrize(("models", "ways"), often(DOUBLED))
@given(results=RESULTS)
@settings(
    max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
def test_the_same_results_under_a_second_name_narrow_no_interval_of_any_output(
    tmp_path_factory: pytest.TempPathFactory,
    models: tuple[str, ...],
    ways: tuple[str | None, ...],
    results: Results,
) -> None:
    folder = tmp_path_factory.mktemp("runs")
    once = a_log(folder / "once", results, *ONE)
    often = a_log(folder / "often", results, models, ways)
    for name, widths in VIEWS.items():
        check(widths(once), widths(often), name)


@pytest.mark.slow
@given(before=RESULTS, after=RESULTS)
@settings(
    max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
def test_nor_is_a_comparison_surer_of_its_verdict(
    tmp_path_factory: pytest.TempPathFactory, before: Results, after: Results
) -> None:
    folder = tmp_path_factory.mktemp("runs")
    figures = []
    for name, (models, ways) in (("once", ONE), *zip("abcde", DOUBLED, strict=True)):
        logs = [
            a_log(folder / f"{name} {when}", results, models, ways)
            for when, results in (("before", before), ("after", after))
        ]
        figures.append(in_json(comparison_json(compare_logs(logs))))
    for doubled in figures[1:]:
        check(figures[0], doubled, "compare")


def test_one_question_with_eight_file_names_is_no_evidence(tmp_path: Path) -> None:
    ways = [f"file={letter}" for letter in "abcdefgh"]
    logs = [a_log(tmp_path / one, [one], ["m"], ways) for one in "fp"]
    effect = compare_logs(logs).contrasts[0].effects[0]
    assert (effect.evidence, effect.p_value, effect.tests) == ("undecided", 1.0, 1)
    assert of_console(logs[1]) == [79.0]


def test_every_output_says_what_its_rates_are_the_mean_of(tmp_path: Path) -> None:
    ways = [f"file={letter}" for letter in "abcdefgh"]
    before, after = (a_log(tmp_path / one, [one], ["m"], ways) for one in "fp")
    words = "pass rate 100 % over 1 test (8 judged, 95 % interval 21–100 %)"
    stream = io.StringIO()
    print_summary(build_report(after), after, Console(file=stream, width=200))
    assert words in stream.getvalue()
    assert words in written(after, "markdown")
    assert blocks_of(written(after, "html"))["overview"]["rates"][0]["words"] == words
    assert '"pass_rate_over":{"unit":"tests","count":1}' in written(after, "json")
    compared = compare_logs([before, after])
    effect = compared.contrasts[0].effects[0]
    assert comparison_json(compared)["contrasts"][0]["effects"][0]["unit"] == "tests"
    assert effect_row(effect)[0] == "all (8 in 1 test)"
    sentence = next(describe_effect(effect, compared))
    assert sentence.startswith("pass rate 0 % → 100 % over 1 test (8 cases judged on both sides): ")


@pytest.mark.slow
def test_of_two_thousand_null_comparisons_with_matrices_five_in_a_hundred_claim_anything() -> None:
    rng, claims = Random(5), 0
    for _ in range(2_000):
        tests = [rng.random() for _ in range(rng.randrange(4, 25))]
        sides: list[list[list[tuple[int, int]]]] = [[], []]
        for chance in tests:
            rows = rng.choice((1, 1, 2, 8))
            for side in sides:
                # What one row of a test does, the others mostly do.
                first = rng.random() < chance
                ends = [first if rng.random() < 0.9 else not first for _ in range(rows)]
                side.append([(end, 1) for end in ends])
        pairs = [merge_pair([*zip(*test, strict=True)]) for test in zip(*sides, strict=True)]
        (effect,) = paired_effects([pairs])
        claims += effect is not None and effect.verdict in {"better", "worse"}
    assert claims <= 0.05 * 2_000


def test_one_model_under_four_names_has_the_interval_of_one(tmp_path: Path) -> None:
    results = ["p", "p", "f", "p", "f", "p", "f", "p", "p", "f"]
    once, often = (
        a_log(tmp_path / str(len(models)), results, models, (None,))
        for models in (("m",), ("m", "n", "o", "p"))
    )
    assert of_console(once) == [52.0]
    assert of_console(often) == [52.0] * 4
    assert of_query(once) == pytest.approx([0.5197], abs=1e-3)
    assert of_query(often) == []


def test_several_models_have_no_average_in_common(tmp_path: Path) -> None:
    for models in (("m",), ("m", "n")):
        report = build_report(a_log(tmp_path / str(len(models)), ["pp", "pf"], models, (None,)))
        known = report.summary["avg_latency_ms"], report.summary["pass_rate"]
        assert (None in known) is (len(models) > 1)
        assert ("average" in "".join(format_effort(report))) is (len(models) == 1)
        assert "total" in "".join(format_effort(report))
