"""Study: do results depend on the wording of prompts? Each test runs in all of its wordings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from harness.descriptions.workbench.analysis.phrasings import (
    Consistency,
    PhrasedCase,
    Phrasing,
    measure_consistency,
)
from harness.descriptions.workbench.arms import Arm
from harness.descriptions.workbench.measurements import ModelMeasurements
from harness.descriptions.workbench.study import Finding, Study, StudyContext, StudyResult
from harness.reports import format_percent, format_points
from harness.types import Case, Variant

_HOW = (
    "Write other ways to say a prompt as 'wordings:' of its test, or have a model write them:",
    "harness workbench SUITE --writer MODEL --make-wordings wordings.yml",
)
_MOST = 20
"""Cases that a terminal shows; the JSON has all of them."""
LEVEL = 0.05


def further_wordings(bench: StudyContext, case: Case) -> tuple[str, ...]:
    """Return the further wordings of ``case``: its own, then those of the variants to compare.

    A variant that changes only prompts is a file of wordings, as written by ``--make-wordings``.
    """
    # A simulated user chooses their own words.
    own = case.wordings if case.user is None else ()
    told = [
        variant.prompts[case.name]
        for variant in bench.versus
        if case.name in variant.prompts and not (variant.tools or variant.add or variant.order)
    ]
    return tuple(words for words in dict.fromkeys((*own, *told)) if words != case.prompt)


def _build_arms(bench: StudyContext) -> Sequence[Arm]:
    return [
        Arm(variant=variant, cases=frozenset(variant.prompts)) for variant in _build_variants(bench)
    ]


def _build_variants(bench: StudyContext) -> Iterator[Variant]:
    """Yield one variant for the first wording of all tests, one for the second, and so on."""
    known = {case.name: further_wordings(bench, case) for case in bench.suite.cases}
    for place in range(max(map(len, known.values()), default=0)):
        prompts = {name: words[place] for name, words in known.items() if place < len(words)}
        yield Variant(name=f"wording {place + 1}", prompts=prompts)


def _analyze_results(bench: StudyContext, measured: ModelMeasurements) -> StudyResult:
    if not any(further_wordings(bench, case) for case in bench.suite.cases):
        return StudyResult(
            study=STUDY.name, headline="No test of this suite has other wordings.", lines=_HOW
        )
    found = measure_consistency(list(_phrased_cases(bench, measured)), margin=bench.options.margin)
    if found is None:
        return StudyResult(study=STUDY.name, headline="No wording has been judged yet.")
    return StudyResult(
        study=STUDY.name,
        headline=_write_headline(found),
        lines=tuple(_format_lines(found)),
        findings=tuple(_build_findings(found)),
        facts={
            **asdict(found),
            "cases": [
                {
                    **asdict(case),
                    "hangs": case.is_sensitive,
                    "failing": [phrasing.words for phrasing in case.failing_phrasings],
                }
                for case in found.cases
            ],
        },
        notes=tuple(_build_notes(bench, found)),
    )


def _phrased_cases(bench: StudyContext, measured: ModelMeasurements) -> Iterator[PhrasedCase]:
    arms = [None, *_build_variants(bench)]
    trials = [measured.count_trials(arm) for arm in arms]
    called = [_most_called(measured, arm) for arm in arms]
    for case in bench.suite.cases:
        words = (case.prompt, *further_wordings(bench, case))
        yield PhrasedCase(
            name=case.name,
            test=case.caller.group,
            threshold=case.repeats.pass_threshold,
            phrasings=tuple(
                Phrasing(words=said, trials=found[case.name], called=tools.get(case.name))
                # A case may have fewer wordings than there are arms.
                for said, found, tools in zip(words, trials, called, strict=False)
                if case.name in found
            ),
        )


def _most_called(measured: ModelMeasurements, arm: Variant | None) -> Mapping[str, str | None]:
    """Return case → the tool that was most often called first."""
    first: dict[str, Counter[str | None]] = {}
    for call in measured.first_calls(arm):
        first.setdefault(call.case, Counter())[call.tool] += 1
    return {case: counted.most_common(1)[0][0] for case, counted in first.items()}


def _write_headline(found: Consistency) -> str:
    low, high = found.interval
    return (
        f"{format_percent(found.consistent)} of {found.tests} tests have the same verdict "
        f"under all "
        f"their wordings (95 % interval {format_percent(low)} to {format_percent(high)}); "
        f"{format_percent(found.every)} pass under every one."
    )


def _format_lines(found: Consistency) -> Iterator[str]:
    for place, (cases, rate) in enumerate(found.rates):
        name = f"wording {place}" if place else "the prompt"
        yield f"{format_percent(rate)} pass as {name} ({cases} tests)"
    yield f"{format_percent(found.worst)} pass in the worst wording of each test"
    low, high = found.others.interval
    yield (
        f"Other wordings are {_VERDICTS[found.others.verdict]}: "
        f"{format_points(found.others.difference)} points against the prompts "
        f"({format_points(low)} to {format_points(high)})."
    )
    if found.within is not None:
        yield (
            f"Two trials in different wordings end differently in "
            f"{format_percent(found.between)}, two in "
            f"the same wording in {format_percent(found.within)}: that is chance."
        )
    hanging = [case for case in found.cases if case.is_sensitive]
    yield from (_format_case(case) for case in hanging[:_MOST])
    if len(hanging) > _MOST:
        yield f"… and {len(hanging) - _MOST} more"


_VERDICTS = {
    "better": "easier",
    "worse": "harder",
    "equivalent": "equivalent",
    "undecided": "undecided",
}


def _format_case(case: PhrasedCase) -> str:
    failing = "; ".join(
        f"{phrasing.words!r}" + f" (calls {phrasing.called or 'no tool'} first)"
        for phrasing in case.failing_phrasings
    )
    return (
        f"{case.name} fails in {len(case.failing_phrasings)} of {len(case.phrasings)} "
        f"wordings: {failing}"
    )


def _build_findings(found: Consistency) -> Iterator[Finding]:
    for case in found.cases:
        if case.is_sensitive:
            certain = case.p_value is not None and case.p_value < LEVEL
            yield Finding(
                text=f"Test {_format_case(case)}.",
                weight=100 * case.spread / len(found.cases),
                certain=certain,
            )


def _build_notes(bench: StudyContext, found: Consistency) -> Iterator[str]:
    without = len(bench.suite.cases) - len(found.cases)
    if without:
        yield f"{without} tests have no further wording, or none that was judged."
    if found.within is None:
        yield (
            "With one trial each, a wording cannot be told from chance: --trials 3 shows how often "
            "the same wording ends differently."
        )


STUDY = Study(
    name="paraphrase",
    place=70,
    question="Do results depend on the wording of the prompt?",
    arms=_build_arms,
    read=_analyze_results,
)
