"""Calls with tampered arguments: wildcards, others' ids, types, bounds, flags, and repetition."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from harness.base import canonical_json
from harness.probing.arguments.bend import Bend, part_of
from harness.probing.arguments.bounds import of_schema, outside
from harness.probing.arguments.ids import names_id
from harness.probing.arguments.other_types import of_other_types
from harness.probing.arguments.spellings import WILDCARDS, respelled
from harness.probing.arguments.undeclared import undeclared
from harness.probing.callers import ProbeCaller
from harness.probing.cursors.arguments import cursor_argument
from harness.probing.forged_calls import ForgedCall
from harness.probing.planned_calls import ProbeCall
from harness.types import JsonObject, Tool

TIMES = 12
"""How often a call is repeated."""
_MOST_IDS = 3


class Bending:
    """Tampers with the arguments of calls to one tool."""

    def __init__(
        self,
        tool: Tool,
        ids: Mapping[str, Collection[str]],
        keys: Mapping[str, Sequence[str]] | None = None,
        withheld: Collection[str] = (),
    ) -> None:
        """Tamper with calls of ``tool``.

        Args:
            tool: The tool.
            ids: Argument → known ids for it.
            keys: Id → other values that tell its record from others, by argument.
            withheld: The fields that are withheld from the caller.
        """
        self._schema = tool.input_schema
        declared = self._schema.get("properties")
        self._declared = declared if isinstance(declared, Mapping) else {}
        self._cursor = cursor_argument(tool)
        self._ids = ids
        self._keys = keys or {}
        self._withheld = withheld

    def bent(
        self, caller: ProbeCaller, call: ProbeCall, known: Collection[str]
    ) -> Iterator[ForgedCall]:
        """Yield ``call`` of ``caller`` with one change at a time, and last, the repeated call.

        Arguments in ``known`` (as canonical JSON) are left out: they belong to regular calls.
        """
        bends = (bend for bend in self._changes(call.arguments) if not bend.is_risky)
        yield from self._made(caller, call, bends, {*known})
        yield ForgedCall(
            caller=caller,
            base=call,
            kind="arguments",
            words=f"when it is made {TIMES} times",
            arguments=call.arguments,
            times=TIMES,
        )

    def risky(self, caller: ProbeCaller, call: ProbeCall) -> Iterator[ForgedCall]:
        """Yield ``call`` with what its schema forbids, on which a simple server may end."""
        ids = {name: tuple(values) for name, values in self._ids.items()}
        yield from self._made(
            caller, call, of_other_types(self._schema, call.arguments, ids), set()
        )
        bends = (bend for bend in self._outside(call.arguments) if bend.is_risky)
        yield from self._made(caller, call, bends, set())

    def _made(
        self, caller: ProbeCaller, call: ProbeCall, bends: Iterator[Bend], sent: set[str]
    ) -> Iterator[ForgedCall]:
        for bend in bends:
            arguments = {**call.arguments, **bend.changed}
            key = canonical_json([arguments, dict(bend.meta)] if bend.meta else arguments)
            if key not in sent:
                sent.add(key)
                yield forged(caller, call, bend)

    def _changes(self, arguments: JsonObject) -> Iterator[Bend]:
        # What the tool itself offers comes first: the last ones may be left out (MOST_FORGED).
        for name in self._declared:
            yield from of_schema(self._schema, name, arguments)
        yield from self._missing(arguments)
        yield from self._outside(arguments)
        for name in self._declared:
            if name not in arguments and self._is_free(name, arguments):
                yield from _wild(name)
        for name in dict.fromkeys((*arguments, *self._declared)):
            if self._is_free(name, arguments):
                for other in tuple(self._ids.get(name, ()))[:_MOST_IDS]:
                    yield Bend(words=f"another's id as {name!r}", changed={name: other})
        for name, values in self._keys.items():
            for value in values if self._is_free(name, arguments) else ():
                yield Bend(
                    words=f"another value of its record as {name!r}",
                    changed={name: value},
                    wild=(name,),
                )
        for name, value in arguments.items():
            if value and self._is_free(name, arguments):
                for words, bent in respelled(value, tuple(self._ids.get(name, ()))):
                    yield Bend(words=words.format(repr(name)), changed={name: bent})
                yield from _wild(name)
        yield from undeclared(self._schema, arguments)

    def _missing(self, arguments: JsonObject) -> Iterator[Bend]:
        """Yield ids that hardly any record has: a server may propose another one for them."""
        for name, value in arguments.items():
            if names_id(name) and self._is_free(name, arguments):
                words = f"one letter more behind {name!r}"
                yield Bend(words=words, changed={name: f"{value}x"})

    def _outside(self, arguments: JsonObject) -> Iterator[Bend]:
        return outside(self._schema, arguments, self._withheld, self._cursor)

    def _is_free(self, name: str, arguments: JsonObject) -> bool:
        """Whether an argument takes free text."""
        part = part_of(self._schema, name)
        if "enum" in part:
            return False
        if name in arguments:
            return isinstance(arguments[name], str)
        return part.get("type") == "string"


def forged(caller: ProbeCaller, call: ProbeCall, bend: Bend) -> ForgedCall:
    """Return ``call`` of ``caller``, changed."""
    arguments = {**call.arguments, **bend.changed}
    return ForgedCall(
        caller=caller,
        base=call,
        kind="arguments",
        words=bend.words if bend.tool else f"with {bend.words}",
        arguments=arguments,
        meta=bend.meta,
        tool=bend.tool,
        asked=(
            call.arguments
            if bend.same
            else {name: value for name, value in arguments.items() if name not in bend.wild}
        ),
        same=bend.same,
        is_risky=bend.is_risky,
    )


def _wild(name: str) -> Iterator[Bend]:
    for wild in WILDCARDS:
        yield Bend(words=f"{wild!r} as {name!r}", changed={name: wild}, wild=(name,))
