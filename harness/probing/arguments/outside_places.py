"""Paths and addresses that lead out of what a tool may show, and tools that do not check them.

Such a value names a thing by itself, so a tool that answers it hands out that thing. Where one
tool refuses it to everybody and another answers it, the second one lacks a check. Nothing is found
where the plain path, without its detour, gives the same: then the detour opened nothing.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from urllib.parse import unquote

from harness.judging import Result
from harness.probing.caller_views import (
    NO_ANSWER,
    ProbedTrials,
    get_caller_name,
    get_facts,
    get_label,
    group_by,
)
from harness.probing.evidence import is_telling, iterate_texts, read_without_sent
from harness.reports import ProbeFinding
from harness.types import TrialResult

_SYSTEM = re.compile(
    r"^(?:/(?:etc|proc|root|sys|dev)/|~/|[a-z]:[\\/]windows\b|file:)", re.IGNORECASE
)
_INSIDE = re.compile(
    r"^https?://(?:localhost|127\.|0\.0\.0\.0|\[::1\]|169\.254\.|metadata\.)", re.IGNORECASE
)


def find_plain_place(value: object) -> str | None:
    """Return the path that ``value`` means without its detour; ``None`` if it has none.

    Steps above the start are dropped: ``../../x`` becomes ``x``, ``/a/b/../c`` becomes ``/a/c``.
    """
    if not isinstance(value, str) or "://" in value:
        return None
    path = _decode(value)
    if ".." not in path.split("/"):
        return None
    return re.sub(r"^(?:\.\./)+", "", posixpath.normpath(path))


def leads_out(value: object) -> bool:
    """Whether ``value`` is a path out of its folder, a file of the system, or an inner address."""
    if not isinstance(value, str):
        return False
    if _SYSTEM.search(value) or _INSIDE.search(value):
        return True
    path = _decode(value)
    steps = path.split("/")
    if "://" in value or ".." not in steps:
        return False
    folder = "/".join(steps[: steps.index("..")])
    return not folder or not f"{posixpath.normpath(path)}/".startswith(f"{folder}/")


def _decode(value: str) -> str:
    # Twice, since a server may decode what was decoded once before.
    return unquote(unquote(value)).replace("\\", "/")


def find_unchecked_values(probed: ProbedTrials) -> Iterator[ProbeFinding]:
    """Yield each call that works with a value that another tool refuses to everybody."""
    own = (*probed.own, *probed.apart["record"], *probed.apart["shared"])
    by_value = group_by(
        lambda pair: pair[0], ((value, run) for run in own for value in _list_values(run))
    )
    for value in filter(leads_out, by_value):
        runs = group_by(
            lambda run: str(get_facts(run)["tool"]), [run for _, run in by_value[value]]
        )
        # By the suite's own calls: what is tried elsewhere may be refused for any reason.
        stated = {get_facts(run)["tool"] for run in probed.own if value in _list_values(run)}
        refusing = [
            tool for tool in runs if tool in stated and _is_refused_to_all(probed, runs[tool])
        ]
        plain = [run for _, run in by_value.get(find_plain_place(value) or "", ())]
        if not refusing or any(
            _gives_content(probed, run) for run in plain if get_facts(run)["tool"] in refusing
        ):
            continue
        for tool in runs:
            others = [run for run in own if get_facts(run)["tool"] == tool]
            works = [run for run in runs[tool] if _opens(probed, run, value, others)]
            if works:
                callers = tuple(dict.fromkeys(map(get_caller_name, works)))
                words = (
                    f"{get_label(works[0])} works for {', '.join(callers)}, and {refusing[0]} "
                    f"refuses {value!r} to everybody: {tool} lacks the check"
                )
                yield ProbeFinding(
                    problem="unchecked_value",
                    words=words,
                    callers=callers,
                    call=get_label(works[0]),
                )


def _list_values(run: TrialResult) -> list[str]:
    """Return the texts in the arguments of a call."""
    return [*dict.fromkeys(iterate_texts(get_facts(run)["arguments"]))]


def _is_refused_to_all(probed: ProbedTrials, runs: Sequence[TrialResult]) -> bool:
    results = [result for run in runs if (result := probed.get_result(run)) is not None]
    answered = [one for one in results if one.call.outcome not in NO_ANSWER]
    return bool(answered) and all(one.call.outcome != "ok" for one in answered)


def _gives_content(probed: ProbedTrials, run: TrialResult) -> bool:
    result = probed.get_result(run)
    return result is not None and is_telling(result)


def _opens(
    probed: ProbedTrials, run: TrialResult, value: str, others: Sequence[TrialResult]
) -> bool:
    """Whether a call hands out what ``value`` names, and not what it says to any value."""
    result = probed.get_result(run)
    if result is None or not is_telling(result):
        return False
    plain = find_plain_place(value)
    # The plain form of `../x` is another file.
    escapes = plain is not None and not _decode(value).startswith("/")
    said = _read_without_places(result)
    for other in others:
        answered = probed.get_result(other)
        values = _list_values(other)
        if answered is None or value in values or get_caller_name(other) != get_caller_name(run):
            continue
        # The plain form of an absolute path is the same file, and clears nothing.
        if plain in values and not escapes:
            continue
        if _read_without_places(answered) == said:
            return False
    return bool(re.search(r"\w", said))


def _read_without_places(result: Result) -> str:
    """Return the text of an answer without the values that the call sent, plain or not."""
    sent = [*iterate_texts(result.call.arguments)]
    return read_without_sent(result, [*sent, *filter(None, map(find_plain_place, sent))])
