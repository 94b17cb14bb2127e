"""The server's decision for each tool and identity: allowed, filtered, denied or hidden.

Also what it lists and nobody could read: nothing is known of it. A server that answers one identity
with an error and lets another one read has decided. What harness itself did not read for an
identity is not known of that identity, whoever else has read it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from harness.judging.policy.views import CallKey, Result, View
from harness.judging.policy.withheld_values import compare_results
from harness.judging.secrecy.masks import readable_share
from harness.types import NOT_SENT, Access, Decision, RefusalShape, SideContent


def decide_access(views: Sequence[View]) -> list[tuple[Decision, ...]]:
    """Return for each view the decision on each tool of its group.

    These are the tools that any view of the group called, and the tools that are listed for other
    views but not for this one. A field is missing if any of ``views`` got it from the same call.
    """
    # By fingerprint: repeats of one answer would only multiply the comparisons.
    answers: dict[CallKey, dict[tuple[str, str], Result]] = {}
    tools: dict[tuple[str, str], dict[str, None]] = {}
    offered: dict[str, set[str]] = {}
    for view in views:
        called = tools.setdefault((view.suite, view.group), {})
        offered.setdefault(view.suite, set()).update(view.tool_names)
        for result in view.results:
            called[result.call.tool] = None
            # What the suite forbids this identity to see is no measure for others.
            if result.call.outcome == "ok" and view.rightful:
                same = answers.setdefault(result.key, {})
                same.setdefault((view.identity, result.fingerprint), result)
    return [
        tuple(
            _decide_on_tool(view, tool, answers)
            # The names of a set have another order in each process, hence sorted.
            for tool in dict.fromkeys(
                (*tools[view.suite, view.group], *sorted(offered[view.suite] - view.tool_names))
            )
        )
        for view in views
    ]


def _decide_on_tool(
    view: View, tool: str, answers: Mapping[CallKey, Mapping[tuple[str, str], Result]]
) -> Decision:
    made = [result for result in view.results if result.call.tool == tool]
    good = [result for result in made if result.call.outcome == "ok"]
    missing: dict[str, None] = {}
    masked: dict[str, None] = {}
    partly: dict[str, None] = {}
    compared = 0
    for result in good:
        same = answers.get(result.key, {})
        others = [full for (identity, _), full in same.items() if identity != view.identity]
        compared += bool(others)
        for full in others:
            for leaf, kept, mask in compare_results(full, result):
                (masked if kept == "masked" else missing)[leaf.path] = None
                if mask is not None and readable_share(mask.value, leaf.value):
                    partly[leaf.path] = None
    access, shape = _determine_access(view, tool, made, kept_back=bool(missing or masked))
    return Decision(
        identity=view.identity,
        tool=tool,
        access=access,
        shape=shape,
        missing=tuple(missing),
        masked=tuple(masked),
        partly=tuple(partly),
        calls=len(made),
        compared=compared,
    )


def _determine_access(
    view: View, tool: str, made: Sequence[Result], *, kept_back: bool
) -> tuple[Access, RefusalShape | None]:
    if view.refused:
        return "denied", view.refused_by
    outcomes = {result.call.outcome for result in made if result.call.outcome not in NOT_SENT}
    # Before the list of tools: one that is not listed and works all the same is allowed.
    if "ok" in outcomes:
        return ("filtered", "filtered_fields") if kept_back else ("allowed", None)
    # Before refusals: a tool that is not listed is hidden also from who tries it.
    if tool not in view.tool_names:
        return "hidden", "not_listed"
    if "denied" in outcomes:
        shapes = [result.call.refusal for result in made if result.call.refusal is not None]
        return "denied", shapes[0] if shapes else "tool_error"
    return ("error", None) if outcomes else ("not_attempted", None)


def summarise_access(decisions: Iterable[Access]) -> Access:
    """Return several decisions as one word; ``not_attempted`` only if there is no other."""
    words = set(decisions) - {"not_attempted"}
    if len(words) > 1:
        return "mixed"
    return words.pop() if words else "not_attempted"


_MOST_NAMED = 3


def find_unread(views: Iterable[View]) -> tuple[str, ...]:
    """Return what was not read, a line for each reason."""
    read: dict[str, set[str]] = {}
    unread: dict[tuple[str, str, SideContent], None] = {}
    for view in views:
        for place, aside in _iterate_side_content(view):
            if aside.unread is None:
                read.setdefault(place, set()).add(view.identity)
            else:
                # Without its text, so that what differs only there is named once.
                unread[place, view.identity, replace(aside, text="")] = None
    names: dict[tuple[str, str], dict[str, None]] = {}
    for place, identity, aside in unread:
        readers = read.get(place, ())
        if identity not in readers and not (readers and aside.refused):
            names.setdefault((aside.unread or "", place), {})[identity] = None
    lines: dict[tuple[str, str], list[str]] = {}
    for (reason, place), identities in names.items():
        lines.setdefault((reason, ", ".join(identities)), []).append(place)
    return tuple(
        f"{_format_places(places)} (as {identities}): {reason}"
        for (reason, identities), places in lines.items()
    )


def _iterate_side_content(view: View) -> Iterator[tuple[str, SideContent]]:
    """Yield what was beside the tools and beside the results of calls, each with its place."""
    for aside in view.beside:
        yield aside.place, aside
    for call in view.calls:
        yield from ((f"{one.place} of {call.tool}", one) for one in call.beside if one.unread)


def _format_places(places: list[str]) -> str:
    named = ", ".join(places[:_MOST_NAMED])
    more = len(places) - _MOST_NAMED
    return f"{named} and {more:,} more" if more > 0 else named
