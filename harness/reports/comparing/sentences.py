"""A comparison in words: sentences and rows that all its reports share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.base import format_money, format_number, format_seconds, make_printable
from harness.reports.comparing.comparison_types import (
    CasePair,
    Change,
    Comparison,
    Contrast,
    Effect,
    Side,
    Tally,
)

CHANGES: tuple[Change, ...] = ("worse", "better", "not judged", "same")
"""Changes, the most urgent first."""
UNJUDGED = (
    "A case that one side has no verdict of (error, skipped, cancelled) is in no rate and no test."
)
"""The treatment of cases without a verdict; shown wherever there are any."""
BY_PEOPLE = "Where a person has reviewed a verdict, the person's counts."
"""Said where `Comparison.by_people` holds."""
_PER_TRIAL = ("tokens a trial", "cost a trial", "time a trial")
SIDE_COLUMNS = ("side", "model", "run", "trials", "pass rate (95 % interval)", *_PER_TRIAL)
_P_COLUMNS = ("p", "p (Holm)")
EFFECT_COLUMNS = ("cases", "before", "after", "difference", "95 % interval", *_P_COLUMNS, "verdict")


def format_verdict(contrast: Contrast) -> str:
    """Return the verdict in a line."""
    return f"{contrast.before.name} → {contrast.after.name}: {contrast.effects[0].evidence}"


def format_changes(effect: Effect) -> str:
    """Return how the cases moved."""
    total = effect.pairs + effect.not_judged
    rest = f", {effect.not_judged} not judged" if effect.not_judged else ""
    moved = f"{effect.better} better, {effect.worse} worse, {effect.same} the same{rest}"
    return f"{total} shared case{'' if total == 1 else 's'}: {moved}"


def describe_effect(effect: Effect, comparison: Comparison) -> Iterator[str]:
    """Yield sentences on the effect that the judged cases show, and on their power."""
    if effect.before is None or effect.after is None or effect.p_value is None:
        yield "No case was judged on both sides, so there is nothing to compare."
        return
    # The cases of one test are not so many pieces of evidence.
    noun = effect.unit
    over = f"of {effect.pairs} judged on both sides"
    if noun == "tests":
        over = f"over {_count_units(effect)} ({effect.pairs} cases judged on both sides)"
    rates = f"{format_percent(effect.before)} → {format_percent(effect.after)}"
    interval = f"95 % interval {format_interval(effect)}; {effect.interval_method}"
    yield f"pass rate {rates} {over}: {format_points(effect.difference)} points ({interval})"
    holm = f"{p_value(effect.p_adjusted)} after Holm's correction for {comparison.tests} tests"
    more = f", {holm}" if comparison.tests > 1 else ""
    yield f"{effect.test} test of the pairs: {format_p(effect.p_value)}{more}"
    if effect.certain:
        yield "The subject always answers the same, so every case that changed is evidence."
    elif effect.smallest is None:
        yield (
            f"{_count_units(effect)} {'is' if effect.tests == 1 else 'are'} too few to show any "
            "difference: not even a move of all would be evidence."
        )
    elif effect.evidence != "equivalent":
        yield (
            f"{_count_units(effect)} {'shows' if effect.tests == 1 else 'show'} a difference of "
            f"{_format_size(effect.smallest)}, four times in five; a smaller one would likely stay "
            "unseen."
        )
    margin = _format_size(comparison.margin)
    if effect.evidence == "equivalent":
        yield f"The difference is below {margin} either way, which counts as equivalent."
    elif effect.cases_to_decide is not None:
        decide = f"About {effect.cases_to_decide:,} {noun} would decide"
        yield f"{decide} whether there is a difference of {margin} or none."


def _count_units(effect: Effect) -> str:
    """Return how many tests or cases the evidence is of, such as "1 test" or "12 cases"."""
    return f"{effect.tests} {effect.unit.removesuffix('s') if effect.tests == 1 else effect.unit}"


def side_row(side: Side) -> tuple[str, ...]:
    """Return a side's cells under `SIDE_COLUMNS`."""
    # A trial that was skipped used nothing, and would lower every figure of a trial.
    ran = side.counts.planned - side.counts.skipped
    tokens, cost = side.usage.tokens, side.usage.cost_usd
    return (
        side.name,
        make_printable(side.entrant),
        make_printable(side.run_id),
        _format_endings(side),
        _format_rate(side),
        format_number(round(tokens / ran) if tokens is not None and ran else None),
        format_money(cost / ran if cost is not None and ran else None),
        "–" if side.latency_s is None else format_seconds(side.latency_s),
    )


def describe_unsound_run(side: Side) -> Iterator[str]:
    """Yield what a side's pass rate does not show: that its run came to no good end all the same.

    ``run A: 2 passed (interrupted), exit code 130``.
    """
    if side.exit_code and (side.rate is None or side.rate >= 1):
        yield f"run {side.name}: {make_printable(side.ended)}, exit code {side.exit_code}"


def effect_row(effect: Effect) -> tuple[str, ...]:
    """Return an effect's cells under `EFFECT_COLUMNS`."""
    name = "all" if effect.suite is None else make_printable(effect.suite)
    if effect.before is None or effect.after is None:
        return (f"{name} (0)", "–", "–", "–", "–", "–", "–", effect.evidence)
    cases = str(effect.pairs)
    if effect.unit == "tests":
        cases += f" in {_count_units(effect)}"
    return (
        f"{name} ({cases})",
        format_percent(effect.before),
        format_percent(effect.after),
        format_points(effect.difference),
        format_interval(effect),
        p_value(effect.p_value),
        p_value(effect.p_adjusted),
        effect.evidence,
    )


def case_row(pair: CasePair, contrast: Contrast) -> tuple[str, str, str]:
    """Return a case's name and its tally on each side."""
    several = contrast.cases[0].suite != contrast.cases[-1].suite  # they stand suite by suite
    name = f"{pair.suite}::{pair.case}" if several else pair.case
    return make_printable(name), format_tally(pair.before), format_tally(pair.after)


def format_tally(value: Tally) -> str:
    """Return ``3/5``, and the endings of trials without a verdict."""
    parts = [f"{value.passed}/{value.judged}"] if value.judged else []
    return ", ".join([*parts, *map(make_printable, value.unjudged)])


def select_changed(contrast: Contrast, change: Change) -> list[CasePair]:
    """Return the cases that changed so."""
    return [pair for pair in contrast.cases if pair.change == change]


def case_lines(contrast: Contrast, change: Change, most: int) -> tuple[list[str], int]:
    """Return a line for each of the first cases that changed so, and the number of all lines.

    Unjudged cases with equal endings share a line.
    """
    pairs = select_changed(contrast, change)
    if change != "not judged":
        rows = (case_row(pair, contrast) for pair in pairs[:most])
        lines = [f"{_join_some([name])}  {before} → {after}" for name, before, after in rows]
        return lines, len(pairs)
    alike: dict[tuple[str, str], list[str]] = {}
    for pair in pairs:
        name, before, after = case_row(pair, contrast)
        alike.setdefault((before, after), []).append(name)
    lines = [f"{_join_some(names)}  {before} → {after}" for (before, after), names in alike.items()]
    return lines[:most], len(lines)


def not_shared(contrast: Contrast) -> Iterator[str]:
    """Yield a sentence for each side that has cases of its own."""
    own = ((contrast.before, contrast.only_before), (contrast.after, contrast.only_after))
    for side, names in own:
        if names:
            yield f"Only {side.name} has {len(names)} more: {_join_some(names)}."


def format_percent(rate: float) -> str:
    """Return a rate in whole percent: a few hundred cases support no more."""
    return f"{100 * rate:.0f} %"


def format_points(difference: float | None, *, sign: bool = True) -> str:
    """Return a difference of rates in percentage points, with a decimal only below 1."""
    if difference is None:
        return "–"
    value = 100 * difference
    whole = abs(value) >= 0.95 or value == 0  # noqa: PLR2004 - shown as 1
    rounded = f"{abs(value):.0f}" if whole else f"{abs(value):.1f}"
    # What is rounded to 0 has no sign.
    lead = "" if not sign or float(rounded) == 0 else "+" if value > 0 else "−"
    return lead + rounded


def _format_size(difference: float) -> str:
    return f"{format_points(difference, sign=False)} points"


def format_interval(effect: Effect) -> str:
    """Return the interval's bounds in points."""
    return "–" if effect.interval is None else " to ".join(map(format_points, effect.interval))


def p_value(value: float | None) -> str:
    """Return a p-value with two digits that matter."""
    if value is None:
        return "–"
    return "< 0.001" if value < 0.001 else f"{value:.2g}"  # noqa: PLR2004 - as it is printed


def format_p(value: float | None) -> str:
    """Return ``p = 0.031`` or ``p < 0.001``."""
    words = p_value(value)
    return f"p {words}" if words.startswith("<") else f"p = {words}"


def _format_rate(side: Side) -> str:
    if side.rate is None or side.interval is None:
        return "–"
    low, high = side.interval
    return f"{format_percent(side.rate)} ({100 * low:.0f}–{100 * high:.0f} %)"


def _format_endings(side: Side) -> str:
    counts = side.counts
    others = {"error": counts.error, "skipped": counts.skipped, "cancelled": counts.cancelled}
    rest = (f"{amount} {name}" for name, amount in others.items() if amount)
    return ", ".join((f"{counts.judged_count} judged", *rest))


def _join_some(names: Sequence[str], most: int = 5) -> str:
    shown = ", ".join(make_printable(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
