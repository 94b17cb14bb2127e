"""Calls with tampered arguments: wildcards, others' ids, spellings, undeclared keys, repetition."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from harness.base import canonical_json
from harness.probing.arguments.argument_change import (
    ArgumentChange,
    get_argument_schema,
    propose_other_types,
    propose_outside_values,
    propose_schema_values,
)
from harness.probing.arguments.argument_names import find_cursor_argument, names_id
from harness.probing.callers import ProbeCaller
from harness.probing.forged_calls import ForgedCall
from harness.probing.planned_calls import ProbeCall
from harness.types import JsonObject, Tool

WILDCARDS = ("*", "%", "", ".*", "' OR '1'='1' --")
"""Texts that a server may read as a wildcard."""
_WIDE = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}
"""ASCII characters → full-width ones, which Unicode normalisation (NFKC) makes equal."""


def respell(value: str, others: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the change (``{}`` stands for the argument's name) and another spelling of ``value``.

    ``others`` are other ids for the same argument. All spellings are texts.
    """
    yield "{} in other case", value.swapcase()
    yield "spaces around {}", f" {value} "
    yield "a line break behind {}", f"{value}\n"
    yield "a null byte behind {}", f"{value}\0"
    yield "{} in full-width letters", value.translate(_WIDE)
    # Modulo 256, since an escape has two digits: a letter beyond Latin-1 becomes another one.
    yield "{} with an escape of URLs", f"{value[:-1]}%{ord(value[-1]) % 256:02X}"
    # Without a sign here, or a digit below, the change would give the id itself.
    if re.search(r"[^\w\s]", value):
        escaped = re.sub(r"[^\w\s]", lambda found: f"%{ord(found[0]) % 256:02X}", value)
        yield "with its signs escaped as in URLs", escaped
    if re.search(r"\d", value):
        yield "{} with a leading zero", re.sub(r"(\d+)(?!.*\d)", r"0\1", value)
    yield "one letter more behind {}", f"{value}x"
    yield "{} without its last letter", value[:-1]
    other = next((other for other in others if other != value), None)
    if other is not None:
        yield "{} and another, separated by a comma", f"{value},{other}"
        yield "{} and a path to another", f"{value}/../{other}"


FLAGS = (
    *(f"include_{what}" for what in ("all", "hidden", "deleted", "sensitive")),
    *("show_all", "all", "full", "raw", "unmask", "debug", "verbose"),
)
"""Undeclared flags, which are all set in one call: in the arguments, and in ``_meta``."""
SELECTORS = dict.fromkeys(("fields", "select", "columns", "include", "expand"), "*") | {
    "format": "raw",
    "view": "full",
    "mode": "raw",
    **dict.fromkeys(("detail", "output"), "full"),
}
"""Undeclared arguments that may select more fields, which are all sent in one call."""
META_FLAGS = (*FLAGS, "trace", "internal", "admin", "dry_run", "bypass", "skip_policy", "no_filter")
"""The flags in ``_meta``."""
OLDER_NAMES = ("{}_v1", "{}_v0", "{}_v2", "{}_old", "old_{}", "legacy_{}", "{}_legacy")
FURTHER_NAMES = ("{}_internal", "_{}", "admin_{}", "{}_raw", "{}_full", "debug_{}", "{}_debug")
"""Names of other versions of a tool; ``{}`` stands for its own."""


def propose_undeclared_keys(schema: JsonObject, arguments: JsonObject) -> Iterator[ArgumentChange]:
    """Yield keys that neither the schema of a tool nor a call of it has."""
    declared = schema.get("properties") or {}
    unknown = {flag: True for flag in FLAGS if flag not in arguments}
    yield ArgumentChange("flags that the tool does not declare", unknown)
    taken = arguments.keys() | declared.keys()
    chosen = {key: value for key, value in SELECTORS.items() if key not in taken}
    yield ArgumentChange("selections that the tool does not declare", chosen)
    flags: JsonObject = dict.fromkeys(META_FLAGS, True)
    yield ArgumentChange("flags in _meta of the request", meta=flags, same=True)


def other_names(tool: str) -> Iterator[ArgumentChange]:
    """Yield names under which a tool may be reached past what holds for its own name."""
    # A dictionary, since two of these may be the same name.
    folded = {tool.swapcase(): None, tool.title(): None, f" {tool} ".rstrip(): None}
    for name in folded:
        yield ArgumentChange(f"under the name {name!r}", tool=name, same=True, is_risky=True)
    for pattern in (*OLDER_NAMES, *FURTHER_NAMES):
        name = pattern.format(tool)
        yield ArgumentChange(f"under the name {name!r}", tool=name, same=True, is_risky=True)


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
        others = propose_other_types(self._schema, call.arguments, ids)
        yield from self._forge_calls(caller, call, others, set())
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
                    yield ArgumentChange(f"another's id as {name!r}", {name: other})
        for name, values in self._keys.items():
            for value in values if self._is_free(name, arguments) else ():
                words = f"another value of its record as {name!r}"
                yield ArgumentChange(words, {name: value}, wild=(name,))
        for name, value in arguments.items():
            if value and self._is_free(name, arguments):
                # An empty text has no last letter that a spelling could change.
                for words, bent in respell(value, tuple(self._ids.get(name, ()))):
                    yield ArgumentChange(words.format(repr(name)), {name: bent})
                yield from _propose_wildcards(name)
        yield from propose_undeclared_keys(self._schema, arguments)

    def _propose_missing_ids(self, arguments: JsonObject) -> Iterator[ArgumentChange]:
        """Yield ids that hardly any record has: a server may propose another one for them."""
        # These are also among the spellings, but late, where the bound may cut them off.
        for name, value in arguments.items():
            if names_id(name) and self._is_free(name, arguments):
                words = f"one letter more behind {name!r}"
                yield ArgumentChange(words, {name: f"{value}x"})

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
        yield ArgumentChange(f"{wild!r} as {name!r}", {name: wild}, wild=(name,))
