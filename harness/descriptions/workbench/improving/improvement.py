"""Improve descriptions in steps: failures, hints, proposals, screening, held-out evaluation.

Every step follows from the results of the steps before, so that an interrupted workbench continues
where it stopped.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from statistics import fmean
from typing import Any

from harness.base import Pair
from harness.descriptions.workbench.arms import Arm, key_of
from harness.descriptions.workbench.improving.acceptance import (
    MOST_PROPOSALS,
    Gain,
    Look,
    fewest_gains,
    finalists,
    gain_on,
    look_at,
)
from harness.descriptions.workbench.improving.combining import combined
from harness.descriptions.workbench.improving.expected import expected_call
from harness.descriptions.workbench.improving.proposal import Failure, Known, Proposal, mistake_in
from harness.descriptions.workbench.improving.regime import Failing, failing_cases, hinted_arm
from harness.descriptions.workbench.improving.rules import proposals as by_rules
from harness.descriptions.workbench.improving.split import Intent, Split, names, pairs_of, split
from harness.descriptions.workbench.improving.writer import Written, ask_writer, written_before
from harness.descriptions.workbench.measured import Measured
from harness.descriptions.workbench.parts import Part, parts_of, without
from harness.descriptions.workbench.study import Bench
from harness.types import Usage, Variant

SCREENING_LEVEL = 0.05
"""Level of the intervals of the screening: 95 % intervals, from which nothing is claimed."""


class Improvement:
    """All results so far on better descriptions, for one model."""

    def __init__(self, bench: Bench, measured: Measured, *, ask: bool = False) -> None:
        """``ask`` allows asking the writing model; otherwise its answer is only read."""
        self._bench = bench
        self._measured = measured
        self._ask = ask

    @cached_property
    def split(self) -> Split:
        """The split into seen and held-out intents."""
        return split(self._bench.suite.cases, self._bench.options.seed)

    @cached_property
    def failing(self) -> tuple[Failing, ...]:
        """The cases that fail on the server's own list."""
        return failing_cases(self._bench, self._measured)

    @cached_property
    def not_judged(self) -> int:
        """Cases without a verdict on the server's own list."""
        return len(self._bench.suite.cases) - len(self._measured.trials())

    @cached_property
    def known(self) -> Known:
        """The input of proposers."""
        seen = names(self.split.seen)
        mendable = {one.case for one in self.failing if one.may_be_words} & seen
        calls = {call.case: call for call in self._measured.first_calls() if not call.passed}
        failures = tuple(
            Failure(
                prompt=" / ".join(case.prompts),
                expected=expected_call(case),
                called=None if (call := calls.get(case.name)) is None else call.tool,
                arguments={} if call is None else call.arguments,
            )
            for case in self._bench.suite.cases
            if case.name in mendable
        )
        return Known(
            tools=self._bench.tools,
            failures=failures,
            effects=tuple(self._effects()),
            values=self._values(failures),
        )

    @cached_property
    def written(self) -> Written | None:
        """The proposals of the writing model; ``None`` if there is none or it was not asked."""
        folder, writer = self._bench.folder, self._bench.writer
        if folder is None or self._bench.options.writer is None or not self.known.failures:
            return None
        if self._ask and writer is not None:
            return ask_writer(writer, self.known, folder, self._bench.model)
        return written_before(folder, self._bench.model, self.known)

    @cached_property
    def all_proposals(self) -> tuple[Proposal, ...]:
        """Every usable proposal, those of a model first, each change once."""
        if not self.known.failures:
            return ()
        own = () if self.written is None else self.written.proposals
        found: dict[str, Proposal] = {}
        for one in (*own, *by_rules(self.known)):
            if mistake_in(one, self._bench.tools) is None:
                found.setdefault(key_of(one.variant), one)
        return tuple(found.values())

    @property
    def proposals(self) -> tuple[Proposal, ...]:
        """Those that are tried: no more than were allowed for."""
        return self.all_proposals[:MOST_PROPOSALS]

    @cached_property
    def screened(self) -> tuple[tuple[Proposal, Gain], ...]:
        """The proposals with their effects on the seen cases, where measured."""
        found = ((one, self.screening_of(one)) for one in self.proposals)
        return tuple((one, gain) for one, gain in found if gain is not None)

    def screening_of(self, proposal: Proposal) -> Gain | None:
        """Return the effect of ``proposal`` on the seen cases; ``None`` if not measured."""
        return gain_on(self._pairs(self.split.seen, proposal.variant), SCREENING_LEVEL)

    @cached_property
    def finalists(self) -> tuple[Proposal, ...]:
        """The proposals that are evaluated on the held-out cases."""
        gained = [one for one, gain in sorted(self.screened, key=_by_gain) if gain.difference > 0]
        bundle = combined("all that gained", gained, self._bench.tools) if gained else None
        if bundle is not None and mistake_in(bundle, self._bench.tools) is not None:
            bundle = None
        return tuple(finalists(self.screened, bundle))

    @cached_property
    def looks(self) -> tuple[Look, ...]:
        """The results of the finalists on the held-out cases."""
        found = (self._look(one) for one in self.finalists)
        return tuple(look for look in found if look is not None)

    @cached_property
    def combination(self) -> Proposal | None:
        """All kept proposals combined; ``None`` if there are none, or that is a finalist."""
        kept = [look.proposal for look in self.looks if look.is_kept]
        if len(kept) < 2:  # noqa: PLR2004 - one alone is no combination
            return None
        joined = combined("all that was proven", kept, self._bench.tools)
        known = {key_of(one.variant) for one in kept}
        usable = mistake_in(joined, self._bench.tools) is None
        return joined if usable and key_of(joined.variant) not in known else None

    @cached_property
    def last_look(self) -> Look | None:
        """The result of the combination on the held-out cases."""
        return None if self.combination is None else self._look(self.combination)

    @property
    def accepted(self) -> Look | None:
        """The returned result: the combination if it is proven, else the best proven finalist."""
        if self.last_look is not None and self.last_look.is_kept:
            return self.last_look
        kept = [look for look in self.looks if look.is_kept]
        return max(kept, key=lambda look: look.gain.difference, default=None)

    @cached_property
    def mendable_held_out(self) -> int:
        """Number of held-out intents that fail and that better words may help."""
        return len(self._mendable(self.split.held_out))

    @cached_property
    def mendable(self) -> int:
        """Number of intents that fail and that better words may help."""
        return self.mendable_held_out + len(self._mendable(self.split.seen))

    @property
    def can_be_proven(self) -> bool:
        """Whether enough held-out intents fail for an evaluation to prove an improvement."""
        return self.mendable_held_out >= fewest_gains()

    def arms(self) -> list[Arm]:
        """Return every arm needed so far, including those that were run."""
        hinted = hinted_arm(self._bench, self._measured)
        if hinted is None and not self.failing:
            return []
        arms = [] if hinted is None else [hinted]
        if hinted is not None and not self._measured.tried(hinted.variant):
            return arms
        arms += self._on(self.proposals, self.split.seen)
        if not (self._tried(self.proposals, self.split.seen) and self.can_be_proven):
            return arms
        arms += self._on(self.finalists, self.split.held_out)
        if self.combination is not None and self._tried(self.finalists, self.split.held_out):
            arms += self._on([self.combination], self.split.held_out)
        return arms

    def usage(self) -> Usage:
        """Return what the writing model used."""
        return Usage() if self.written is None else self.written.usage

    def _look(self, proposal: Proposal) -> Look | None:
        if not self.can_be_proven:
            return None
        return look_at(
            proposal,
            self.split.held_out,
            self._measured.trials(),
            self._measured.trials(proposal.variant),
            self._bench.options.margin,
        )

    def _pairs(self, intents: Sequence[Intent], variant: Variant) -> list[Pair]:
        return pairs_of(intents, self._measured.trials(), self._measured.trials(variant))

    def _mendable(self, intents: Sequence[Intent]) -> list[Intent]:
        failing = {one.case for one in self.failing if one.may_be_words}
        return [intent for intent in intents if failing.intersection(intent.cases)]

    def _on(self, proposals: Sequence[Proposal], intents: Sequence[Intent]) -> list[Arm]:
        return [Arm(variant=one.variant, cases=names(intents)) for one in proposals]

    def _tried(self, proposals: Sequence[Proposal], intents: Sequence[Intent]) -> bool:
        wanted = names(intents)
        return all(self._measured.tried(one.variant) & wanted for one in proposals)

    def _effects(self) -> list[tuple[Part, float]]:
        """Return the effect of each part that another study removed, on the seen cases."""
        found = []
        for part in parts_of(self._bench.tools):
            variant = without(part, self._bench.tools)
            pairs = self._pairs(self.split.seen, variant) if self._measured.has(variant) else []
            if pairs:
                found.append((part, -fmean(_move(pair) for pair in pairs)))
        return found

    def _values(self, failures: Sequence[Failure]) -> Mapping[tuple[str, str], tuple[Any, ...]]:
        """Return the values that failures expect and that no held-out case contains."""
        held_out = names(self.split.held_out)
        cases = [case for case in self._bench.suite.cases if case.name in held_out]
        told = [" ".join(case.prompts) for case in cases]
        told += [
            json.dumps(call.arguments, ensure_ascii=False, default=str)
            for case in cases
            if (call := expected_call(case)) is not None
        ]
        found: dict[tuple[str, str], dict[str, Any]] = {}
        for call in (failure.expected for failure in failures if failure.expected is not None):
            for name, value in call.arguments.items():
                if not any(str(value) in text for text in told):
                    found.setdefault((call.tool, name), {})[str(value)] = value
        return {place: tuple(values.values()) for place, values in found.items()}


def _move(pair: Pair) -> float:
    (passed, judged), (other_passed, other_judged) = pair
    return other_passed / other_judged - passed / judged


def _by_gain(one: tuple[Proposal, Gain]) -> float:
    return -one[1].difference
