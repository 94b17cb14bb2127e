"""Study: do results depend on the wording of prompts? Each test runs in all of its wordings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from harness.descriptions.workbench.analysis.phrasings import (
    Consistency,
    PhrasedCase,
    Phrasing,
    consistency,
)
from harness.descriptions.workbench.arms import Arm
from harness.descriptions.workbench.measured import Measured
from harness.descriptions.workbench.study import Bench, Finding, Study, StudyResult
from harness.reports import percent, points
from harness.types import Case, Variant

_HOW = (
    "Write other ways to say a prompt as 'wordings:' of its test, or have a model write them:",
    "harness workbench SUITE --writer MODEL --make-wordings wordings.yml",
)
_MOST = 20
"""Cases that a terminal shows; the JSON has all of them."""
LEVEL = 0.05


def wordings_of(bench: Bench, case: Case) -> tuple[str, ...]:
    """Return the further wordings of ``case``: its own, then those of the variants to compare.

    A variant that changes only prompts is a file of wordings, as written by ``--make-wordings``.
    """
    own = case.wordings if case.user is None else ()
    told = [
        variant.prompts[case.name]
        for variant in bench.versus
        if case.name in variant.prompts and not (variant.tools or variant.add or variant.order)
    ]
    return tuple(words for words in dict.fromkeys((*own, *told)) if words != case.prompt)


def _arms(bench: Bench) -> Sequence[Arm]:
    return [Arm(variant=variant, cases=frozenset(variant.prompts)) for variant in _variants(bench)]


def _variants(bench: Bench) -> Iterator[Variant]:
    """Yield one variant for the first wording of all tests, one for the second, and so on."""
    known = {case.name: wordings_of(bench, case) for case in bench.suite.cases}
    for place in range(max(map(len, known.values()), default=0)):
        prompts = {name: words[place] for name, words in known.items() if place < len(words)}
        yield Variant(name=f"wording {place + 1}", prompts=prompts)


def _read(bench: Bench, measured: Measured) -> StudyResult:
    if not any(wordings_of(bench, case) for case in bench.suite.cases):
        return StudyResult(
            study=STUDY.name, headline="No test of this suite has other wordings.", lines=_HOW
        )
    found = consistency(list(_phrased(bench, measured)), margin=bench.options.margin)
    if found is None:
        return StudyResult(study=STUDY.name, headline="No wording has been judged yet.")
    return StudyResult(
        study=STUDY.name,
        headline=_headline(found),
        lines=tuple(_lines(found)),
        findings=tuple(_findings(found)),
        facts={
            **asdict(found),
            "cases": [
                {
                    **asdict(case),
                    "hangs": case.hangs,
                    "failing": [one.words for one in case.failing],
                }
                for case in found.cases
            ],
        },
        notes=tuple(_notes(bench, found)),
    )


def _phrased(bench: Bench, measured: Measured) -> Iterator[PhrasedCase]:
    arms = [None, *_variants(bench)]
    trials = [measured.trials(arm) for arm in arms]
    called = [_called(measured, arm) for arm in arms]
    for case in bench.suite.cases:
        words = (case.prompt, *wordings_of(bench, case))
        yield PhrasedCase(
            name=case.name,
            test=case.caller.group,
            threshold=case.repeats.pass_threshold,
            phrasings=tuple(
                Phrasing(words=said, trials=found[case.name], called=tools.get(case.name))
                for said, found, tools in zip(words, trials, called, strict=False)
                if case.name in found
            ),
        )


def _called(measured: Measured, arm: Variant | None) -> Mapping[str, str | None]:
    """Return case → the tool that was most often called first."""
    first: dict[str, Counter[str | None]] = {}
    for call in measured.first_calls(arm):
        first.setdefault(call.case, Counter())[call.tool] += 1
    return {case: counted.most_common(1)[0][0] for case, counted in first.items()}


def _headline(found: Consistency) -> str:
    low, high = found.interval
    return (
        f"{percent(found.consistent)} of {found.tests} tests have the same verdict under all "
        f"their wordings (95 % interval {percent(low)} to {percent(high)}); "
        f"{percent(found.every)} pass under every one."
    )


def _lines(found: Consistency) -> Iterator[str]:
    for place, (cases, rate) in enumerate(found.rates):
        name = f"wording {place}" if place else "the prompt"
        yield f"{percent(rate)} pass as {name} ({cases} tests)"
    yield f"{percent(found.worst)} pass in the worst wording of each test"
    low, high = found.others.interval
    yield (
        f"Other wordings are {_VERDICTS[found.others.verdict]}: "
        f"{points(found.others.difference)} points against the prompts "
        f"({points(low)} to {points(high)})."
    )
    if found.within is not None:
        yield (
            f"Two trials in different wordings end differently in {percent(found.between)}, two in "
            f"the same wording in {percent(found.within)}: that is chance."
        )
    hanging = [case for case in found.cases if case.hangs]
    yield from (_told(case) for case in hanging[:_MOST])
    if len(hanging) > _MOST:
        yield f"… and {len(hanging) - _MOST} more"


_VERDICTS = {
    "better": "easier",
    "worse": "harder",
    "equivalent": "equivalent",
    "undecided": "undecided",
}


def _told(case: PhrasedCase) -> str:
    failing = "; ".join(
        f"{one.words!r}" + f" (calls {one.called or 'no tool'} first)" for one in case.failing
    )
    return f"{case.name} fails in {len(case.failing)} of {len(case.phrasings)} wordings: {failing}"


def _findings(found: Consistency) -> Iterator[Finding]:
    for case in found.cases:
        if case.hangs:
            certain = case.p_value is not None and case.p_value < LEVEL
            yield Finding(
                text=f"Test {_told(case)}.",
                weight=100 * case.spread / len(found.cases),
                certain=certain,
            )


def _notes(bench: Bench, found: Consistency) -> Iterator[str]:
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
    arms=_arms,
    read=_read,
)
