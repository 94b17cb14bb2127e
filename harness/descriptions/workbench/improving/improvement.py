"""Improve descriptions in steps: failures, hints, proposals, screening, held-out evaluation.

Every step follows from the results of the steps before, so that an interrupted workbench continues
where it stopped.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from math import ceil
from statistics import fmean
from typing import Any

from harness.base import Pair
from harness.descriptions.workbench.arms import Arm, Part, iterate_parts, remove_part, variant_key
from harness.descriptions.workbench.improving.acceptance import (
    HELD_OUT,
    MOST_PROPOSALS,
    Gain,
    HeldOutResult,
    Intent,
    Split,
    case_names,
    choose_finalists,
    evaluate_proposal,
    fewest_gains,
    measure_gain,
    pair_intents,
    split_intents,
)
from harness.descriptions.workbench.improving.proposal import (
    CaseFailure,
    Proposal,
    ProposerInput,
    combine_proposals,
    expected_call,
    find_mistake,
)
from harness.descriptions.workbench.improving.regime import FailingCase, failing_cases, hinted_arm
from harness.descriptions.workbench.improving.rules import propose_by_rules
from harness.descriptions.workbench.improving.writer import (
    WriterProposals,
    read_proposals,
)
from harness.descriptions.workbench.measurements import ModelMeasurements
from harness.descriptions.workbench.study import StudyContext
from harness.types import Variant

SCREENING_LEVEL = 0.05
"""Level of the intervals of the screening: 95 % intervals, from which nothing is claimed."""


class Improvement:
    """All results so far on better descriptions, for one model."""

    def __init__(
        self, bench: StudyContext, measured: ModelMeasurements, *, ask: bool = False
    ) -> None:
        """``ask`` allows asking the writing model; otherwise its answer is only read."""
        self._bench = bench
        self._measured = measured
        self._ask = ask

    @cached_property
    def split(self) -> Split:
        """The split into seen and held-out intents."""
        return split_intents(self._bench.suite.cases, self._bench.options.seed)

    @cached_property
    def known_failures(self) -> tuple[FailingCase, ...]:
        """The cases that fail on the server's own list."""
        return failing_cases(self._bench, self._measured)

    @cached_property
    def unjudged_count(self) -> int:
        """Cases without a verdict on the server's own list."""
        return len(self._bench.suite.cases) - len(self._measured.count_trials())

    @cached_property
    def proposer_input(self) -> ProposerInput:
        """The input of proposers."""
        seen = case_names(self.split.seen)
        # Failures of held-out cases stay unknown to proposers.
        mendable = self._mendable_cases & seen
        calls = {call.case: call for call in self._measured.first_calls() if not call.passed}
        failures = tuple(
            CaseFailure(
                prompt=" / ".join(case.prompts),
                expected=expected_call(case),
                called=None if (call := calls.get(case.name)) is None else call.tool,
                arguments={} if call is None else call.arguments,
            )
            for case in self._bench.suite.cases
            if case.name in mendable
        )
        return ProposerInput(
            tools=self._bench.tools,
            failures=failures,
            effects=tuple(self._part_effects()),
            values=self._expected_values(failures),
        )

    @cached_property
    def writer_proposals(self) -> WriterProposals | None:
        """The proposals of the writing model; ``None`` if there is none or it was not asked."""
        folder, writer = self._bench.folder, self._bench.writer
        if folder is None or self._bench.options.writer is None or not self.proposer_input.failures:
            return None
        ask = writer if self._ask else None
        return read_proposals(folder, self._bench.model, self.proposer_input, ask)

    @cached_property
    def all_proposals(self) -> tuple[Proposal, ...]:
        """Every usable proposal, those of a model first, each change once."""
        if not self.proposer_input.failures:
            return ()
        own = () if self.writer_proposals is None else self.writer_proposals.proposals
        found: dict[str, Proposal] = {}
        for one in (*own, *propose_by_rules(self.proposer_input)):
            if find_mistake(one, self._bench.tools) is None:
                # A model and a rule may propose the same change.
                found.setdefault(variant_key(one.variant), one)
        return tuple(found.values())

    @property
    def proposals(self) -> tuple[Proposal, ...]:
        """Those that are tried: no more than were allowed for."""
        return self.all_proposals[:MOST_PROPOSALS]

    @cached_property
    def screened_proposals(self) -> tuple[tuple[Proposal, Gain], ...]:
        """The proposals with their effects on the seen cases, where measured."""
        found = ((proposal, self.screening_gain(proposal)) for proposal in self.proposals)
        return tuple((one, gain) for one, gain in found if gain is not None)

    def screening_gain(self, proposal: Proposal) -> Gain | None:
        """Return the effect of ``proposal`` on the seen cases; ``None`` if not measured."""
        return measure_gain(self._pair_trials(self.split.seen, proposal.variant), SCREENING_LEVEL)

    @cached_property
    def finalists(self) -> tuple[Proposal, ...]:
        """The proposals that are evaluated on the held-out cases."""
        return choose_finalists(self.screened_proposals, self._bench.tools)

    @cached_property
    def held_out_results(self) -> tuple[HeldOutResult, ...]:
        """The results of the finalists on the held-out cases."""
        found = (self._evaluate_held_out(finalist) for finalist in self.finalists)
        return tuple(look for look in found if look is not None)

    @cached_property
    def combination(self) -> Proposal | None:
        """All kept proposals combined; ``None`` if there are none, or that is a finalist."""
        kept = [look.proposal for look in self.held_out_results if look.is_kept]
        if len(kept) < 2:  # noqa: PLR2004 - one alone is no combination
            return None
        joined = combine_proposals("all that was proven", kept, self._bench.tools)
        known = {variant_key(one.variant) for one in kept}
        usable = find_mistake(joined, self._bench.tools) is None
        return joined if usable and variant_key(joined.variant) not in known else None

    @cached_property
    def combination_result(self) -> HeldOutResult | None:
        """The result of the combination on the held-out cases."""
        return None if self.combination is None else self._evaluate_held_out(self.combination)

    @property
    def accepted_result(self) -> HeldOutResult | None:
        """The returned result: the combination if it is proven, else the best proven finalist."""
        if self.combination_result is not None and self.combination_result.is_kept:
            return self.combination_result
        kept = [look for look in self.held_out_results if look.is_kept]
        return max(kept, key=lambda look: look.gain.difference, default=None)

    @property
    def all_results(self) -> list[HeldOutResult]:
        """The results of the finalists, and that of the combination."""
        last = self.combination_result
        return [*self.held_out_results, *([] if last is None else [last])]

    @cached_property
    def mendable_held_out(self) -> int:
        """Number of held-out intents that fail and that better words may help."""
        return self._count_mendable(self.split.held_out)

    @cached_property
    def mendable(self) -> int:
        """Number of intents that fail and that better words may help."""
        return self.mendable_held_out + self._count_mendable(self.split.seen)

    @property
    def questions_for_proof(self) -> int | None:
        """The minimum number of questions with which a gain could be proven.

        This assumes that the same share fails as now, and that all of these improve. ``None`` when
        none fails.
        """
        if not self.mendable:
            return None
        return ceil(fewest_gains() / (HELD_OUT * self.mendable / self.split.size))

    @property
    def can_be_proven(self) -> bool:
        """Whether enough held-out intents fail for an evaluation to prove an improvement."""
        return self.mendable_held_out >= fewest_gains()

    def needed_arms(self) -> list[Arm]:
        """Return every arm needed so far, including those that were run."""
        hinted = hinted_arm(self._bench, self._measured)
        if hinted is None and not self.known_failures:
            return []
        arms = [] if hinted is None else [hinted]
        # Before the hints are tried, nobody knows which failures words may mend.
        if hinted is not None and not self._measured.tried_cases(hinted.variant):
            return arms
        arms += self._build_arms(self.proposals, self.split.seen)
        # Held-out cases are run only if they can prove something.
        if not (self._is_tried(self.proposals, self.split.seen) and self.can_be_proven):
            return arms
        arms += self._build_arms(self.finalists, self.split.held_out)
        if self.combination is not None and self._is_tried(self.finalists, self.split.held_out):
            arms += self._build_arms([self.combination], self.split.held_out)
        return arms

    def _evaluate_held_out(self, proposal: Proposal) -> HeldOutResult | None:
        if not self.can_be_proven:
            return None
        return evaluate_proposal(
            proposal,
            self.split.held_out,
            self._measured.count_trials(),
            self._measured.count_trials(proposal.variant),
            self._bench.options.margin,
        )

    def _pair_trials(self, intents: Sequence[Intent], variant: Variant) -> list[Pair]:
        return pair_intents(
            intents, self._measured.count_trials(), self._measured.count_trials(variant)
        )

    @cached_property
    def _mendable_cases(self) -> set[str]:
        return {failure.case for failure in self.known_failures if failure.may_be_words}

    def _count_mendable(self, intents: Sequence[Intent]) -> int:
        return sum(not self._mendable_cases.isdisjoint(intent.cases) for intent in intents)

    def _build_arms(self, proposals: Sequence[Proposal], intents: Sequence[Intent]) -> list[Arm]:
        return [Arm(variant=proposal.variant, cases=case_names(intents)) for proposal in proposals]

    def _is_tried(self, proposals: Sequence[Proposal], intents: Sequence[Intent]) -> bool:
        wanted = case_names(intents)
        return all(self._measured.tried_cases(proposal.variant) & wanted for proposal in proposals)

    def _part_effects(self) -> Iterator[tuple[Part, float]]:
        """Yield the effect of each part that another study removed, on the seen cases."""
        for part in iterate_parts(self._bench.texts):
            variant = remove_part(part, self._bench.tools)
            if pairs := self._pair_trials(self.split.seen, variant):
                # Before minus after, since the variant lacks the part.
                yield (
                    part,
                    fmean(
                        passed / judged - other_passed / other_judged
                        for (passed, judged), (other_passed, other_judged) in pairs
                    ),
                )

    def _expected_values(
        self, failures: Sequence[CaseFailure]
    ) -> Mapping[tuple[str, str], tuple[Any, ...]]:
        """Return the values that failures expect and that no held-out case contains."""
        held_out = case_names(self.split.held_out)
        cases = [case for case in self._bench.suite.cases if case.name in held_out]
        told = [" ".join(case.prompts) for case in cases]
        told += [
            json.dumps(call.arguments, ensure_ascii=False, default=str)
            for call in map(expected_call, cases)
            if call is not None
        ]
        found: dict[tuple[str, str], dict[str, Any]] = {}
        for call in (failure.expected for failure in failures if failure.expected is not None):
            for name, value in call.arguments.items():
                # A value of a held-out case would give its answer away.
                if not any(str(value) in text for text in told):
                    found.setdefault((call.tool, name), {})[str(value)] = value
        return {place: tuple(values.values()) for place, values in found.items()}
