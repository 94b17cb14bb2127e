"""The gate: it fails on evidence of a regression, and says which losses it would have seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from harness.base import (
    LEVEL,
    SmallestLoss,
    UsageError,
    exceeds_margin,
    group_by_test,
    make_printable,
    smallest_loss,
)
from harness.reports.comparing.certainty import is_certain, list_subjects
from harness.reports.comparing.compared_entrants import pair_models
from harness.reports.comparing.comparison_types import CasePair, Comparison, Contrast, Effect
from harness.reports.comparing.contrasts import (
    ComparedRun,
    Entrant,
    list_scopes,
)
from harness.reports.comparing.sentences import format_points
from harness.runlog import Header
from harness.types import NOBODY_ASKED, dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RegressionGate:
    """The verdict on a comparison."""

    margin: float
    """The loss that is accepted, as a rate."""
    is_judged: bool
    """Whether any case was judged on both sides."""
    regressions: tuple[tuple[Contrast, Effect], ...] = ()
    """The effects that show a loss above the margin."""
    loss: SmallestLoss | None
    """The smallest loss that fires it; ``None`` if none does."""
    certain: bool
    """Whether `loss` is of a subject that never varies."""

    @property
    def is_blind(self) -> bool:
        """Whether no loss could fire it."""
        return self.loss is None

    @property
    def _margin_words(self) -> str:
        return f" of more than {_format_size(self.margin)}" if self.margin else ""

    def write_sentences(self) -> Iterator[str]:
        """Yield the verdict in words, and what it could have seen."""
        if not self.is_judged:
            yield "gate: nothing to go by, for no case was judged on both sides"
            return
        if not self.regressions and not self.is_blind:
            yield f"gate: no evidence of a regression{self._margin_words}"
        for contrast, effect in self.regressions:
            where = "" if effect.suite is None else f" in {make_printable(effect.suite)}"
            sides = f"{contrast.before.name} → {contrast.after.name}"
            lost = f"{format_points(effect.difference)} points"
            if effect.certain:
                lost = f"{effect.worse} of {effect.pairs} cases got worse, {lost}"
            yield f"gate: evidence of a regression{self._margin_words}{where} ({sides}: {lost})"
        yield self.describe_loss("could have fired")

    def describe_loss(self, fires: str) -> str:
        """Return the smallest loss that ``fires`` it, in words."""
        if not self.is_judged:
            return f"gate: no loss {fires} it: the baseline has no verdict on any of these cases"
        if self.loss is None:
            return (
                f"gate: no loss {fires} it: not even that of every passing case would be evidence "
                f"of a regression{self._margin_words}"
            )
        return f"gate: the smallest loss that {fires} it is {self._loss_words(self.loss)}"

    def _loss_words(self, loss: SmallestLoss) -> str:
        size = f"{loss.lost} of the {loss.passing} passing {loss.unit}"
        points = _format_size(loss.difference)
        if not self.certain:
            # What fails in part has no smallest loss in points.
            return f"one in {size}" if loss.divisible else f"{size} ({points})"
        # Cases that are worth more and less have no smallest loss in points that says anything.
        if not loss.divisible:
            size += f" ({points})"
        elif self.margin:
            size = f"any of more than {_format_size(self.margin)}, from {size} on"
        else:
            size = f"any of {loss.passing} passing {loss.unit}"
        return f"{size}, for the subject always answers the same"

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON; a gate that no loss could fire has passed nothing."""
        found = [
            {"before": contrast.before.name, "after": contrast.after.name, "suite": effect.suite}
            for contrast, effect in self.regressions
        ]
        return {
            "passed": not found and not self.is_blind,
            "margin": self.margin,
            "regressions": found,
            "smallest_loss": self.loss and asdict(self.loss),
        }

    def refuse_if_blind(self) -> None:
        """Refuse a gate that no loss could fire.

        Raises:
            UsageError: it is one.
        """
        if self.is_blind:
            raise UsageError(
                self.describe_loss("can fire"),
                meant="Too few of them pass in the baseline. Add cases (`harness plan` says how "
                "many), or leave --gate out: then every failed case counts.",
            )


def judge_gate(comparison: Comparison, margin: float = 0.0) -> RegressionGate:
    """Return the verdict on ``comparison``; ``margin`` is a rate: 0.05 is 5 points."""
    sides = [(one.effects[0].certain, one.cases) for one in comparison.contrasts]
    repeated = any(pair.after.judged > 1 for _, pairs in sides for pair in pairs)
    loss, certain = _find_loss(sides, margin, repeated=repeated)
    return RegressionGate(
        margin=margin,
        is_judged=comparison.is_judged,
        regressions=tuple(
            (contrast, effect)
            for contrast, effect in comparison.iterate_effects()
            if _is_regression(effect, margin)
        ),
        loss=loss,
        certain=certain,
    )


def anticipate_gate(baseline: ComparedRun, header: Header, margin: float) -> RegressionGate:
    """Return the gate of the run that ``header`` announces, as if nothing were to change.

    Raises:
        UsageError: the run shares no model with the ``baseline``.
    """
    sides = [*_anticipate_pairs(baseline, header)]
    suites = header.suites.values()
    without = sum(len(facts.get("without_model", ())) for facts in suites)
    answering = len(header.entrants.keys() - {NOBODY_ASKED})
    asked = without + (sum(len(facts["cases"]) for facts in suites) - without) * answering
    loss, certain = _find_loss(sides, margin, repeated=header.planned > asked)
    judged = any(pair.before.judged for _, pairs in sides for pair in pairs)
    return RegressionGate(margin=margin, is_judged=judged, loss=loss, certain=certain)


def _anticipate_pairs(
    baseline: ComparedRun, header: Header
) -> Iterator[tuple[bool, list[CasePair]]]:
    """Yield the pairs of each model if nothing changes, and whether any change would be sure."""
    planned = {(suite, case) for suite, facts in header.suites.items() for case in facts["cases"]}
    for one, other in pair_models(baseline.header, header):
        before = Entrant.from_run("A", baseline, one)
        endings = {name: ending for name, ending in before.cases.items() if name in planned}
        pairs = [CasePair.from_endings(name, ending, ending) for name, ending in endings.items()]
        yield is_certain(before.subjects, list_subjects(header, other), pairs), pairs


def _is_regression(effect: Effect, margin: float) -> bool:
    if effect.certain:
        lost = -(effect.difference or 0.0)
        return effect.worse > 0 if margin <= 0 else exceeds_margin(lost, margin)
    # The whole interval must lie beyond the margin: what is surely a loss may be a small one.
    return effect.evidence == "worse" and (
        margin <= 0 or (effect.interval is not None and effect.interval[1] < -margin)
    )


def _find_loss(
    sides: Sequence[tuple[bool, Sequence[CasePair]]], margin: float, *, repeated: bool
) -> tuple[SmallestLoss | None, bool]:
    """Return the smallest loss in any scope of any contrast, and whether it would be certain."""
    scopes = [(certain, scope) for certain, pairs in sides for scope in list_scopes(pairs)]
    found = []
    for certain, scope in scopes:
        judged = group_by_test(
            (pair.suite, pair.test, pair.before.trial_counts)
            for pair in scope[1]
            if pair.before.judged and pair.after.judged
        )
        # Holm's strictest level, which the smallest p-value has to meet.
        level = LEVEL / max(1, len(scopes))
        loss = smallest_loss(judged, beyond=margin, level=level, certain=certain, repeated=repeated)
        found += [] if loss is None else [(loss, certain)]
    return min(found, key=lambda one: (one[0].lost, -one[0].difference), default=(None, False))


def _format_size(difference: float) -> str:
    return f"{format_points(difference, sign=False)} points"
