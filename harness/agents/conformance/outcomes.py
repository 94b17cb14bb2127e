"""The outcome of each conformance scenario, told from what it asked and what its checks say."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Literal

from harness.types import JsonObject, dataclass

ScenarioStatus = Literal["passed", "failed", "not testable"]
ANY_NAME = "*"
"""Stands for every name of a kind, where the server has templates or no list of them."""
_OF_ANY_ANSWER = ("wire-schema-valid", "scenario-timeout")  # not excused by what is lacking
_LOST = "fetch failed"  # Node's words for no answer at all, which some checks only warn of
_INTRODUCTION = re.compile(r"initialize|server/discover|notifications/.*|[a-z]+(/templates)?/list")
_ABSENT = re.compile(r"non-?existent|unknown|invalid", re.IGNORECASE)
_KINDS = {"tools/call": "tool", "prompts/get": "prompt", "resources/read": "resource"}
_CAPABILITIES = {
    "completion/complete": ("completions",),
    "logging/setLevel": ("logging",),
    "resources/subscribe": ("resources", "subscribe"),
    "resources/unsubscribe": ("resources", "subscribe"),
}

_TASKS = ("extensions", "io.modelcontextprotocol/tasks")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOffer:
    """What a server lists, by which the fixtures that it lacks are known."""

    capabilities: JsonObject
    """In the form of MCP."""
    names: Mapping[str, Collection[str]]
    """``tool``, ``prompt`` and ``resource`` → names or URIs; a template's end in ``*``."""

    def find_lack(self, request: JsonObject) -> tuple[str, str] | None:
        """Return what ``request`` needs and the server lacks: ``("tool", "test_simple_text")``."""
        method, name = request["method"], request.get("name")
        if (kind := _KINDS.get(method)) is not None and isinstance(name, str):
            if _ABSENT.search(name) or any(_is_match(name, one) for one in self.names[kind]):
                return None
            return kind, name
        known: object = self.capabilities
        path = _TASKS if method.startswith("tasks/") else _CAPABILITIES.get(method, ())
        for key in path:
            known = known.get(key) if isinstance(known, dict) else None
            if known is None or known is False:
                return "capability", path[-1]
        return None


def _is_match(name: str, offered: str) -> bool:
    return name.startswith(offered[:-1]) if offered.endswith(ANY_NAME) else name == offered


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioResult:
    """One scenario's outcome."""

    name: str
    """The scenario."""
    status: ScenarioStatus
    """*not testable*: it needs what the server lacks."""
    passed: int
    """Number of its checks that passed."""
    total: int
    """Number of its checks that passed or failed."""
    why: tuple[str, ...]
    """The words of its checks that failed; if it is not testable, why."""
    warnings: tuple[str, ...] = ()
    """The words of its checks that warned, about what a revision only recommends."""
    unscored: str | None = None
    """Why the revision does not require it (``extension``, ``pending`` …), if it does not."""


def judge_scenario(
    name: str,
    checks: Sequence[JsonObject],
    requests: Sequence[JsonObject],
    offer: ServerOffer | None,
    unscored: str | None = None,
) -> ScenarioResult:
    """Return the outcome of a scenario.

    A scenario that asked for nothing but what the server lacks is not testable, also if it passed:
    some take any answer for the right one. Otherwise a failed check is not testable if it says so,
    or names what is lacking.

    Args:
        name: The scenario.
        checks: Its checks, as the package writes them.
        requests: What it sent: ``method`` and ``name`` of each.
        offer: What the server lists; ``None`` if it could not be listed.
        unscored: Why the revision does not require it.
    """
    asked = [one for one in requests if not _INTRODUCTION.fullmatch(one["method"])]
    lacks = [offer.find_lack(one) for one in asked] if offer is not None else []
    lacking = tuple(dict.fromkeys(lack for lack in lacks if lack is not None))
    vain = bool(lacks) and None not in lacks
    lost = [one for one in checks if one["status"] != "SUCCESS" and _LOST in _get_words(one)]
    failed = [one for one in checks if one["status"] == "FAILURE" or one in lost]
    warned = [one for one in checks if one["status"] == "WARNING" and one not in lost]
    passed = sum(one["status"] == "SUCCESS" for one in checks)
    defects = [
        one
        for one in failed
        if one in lost
        or (
            not _says_untestable(one)
            and (one["id"] in _OF_ANY_ANSWER or not (vain or _names(one, lacking)))
        )
    ]
    status: ScenarioStatus = "failed" if defects else "passed"
    why = tuple(map(_get_words, defects))
    if not defects and (failed or vain or not passed):
        status = "not testable"
        needs = ", ".join(f"{kind} {name!r}" for kind, name in lacking)
        why = (f"needs {needs}",) if needs else tuple(map(_get_words, failed or checks))
    return ScenarioResult(
        name=name,
        status=status,
        passed=passed,
        total=passed + len(failed),
        why=tuple(dict.fromkeys(why)),
        warnings=() if vain else tuple(map(_get_words, warned)),
        unscored=unscored,
    )


def _says_untestable(check: JsonObject) -> bool:
    details = check.get("details")
    flags = details if isinstance(details, dict) else {}
    words = str(check.get("errorMessage", ""))
    is_said = flags.get("untestable") is True or flags.get("toolFound") is False
    return is_said or words.startswith(("Not testable", "Prerequisite failed"))


def _names(check: JsonObject, lacking: Collection[tuple[str, str]]) -> bool:
    words = str(check.get("errorMessage", ""))
    return any(
        re.search(rf"(?<!\w){re.escape(name)}(?!\w)", words)
        for kind, name in lacking
        if kind != "capability"  # a word such as 'logging' says nothing
    )


def _get_words(check: JsonObject) -> str:
    return str(check.get("errorMessage") or check.get("description") or check["id"])


def find_unscored(printed: str) -> Iterator[tuple[str, str]]:
    """Yield scenario and reason (``extension``) of those that a revision does not require."""
    for line in printed.partition("Not scored for ")[2].splitlines():
        if found := re.fullmatch(r"\s+\S (\S+) \(([a-z-]+)\)", line):
            yield found[1], found[2]
