"""Judge several trials together: leaks, decisions by comparison, unobserved identity.

A trial has a status of its own when it ends. If a test runs as several identities, the results of
one identity may still fail the trial of another, and the evidence comes from the whole suite: a
field that is withheld in one test may leak in another. So such a trial waits, and is *settled* when
all trials of its suite have ended. A `RunJudge` takes results in any order and returns each once,
settled::

    judge = RunJudge(suites=header.suites, order=order_of(header), expected={"shop": 4})
    judge.add(plain, view)         # → (plain,): nothing else can change it
    judge.add(as_admin, view)      # → (): waits for the other identities
    judge.add(as_clerk, view)      # → (): waits, too
    judge.add(as_guest, view)      # → (as_admin, as_clerk, as_guest), each compared with the others

To react early, call `failing`: it returns the waiting trials that leak by the results so far.

A typo under ``without``, such as ``without: [emial]``, must not pass: a missing field is evidence
only if another result or a tool's output schema has the field. So the names are looked up in all
successful results of all identities of a suite, and in the output schemas of its tools. If no other
identity got an answer, the names are not checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from harness.base import canonical_json, did_you_mean
from harness.judging.access import (
    AccessFacts,
    identity_check,
    judge_by_comparison,
    leak_check,
    note_check,
)
from harness.judging.checks.absent_fields import read_masks
from harness.judging.matching.json_values import every_field
from harness.judging.policy import View, decide_access, explain_unobserved, find_leaks, find_unread
from harness.types import CheckResult, JsonObject, Leak, TrialError, TrialResult


def check_known_fields(
    results: Sequence[TrialResult], views: Iterable[View]
) -> Iterator[TrialResult]:
    """Yield ``results``; a passed check with an unknown field turns its result into an error."""
    found = _ShownFields(views)
    for result in results:
        checks = tuple(
            found.judge_check(check, result.case.identity or "") for check in result.checks
        )
        # A failed trial stays failed: an error would hide what it failed by.
        if checks == result.checks or result.status != "passed":
            yield result
            continue
        said = [new for new, old in zip(checks, result.checks, strict=True) if new != old]
        words = "; ".join(f"{check.label}: {check.explanation}" for check in said)
        error = TrialError(kind="judge", message=words)
        yield replace(result, checks=checks, status="error", error=error)


class _ShownFields:
    """The names of all fields in the results of all identities."""

    def __init__(self, views: Iterable[View]) -> None:
        self._paths: dict[str, str] = {}
        self._answered: set[tuple[str, str]] = set()
        seen: set[str] = set()
        for view in views:
            for tool in view.tools.tools:
                self._add_names(
                    (str(name), str(name))
                    for field in every_field(tool.output_schema)
                    if field.name == "properties" and isinstance(field.value, Mapping)
                    for name in field.value
                )
            for result in view.results:
                # An empty answer has no fields, so it is no evidence against a name.
                if result.call.outcome == "ok" and result.leaves:
                    # The empty name stands for any tool, as a check may name none.
                    self._answered |= {(view.identity, result.call.tool), (view.identity, "")}
                if result.call.outcome == "ok" and result.fingerprint not in seen:
                    seen.add(result.fingerprint)
                    for form in (result.call.structured, result.text_json):
                        self._add_names((field.path, field.name) for field in every_field(form))
                    self._add_names((leaf.path, leaf.name) for leaf in result.leaves)

    def _add_names(self, paths: Iterable[tuple[str, str]]) -> None:
        for path, name in paths:
            # As the names under `without` are compared (`find_given_fields`).
            self._paths[path.replace("[]", "").casefold()] = name

    def judge_check(self, check: CheckResult, identity: str) -> CheckResult:
        """Return ``check``, as not judged if it passed for an unknown field."""
        if "decides_access" not in check.traits or check.verdict != "passed":
            return check
        if not isinstance(check.expected, Mapping) or self._may_be_absent(check.expected, identity):
            return check
        unknown = [name for name in read_masks(check.expected) if not self._is_known(name)]
        if not unknown:
            return check
        meant = did_you_mean(unknown[0], sorted(set(self._paths.values())))
        return replace(
            check,
            verdict="not_judged",
            explanation=f"No result has a field {' or '.join(map(repr, unknown))}, so there is no "
            f"evidence that it is left out.{' ' + meant if meant else ''}",
            hint="Correct the name; if no result is meant to have it, write without: {fields: […], "
            "allow_unknown: true}.",
        )

    def _may_be_absent(self, expected: Mapping[str, Any], identity: str) -> bool:
        """Whether a check names no field, allows unknown ones, or only one identity got any."""
        without = expected.get("without", ())
        allowed = isinstance(without, Mapping) and without.get("allow_unknown")
        tool = expected.get("tool", "")
        others = any(name != identity and of == tool for name, of in self._answered)
        return not without or bool(allowed) or not others

    def _is_known(self, name: str) -> bool:
        wanted = name.casefold().replace("[]", "")
        return wanted in self._paths or any(path.endswith(f".{wanted}") for path in self._paths)


ViewSource: TypeAlias = Callable[[], View | None]
"""Makes a trial's view when it is needed; ``None`` if the trial has no transcript."""

Order: TypeAlias = Callable[[TrialResult], Any]
"""The sort key of results, so that verdicts do not depend on the order of arrival."""


def no_view() -> None:
    """Return no view, for a trial that was not started."""


@dataclass(slots=True)
class _WaitingTrials:
    """The trials of one suite that are judged together."""

    results: dict[str, TrialResult] = field(default_factory=dict)
    sources: dict[str, ViewSource] = field(default_factory=dict)
    views: dict[str, View | None] = field(default_factory=dict)
    tests: dict[str, list[View]] = field(default_factory=dict)
    """Test and model → its views so far."""
    looked: dict[str, int] = field(default_factory=dict)
    """Test and model → the number of its views at the last search for leaks."""
    suspicious: bool = False
    """Whether a test shows a leak since the suite was last searched."""
    known: int = 0
    """Number of views of all tests."""
    grown_at: int = 0
    """Number of views at the last search of the suite that was due to its growth."""
    suspected_at: int = 0
    """Number of views at the last search of the suite that was due to a leak."""

    def get_view(self, key: str) -> View | None:
        if key not in self.views:
            self.views[key] = self.sources[key]()
        return self.views[key]

    def list_views(self, results: Iterable[TrialResult]) -> list[View]:
        return [view for one in results if (view := self.get_view(one.key)) is not None]

    def is_search_due(self) -> bool:
        """Whether to search the whole suite now: at its first leak, then as it grows."""
        if self.suspicious and _has_grown(self.known, since=self.suspected_at, share=16):
            self.suspicious, self.suspected_at = False, self.known
        elif not _has_grown(self.known, since=self.grown_at, share=2):
            return False
        self.grown_at = self.known
        return True


class RunJudge:
    """Takes the results of a run one by one, and settles each as soon as it is final."""

    def __init__(
        self,
        *,
        suites: JsonObject,
        order: Order,
        expected: Mapping[str, int] | None = None,
    ) -> None:
        """Start without any result.

        Args:
            suites: Suite name → its part of a log's header; ``require_identity`` is read.
            order: The sort key of results, as in reports.
            expected: Suite → its number of trials; suites that are not named wait for `close`.
        """
        self.facts = AccessFacts()
        """The findings of comparing the settled trials."""
        self.searched = 0
        """Number of views searched for leaks so far, repetitions included, to measure the work."""
        self._required = {name for name, facts in suites.items() if facts.get("require_identity")}
        self._order = order
        self._expected = dict(expected or {})
        self._ended: dict[str, set[str]] = {}
        self._waiting: dict[str, _WaitingTrials] = {}

    def is_waiting(self, result: TrialResult) -> bool:
        """Return whether trials that end later may change the status of this one."""
        return result.stop is not None and (
            result.case.group is not None or result.suite in self._required
        )

    def has_waiting(self, suite: str) -> bool:
        """Return whether trials of ``suite`` wait to be settled."""
        return suite in self._waiting

    def add_result(
        self, result: TrialResult, view: ViewSource = no_view
    ) -> tuple[TrialResult, ...]:
        """Take a result, replacing an earlier one of its trial; return the results now settled."""
        suite, settled = result.suite, [result]
        if self.is_waiting(result):
            settled.clear()
            waiting = self._waiting.setdefault(suite, _WaitingTrials())
            waiting.results[result.key] = result
            waiting.sources[result.key] = view
            # A view that was made is of the result that this one replaces.
            waiting.views.pop(result.key, None)
        if suite in self._expected:
            # Keys and no counter: a trial whose result is replaced has ended once.
            ended = self._ended.setdefault(suite, set())
            ended.add(result.key)
            if len(ended) == self._expected[suite]:
                settled += self._settle_suite(suite)
        return tuple(settled)

    def close(self) -> tuple[TrialResult, ...]:
        """Settle all waiting trials, since no more results will come."""
        # A copy of the names, since each suite that is settled is removed.
        return tuple(
            result for suite in tuple(self._waiting) for result in self._settle_suite(suite)
        )

    # ── Results so far ───────────────────────────────────────────────────────────────────────

    def find_failing(self, result: TrialResult) -> tuple[TrialResult, ...]:
        """Return the waiting trials that leak by the results so far, after ``result`` was added.

        Each is judged as if no further result followed. The views of the result's test are searched
        first; then, if that test leaks or the suite has grown by half, those of the whole suite. So
        the total search work of a run stays proportional to its number of trials.
        """
        waiting = self._waiting.get(result.suite)
        # Only tests with several identities are compared.
        if waiting is None or result.case.group is None or result.key not in waiting.results:
            return ()
        view = waiting.get_view(result.key)
        if view is None:
            return ()
        test = waiting.tests.setdefault(view.group, [])
        test.append(view)
        waiting.known += 1
        # A search takes time by the number of views: one at each new view would be quadratic.
        if _has_grown(len(test), since=waiting.looked.get(view.group, 0), share=8):
            waiting.looked[view.group] = len(test)
            waiting.suspicious |= any(
                waiting.results[leak.key].case.leaks == "fail" and not leak.is_note
                for leak in self._find_leaks(test)
            )
        if not waiting.is_search_due():
            return ()
        results = [waiting.results[view.key] for views in waiting.tests.values() for view in views]
        # Not those of the run, which are of settled trials only.
        facts = AccessFacts()
        judged = self._judge_by_views(results, waiting, facts)
        return tuple(one for one in judged if one.key in facts.leaks)

    # ── All results ──────────────────────────────────────────────────────────────────────────

    def _settle_suite(self, suite: str) -> tuple[TrialResult, ...]:
        """Judge the waiting trials of a suite, each compared with the others."""
        waiting = self._waiting.pop(suite, None)
        if waiting is None:
            return ()
        ordered = sorted(waiting.results.values(), key=self._order)
        several = [one for one in ordered if one.case.group is not None]
        compared = {one.key: one for one in self._judge_by_views(several, waiting, self.facts)}
        # All views of the suite: a field is known if anybody was shown it in any test.
        seen = waiting.list_views(ordered)
        judged = tuple(check_known_fields([compared.get(one.key, one) for one in ordered], seen))
        is_required = suite in self._required and find_compared_suites(ordered)
        why = explain_unobserved(seen) if is_required else None
        if why is None:
            return judged
        self.facts.unobserved[suite] = why
        return tuple(
            _replace_checks(one, (*one.checks, identity_check(why, one.case.at))) for one in judged
        )

    def _judge_by_views(
        self, results: Iterable[TrialResult], waiting: _WaitingTrials, facts: AccessFacts
    ) -> list[TrialResult]:
        """Compare results of tests with several identities; add findings to ``facts``."""
        # In the order of reports: which leak is told first must not depend on who ended first.
        ordered = sorted(results, key=self._order)
        views = waiting.list_views(ordered)
        facts.decisions |= zip((view.key for view in views), decide_access(views), strict=True)
        for leak in self._find_leaks(views):
            if waiting.results[leak.key].case.leaks == "fail":
                found = facts.notes if leak.is_note else facts.leaks
                found.setdefault(leak.key, []).append(leak)
        if views and (lines := find_unread(views)):
            facts.not_read[ordered[0].suite] = lines
        company: dict[str, dict[str, None]] = {}
        for view in views:
            company.setdefault(view.group, {})[view.identity] = None
        others = {
            view.key: [name for name in company[view.group] if name != view.identity]
            for view in views
        }
        return [
            _apply_comparison(one, facts, others[one.key]) if one.key in others else one
            for one in ordered
        ]

    def _find_leaks(self, views: Sequence[View]) -> list[Leak]:
        self.searched += len(views)
        return find_leaks(views)


def find_compared_suites(results: Iterable[TrialResult]) -> set[str]:
    """Return the suites whose cases are asked as several identities: one cannot be compared."""
    named: dict[str, set[str]] = {}
    contexts: dict[str, set[str]] = {}
    for result in results:
        if result.case.identity is not None:
            named.setdefault(result.suite, set()).add(result.case.identity)
        if result.case.user_context is not None:
            contexts.setdefault(result.suite, set()).add(canonical_json(result.case.user_context))
    found = (*named.items(), *contexts.items())
    return {suite for suite, several in found if len(several) > 1}


def _has_grown(now: int, *, since: int, share: int) -> bool:
    """Whether a number has grown by at least 1/``share`` of its earlier value, and by one."""
    return now - since >= max(1, since // share)


def _apply_comparison(
    result: TrialResult, facts: AccessFacts, others: Sequence[str]
) -> TrialResult:
    checks = [judge_by_comparison(check, facts.decisions[result.key]) for check in result.checks]
    leaks = facts.leaks.get(result.key, [])
    if result.case.leaks == "fail" and (others or leaks):
        found = leak_check(leaks, others, result.case.at)
        checks = [found, *checks] if leaks else [*checks, found]  # a leak is listed first
    if notes := facts.notes.get(result.key):
        checks.append(note_check(notes, result.case.at))
    return _replace_checks(result, checks)


def _replace_checks(result: TrialResult, checks: Sequence[CheckResult]) -> TrialResult:
    failed = any(check.verdict == "failed" and check.severity == "fail" for check in checks)
    # An error stays one: such a trial has no verdict that could change.
    status = "failed" if failed and result.status == "passed" else result.status
    return replace(result, checks=tuple(checks), status=status)
