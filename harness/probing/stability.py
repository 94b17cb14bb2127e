"""Find answers that depend on the previous caller.

Data may change, so different answers to the same call are only suspicious. The call is then
repeated right after other callers, in changing order. If its answer depends on the previous caller
every time, the server remembers an identity across calls. Changing data, random texts, load
balancing and warming caches do not show that pattern.

Answers that are equal for all callers show nothing: a cache whose key lacks the caller, or an
identity that is kept from the first request, makes all callers of one process equal. Each caller
therefore repeats such a call in a separate process (`harness.probing.control_calls`). Data that is
missing there came from another caller's identity.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from harness.judging import Result, is_volatile, to_comparable
from harness.probing.caller_views import (
    NO_ANSWER,
    ProbedTrials,
    build_finding,
    find_extra_fields,
    get_caller_name,
    get_facts,
    get_label,
)
from harness.probing.report import AFTER_NOBODY
from harness.reports import ProbeFinding
from harness.types import dataclass

ROUNDS = 8
"""How often a suspicious call is repeated after each other caller. If a server answers at random, a
false alarm has a probability of at most 2 in 10,000 with two different answers, and of less than 1
in 100,000 with three."""
MOST_BEFORE = 4
"""Maximum number of other callers after whom a suspicious call is repeated."""
MOST_CONFIRMED = 3
"""Maximum number of confirmed calls of one caller; its other suspicious calls are not repeated."""


class RepeatReason(NamedTuple):
    """The reason for repeating a call."""

    words: str
    """Suffix of its name: ``after bobby``."""
    after: str | None = None
    """The previous caller; ``None`` for the previous caller's own call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspicion:
    """A call of one caller whose answers differ."""

    name: str
    """Name of the caller."""
    call: str
    """Name of the call in tables."""
    how: str
    """The difference in words."""
    after: tuple[str, ...]
    """Possible previous callers, those with different answers first."""

    @property
    def preceding_callers(self) -> tuple[str, ...]:
        """The callers after whom the call is repeated; at least two, so maybe the caller itself."""
        others = self.after[:MOST_BEFORE]
        # After a single other caller, nothing could depend on who it was.
        return others if len(others) > 1 else (*others, self.name)

    def iterate_orders(self) -> Iterator[tuple[str, ...]]:
        """Yield the callers in a random but reproducible order for each round.

        The second round reverses the first, so that answers that alternate regularly do not seem
        to depend on the previous caller.
        """
        dice = random.Random(f"{self.call} {self.name}")  # noqa: S311 - repeatable, not secret
        yield self.preceding_callers
        yield self.preceding_callers[::-1]
        for _ in range(ROUNDS - 2):
            yield tuple(dice.sample(self.preceding_callers, len(self.preceding_callers)))

    def list_steps(self, before: str) -> tuple[tuple[str, RepeatReason], ...]:
        """Return two calls, in order: one of the caller ``before``, then the suspected one."""
        first = before, RepeatReason(f"before {self.name}")
        return first, (self.name, RepeatReason(f"after {before}", before))


_TIMES_AND_NUMBERS = re.compile(
    r"\d+(?:[t:.,/+-]?\d+)*(?:st|nd|rd|th|z)?|\b(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?|"
    r"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?|[ap]m|utc|gmt)\b",
    re.IGNORECASE,
)
_TIME_OF_DAY = re.compile(r"\d:\d\d")


class CallerAnswer(NamedTuple):
    """The answer to one call of one caller."""

    name: str
    """Name of the caller."""
    call: str
    """Name of the call in tables."""
    result: Result | None
    """Its result; ``None`` if no call was made."""


def find_suspicions(answers: Iterable[CallerAnswer]) -> Iterator[Suspicion]:
    """Yield calls that one of the suite's own identities made twice with different results.

    Results differ by their outcome, by their fields, or because one equals another caller's result.
    """
    rounds: dict[tuple[str, str], list[Result]] = {}
    for name, call, result in answers:
        if result is not None and result.call.outcome not in NO_ANSWER:
            rounds.setdefault((name, call), []).append(result)
    given: dict[tuple[str, frozenset[str]], dict[str, None]] = {}
    callers: dict[str, dict[str, frozenset[str]]] = {}
    for (name, call), results in rounds.items():
        callers.setdefault(call, {})[name] = extract_traits(results[0])
        for result in results:
            given.setdefault((call, _extract_distinctive(result)), {})[name] = None
    for (name, call), results in rounds.items():
        kinds = sorted({_describe_outcome(result) for result in results})
        # Texts of an answer that has other texts than another answer, not just more.
        distinct = {_extract_distinctive(result) for result in results}
        exchanged = [one for one in distinct if any(one - two and two - one for two in distinct)]
        others = [other for words in exchanged for other in given[call, words] if other != name]
        if len(kinds) > 1 or others:
            how = " and ".join(kinds) if len(kinds) > 1 else f"once as it does for {others[0]}"
            firsts = {other: words for other, words in callers[call].items() if other != name}
            # First those with an answer that no earlier caller got.
            seen: dict[frozenset[str], str] = {}
            for other, words in firsts.items():
                seen.setdefault(words, other)
            after = tuple(dict.fromkeys((*seen.values(), *firsts)))
            yield Suspicion(name=name, call=call, how=how, after=after)


def find_unstable_answers(probed: ProbedTrials) -> Iterator[ProbeFinding]:
    """Yield suspicious calls whose answer depended on the previous caller in every repetition."""
    heard: dict[tuple[str, str], dict[str, list[frozenset[str]]]] = {}
    for run in probed.apart["after"]:
        result, facts = probed.get_result(run), get_facts(run)
        if facts["after"] is not None:
            after = heard.setdefault((get_caller_name(run), facts["call"]), {})
            after.setdefault(facts["after"], []).append(extract_traits(result))
    asked = ((get_caller_name(run), get_label(run), run) for run in probed.own)
    answers = (CallerAnswer(name, call, probed.get_result(run)) for name, call, run in asked)
    for suspicion in find_suspicions(answers):
        name, call = suspicion.name, suspicion.call
        after = heard.get((name, call), {})
        # Fewer rounds mean that the repetition was broken off.
        is_whole = bool(after) and all(len(each) >= ROUNDS for each in after.values())
        if is_whole and depends_on_previous(after):
            words = (
                f"{call} comes out differently for {name} from one time to the next: "
                f"{suspicion.how}; asked again, it depended on who had asked before, "
                f"{ROUNDS} times of {ROUNDS}"
            )
            before, shown = _telling_caller(after, name), (AFTER_NOBODY,)
            yield build_finding("unstable", words, name, call, after=before, shown=shown)


def depends_on_previous(after: Mapping[str, Sequence[frozenset[str]]]) -> bool:
    """Whether a suspect's answer depends on which of two callers asked right before it.

    ``after`` has the `extract_traits` of answers, by the previous caller. An answer that changes by
    itself does not come back with the same caller.
    """
    return any(_telling_pairs(after))


def _telling_pairs(after: Mapping[str, Sequence[frozenset[str]]]) -> Iterator[tuple[str, str]]:
    """Yield two callers each, after whom the answer always had something else."""
    always = {name: frozenset.intersection(*each) for name, each in after.items()}
    ever = {name: frozenset.union(*each) for name, each in after.items()}
    for one, other in combinations(after, 2):
        # Both ways: an answer that only has more may come from a cache that fills.
        if always[one] - ever[other] and always[other] - ever[one]:
            yield one, other


def _telling_caller(after: Mapping[str, Sequence[frozenset[str]]], suspect: str) -> str | None:
    """Return another caller than ``suspect``, after whom the answer always had something else."""
    found = [name for pair in _telling_pairs(after) for name in pair if name != suspect]
    # After whom the suspect is told most, the fault is seen most easily.
    return max(found, key=lambda name: len(after[name][0]), default=None)


def extract_traits(result: Result | None) -> frozenset[str]:
    """Return a call's outcome and distinctive values for comparison; empty without an answer."""
    if result is None or result.call.outcome in NO_ANSWER:
        return frozenset()
    return _extract_distinctive(result) | {_describe_outcome(result)}


def _describe_outcome(result: Result) -> str:
    """Return the outcome of a call and its number of fields, in words."""
    if result.call.outcome != "ok":
        return str(result.call.outcome)
    fields = sorted({leaf.path for leaf in result.leaves})
    return f"ok with {len(fields)} fields" if fields else "ok"


def _extract_distinctive(result: Result) -> frozenset[str]:
    """Return the distinctive texts of a successful answer, each with its path.

    Numbers and times are left out, since measured or counted values change independently of the
    caller.
    """
    if result.call.outcome != "ok":
        return frozenset()
    # Prose has no fields, so that it is compared as a whole.
    texts = (
        [("", _TIMES_AND_NUMBERS.sub("", result.call.text))]
        if not result.leaves
        else [
            (leaf.path, leaf.value)
            for leaf in result.leaves
            if not is_volatile(leaf) and not _is_time(leaf.value)
        ]
    )
    values = ((path, to_comparable(text)) for path, text in texts)
    return frozenset(
        f"{path}: {value.text}"
        for path, value in values
        if value is not None and value.grade and value.number is None
    )


def _is_time(value: object) -> bool:
    """Whether a text is only a time of day, in any notation, with or without a date."""
    if not isinstance(value, str) or _TIME_OF_DAY.search(value) is None:
        return False
    return not any(map(str.isalnum, _TIMES_AND_NUMBERS.sub("", value)))


ROUNDS_ALONE = 6
"""How often a suspicious call is repeated, alone and after another caller.
If a server answers at random, a false alarm has a probability of less than 1 in 1,000 with two
different answers, and of less than 1 in 100,000 with three."""


def gives_more(result: Result, own: Result) -> bool:
    """Whether ``result`` has data that ``own``, a result of the same call, refuses or withholds."""
    if result.call.outcome != "ok":
        return False
    if own.call.outcome == "ok":
        return bool(find_extra_fields(result, own))
    # A tool that is hidden from somebody is often answered as an unknown one.
    return own.call.outcome in ("denied", "unknown_tool")


def find_mixed_callers(probed: ProbedTrials) -> Iterator[ProbeFinding]:
    """Yield calls that gave a caller more after another caller, in every repetition."""
    alone: dict[tuple[str, str], list[Result]] = {}
    after: dict[tuple[str, str], dict[str, list[Result]]] = {}
    for run in probed.apart["alone"]:
        facts, result = get_facts(run)["alone"], probed.get_result(run)
        # A process that has just started may answer otherwise.
        if result is None or facts["is_first"]:
            continue
        asked = get_caller_name(run), facts["of"]
        if facts["after"] is None:
            alone.setdefault(asked, []).append(result)
        else:
            after.setdefault(asked, {}).setdefault(facts["after"], []).append(result)
    for (name, call), others in after.items():
        for other, given in others.items():
            own = alone.get((name, call), [])
            if (
                len(own) >= ROUNDS_ALONE
                and len(given) >= ROUNDS_ALONE - 1
                and _is_certain(given, own)
            ):
                words = (
                    f"{call} gives {name} more where {other} has asked the same process before "
                    f"than in a process of their own, {len(given)} times of {len(given)}"
                )
                shown = (AFTER_NOBODY,)
                yield build_finding("unstable", words, name, call, after=other, shown=shown)


def _is_certain(given: Sequence[Result], own: Sequence[Result]) -> bool:
    same = len(set(map(extract_traits, given))) == 1 and len(set(map(extract_traits, own))) == 1
    return same and all(gives_more(one, other) for one in given for other in own)
