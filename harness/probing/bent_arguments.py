"""Calls with tampered arguments: wildcards, others' ids, flags, limits, and repetition."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from harness.canonical_json import canonical_json
from harness.judging.policy.views import Leaf
from harness.matching.texts import fold
from harness.probing.callers import ProbeCaller
from harness.probing.forged_calls import ForgedCall
from harness.probing.planned_calls import ProbeCall
from harness.types import JsonObject

TIMES = 12
"""How often a call is repeated."""
FLAGS = (
    "include_all",
    "include_hidden",
    "include_deleted",
    "include_sensitive",
    "show_all",
    "all",
    "full",
    "raw",
    "unmask",
    "debug",
    "verbose",
)
"""Undeclared flags, which are all set in one call."""
SELECTORS = {
    "fields": "*",
    "select": "*",
    "columns": "*",
    "include": "*",
    "expand": "*",
    "format": "raw",
    "view": "full",
    "mode": "raw",
    "detail": "full",
    "output": "full",
}
"""Undeclared arguments that may select more fields, which are all sent in one call."""
_WIDE = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}
"""ASCII characters → full-width ones, which Unicode normalisation (NFKC) makes equal."""
WILDCARDS = ("*", "%", "", ".*", "' OR '1'='1' --")
"""Texts that a server may read as a wildcard."""
_MOST_IDS = 3
_MOST_WORDS = 4
_LIMITS = ("limit", "size", "count", "top", "max", "first", "rows", "take")
_HUGE = 1_000_000_000


class Bending:
    """Tampers with the arguments of calls to one tool."""

    def __init__(self, schema: JsonObject, ids: Mapping[str, Collection[str]]) -> None:
        """Use the arguments of ``schema``; ``ids`` has known ids by argument."""
        declared = schema.get("properties")
        self._declared: Mapping[str, Any] = declared if isinstance(declared, Mapping) else {}
        self._ids = ids

    def bent(
        self, caller: ProbeCaller, call: ProbeCall, known: Collection[str]
    ) -> Iterator[ForgedCall]:
        """Yield ``call`` of ``caller`` with one change at a time, and last, the repeated call.

        Arguments in ``known`` (as canonical JSON) are left out: they belong to regular calls.
        """
        sent = set(known)
        for words, changed, wild in self._changes(call.arguments):
            arguments = {**call.arguments, **changed}
            key = canonical_json(arguments)
            if key not in sent:
                sent.add(key)
                asked = {name: value for name, value in arguments.items() if name not in wild}
                yield ForgedCall(
                    caller=caller,
                    base=call,
                    kind="arguments",
                    words=f"with {words}",
                    arguments=arguments,
                    asked=asked,
                    same=False,
                )
        yield ForgedCall(
            caller=caller,
            base=call,
            kind="arguments",
            words=f"when it is made {TIMES} times",
            arguments=call.arguments,
            times=TIMES,
        )

    def _changes(self, arguments: JsonObject) -> Iterator[tuple[str, JsonObject, tuple[str, ...]]]:
        """Yield the change in words, the changed arguments, and which of them are wildcards."""
        # What the tool itself offers comes first: the last ones may be left out (MOST_FORGED).
        for name in self._declared:
            yield from self._of_schema(name, arguments)
        for name in dict.fromkeys((*arguments, *self._declared)):
            if self._is_free(name, arguments):
                for other in tuple(self._ids.get(name, ()))[:_MOST_IDS]:
                    yield f"another's id as {name!r}", {name: other}, ()
        for name, value in arguments.items():
            if value and self._is_free(name, arguments):
                for words, bent in _respelled(value, tuple(self._ids.get(name, ()))):
                    yield words.format(repr(name)), {name: bent}, ()
                for wild in WILDCARDS:
                    yield f"{wild!r} as {name!r}", {name: wild}, (name,)
        unknown = {flag: True for flag in FLAGS if flag not in arguments}
        yield "flags that the tool does not declare", unknown, ()
        taken = arguments.keys() | self._declared.keys()
        chosen = {key: value for key, value in SELECTORS.items() if key not in taken}
        yield "selections that the tool does not declare", chosen, ()

    def _is_free(self, name: str, arguments: JsonObject) -> bool:
        """Whether an argument takes free text."""
        if "enum" in self._part(name):
            return False
        if name in arguments:
            return isinstance(arguments[name], str)
        return self._part(name).get("type") == "string"

    def _of_schema(
        self, name: str, arguments: JsonObject
    ) -> Iterator[tuple[str, JsonObject, tuple[str, ...]]]:
        part, value = self._part(name), arguments.get(name)
        words = part.get("enum")
        if part.get("type") == "boolean":
            for flag in (True, False):
                if flag is not value:
                    yield f"{name!r} set to {str(flag).lower()}", {name: flag}, ()
        elif isinstance(words, list):
            for word in words[:_MOST_WORDS]:
                yield f"{word!r} as {name!r}", {name: word}, ()
        elif part.get("type") in ("integer", "number") and is_limit(name):
            for limit in (_HUGE, -1, 0):
                yield f"{name!r} set to {limit}", {name: limit}, ()
        elif part.get("type") == "string" and name not in arguments:
            for wild in WILDCARDS:
                yield f"{wild!r} as {name!r}", {name: wild}, (name,)

    def _part(self, name: str) -> Mapping[str, Any]:
        part = self._declared.get(name)
        return part if isinstance(part, Mapping) else {}


def ids_for(names: Iterable[str], leaves: Iterable[Leaf]) -> dict[str, list[str]]:
    """Return for each argument the ids among ``leaves``: the values of fields with its name.

    An argument such as ``person_id`` also takes the field ``id`` of a record.
    """
    found: dict[str, dict[str, None]] = {name: {} for name in names}
    for leaf in leaves:
        if isinstance(leaf.value, str) and leaf.value:
            for name, values in found.items():
                if _names_id(name) and fold(leaf.name) in (fold(name), "id"):
                    values[leaf.value] = None
    return {name: list(values) for name, values in found.items()}


def _respelled(value: str, others: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the change (``{}`` stands for the argument's name) and another spelling of ``value``.

    ``others`` are other ids for the same argument. All spellings are texts: a value of another
    type crashes servers that do not validate their arguments.
    """
    yield "{} in other case", value.swapcase()
    yield "spaces around {}", f" {value} "
    yield "a line break behind {}", f"{value}\n"
    yield "a null byte behind {}", f"{value}\0"
    yield "{} in full-width letters", value.translate(_WIDE)
    yield "{} with an escape of URLs", f"{value[:-1]}%{ord(value[-1]) % 256:02X}"
    if re.search(r"[^\w\s]", value):
        yield (
            "with its signs escaped as in URLs",
            re.sub(r"[^\w\s]", lambda found: f"%{ord(found[0]) % 256:02X}", value),
        )
    if re.search(r"\d", value):
        yield "{} with a leading zero", re.sub(r"(\d+)(?!.*\d)", r"0\1", value)
    other = next((one for one in others if one != value), None)
    if other is not None:
        yield "{} and another, separated by a comma", f"{value},{other}"
        yield "{} and a path to another", f"{value}/../{other}"


def _names_id(name: str) -> bool:
    return fold(name).endswith(("id", "key", "number", "code", "name", "email"))


def is_limit(name: str) -> bool:
    """Whether an argument of that name limits the number of results."""
    return any(word in fold(name) for word in _LIMITS)
