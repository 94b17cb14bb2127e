"""Calls with tampered arguments: wildcards, others' ids, types, bounds, flags, and repetition."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from harness.base import canonical_json
from harness.probing.arguments.argument_change import ArgumentChange, get_argument_schema
from harness.probing.arguments.bounds import propose_outside_values, propose_schema_values
from harness.probing.arguments.ids import names_id
from harness.probing.arguments.other_types import propose_other_types
from harness.probing.arguments.spellings import WILDCARDS, respell
from harness.probing.arguments.undeclared_keys import propose_undeclared_keys
from harness.probing.callers import ProbeCaller
from harness.probing.credentials.forged_calls import ForgedCall
from harness.probing.cursors.arguments import find_cursor_argument
from harness.probing.planned_calls import ProbeCall
from harness.types import JsonObject, Tool

TIMES = 12
"""How often a call is repeated."""
_MOST_IDS = 3


class ArgumentTamperer:
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
        self._cursor = find_cursor_argument(tool)
        self._ids = ids
        self._keys = keys or {}
        self._withheld = withheld

    def tamper(
        self, caller: ProbeCaller, call: ProbeCall, known: Collection[str]
    ) -> Iterator[ForgedCall]:
        """Yield ``call`` of ``caller`` with one change at a time, and last, the repeated call.

        Arguments in ``known`` (as canonical JSON) are left out: they belong to regular calls.
        """
        # The risky ones end a simple server, so that others must not share it (`tamper_riskily`).
        bends = (bend for bend in self._propose_changes(call.arguments) if not bend.is_risky)
        yield from self._forge_calls(caller, call, bends, {*known})
        yield ForgedCall(
            caller=caller,
            base=call,
            kind="arguments",
            words=f"when it is made {TIMES} times",
            arguments=call.arguments,
            times=TIMES,
        )

    def tamper_riskily(self, caller: ProbeCaller, call: ProbeCall) -> Iterator[ForgedCall]:
        """Yield ``call`` with what its schema forbids, on which a simple server may end."""
        ids = {name: tuple(values) for name, values in self._ids.items()}
        yield from self._forge_calls(
            caller, call, propose_other_types(self._schema, call.arguments, ids), set()
        )
        bends = (bend for bend in self._propose_outside_values(call.arguments) if bend.is_risky)
        yield from self._forge_calls(caller, call, bends, set())

    def _forge_calls(
        self, caller: ProbeCaller, call: ProbeCall, bends: Iterator[ArgumentChange], sent: set[str]
    ) -> Iterator[ForgedCall]:
        for bend in bends:
            # Several changes come to the same arguments: a letter behind an id is proposed twice.
            arguments = {**call.arguments, **bend.changed}
            key = canonical_json([arguments, dict(bend.meta)] if bend.meta else arguments)
            if key not in sent:
                sent.add(key)
                yield forge_call(caller, call, bend)

    def _propose_changes(self, arguments: JsonObject) -> Iterator[ArgumentChange]:
        # What the tool itself offers comes first: the last ones may be left out (MOST_FORGED).
        for name in self._declared:
            yield from propose_schema_values(self._schema, name, arguments)
        yield from self._propose_missing_ids(arguments)
        yield from self._propose_outside_values(arguments)
        for name in self._declared:
            if name not in arguments and self._is_free(name, arguments):
                yield from _propose_wildcards(name)
        for name in dict.fromkeys((*arguments, *self._declared)):
            if self._is_free(name, arguments):
                for other in tuple(self._ids.get(name, ()))[:_MOST_IDS]:
                    yield ArgumentChange(words=f"another's id as {name!r}", changed={name: other})
        for name, values in self._keys.items():
            for value in values if self._is_free(name, arguments) else ():
                yield ArgumentChange(
                    words=f"another value of its record as {name!r}",
                    changed={name: value},
                    wild=(name,),
                )
        for name, value in arguments.items():
            if value and self._is_free(name, arguments):
                # An empty text has no last letter that a spelling could change.
                for words, bent in respell(value, tuple(self._ids.get(name, ()))):
                    yield ArgumentChange(words=words.format(repr(name)), changed={name: bent})
                yield from _propose_wildcards(name)
        yield from propose_undeclared_keys(self._schema, arguments)

    def _propose_missing_ids(self, arguments: JsonObject) -> Iterator[ArgumentChange]:
        """Yield ids that hardly any record has: a server may propose another one for them."""
        # These are also among the spellings, but late, where the bound may cut them off.
        for name, value in arguments.items():
            if names_id(name) and self._is_free(name, arguments):
                words = f"one letter more behind {name!r}"
                yield ArgumentChange(words=words, changed={name: f"{value}x"})

    def _propose_outside_values(self, arguments: JsonObject) -> Iterator[ArgumentChange]:
        return propose_outside_values(self._schema, arguments, self._withheld, self._cursor)

    def _is_free(self, name: str, arguments: JsonObject) -> bool:
        """Whether an argument takes free text."""
        part = get_argument_schema(self._schema, name)
        if "enum" in part:
            return False
        # A value shows its type even if the schema states none, or several.
        if name in arguments:
            return isinstance(arguments[name], str)
        return part.get("type") == "string"


def forge_call(caller: ProbeCaller, call: ProbeCall, bend: ArgumentChange) -> ForgedCall:
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


def _propose_wildcards(name: str) -> Iterator[ArgumentChange]:
    for wild in WILDCARDS:
        yield ArgumentChange(words=f"{wild!r} as {name!r}", changed={name: wild}, wild=(name,))
