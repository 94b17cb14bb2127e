"""Derive the findings of a probe from its log, and its table of decisions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from harness.base import make_one_line, shorten_text
from harness.judging import Result, View, explain_unobserved, find_leaks, is_meant
from harness.probing.arguments.outside_places import find_unchecked_values
from harness.probing.caller_views import (
    NO_ANSWER,
    ProbedTrials,
    build_finding,
    find_extra_fields,
    get_bases,
    get_caller_name,
    get_facts,
    get_label,
    is_flawed,
)
from harness.probing.callers import ANONYMOUS
from harness.probing.consent.gate_findings import (
    find_gate_faults,
    list_tried_gates,
    list_untried_gates,
)
from harness.probing.cursors import find_cursor_gains
from harness.probing.forged_calls import (
    count_forged_kinds,
    count_not_forged,
    find_forged_gains,
    find_shared_gains,
)
from harness.probing.interference.outcome import AlterationOutcome
from harness.probing.probe_notes import (
    find_contradictions,
    find_echoed_tokens,
    find_public_caches,
    iterate_lost_calls,
    iterate_notes,
)
from harness.probing.report import ProbeDecision, ProbeReport, measure_coverage, read_unasked
from harness.probing.roads.road_findings import RoadFindings
from harness.probing.roads.shared_state import find_shared_state
from harness.probing.stability import find_mixed_callers, find_unstable_answers
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
    altered = AlterationOutcome(log, probed.apart["data"])
    facts = _ProbeFacts(report, probed)
    # Two searches may come to the same finding, in the same words.
    found = (*facts.iterate_findings(), *altered.find_findings())
    findings = {finding.words: finding for finding in found}
    settings = report.settings
    unsent = settings.get("unsent_tokens", {})
    silent, leeway = facts.find_silent_calls(), measure_leeway(probed)
    leeways = measure_leeways(probed, unsent)
    tools = (tool for shown in log.tools.values() for tool in shown.tools)
    others = [run for run in probed.runs if get_bases(run)]
    # A trial that never started has no reason why it stopped: nobody was told its identity.
    reached = {run.case.identity for run in others if run.stop is not None}
    untold = (get_caller_name(run) for run in others if run.case.identity not in reached)
    asked = [
        *probed.own,
        *(run for fact, runs in probed.apart.items() if fact != "alone" for run in runs),
        *(run for run in others if run.case.identity in reached),
    ]
    long_leeways = list_leeway_notes(probed, leeway, leeways)
    notes = (
        *iterate_notes(probed.own),
        *find_contradictions(probed),
        *long_leeways,
        *facts.roads.iterate_notes(),
    )
    return ProbeReport(
        report=report,
        decisions=facts.collect_decisions(),
        findings=tuple(findings.values()),
        callers=tuple(dict.fromkeys(map(get_caller_name, probed.own))),
        damaged=len({run.case.identity for run in others}),
        untold=tuple(dict.fromkeys(untold)),
        tokens=determine_fates(probed),
        leeway=leeway,
        leeways=leeways,
        unsent=unsent,
        swapped=len(probed.apart["opener"]),
        not_asked=settings.get("not_asked", 0),
        forged=count_forged_kinds(probed),
        not_forged=count_not_forged(probed),
        altered=altered.build_accounts(),
        silent=silent,
        coverage=measure_coverage(probed, tools, settings.get("min_coverage")),
        notes=tuple(dict.fromkeys(notes)),
        not_read=tuple(line for lines in report.access.not_read.values() for line in lines),
        gates=list_tried_gates(probed),
        gates_not_tried=tuple(list_untried_gates(probed)),
        lost=tuple(dict.fromkeys(iterate_lost_calls(asked))),
        unasked=read_unasked(report),
        budget=tuple(settings.get("effort", ())),
        narrowed=tuple(settings.get("narrowed", ())),
    )


def find_findings(log: RunLog) -> Sequence[ProbeFinding]:
    """Return the findings of the probe in ``log``."""
    return read_probe(log).findings


def find_findings_so_far(probed: ProbedTrials) -> Iterator[str]:
    """Yield the findings of a probe that goes on, in words."""
    for finding in _ProbeFacts(probed.report, probed).iterate_findings():
        # Whether anybody looks at the identity is only known at the end.
        if finding.problem != "unobserved":
            yield f"{finding.problem}: {finding.words}"


class _ProbeFacts:
    """The decisions and findings of a probe."""

    def __init__(self, report: Report, probed: ProbedTrials) -> None:
        self._runs = probed.runs
        self._probed = probed
        self._access: AccessReport = report.access
        self.roads = RoadFindings(probed, self._access.leaks)
        hidden = report.settings.get("expected_hidden", {})
        self._expected_hidden: Mapping[str, Sequence[str]] = hidden
        everywhere = (*probed.own, *chain.from_iterable(probed.apart.values()))
        own = (run for run in everywhere if not get_bases(run))
        self._shown = {tool for run in own for tool in probed.get_offered_tools(run)}

    def collect_decisions(self) -> dict[str, dict[str, ProbeDecision]]:
        """Return all decisions of the first round: call → caller → decision."""
        cells = {(row.group, one.identity): one for row in self._access.rows for one in row.cells}
        table: dict[str, dict[str, ProbeDecision]] = {}
        for run in self._runs:
            if run.trial != 1:
                continue
            cell = cells.get((get_label(run), run.case.identity or ""))
            tool = get_facts(run)["tool"]
            made = (one for one in (cell.decisions if cell else ()) if one.tool == tool)
            decided = next(map(ProbeDecision.from_decision, made), None) or self._decide_trial(run)
            table.setdefault(get_label(run), {})[get_caller_name(run)] = decided
        views = self._probed.views
        asked = {get_caller_name(run): views[run.key] for run in self._runs if run.key in views}
        # Of a tool that was not called, whether it is listed.
        for tool in sorted(self._shown - {get_facts(run)["tool"] for run in self._runs}):
            table[tool] = {name: _decide_listing(view, tool) for name, view in asked.items()}
        return table

    def find_silent_calls(self) -> dict[str, str]:
        """Return the calls that failed for all callers that were not refused: call → message."""
        answers: dict[str, list[Result]] = {}
        for run in self._probed.own:
            result = self._probed.get_result(run)
            if result is None or result.call.outcome in {"denied", *NO_ANSWER}:
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
        yield from find_unchecked_values(self._probed)
        yield from find_shared_gains(self._probed, self._access.leaks)
        yield from find_cursor_gains(self._probed)
        yield from self.roads.iterate_findings()
        yield from find_shared_state(self._probed)
        yield from find_gate_faults(self._probed)
        yield from find_public_caches(self._probed)
        yield from find_unstable_answers(self._probed)
        yield from find_mixed_callers(self._probed)
        # That a damaged one is refused shows nothing of the others.
        if (reason := explain_unobserved(self._probed.select_views(self._probed.own))) is not None:
            words = f"identity not observed: {make_one_line(reason)}"
            yield ProbeFinding(problem="unobserved", words=words)

    def _find_own_record_leaks(self) -> Iterator[ProbeFinding]:
        """Yield leaks that show only beside the records of the identities themselves."""
        if not self._probed.apart["record"]:
            return
        views = self._probed.select_views((*self._probed.own, *self._probed.apart["record"]))
        known = {(leak.identity, leak.value) for leak in self._access.leaks}
        for finding in build_leak_findings(
            leak
            for leak in find_leaks(views)
            if (leak.identity, leak.value) not in known and not leak.is_note
        ):
            yield replace(finding, is_judged=False)

    # ── Each sort ────────────────────────────────────────────────────────────────────────────

    def _find_unexpected(self) -> Iterator[ProbeFinding]:
        for run in self._runs:
            name, call = get_caller_name(run), get_label(run)
            for check in run.checks:
                if "decides_access" in check.traits and check.verdict == "failed":
                    said = check.explanation.splitlines()[0]
                    words = f"{call} as {name}: {said[:1].lower()}{said[1:]}"
                    yield build_finding("unexpected", words, name, call)
        # A tool that nobody calls has no checks, only a place in the lists.
        for name, offered in self._probed.collect_tool_lists().items():
            for tool in self._expected_hidden.get(name, ()):
                if tool in offered:
                    words = f"{tool} is in the list of {name}"
                    words = f"{words}, and the suite expects that it is hidden"
                    yield build_finding("unexpected", words, name, tool)

    def _find_hidden_tools(self) -> Iterator[ProbeFinding]:
        reported: set[tuple[str, str]] = set()
        for run in self._runs:
            tool, name = get_facts(run)["tool"], get_caller_name(run)
            result = self._probed.get_result(run)
            if result is None or result.call.outcome != "ok" or (tool, name) in reported:
                continue
            if tool in self._shown and tool not in self._probed.get_offered_tools(run):
                reported.add((tool, name))
                words = f"{tool} is not in the list of {name}, and works for them all the same"
                yield build_finding("hidden_callable", words, name, get_label(run))

    def _find_attack_gains(self) -> Iterator[ProbeFinding]:
        yield from find_accepted_tokens(self._probed)
        yield from find_aged_tokens(self._probed)
        answered = self._probed.first_answers
        for run in self._runs:
            result, call = self._probed.get_result(run), get_label(run)
            # Flawed tokens are judged above, by what they open beyond no token.
            if not get_bases(run) or is_flawed(run) or result is None:
                continue
            if result.call.outcome != "ok":
                continue
            nobody = answered.get((ANONYMOUS, call))
            if nobody and is_meant(nobody) and self._probed.gets_as_much(nobody, result):
                continue  # what everybody may have is no gain
            for base in get_bases(run):
                own = self._probed.find_answer(base, call)
                what = _describe_gain(base, own, call, result) if (base, call) in answered else None
                if what is not None:
                    yield _build_open_finding(run, base, what)
        yield from self._find_extra_tools()

    def _find_extra_tools(self) -> Iterator[ProbeFinding]:
        lists = self._probed.collect_tool_lists()
        damaged = (run for run in self._runs if get_bases(run) and not is_flawed(run))
        # The list is the same in every call, so one call of each identity is enough.
        for run in {run.case.identity: run for run in damaged}.values():
            for base in get_bases(run):
                # Compared with a list that was not read, every tool would be extra.
                if ANONYMOUS in lists and base in lists:
                    offered = lists.get(get_caller_name(run), frozenset())
                    if shown := offered - lists[base] - lists[ANONYMOUS]:
                        what = f"{', '.join(sorted(shown))} is in the list, and hidden from {base}"
                        yield _build_open_finding(run, base, what)

    def _decide_trial(self, trial: TrialResult) -> ProbeDecision:
        result = self._probed.get_result(trial)
        if self._probed.is_refused(trial):
            return ProbeDecision(access="denied", shape=self._probed.views[trial.key].refused_by)
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
    if tool in view.tool_names:
        return ProbeDecision(access="listed")
    return ProbeDecision(access="hidden", shape="not_listed")


def _build_open_finding(trial: TrialResult, base: str, what: str) -> ProbeFinding:
    words = f"fails open: where {get_facts(trial)['damage']} for {base}, {what}"
    return build_finding("fails_open", words, trial.case.identity or "", get_label(trial))


def _describe_gain(base: str, own: Result | None, call: str, result: Result) -> str | None:
    """Return what a damaged identity gets beyond its original ``base``, if anything."""
    if own is None or own.call.outcome != "ok":
        denied = own is None or own.call.outcome in ("denied", "unknown_tool")
        return f"{call} works, which {'is refused to' if denied else 'fails for'} {base}"
    fields = ", ".join(find_extra_fields(result, own)[:4])
    return f"{call} gives {fields}, which {base} does not get" if fields else None
