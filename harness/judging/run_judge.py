"""What only several trials together show: leaks, decisions by comparison, an identity that nobody observes.

A trial has a status by itself when it ends. Where a test is asked as several identities, what one
of them saw may still fail another one's trial, and evidence comes from the whole suite: a field
that one test shows to be withheld may be given away in another. So such a trial is *settled* only
when all trials of its suite have ended; until then it waits. A `RunJudge` takes results as they
come in, in any order, and gives each back once, settled::

    judge = RunJudge(suites=header.suites, order=order_of(header), expected={"shop": 4})
    judge.add(plain, view)         # → (plain,): nothing else can change it
    judge.add(as_admin, view)      # → (): waits for the other identities
    judge.add(as_clerk, view)      # → (): waits, too
    judge.add(as_guest, view)      # → (as_admin, as_clerk, as_guest), judged by one another's views

Whoever must act at once asks `failing`: it says which waiting trials leak by all that is known now.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from harness.canonical_json import canonical_json
from harness.judging.access_checks import identity_check, leak_check, with_comparison
from harness.judging.policy import View, decide, find_leaks, unobserved
from harness.types import CheckResult, Decision, JsonObject, Leak, TrialResult

ViewSource: TypeAlias = Callable[[], View | None]
"""Makes a trial's view when it is needed; ``None`` where no conversation is known."""

Order: TypeAlias = Callable[[TrialResult], Any]
"""The sort key by which results are judged, so that their order of arrival has no influence."""


def no_view() -> None:
    """Have no view of a trial that was not started."""


@dataclass(slots=True)
class AccessFacts:
    """What the views of a run come to, by trial."""

    decisions: dict[str, tuple[Decision, ...]] = field(default_factory=dict)
    """`Trial.key` → what was decided."""
    leaks: dict[str, list[Leak]] = field(default_factory=dict)
    """`Trial.key` → what was given and should not have been."""
    unobserved: dict[str, str] = field(default_factory=dict)
    """Suite → why nothing shows that the server knows who asks."""


@dataclass(slots=True)
class _Waiting:
    """The trials of one suite that are judged together."""

    results: dict[str, TrialResult] = field(default_factory=dict)
    sources: dict[str, ViewSource] = field(default_factory=dict)
    views: dict[str, View | None] = field(default_factory=dict)
    tests: dict[str, list[View]] = field(default_factory=dict)
    """Test and model → its views so far."""
    looked: dict[str, int] = field(default_factory=dict)
    """Test and model → its views when they were last searched for leaks."""
    suspicious: bool = False
    """Whether a test leaks by its own views, and the suite was not searched since."""
    known: int = 0
    """Views of all tests."""
    grown_at: int = 0
    """Views when the suite was last searched because it had grown."""
    suspected_at: int = 0
    """Views when the suite was last searched because a test leaked."""

    def view(self, key: str) -> View | None:
        if key not in self.views:
            self.views[key] = self.sources[key]()
        return self.views[key]


class RunJudge:
    """Takes the results of a run one by one, and settles each as soon as nothing can change it."""

    def __init__(
        self,
        *,
        suites: JsonObject,
        order: Order,
        expected: Mapping[str, int] | None = None,
    ) -> None:
        """Begin with no result.

        Args:
            suites: Suite name → what a log's header says of it; ``require_identity`` counts here.
            order: The order of results, as reports have them.
            expected: Suite → how many trials of it will end; what is not known waits for `close`.
        """
        self.facts = AccessFacts()
        """What the settled trials come to."""
        self.searched = 0
        """Views that were searched for leaks, each as often as it was: the measure of the work."""
        self._required = {name for name, facts in suites.items() if facts.get("require_identity")}
        self._order = order
        self._expected = dict(expected or {})
        self._ended: dict[str, set[str]] = {}
        self._waiting: dict[str, _Waiting] = {}

    def waits(self, result: TrialResult) -> bool:
        """Return whether trials that end later may change what this one comes to."""
        return result.stop is not None and (
            result.case.group is not None or result.suite in self._required
        )

    def has_waiting(self, suite: str) -> bool:
        """Return whether trials of ``suite`` wait to be settled."""
        return suite in self._waiting

    def add(self, result: TrialResult, view: ViewSource = no_view) -> tuple[TrialResult, ...]:
        """Take a result, in place of an earlier one of the same trial; return those that are settled by it."""
        ended = self._ended.setdefault(result.suite, set())
        ended.add(result.key)
        settled: tuple[TrialResult, ...] = ()
        if self.waits(result):
            waiting = self._waiting.setdefault(result.suite, _Waiting())
            waiting.results[result.key] = result
            waiting.sources[result.key] = view
            waiting.views.pop(result.key, None)
        else:
            settled = (result,)
        if len(ended) == self._expected.get(result.suite):
            settled += self._settle(result.suite)
        return settled

    def close(self) -> tuple[TrialResult, ...]:
        """Settle everything that still waits: no result will come any more."""
        return tuple(result for suite in tuple(self._waiting) for result in self._settle(suite))

    # ── By what is known so far ──────────────────────────────────────────────────────────────

    def failing(self, result: TrialResult) -> tuple[TrialResult, ...]:
        """Return the waiting trials that leak by all that is known, after ``result`` was added.

        Each comes as it would be if no other result followed. The views of the test that the result
        belongs to are searched first, then those of the whole suite if that test leaks or if the
        suite has grown by half. So all the searching of a run is in proportion to its trials.
        """
        waiting = self._waiting.get(result.suite)
        if waiting is None or result.case.group is None or result.key not in waiting.results:
            return ()
        view = waiting.view(result.key)
        if view is None:
            return ()
        self._search_test(view, waiting)
        if not self._is_search_due(waiting):
            return ()
        results = [waiting.results[view.key] for views in waiting.tests.values() for view in views]
        facts = AccessFacts()
        judged = self._judged_by_views(results, waiting, facts)
        return tuple(one for one in judged if one.key in facts.leaks)

    def _search_test(self, view: View, waiting: _Waiting) -> None:
        """Add a view to those of its test, and search these once they have grown by an eighth."""
        test = waiting.tests.setdefault(view.group, [])
        test.append(view)
        waiting.known += 1
        if _has_grown(len(test), since=waiting.looked.get(view.group, 0), share=8):
            waiting.looked[view.group] = len(test)
            waiting.suspicious |= any(
                waiting.results[leak.key].case.leaks == "fail" for leak in self._leaks(test)
            )

    def _is_search_due(self, waiting: _Waiting) -> bool:
        """Whether the whole suite is to be searched: at once for a first leak, later ones as it grows."""
        known = waiting.known
        if waiting.suspicious and _has_grown(known, since=waiting.suspected_at, share=16):
            waiting.suspicious, waiting.suspected_at, waiting.grown_at = False, known, known
            return True
        if _has_grown(known, since=waiting.grown_at, share=2):
            waiting.grown_at = known
            return True
        return False

    # ── By everything ────────────────────────────────────────────────────────────────────────

    def _settle(self, suite: str) -> tuple[TrialResult, ...]:
        """Judge the waiting trials of a suite by one another."""
        waiting = self._waiting.pop(suite, None)
        if waiting is None:
            return ()
        ordered = sorted(waiting.results.values(), key=self._order)
        compared = {
            one.key: one
            for one in self._judged_by_views(
                [one for one in ordered if one.case.group is not None], waiting, self.facts
            )
        }
        judged = [compared.get(one.key, one) for one in ordered]
        if suite not in self._required:
            return tuple(judged)
        why = why_unobserved(ordered, waiting.view)
        if why is None:
            return tuple(judged)
        self.facts.unobserved[suite] = why
        return tuple(
            _with_checks(one, (*one.checks, identity_check(why, one.case.at))) for one in judged
        )

    def _judged_by_views(
        self, results: Iterable[TrialResult], waiting: _Waiting, facts: AccessFacts
    ) -> list[TrialResult]:
        """Return the results of tests that are asked as several identities, and note what is found."""
        ordered = sorted(results, key=self._order)
        views = [view for one in ordered if (view := waiting.view(one.key)) is not None]
        facts.decisions |= {
            view.key: decided for view, decided in zip(views, decide(views), strict=True)
        }
        for leak in self._leaks(views):
            if waiting.results[leak.key].case.leaks == "fail":
                facts.leaks.setdefault(leak.key, []).append(leak)
        company: dict[str, dict[str, None]] = {}
        for view in views:
            company.setdefault(view.group, {})[view.identity] = None
        others = {
            view.key: [name for name in company[view.group] if name != view.identity]
            for view in views
        }
        return [
            _compared(one, facts, others[one.key]) if one.key in others else one for one in ordered
        ]

    def _leaks(self, views: Sequence[View]) -> list[Leak]:
        self.searched += len(views)
        return find_leaks(views)


def why_unobserved(
    results: Sequence[TrialResult], view: Callable[[str], View | None]
) -> str | None:
    """Return why nothing shows that a server knows who asks; ``None`` where something does, or only one asks."""
    named = {one.case.identity for one in results if one.case.identity is not None}
    told = {
        canonical_json(one.case.user_context)
        for one in results
        if one.case.user_context is not None
    }
    if len(named) < 2 and len(told) < 2:  # noqa: PLR2004 - one alone differs from nobody
        return None
    return unobserved(found for one in results if (found := view(one.key)) is not None)


def _has_grown(now: int, *, since: int, share: int) -> bool:
    """Whether a number has grown by that part (1/``share``) of what it was; by one at least."""
    return now - since >= max(1, since // share)


def _compared(result: TrialResult, facts: AccessFacts, others: Sequence[str]) -> TrialResult:
    checks = [with_comparison(check, facts.decisions[result.key]) for check in result.checks]
    leaks = facts.leaks.get(result.key, [])
    if result.case.leaks == "fail" and (others or leaks):
        found = leak_check(leaks, others, result.case.at)
        checks = [found, *checks] if leaks else [*checks, found]  # nothing else is as urgent
    return _with_checks(result, checks)


def _with_checks(result: TrialResult, checks: Sequence[CheckResult]) -> TrialResult:
    failed = any(check.verdict == "failed" and check.severity == "fail" for check in checks)
    status = "failed" if failed and result.status == "passed" else result.status
    return replace(result, checks=tuple(checks), status=status)
