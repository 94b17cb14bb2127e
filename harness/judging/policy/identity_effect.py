"""Whether the server takes the identity into account; if it ignores it, it must not look safe."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from harness.base import canonical_json, digest_json
from harness.judging.policy.views import CallKey, Leaf, Result, View
from harness.types import NOT_SENT

_VOLATILE = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d|^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$", re.IGNORECASE
)
"""Values that change with each call of any caller: times of day, random ids."""
_VOLATILE_NAME = re.compile(
    r"time|elapsed|duration|latency|took|request_?id|trace|nonce|session|generated", re.IGNORECASE
)
_MOST_NAMED = 5


def explain_unobserved(views: Iterable[View]) -> str | None:
    """Return why no identity was observed, in a sentence; ``None`` if one was observed.

    Identity is observed if two identities have different tool lists, get different answers to the
    same call, or if a tool always refuses one identity and always serves another. Views are read
    one by one, until the result is clear.
    """
    seen = _Observations()
    for view in views:
        if seen.add_and_compare(view):
            return None
    # Refusals are compared at the end: a tool may still serve whom it has only refused so far.
    is_enough = len(seen.offers.identities) > 1
    return seen.explain_unobserved() if is_enough and not seen.grants_differ else None


class _IdentityDigests:
    """Digests of what each identity saw of the tool list or of one call's answer."""

    def __init__(self) -> None:
        self.identities: dict[str, set[str]] = {}
        self._seers: Counter[str] = Counter()

    def add_and_compare(self, identity: str, seen: str) -> bool:
        """Add ``seen`` for ``identity``; return whether two identities never saw the same.

        If answers vary for a single identity as well, they are no evidence.
        """
        own = self.identities.setdefault(identity, set())
        if seen not in own:
            own.add(seen)
            self._seers[seen] += 1
        if any(self._seers[one] == len(self.identities) for one in own):
            return False  # all identities saw this one
        others = (seen for name, seen in self.identities.items() if name != identity)
        return any(map(own.isdisjoint, others))


class _Observations:
    """Everything that the identities saw so far."""

    def __init__(self) -> None:
        self.offers = _IdentityDigests()
        self._answers: dict[CallKey, _IdentityDigests] = {}
        self._granted: dict[str, set[str]] = {}
        self._refused: dict[str, set[str]] = {}
        self._calls = 0

    def add_and_compare(self, view: View) -> bool:
        """Add a view; return whether identities have seen different things so far."""
        # Another order of the same tools is no sign of an identity.
        names = sorted((tool.name, tool.description) for tool in view.tools.tools)
        # A refused session has no list of tools, and that is what its identity sees.
        offers_differ = self.offers.add_and_compare(
            view.identity, "refused" if view.refused else digest_json(names)
        )
        differ = [self._answer_differs(view.identity, result) for result in view.results]
        return offers_differ or any(differ)

    def _answer_differs(self, identity: str, result: Result) -> bool:
        self._calls += 1
        call = result.call
        if call.outcome in ("ok", "denied"):
            tally = self._granted if call.outcome == "ok" else self._refused
            tally.setdefault(call.tool, set()).add(identity)
        # A call without an answer tells nothing of the server, whoever made it.
        if call.is_unanswered or call.outcome in NOT_SENT:
            return False
        return self._answers.setdefault(result.key, _IdentityDigests()).add_and_compare(
            identity, _digest_answer(result)
        )

    @property
    def grants_differ(self) -> bool:
        """Whether a tool always refuses one identity and always serves another."""
        return any(
            self._refused[tool] - served and served - self._refused[tool]
            for tool, served in self._granted.items()
            if tool in self._refused
        )

    def explain_unobserved(self) -> str:
        """Return why no identity was observed."""
        shared = sum(len(seen.identities) > 1 for seen in self._answers.values())
        identities = list(self.offers.identities)
        more = ", …" if len(identities) > _MOST_NAMED else ""
        names = ", ".join(identities[:_MOST_NAMED]) + more
        if not self._calls:
            found = "no tool was called"
        elif not shared:
            found = "no two of them made the same call"
        else:
            found = (
                f"{shared} call{'s' if shared > 1 else ''} that several of them made had the same "
                "answer for each"
            )
        return (
            f"{len(identities)} identities ({names}) were shown the same tools, and {found}: "
            "nothing shows that the server knows who asks"
        )


def _digest_answer(result: Result) -> str:
    """Return a digest of an answer without the fields that change with each call."""
    if result.call.outcome != "ok":
        # Of a failed call only how it ended counts: the text may differ by chance.
        return str(result.call.outcome)
    values = [
        [leaf.channel, leaf.path, "…" if is_volatile(leaf) else leaf.value]
        for leaf in result.leaves
    ]
    # The same rows in another order are the same answer.
    return digest_json(sorted(values, key=canonical_json) if values else result.call.text)


def is_volatile(leaf: Leaf) -> bool:
    """Return whether a field changes with each call of any caller: a time, a random id."""
    by_value = isinstance(leaf.value, str) and _VOLATILE.search(leaf.value)
    return bool(by_value or _VOLATILE_NAME.search(leaf.name))
