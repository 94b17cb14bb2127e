"""Derive the findings of a probe from its log, and its table of decisions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from harness.base import one_line, shorten
from harness.judging import (
    LEAK_NOTE,
    Result,
    View,
    by_value,
    echo_words,
    find_leaks,
    is_meant,
    leak_lines,
    unobserved,
)
from harness.probing.caller_views import (
    NO_ANSWER,
    ProbedTrials,
    asked,
    bases_of,
    facts_of,
    is_flawed,
    label_of,
    more,
    name_of,
)
from harness.probing.callers import ANONYMOUS
from harness.probing.coverage import measure
from harness.probing.cursors.gains import cursor_gains
from harness.probing.equal_answers.mixed_up import mixed_up
from harness.probing.expectations import DECISION
from harness.probing.forged_findings import forged_gains, forged_kinds, not_forged
from harness.probing.interference.outcome import Altered
from harness.probing.report import Decided, ProbeReport
from harness.probing.shown_not_found import contradictions
from harness.probing.stability import unstable_answers
from harness.probing.tokens import (
    accepted_tokens,
    aged_tokens,
    fates,
    leeway_notes,
    leeway_of,
    leeways_of,
    swapped_gains,
)
from harness.reports import ProbeFinding, build_report, leaks_found
from harness.runlog import RunLog
from harness.types import AccessReport, Report, TrialResult

_SAID_CHARS = 160


def read_probe(log: RunLog) -> ProbeReport:
    """Return the report on the probe in ``log``."""
    report = build_report(log)
    probed = ProbedTrials(report, log)
    altered = Altered(log, probed.with_data)
    accounts = altered.accounts()
    facts = _Facts(report, probed)
    findings = tuple(
        {finding.words: finding for finding in (*facts.findings(), *altered.findings())}.values()
    )
    unsent = report.settings.get("unsent_tokens", {})
    silent, leeway, leeways = facts.silent(), leeway_of(probed), leeways_of(probed, unsent)
    own = [run for run in probed.runs if not bases_of(run)]
    others = [run for run in probed.runs if bases_of(run)]
    reached = {run.case.identity for run in others if run.stop is not None}
    return ProbeReport(
        report=report,
        decisions=facts.decisions(),
        findings=findings,
        callers=tuple(dict.fromkeys(name_of(run) for run in own)),
        damaged=len({run.case.identity for run in others}),
        untold=tuple(
            dict.fromkeys(name_of(run) for run in others if run.case.identity not in reached)
        ),
        tokens=fates(probed),
        leeway=leeway,
        leeways=leeways,
        unsent=unsent,
        swapped=len(probed.swapped),
        not_asked=report.settings.get("not_asked", 0),
        forged=forged_kinds(probed),
        not_forged=not_forged(probed),
        altered=accounts,
        silent=silent,
        coverage=measure(
            probed,
            (tool for shown in log.tools.values() for tool in shown.tools),
            silent,
            report.settings.get("min_coverage"),
        ),
        notes=tuple(
            dict.fromkeys(
                (*_notes(own), *contradictions(probed), *leeway_notes(probed, leeway, leeways))
            )
        ),
        not_read=tuple(line for lines in report.access.not_read.values() for line in lines),
        lost=tuple(
            dict.fromkeys(
                (
                    *_lost(
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
                    *_lost(run for run in others if run.case.identity in reached),
                )
            )
        ),
    )


def _notes(runs: Iterable[TrialResult]) -> Iterator[str]:
    """Yield notes: possible problems that fail nothing."""
    for run in runs:
        for check in run.checks:
            if check.kind == LEAK_NOTE:
                yield from map(one_line, check.explanation.splitlines())


def _lost(runs: Iterable[TrialResult]) -> Iterator[str]:
    """Yield the reason of each call without an answer."""
    for run in runs:
        if run.error is not None:
            yield one_line(f"{run.case.identity}: {run.error.message}")


def _echoed(probed: ProbedTrials) -> Iterator[ProbeFinding]:
    """Yield each call whose answer contains the caller's token, once for all callers."""
    reported: set[str] = set()
    for run in probed.runs:
        result = probed.result(run)
        if facts_of(run).get("echoed") and "" not in reported:
            reported.add("")
            words = "Token was sent back: the refusal of a session contains the caller's token"
            yield ProbeFinding(
                problem="token_echoed", words=f"{words}, as {name_of(run)}", callers=(name_of(run),)
            )
        if result is not None and result.call.echoed_token and label_of(run) not in reported:
            reported.add(label_of(run))
            yield ProbeFinding(
                problem="token_echoed",
                words=f"{echo_words(result.call)}: {label_of(run)} as {name_of(run)}",
                callers=(name_of(run),),
                call=label_of(run),
                is_judged=True,
            )


def findings_of(log: RunLog) -> Sequence[ProbeFinding]:
    """Return the findings of the probe in ``log``."""
    return read_probe(log).findings


class _Facts:
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
            for result in asked(report.results)
            if not bases_of(result)
            for tool in self._probed.offered(result)
        }

    def decisions(self) -> dict[str, dict[str, Decided]]:
        """Return all decisions of the first round: call → caller → decision."""
        cells = {
            (row.group, cell.identity): cell for row in self._access.rows for cell in row.cells
        }
        table: dict[str, dict[str, Decided]] = {}
        for run in self._runs:
            if run.index:
                continue
            cell = cells.get((label_of(run), run.case.identity or ""))
            tool = facts_of(run)["tool"]
            decision = (
                next((one for one in cell.decisions if one.tool == tool), None) if cell else None
            )
            decided = self._alone(run) if decision is None else Decided.of(decision)
            table.setdefault(label_of(run), {})[name_of(run)] = decided
        return table | self._listings()

    def _listings(self) -> dict[str, dict[str, Decided]]:
        """Return for each tool that was not called whether it is listed, by caller."""
        called = {facts_of(run)["tool"] for run in self._runs}
        asked = {
            name_of(run): view for run in self._runs if (view := self._probed.views.get(run.key))
        }
        return {
            tool: {name: _listing(view, tool) for name, view in asked.items()}
            for tool in sorted(self._shown - called)
        }

    def silent(self) -> dict[str, str]:
        """Return the calls that failed for all callers that were not refused: call → message."""
        answers: dict[str, list[Result]] = {}
        for run in self._runs:
            result = self._probed.result(run)
            if bases_of(run) or result is None or result.call.outcome in {"denied", *NO_ANSWER}:
                continue
            if facts_of(run)["tool"] in self._probed.offered(run):
                answers.setdefault(label_of(run), []).append(result)
        return {
            call: shorten(one_line(results[0].call.text), _SAID_CHARS)
            for call, results in answers.items()
            if not any(result.call.outcome == "ok" for result in results)
        }

    def findings(self) -> Iterator[ProbeFinding]:
        """Yield all findings, worst first."""
        yield from leaks_found(self._access.leaks)
        yield from self._of_own_records()
        yield from self._unexpected()
        yield from _echoed(self._probed)
        yield from self._hidden()
        yield from self._going_further()
        yield from swapped_gains(self._probed)
        yield from forged_gains(self._probed)
        yield from cursor_gains(self._probed)
        yield from unstable_answers(self._probed)
        yield from mixed_up(self._probed)
        own = [
            self._probed.views[run.key]
            for run in self._runs
            if not bases_of(run) and run.key in self._probed.views
        ]
        if (
            reason := unobserved(own)
        ) is not None:  # that a damaged one is refused shows nothing of the others
            yield ProbeFinding(
                problem="unobserved", words=f"identity not observed: {one_line(reason)}"
            )

    def _of_own_records(self) -> Iterator[ProbeFinding]:
        """Yield leaks that show only beside the records of the identities themselves."""
        if not self._probed.records:
            return
        own = (*(run for run in self._runs if not bases_of(run)), *self._probed.records)
        views = (self._probed.views.get(run.key) for run in own)
        known = {(leak.identity, leak.value) for leak in self._access.leaks}
        leaks = find_leaks([view for view in views if view is not None])
        new = [leak for leak in leaks if (leak.identity, leak.value) not in known]
        for leak, _ in by_value([leak for leak in new if not leak.is_note]):
            yield ProbeFinding(
                problem="leak",
                words="; ".join(leak_lines(leak)[:2]),
                callers=(leak.identity,),
                call=leak.case,
            )

    # ── Each sort ────────────────────────────────────────────────────────────────────────────

    def _unexpected(self) -> Iterator[ProbeFinding]:
        for run in self._runs:
            name, call = name_of(run), label_of(run)
            for check in run.checks:
                if check.kind == DECISION and check.verdict == "failed":
                    said = check.explanation.splitlines()[0]
                    words = f"{call} as {name}: {said[:1].lower()}{said[1:]}"
                    yield ProbeFinding(
                        problem="unexpected", words=one_line(words), callers=(name,), call=call
                    )
        hidden = self._expected_hidden
        for name, offered in self._probed.lists().items():
            for tool in hidden.get(name, ()):
                if tool in offered:
                    words = (
                        f"{tool} is in the list of {name}, and the suite expects that it is hidden"
                    )
                    yield ProbeFinding(
                        problem="unexpected", words=words, callers=(name,), call=tool
                    )

    def _hidden(self) -> Iterator[ProbeFinding]:
        reported: set[tuple[str, str]] = set()
        for run in self._runs:
            tool, name = facts_of(run)["tool"], name_of(run)
            result = self._probed.result(run)
            worked = result is not None and result.call.outcome == "ok"
            if (
                worked
                and tool in self._shown
                and tool not in self._probed.offered(run)
                and (tool, name) not in reported
            ):
                reported.add((tool, name))
                words = f"{tool} is not in the list of {name}, and works for them all the same"
                yield ProbeFinding(
                    problem="hidden_callable", words=words, callers=(name,), call=label_of(run)
                )

    def _going_further(self) -> Iterator[ProbeFinding]:
        yield from accepted_tokens(self._probed)
        yield from aged_tokens(self._probed)
        answered = self._probed.answered()
        for run in self._runs:
            result, call = self._probed.result(run), label_of(run)
            if not bases_of(run) or is_flawed(run) or result is None or result.call.outcome != "ok":
                continue
            nobody = answered.get((ANONYMOUS, call))
            if (
                nobody is not None
                and is_meant(nobody)
                and self._probed.gets_as_much(nobody, result)
            ):
                continue  # what everybody may have is no gain
            for base in bases_of(run):
                if (first := answered.get((base, call))) is not None:
                    yield from self._further_than(base, self._probed.result(first), run, result)
        yield from self._shown_more()

    def _further_than(
        self, base: str, own: Result | None, trial: TrialResult, result: Result
    ) -> Iterator[ProbeFinding]:
        """Yield what a damaged identity gets beyond its original ``base``, if anything."""
        call = label_of(trial)
        if own is None or own.call.outcome != "ok":
            denied = own is None or own.call.outcome in ("denied", "unknown_tool")
            yield self._open(
                trial,
                base,
                f"{call} works, which {'is refused to' if denied else 'fails for'} {base}",
            )
        elif fields := more(result, own):
            yield self._open(
                trial, base, f"{call} gives {', '.join(fields[:4])}, which {base} does not get"
            )

    def _shown_more(self) -> Iterator[ProbeFinding]:
        lists = self._probed.lists()
        for run in {
            run.case.identity: run for run in self._runs if bases_of(run) and not is_flawed(run)
        }.values():
            for base in bases_of(run):
                if ANONYMOUS in lists and base in lists:
                    shown = lists.get(name_of(run), frozenset()) - lists[base] - lists[ANONYMOUS]
                    if shown:
                        what = f"{', '.join(sorted(shown))} is in the list, and hidden from {base}"
                        yield self._open(run, base, what)

    def _open(self, result: TrialResult, base: str, what: str) -> ProbeFinding:
        words = f"fails open: where {facts_of(result)['damage']} for {base}, {what}"
        return ProbeFinding(
            problem="fails_open",
            words=one_line(words),
            callers=(result.case.identity or "",),
            call=label_of(result),
        )

    def _alone(self, trial: TrialResult) -> Decided:
        view, result = self._probed.views.get(trial.key), self._probed.result(trial)
        if view is not None and view.refused:
            return Decided(access="denied", shape=view.refused_by)
        if result is None:
            return Decided(access="error")
        if result.call.outcome == "ok":
            return Decided(access="allowed")
        if facts_of(trial)["tool"] not in self._probed.offered(trial):
            return Decided(access="hidden", shape="not_listed")
        denied = result.call.outcome == "denied"
        return Decided(
            access="denied" if denied else "error", shape=result.call.refusal if denied else None
        )


def _listing(view: View, tool: str) -> Decided:
    if view.refused:
        return Decided(access="denied", shape=view.refused_by)
    return (
        Decided(access="listed")
        if tool in view.offered
        else Decided(access="hidden", shape="not_listed")
    )
