"""Derive the findings of a probe from its log, and its table of decisions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from harness.base import make_one_line, shorten_text
from harness.judging import (
    Result,
    View,
    explain_unobserved,
    find_leaks,
    group_by_value,
    is_meant,
    leak_lines,
)
from harness.probing.caller_views import (
    NO_ANSWER,
    ProbedTrials,
    find_extra_fields,
    get_bases,
    get_caller_name,
    get_facts,
    get_label,
    is_flawed,
    iterate_calls,
)
from harness.probing.callers import ANONYMOUS
from harness.probing.coverage import measure_coverage
from harness.probing.credentials.forged_findings import (
    count_forged_kinds,
    count_not_forged,
    find_forged_gains,
)
from harness.probing.cursors.gains import find_cursor_gains
from harness.probing.equal_answers.mixed_callers import find_mixed_callers
from harness.probing.inconsistent_lists import find_contradictions
from harness.probing.interference.outcome import AlterationOutcome
from harness.probing.probe_notes import find_echoed_tokens, iterate_lost_calls, iterate_notes
from harness.probing.report import ProbeDecision, ProbeReport
from harness.probing.stability import find_unstable_answers
from harness.probing.tokens import (
    determine_fates,
    find_accepted_tokens,
    find_aged_tokens,
    find_swap_gains,
    list_leeway_notes,
    measure_leeway,
    measure_leeways,
)
from harness.reports import ProbeFinding, build_leak_findings, build_report
from harness.runlog import RunLog
from harness.types import AccessReport, Report, TrialResult

_SAID_CHARS = 160


def read_probe(log: RunLog) -> ProbeReport:
    """Return the report on the probe in ``log``."""
    report = build_report(log)
    probed = ProbedTrials(report, log)
    altered = AlterationOutcome(log, probed.with_data)
    accounts = altered.build_accounts()
    facts = _ProbeFacts(report, probed)
    # Two searches may come to the same finding, in the same words.
    findings = tuple(
        {
            finding.words: finding
            for finding in (*facts.iterate_findings(), *altered.find_findings())
        }.values()
    )
    unsent = report.settings.get("unsent_tokens", {})
    silent, leeway, leeways = (
        facts.find_silent_calls(),
        measure_leeway(probed),
        measure_leeways(probed, unsent),
    )
    own = [run for run in probed.runs if not get_bases(run)]
    others = [run for run in probed.runs if get_bases(run)]
    # A trial that never started has no reason why it stopped: nobody was told its identity.
    reached = {run.case.identity for run in others if run.stop is not None}
    return ProbeReport(
        report=report,
        decisions=facts.collect_decisions(),
        findings=findings,
        callers=tuple(dict.fromkeys(get_caller_name(run) for run in own)),
        damaged=len({run.case.identity for run in others}),
        untold=tuple(
            dict.fromkeys(
                get_caller_name(run) for run in others if run.case.identity not in reached
            )
        ),
        tokens=determine_fates(probed),
        leeway=leeway,
        leeways=leeways,
        unsent=unsent,
        swapped=len(probed.swapped),
        not_asked=report.settings.get("not_asked", 0),
        forged=count_forged_kinds(probed),
        not_forged=count_not_forged(probed),
        altered=accounts,
        silent=silent,
        coverage=measure_coverage(
            probed,
            (tool for shown in log.tools.values() for tool in shown.tools),
            silent,
            report.settings.get("min_coverage"),
        ),
        notes=tuple(
            dict.fromkeys(
                (
                    *iterate_notes(own),
                    *find_contradictions(probed),
                    *list_leeway_notes(probed, leeway, leeways),
                )
            )
        ),
        not_read=tuple(line for lines in report.access.not_read.values() for line in lines),
        lost=tuple(
            dict.fromkeys(
                (
                    *iterate_lost_calls(
                        (
                            *own,
                            *probed.warm_up,
                            *probed.again,
                            *probed.forged,
                            *probed.swapped,
                            *probed.aged,
                            *probed.with_data,
                            *probed.turned,
                            *probed.records,
                        )
                    ),
                    *iterate_lost_calls(run for run in others if run.case.identity in reached),
                )
            )
        ),
    )


def find_findings(log: RunLog) -> Sequence[ProbeFinding]:
    """Return the findings of the probe in ``log``."""
    return read_probe(log).findings


class _ProbeFacts:
    """The decisions and findings of a probe."""

    def __init__(self, report: Report, probed: ProbedTrials) -> None:
        self._runs = probed.runs
        self._probed = probed
        self._access: AccessReport = report.access
        self._expected_hidden: Mapping[str, Sequence[str]] = report.settings.get(
            "expected_hidden", {}
        )
        self._shown = {
            tool
            for result in iterate_calls(report.results)
            if not get_bases(result)
            for tool in self._probed.get_offered_tools(result)
        }

    def collect_decisions(self) -> dict[str, dict[str, ProbeDecision]]:
        """Return all decisions of the first round: call → caller → decision."""
        cells = {
            (row.group, cell.identity): cell for row in self._access.rows for cell in row.cells
        }
        table: dict[str, dict[str, ProbeDecision]] = {}
        for run in self._runs:
            if run.trial != 1:
                continue
            cell = cells.get((get_label(run), run.case.identity or ""))
            tool = get_facts(run)["tool"]
            decision = (
                next((decision for decision in cell.decisions if decision.tool == tool), None)
                if cell
                else None
            )
            decided = (
                self._decide_trial(run)
                if decision is None
                else ProbeDecision.from_decision(decision)
            )
            table.setdefault(get_label(run), {})[get_caller_name(run)] = decided
        return table | self._collect_listings()

    def _collect_listings(self) -> dict[str, dict[str, ProbeDecision]]:
        """Return for each tool that was not called whether it is listed, by caller."""
        called = {get_facts(run)["tool"] for run in self._runs}
        asked = {
            get_caller_name(run): view
            for run in self._runs
            if (view := self._probed.views.get(run.key))
        }
        return {
            tool: {name: _decide_listing(view, tool) for name, view in asked.items()}
            for tool in sorted(self._shown - called)
        }

    def find_silent_calls(self) -> dict[str, str]:
        """Return the calls that failed for all callers that were not refused: call → message."""
        answers: dict[str, list[Result]] = {}
        for run in self._runs:
            result = self._probed.get_result(run)
            if get_bases(run) or result is None or result.call.outcome in {"denied", *NO_ANSWER}:
                continue
            # A call of a hidden tool fails by right.
            if get_facts(run)["tool"] in self._probed.get_offered_tools(run):
                answers.setdefault(get_label(run), []).append(result)
        return {
            call: shorten_text(make_one_line(results[0].call.text), _SAID_CHARS)
            for call, results in answers.items()
            if not any(result.call.outcome == "ok" for result in results)
        }

    def iterate_findings(self) -> Iterator[ProbeFinding]:
        """Yield all findings, worst first."""
        yield from build_leak_findings(self._access.leaks)
        yield from self._find_own_record_leaks()
        yield from self._find_unexpected()
        yield from find_echoed_tokens(self._probed)
        yield from self._find_hidden_tools()
        yield from self._find_attack_gains()
        yield from find_swap_gains(self._probed)
        yield from find_forged_gains(self._probed)
        yield from find_cursor_gains(self._probed)
        yield from find_unstable_answers(self._probed)
        yield from find_mixed_callers(self._probed)
        own = [
            self._probed.views[run.key]
            for run in self._runs
            if not get_bases(run) and run.key in self._probed.views
        ]
        if (
            reason := explain_unobserved(own)
        ) is not None:  # that a damaged one is refused shows nothing of the others
            yield ProbeFinding(
                problem="unobserved", words=f"identity not observed: {make_one_line(reason)}"
            )

    def _find_own_record_leaks(self) -> Iterator[ProbeFinding]:
        """Yield leaks that show only beside the records of the identities themselves."""
        if not self._probed.records:
            return
        own = (*(run for run in self._runs if not get_bases(run)), *self._probed.records)
        views = (self._probed.views.get(run.key) for run in own)
        known = {(leak.identity, leak.value) for leak in self._access.leaks}
        leaks = find_leaks([view for view in views if view is not None])
        new = [leak for leak in leaks if (leak.identity, leak.value) not in known]
        for leak, _ in group_by_value([leak for leak in new if not leak.is_note]):
            yield ProbeFinding(
                problem="leak",
                words="; ".join(leak_lines(leak)[:2]),
                callers=(leak.identity,),
                call=leak.case,
            )

    # ── Each sort ────────────────────────────────────────────────────────────────────────────

    def _find_unexpected(self) -> Iterator[ProbeFinding]:
        for run in self._runs:
            name, call = get_caller_name(run), get_label(run)
            for check in run.checks:
                if "decides_access" in check.traits and check.verdict == "failed":
                    said = check.explanation.splitlines()[0]
                    words = f"{call} as {name}: {said[:1].lower()}{said[1:]}"
                    yield ProbeFinding(
                        problem="unexpected", words=make_one_line(words), callers=(name,), call=call
                    )
        hidden = self._expected_hidden
        # A tool that nobody calls has no checks, only a place in the lists.
        for name, offered in self._probed.collect_tool_lists().items():
            for tool in hidden.get(name, ()):
                if tool in offered:
                    words = (
                        f"{tool} is in the list of {name}, and the suite expects that it is hidden"
                    )
                    yield ProbeFinding(
                        problem="unexpected", words=words, callers=(name,), call=tool
                    )

    def _find_hidden_tools(self) -> Iterator[ProbeFinding]:
        reported: set[tuple[str, str]] = set()
        for run in self._runs:
            tool, name = get_facts(run)["tool"], get_caller_name(run)
            result = self._probed.get_result(run)
            worked = result is not None and result.call.outcome == "ok"
            if (
                worked
                and tool in self._shown
                and tool not in self._probed.get_offered_tools(run)
                and (tool, name) not in reported
            ):
                reported.add((tool, name))
                words = f"{tool} is not in the list of {name}, and works for them all the same"
                yield ProbeFinding(
                    problem="hidden_callable", words=words, callers=(name,), call=get_label(run)
                )

    def _find_attack_gains(self) -> Iterator[ProbeFinding]:
        yield from find_accepted_tokens(self._probed)
        yield from find_aged_tokens(self._probed)
        answered = self._probed.collect_answered()
        for run in self._runs:
            result, call = self._probed.get_result(run), get_label(run)
            # Flawed tokens are judged above, by what they open beyond no token.
            if (
                not get_bases(run)
                or is_flawed(run)
                or result is None
                or result.call.outcome != "ok"
            ):
                continue
            nobody = answered.get((ANONYMOUS, call))
            if (
                nobody is not None
                and is_meant(nobody)
                and self._probed.gets_as_much(nobody, result)
            ):
                continue  # what everybody may have is no gain
            for base in get_bases(run):
                if (first := answered.get((base, call))) is not None:
                    yield from self._find_damage_gains(
                        base, self._probed.get_result(first), run, result
                    )
        yield from self._find_extra_data()

    def _find_damage_gains(
        self, base: str, own: Result | None, trial: TrialResult, result: Result
    ) -> Iterator[ProbeFinding]:
        """Yield what a damaged identity gets beyond its original ``base``, if anything."""
        call = get_label(trial)
        if own is None or own.call.outcome != "ok":
            denied = own is None or own.call.outcome in ("denied", "unknown_tool")
            yield self._build_open_finding(
                trial,
                base,
                f"{call} works, which {'is refused to' if denied else 'fails for'} {base}",
            )
        elif fields := find_extra_fields(result, own):
            yield self._build_open_finding(
                trial, base, f"{call} gives {', '.join(fields[:4])}, which {base} does not get"
            )

    def _find_extra_data(self) -> Iterator[ProbeFinding]:
        lists = self._probed.collect_tool_lists()
        # The list is the same in every call, so one call of each identity is enough.
        for run in {
            run.case.identity: run for run in self._runs if get_bases(run) and not is_flawed(run)
        }.values():
            for base in get_bases(run):
                # Compared with a list that was not read, every tool would be extra.
                if ANONYMOUS in lists and base in lists:
                    shown = (
                        lists.get(get_caller_name(run), frozenset())
                        - lists[base]
                        - lists[ANONYMOUS]
                    )
                    if shown:
                        what = f"{', '.join(sorted(shown))} is in the list, and hidden from {base}"
                        yield self._build_open_finding(run, base, what)

    def _build_open_finding(self, result: TrialResult, base: str, what: str) -> ProbeFinding:
        words = f"fails open: where {get_facts(result)['damage']} for {base}, {what}"
        return ProbeFinding(
            problem="fails_open",
            words=make_one_line(words),
            callers=(result.case.identity or "",),
            call=get_label(result),
        )

    def _decide_trial(self, trial: TrialResult) -> ProbeDecision:
        view, result = self._probed.views.get(trial.key), self._probed.get_result(trial)
        if view is not None and view.refused:
            return ProbeDecision(access="denied", shape=view.refused_by)
        if result is None:
            return ProbeDecision(access="error")
        if result.call.outcome == "ok":
            return ProbeDecision(access="allowed")
        if get_facts(trial)["tool"] not in self._probed.get_offered_tools(trial):
            return ProbeDecision(access="hidden", shape="not_listed")
        denied = result.call.outcome == "denied"
        return ProbeDecision(
            access="denied" if denied else "error", shape=result.call.refusal if denied else None
        )


def _decide_listing(view: View, tool: str) -> ProbeDecision:
    if view.refused:
        return ProbeDecision(access="denied", shape=view.refused_by)
    return (
        ProbeDecision(access="listed")
        if tool in view.tool_names
        else ProbeDecision(access="hidden", shape="not_listed")
    )
