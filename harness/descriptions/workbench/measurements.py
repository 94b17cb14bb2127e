"""The measurements of a workbench for one model, by arm, read from its logs alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from harness.base import Trials
from harness.descriptions.workbench.arms import logged_variant_key, variant_key
from harness.judging import PARSER_IS_OFF, judge_log
from harness.runlog import RunLog
from harness.types import JsonObject, Transcript, TrialResult, Usage, Variant, dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstCall:
    """What the model called first in one trial."""

    case: str
    """Name of the case."""
    key: str
    """`TrialResult.key`, by which its conversation is found."""
    tool: str | None
    """The server's name of the tool, a decoy's name, or an invented name; ``None`` for no call."""
    decoy: bool
    """Whether it is a decoy."""
    arguments: JsonObject
    """The arguments, by the server's names; empty when no tool was called."""
    passed: bool
    """Whether the trial passed."""
    shown: tuple[str, ...] = ()
    """The tools in the order and under the names that the model saw."""


class ModelMeasurements:
    """The results of one model on one suite, by arm."""

    def __init__(
        self, logs: Sequence[RunLog], suite: str, model: str, other: ModelMeasurements | None = None
    ) -> None:
        """Collect the results of ``model`` and its variants in ``logs`` that belong to ``suite``.

        ``other`` has the results on the other server of an A/B comparison.
        """
        self.other = other
        """The results on the other server; ``None`` if there are none."""
        self._by_arm: dict[str, list[TrialResult]] = {}
        self._log_of: dict[str, RunLog] = {}
        for log in logs:
            # A log knows variants by their names, and arms are told apart by their content.
            described = log.header.axes.get("variant", {})
            arms: dict[str | None, str] = {None: variant_key(None)}
            arms |= {name: logged_variant_key(one) for name, one in described.items()}
            for result in judge_log(log).results:
                if (result.suite, result.model) == (suite, model):
                    arm = arms[result.axes.get("variant")]
                    self._by_arm.setdefault(arm, []).append(result)
                    self._log_of[result.key] = log

    def has_trials(self, variant: Variant | None) -> bool:
        """Whether at least one trial of the arm was recorded."""
        return variant_key(variant) in self._by_arm

    def arm_results(self, variant: Variant | None = None) -> tuple[TrialResult, ...]:
        """Return every recorded result of an arm; ``None`` is the clean one."""
        return tuple(self._by_arm.get(variant_key(variant), ()))

    def tried_cases(self, variant: Variant | None = None) -> frozenset[str]:
        """Return the cases with a recorded trial of an arm, judged or not."""
        return frozenset(result.case.name for result in self.arm_results(variant))

    def count_trials(self, variant: Variant | None = None) -> dict[str, Trials]:
        """Return case → (passed, judged) of an arm; cases without a judged trial are left out."""
        return count_by_case(
            (result.case.name, result.status == "passed")
            for result in self.arm_results(variant)
            if result.is_comparable
        )

    @cached_property
    def tests(self) -> dict[str, str]:
        """Case → its test, for the cases of a test that has several."""
        every = (result.case for results in self._by_arm.values() for result in results)
        return {case.name: case.test for case in every if case.test is not None}

    def count_unjudged(self, variant: Variant | None = None) -> int:
        """Return the number of an arm's trials without a verdict: errors, skipped, cancelled."""
        return sum(not result.is_comparable for result in self.arm_results(variant))

    def iterate_conversations(
        self, variant: Variant | None = None
    ) -> Iterator[tuple[TrialResult, Transcript]]:
        """Yield each judged trial of an arm with its conversation, read from the log."""
        for result in self.arm_results(variant):
            transcript = self._log_of[result.key].read_transcript(result.key)
            if transcript is not None and result.is_comparable:
                yield result, transcript

    def first_calls(self, variant: Variant | None = None) -> tuple[FirstCall, ...]:
        """Return the first call of each judged trial of an arm, from its conversation."""
        calls = []
        for result, transcript in self.iterate_conversations(variant):
            first = next(iter(transcript.server_calls), None)
            # Without a variant the log has no other list than the server's.
            told = self._log_of[result.key].shown.get(transcript.shown_digest)
            shown = transcript.tools if told is None else [tool.name for tool in told.tools.tools]
            calls.append(
                FirstCall(
                    case=result.case.name,
                    key=result.key,
                    tool=None if first is None else first.tool,
                    arguments={} if first is None else first.arguments,
                    decoy=first is not None and first.outcome == "decoy",
                    passed=result.status == "passed",
                    shown=tuple(shown),
                )
            )
        return tuple(calls)


def count_by_case(outcomes: Iterable[tuple[str, bool]]) -> dict[str, Trials]:
    """Return case → (successes, trials) from the case and the outcome of each trial."""
    found: dict[str, Trials] = {}
    for case, success in outcomes:
        passed, total = found.get(case, (0, 0))
        found[case] = passed + success, total + 1
    return found


def sum_usage(results: Iterable[TrialResult]) -> Usage:
    """Return what ``results`` used, judges and simulated users included."""
    return sum(
        (result.usage + result.judge_usage + result.user_usage for result in results), Usage()
    )


def note_written_calls(results: Iterable[TrialResult]) -> tuple[str, ...]:
    """Return the note on trials that are not counted because the model's call came as text."""
    amount = sum(result.written_call is not None for result in results)
    replies = "1 reply was a call" if amount == 1 else f"{amount:,} replies were calls"
    return (f"{replies} written as text, not counted. {PARSER_IS_OFF}",) if amount else ()
