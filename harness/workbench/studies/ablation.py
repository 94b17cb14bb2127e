"""What carries weight? Each part of the descriptions is taken out in turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from harness.workbench.arms import Arm
from harness.workbench.measured import Measured
from harness.workbench.parts import Part, parts_of, without
from harness.workbench.study import Bench, Finding, Study, StudyResult


@dataclass(frozen=True, slots=True, kw_only=True)
class PartEffect:
    """What one part does for the pass rate."""

    part: Part
    cases: int
    effect: float


def _arms(bench: Bench) -> Sequence[Arm]:
    return [Arm(variant=without(part, bench.tools)) for part in parts_of(bench.tools)]


def _read(bench: Bench, measured: Measured) -> StudyResult:
    clean = measured.trials()
    effects = []
    for part in parts_of(bench.tools):
        other = measured.trials(without(part, bench.tools))
        shared = [name for name in clean if name in other]
        if shared:
            moves = [clean[n][0] / clean[n][1] - other[n][0] / other[n][1] for n in shared]
            effects.append(PartEffect(part=part, cases=len(shared), effect=sum(moves) / len(moves)))
    ranked = sorted(effects, key=lambda one: -abs(one.effect))
    return StudyResult(
        study=STUDY.name,
        headline=f"{len(effects)} parts were taken out in turn.",
        lines=tuple(f"{100 * one.effect:+.0f} points  {one.part.label}" for one in ranked[:10]),
        findings=tuple(
            Finding(
                text=f"Without {one.part.label} ({one.part.text!r}) {100 * one.effect:.0f} points "
                "of pass rate are lost.",
                weight=100 * abs(one.effect),
                tool=one.part.tool,
                certain=False,
            )
            for one in ranked[:10]
            if one.effect > 0
        ),
        facts={"parts": [{**asdict(one), "tokens": one.part.tokens} for one in ranked]},
    )


STUDY = Study(
    name="ablation",
    place=30,
    question="What carries weight?",
    arms=_arms,
    read=_read,
)
