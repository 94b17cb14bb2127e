"""The lines of a probe's output about altered values: what was compared, and what was not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.probing import Account, ProbeReport, collect_failures

_MOST_NAMES = 6


def format_altered_values(report: ProbeReport) -> Iterator[str]:
    """Yield the lines on all altered values, or the one that says that none was altered."""
    if not report.altered:
        yield "No withheld value was altered, so answers that depend on one were not looked for"
    for account in report.altered:
        if account.fault is None:
            yield from _format_account(account)


def find_altered_faults(report: ProbeReport) -> Iterator[str]:
    """Yield why altering a value showed nothing."""
    return (f"? altered values: {words}" for words in collect_failures(report.altered).values())


def _format_account(account: Account) -> Iterator[str]:
    differing = f"{account.dependent} differ" if account.dependent else "all are equal"
    shut = _format_names(account.must_not_see)
    yield f"{account.name} altered: {account.answers} answers to {shut} compared, {differing}"
    yield f"  {_format_names(account.may_see)} saw it change; {account.calls} calls"
    if account.varying_places:
        yield (
            f"  not compared, because they vary with equal data: {account.varying_places} places "
            f"of {account.varying_answers} answers"
        )
    if account.may_depend:
        yield f"  differ, which the suite allows: {_format_names(account.may_depend)}"
    if account.not_confirmed:
        yield f"  differed at first, but not each time: {account.not_confirmed} answers"
    if account.left_out:
        yield f"  {account.left_out} more calls were left out"


def _format_names(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMES
    told = ", ".join(names[:_MOST_NAMES]) or "nobody"
    return f"{told} and {more} more" if more > 0 else told
