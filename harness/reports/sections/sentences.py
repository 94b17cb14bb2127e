"""Sentences that all reports share: the pass rate, and the problem of a trial."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePath
from typing import Any, Literal
from urllib.parse import urlsplit

from harness.agents import AGENT
from harness.base import (
    compute_mean,
    format_money,
    format_number,
    format_seconds,
    group_by_test,
    limit_text,
    make_one_line,
    make_printable,
    merge_trials,
    rate_interval,
    shorten_text,
)
from harness.judging import NO_TRIAL, RECORDED_REWARD, is_leaking
from harness.models import get_traits
from harness.reports.sections.remarks import case_mark, failed_warnings
from harness.suites import list_disturbances
from harness.types import (
    CaseResult,
    CheckResult,
    Report,
    Status,
    TrialResult,
    Usage,
    dataclass,
)

URGENCY: tuple[Status, ...] = ("failed", "error", "cancelled", "skipped", "passed")
"""The order in which a person wants to hear of results."""


_LINE = 2_000
"""Characters that are looked at for one line."""
_NO_LLM = {
    "baseline": "(built-in baseline, not an LLM)",
    "function": "(Python function, not an LLM)",
    "nothing": "(calls of the cases themselves)",
}
_SERVERS = 6
"""Servers that are named."""
_OF_FUNCTIONS = "harness.suites.in_python.server"
"""The module that serves the tools of a suite in Python."""
_COMMAND = 60
"""Characters of a server's command line."""
_PART = 20_000
"""Characters of one check's or error's text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassRate:
    """The pass rate, averaged per case first, and its interval."""

    rate: float
    """0 to 1."""
    low: float
    """Lower end of the 95 % interval."""
    high: float
    """Upper end of the 95 % interval."""
    judged: int
    """Trials with a verdict."""
    cases: int
    """Cases with at least one of them."""
    tests: int
    """The same, where the cases of one test count once."""

    def __str__(self) -> str:
        """``pass rate 85 % of 13 judged (95 % interval 58–96 %)``, in whole percent.

        Where the cases of a test count once, it is the rate ``over 6 tests (13 judged, …)``.
        """
        low, rate, high = (round(100 * value) for value in (self.low, self.rate, self.high))
        cases = "1 case" if self.cases == 1 else f"{self.cases} cases"
        what = "judged" if self.judged == self.cases else f"trials of {cases}"
        interval = f"95 % interval {low}–{high} %"
        if self.unit == "cases":
            return f"pass rate {rate} % of {self.judged} {what} ({interval})"
        tests = "1 test" if self.tests == 1 else f"{self.tests} tests"
        return f"pass rate {rate} % over {tests} ({self.judged} {what}, {interval})"

    @property
    def unit(self) -> Literal["cases", "tests"]:
        """What it is the mean of."""
        return "cases" if self.tests == self.cases else "tests"


_MOST_RATES = 20
"""Lines of pass rates; of more, the lowest ones are shown."""


def pass_rate_lines(report: Report, *, disturbed: bool = True) -> list[str]:
    """Return a line for the pass rate of each model on each suite: no two have a common one.

    Without ``disturbed``, those under faults are left to the tables of faults.
    """
    rates = list_pass_rates(report, disturbed=disturbed)
    left_out = not disturbed and any(list_disturbances(case.axes) for case in report.cases)
    which = ", undisturbed" if left_out else ""
    lines = [f"{rate}{which} [{name}]" if name else f"{rate}{which}" for name, rate in rates]
    if len(lines) <= _MOST_RATES:
        return lines
    lowest = sorted(range(len(rates)), key=lambda place: rates[place][1].rate)[:_MOST_RATES]
    more = f"… and {len(lines) - _MOST_RATES} more pass rates, none of them lower"
    return [*(lines[place] for place in sorted(lowest)), more]


def list_pass_rates(report: Report, *, disturbed: bool = True) -> list[tuple[str, PassRate]]:
    """Return the name and the pass rate of each model on each suite that has a verdict.

    Without ``disturbed``, those under faults are left out. A name says what tells it from the
    others: ``lexical``, ``shop``, ``lexical on shop``.
    """
    # How a task fares under attack stands beside what the attack achieved (`sections.attacks`).
    groups = group_by_subject(
        case
        for case in report.cases
        if not list_disturbances(case.axes) or (disturbed and "attack" not in case.axes)
    )
    suites, models = ({key[place] for key in groups} for place in (0, 1))
    found = []
    for (suite, model), cases in groups.items():
        if (rate := compute_pass_rate(cases)) is not None:
            told = ([model] if len(models) > 1 else []) + ([suite] if len(suites) > 1 else [])
            found.append((make_one_line(" on ".join(told)), rate))
    return found


def group_by_subject(cases: Iterable[CaseResult]) -> dict[tuple[str, str], list[CaseResult]]:
    """Return the cases of each suite and model: what a figure may be taken over."""
    groups: dict[tuple[str, str], list[CaseResult]] = {}
    for case in cases:
        groups.setdefault((case.suite, case.entrant), []).append(case)
    return groups


def compute_pass_rate(cases: Iterable[CaseResult]) -> PassRate | None:
    """Return the pass rate; ``None`` without a verdict, and over several models or suites.

    Each model answers the same cases, so together they would only seem to be more; and of 25 % and
    98 %, a mean of 62 % is true of neither. The cases of one test count as one in the rate and its
    interval.
    """
    subjects = set[tuple[str, str]]()

    # In one pass: the cases of a large run are read from the disk as they go by.
    def count_verdicts() -> Iterator[tuple[str, str | None, tuple[int, int]]]:
        for case in cases:
            subjects.add((case.suite, case.entrant))
            verdicts = [
                result.status == "passed"
                for result in case.trials
                if result.status in {"passed", "failed"} and result.trial != NO_TRIAL
            ]
            if verdicts:
                counted = sum(verdicts), len(verdicts)
                yield case.suite, case.deciding_trial.case.test, counted

    tests = group_by_test(count_verdicts())
    number = sum(map(len, tests))
    judged = sum(total for test in tests for _, total in test)
    found = [*map(merge_trials, tests)]
    rates = [passed / total for passed, total in found]
    rate, interval = compute_mean(rates), rate_interval(rates, sum(total for _, total in found))
    if rate is None or interval is None or len(subjects) > 1:
        return None
    low, high = interval
    return PassRate(rate=rate, low=low, high=high, judged=judged, cases=number, tests=len(found))


def list_status_counts(report: Report) -> list[tuple[Status, int]]:
    """Return how many trials ended how, those endings alone that occurred, ``passed`` first."""
    order: tuple[Status, ...] = ("passed", "failed", "error", "skipped", "cancelled")
    return [(status, amount) for status in order if (amount := getattr(report.counts, status))]


def format_counts(report: Report) -> str:
    """Return ``11 passed, 2 failed``; empty if nothing has ended."""
    return ", ".join(f"{amount} {status}" for status, amount in list_status_counts(report))


def result_words(report: Report) -> str:
    """Return ``13 passed``, ``11 passed, 2 failed`` or ``3 passed, 10 cancelled (interrupted)``."""
    ended = format_counts(report) or "nothing run"
    ended = f"{ended}, log damaged" if report.damaged else ended
    return ended if report.reason == "complete" else f"{ended} ({report.reason})"


def format_effort(report: Report) -> tuple[str, str]:
    """Return ``time 8.1 s · latency 2.0 s average, 16 s total`` and ``tokens 0 in, 0 out · …``.

    Unknown amounts are named as such. Several models have no average together.
    """
    took = "interrupted" if report.elapsed_s is None else format_seconds(report.elapsed_s)
    summary = report.summary
    average, total = summary["avg_latency_ms"], summary["total_latency_ms"]
    mean = "" if average is None else f"{format_seconds(average / 1000)} average, "
    latency = f" · latency {mean}{format_seconds(total / 1000)} total" if mean or total else ""
    return f"time {took}{latency}", _format_usage(report.usage)


def _format_usage(used: Usage) -> str:
    tokens_in, tokens_out = format_number(used.input_tokens), format_number(used.output_tokens)
    return f"tokens {tokens_in} in, {tokens_out} out · cost {format_money(used.cost_usd)}"


def format_side_usage(report: Report) -> Iterator[str]:
    """Yield what judges and simulated users used: ``judge gpt-4o · tokens 90 in, 30 out · …``."""
    for who, used in (("judge", report.judge_usage), ("user", report.user_usage)):
        if used != Usage():
            names = ", ".join(report.settings.get(f"{who}_models", {}))
            yield f"{who} {names} · {_format_usage(used)}"


def find_stand_in(result: TrialResult) -> str | None:
    """Return how the trial's faithfulness is labelled if no judge scored it."""
    found: Any = next((check.actual for check in result.checks if "grades" in check.traits), None)
    for step in ("metrics", "faithfulness", "label"):
        found = found.get(step) if isinstance(found, Mapping) else None
    return None if found is None else str(found)


def stand_ins(report: Report) -> Iterator[str]:
    """Yield ``faithfulness of 12 trials: no judge: …`` for scores without a judge."""
    for label, trials in Counter(filter(None, map(find_stand_in, report.results))).items():
        yield f"faithfulness of {trials} trial{'' if trials == 1 else 's'}: {label}"


def count_contradictions(report: Report) -> dict[str, tuple[int, int]]:
    """Return ``entrant → trials whose recorded reward is not ours, trials with both``."""
    verdicts = [
        (result.entrant, check.verdict)
        for result in report.results
        for check in result.checks
        if check.kind == RECORDED_REWARD
    ]
    compared = Counter(entrant for entrant, _ in verdicts)
    contradicted = Counter(entrant for entrant, verdict in verdicts if verdict == "failed")
    return {entrant: (contradicted[entrant], total) for entrant, total in compared.items()}


def contradictions(report: Report) -> Iterator[str]:
    """Yield ``recorded rewards: 25 of 50 contradict the rules`` for each entrant, if any does."""
    counted = count_contradictions(report)
    for entrant, (wrong, total) in counted.items():
        if wrong:
            who = f" of {make_one_line(entrant)}" if len(counted) > 1 else ""
            yield f"recorded rewards{who}: {wrong} of {total} contradict the rules"


def recorded_rewards_json(report: Report) -> list[dict[str, Any]]:
    """Return for each entrant how many recorded rewards were compared, and how many contradict."""
    return [
        {"entrant": entrant, "compared": total, "contradicted": wrong}
        for entrant, (wrong, total) in count_contradictions(report).items()
    ]


def model_words(report: Report, entrant: str) -> str:
    """Return what a reader should know of an entrant's model besides its name, in parentheses.

    It is empty if the report does not know the model.
    """
    name = report.entrants.get(entrant, {}).get("model", entrant)
    facts = report.models.get(name)
    if not facts:
        return ""
    if words := _NO_LLM.get(get_traits(str(facts.get("provider"))).answers):
        return words
    provider, model_id = facts.get("provider"), facts.get("model_id")
    if provider == AGENT:
        told = ", ".join(str(facts[part]) for part in ("version", "model") if facts.get(part))
        which = f"agent {model_id}: {told}" if told else f"agent {model_id}"
        return f"({which}; what it did without the server is not seen)"
    return f"({provider}: {model_id})" if model_id != name else f"({provider})"


def list_server_names(suites: Mapping[str, Any], suite: str) -> tuple[str, ...]:
    """Return the servers of ``suite``, of the ``suites`` in a log's header."""
    return tuple(suites.get(suite, {}).get("servers", ()))


def list_servers(report: Report) -> list[tuple[str, str]]:
    """Return each server under test, and how it is run in parentheses; joined ones one by one.

    Of many, the last entry has the number of those that are left out.
    """
    found: dict[str, str] = {}
    for name, facts in report.servers.items():
        # The cases of a suite in Python may have a server each, for their own tools.
        suite, _, case = name.partition("::")
        shown = suite if case and suite in report.suites else name
        if not facts.get("members"):
            found.setdefault(make_one_line(shown), _server_words(facts))
    servers = list(found.items())
    more = len(servers) - _SERVERS
    return [*servers[:_SERVERS], *([(f"… {more} more", "")] if more > 0 else [])]


def _server_words(facts: Mapping[str, Any]) -> str:
    if recorded := facts.get("recorded"):
        return f"(a recording of {recorded['at']}, run {recorded['run']}; nothing live was asked)"
    if facts.get("built_in"):
        return "(built in)"
    if _OF_FUNCTIONS in facts.get("args", ()):
        return "(functions of the suite)"
    if command := facts.get("command"):
        # Without its folder, which differs between machines.
        words = " ".join((PurePath(command).name, *facts.get("args", ())))
        return f"({shorten_text(make_one_line(words), _COMMAND)})"
    host = urlsplit(facts.get("url") or "").netloc
    return f"(at {make_one_line(host)})" if host else ""


def format_names(names: Iterable[tuple[str, str]]) -> str:
    """Return ``shop (python shop.py), mail (at mail.example)``."""
    return ", ".join(" ".join(filter(None, pair)) for pair in names)


def sort_by_urgency(report: Report) -> list[CaseResult]:
    """Return the cases, failed ones first (leaks before others), then marked ones that passed."""

    def rank(case: CaseResult) -> tuple[int, bool, bool]:
        leaks = any(map(is_leaking, case.trials))
        return URGENCY.index(case.status), not leaks, case_mark(case) is None

    return sorted(report.cases, key=rank)


def least_urgent_first(report: Report) -> list[CaseResult]:
    """Return the cases, those that passed first, and those that failed last."""
    # Sorted once more and not reversed: within a status, leaks stay ahead of the rest.
    return sorted(sort_by_urgency(report), key=lambda case: -URGENCY.index(case.status))


def failed_checks(result: TrialResult) -> Iterator[CheckResult]:
    """Yield the checks because of which the trial did not pass."""
    return (one for one in result.checks if one.verdict != "passed" and one.severity == "fail")


def format_problem(result: TrialResult) -> str:
    """Return the first problem on one line; empty when the trial passed."""
    if result.status == "passed":
        return ""
    if result.error is not None:
        return make_one_line(f"{result.error.kind} error: {result.error.message[:_LINE]}")
    for check in failed_checks(result):
        first = make_printable(check.explanation[:_LINE]).strip().partition("\n")[0]
        return make_one_line(first or f"{check.label[:_LINE]} {check.verdict}")
    return make_one_line(result.skip_reason or result.status)


def get_repeat_command(result: TrialResult) -> str | None:
    """Return the command that makes the call of a probe again; ``None`` for any other trial."""
    facts = result.case.metadata.get("probe")
    command = facts.get("command") if isinstance(facts, Mapping) else None
    return command if isinstance(command, str) else None


def format_account(result: TrialResult) -> str:
    """Return everything that went wrong with a trial, with what usually helps, as plain text.

    What is only a warning stands behind what decided the verdict.
    """
    parts: list[str | None] = []
    if result.error is not None:
        parts += [f"{result.error.kind} error: {result.error.message}", result.error.detail]
    for check in failed_checks(result):
        where = f" ({check.at})" if check.at else ""
        told = (f"{check.label}{where}", check.explanation, check.hint)
        parts.append("\n".join(filter(None, told)))
    for check in failed_warnings(result):
        parts.append("\n".join(filter(None, (f"warning: {check.label}", check.explanation))))
    parts.append(result.skip_reason)
    if result.status == "failed" and (command := get_repeat_command(result)) is not None:
        parts.append(f"Again: {command}")
    return "\n\n".join(limit_text(part, _PART) for part in parts if part)
