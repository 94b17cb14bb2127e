"""One test asked as several identities: ``identities:``, ``as:`` and ``expect:`` in YAML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

from harness.base import (
    TEXT,
    DocumentReader,
    Field,
    InvalidValue,
    Layout,
    Steps,
    Values,
    any_of,
    array_of,
    build_field,
    choice_field,
    describe_value,
    did_you_mean,
    object_of,
    parse_entries,
    parse_mapping,
    parse_single_line,
    refer_to,
)
from harness.suites.default_expectations import NO_VALUE, OTHERS, DefaultExpectations
from harness.types import Access, Case, Check, JsonObject, LeakRule

NOBODY = "anonymous"
"""The identity that every suite has: an anonymous caller, unless the suite redefines it."""
DECISION = "decision"
"""The check that an expectation's decision becomes."""

# An error and a mixture of decisions are findings that nobody expects.
_WORDS = tuple(word for word in get_args(Access) if word not in {"error", "mixed"})
_OWN_KEYS = {"decision": "is", "without": "without", "never": "never"}
_NEVER = "never"
"""The word for a record that an identity must not get by any road."""
_NAMES = (TEXT, array_of(TEXT, minItems=1))


# ── Values of the keys ───────────────────────────────────────────────────────────────


def parse_contexts(value: Any) -> dict[str, Any]:
    """Parse users by name; one without a value is anonymous."""
    return parse_entries(_parse_context, value)


def _parse_context(value: Any) -> Any:
    if value is not None and not isinstance(value, dict):
        found = describe_value(value)
        raise InvalidValue(f"expected a mapping (lines of 'key: value'), or nothing; found {found}")
    return value


def _parse_identities(value: Any) -> dict[str, Any]:
    for name in parse_mapping(value):
        parse_single_line(name)
    if not value:
        raise InvalidValue("there are no identities", meant="Write 'admin: {role: admin}'.")
    return parse_contexts(value)


def _parse_names(value: Any) -> tuple[str, ...]:
    given = value if isinstance(value, list) else [value]
    if not given:
        raise InvalidValue("there are no identities", meant="Write 'as: [admin, anonymous]'.")
    names: list[str] = []
    for index, item in enumerate(given):
        try:
            name = parse_single_line(item)
        except InvalidValue as error:
            meant = "Name one of 'identities:'."
            raise InvalidValue(error.message, path=(index,), meant=meant) from error
        if name in names:
            raise InvalidValue(f"{name!r} is named twice", path=(index,), meant="Remove one.")
        names.append(name)
    return tuple(names)


def _parse_decision(value: Any) -> Any:
    """Parse the value for the check ``decision``; an empty one would check nothing."""
    if value is None:
        meant = "Write what is expected, or leave the key out."
        raise InvalidValue("there is no value", meant=meant)
    return value


def _parse_tool(value: Any) -> JsonObject:
    """Parse a tool's name, or ``{tool, args}``."""
    if not isinstance(value, dict):
        return {"tool": parse_single_line(value)}
    if (unknown := next((key for key in value if key not in _TOOL_KEYS), None)) is not None:
        meant = "It takes 'tool', 'args' and 'allow_absent'."
        raise InvalidValue(f"unknown key {unknown!r}", path=(unknown,), meant=meant)
    if "tool" not in value:
        raise InvalidValue("'tool' is missing", meant="Write {tool: …, args: {…}}.")
    parse_single_line(value["tool"])
    if not isinstance(absent := value.get("allow_absent", False), bool):
        message = f"expected true or false, found {describe_value(absent)}"
        raise InvalidValue(message, path=("allow_absent",))
    return value


IDENTITIES = build_field(
    f"Callers by name, for 'as:' of a test. One without a value is anonymous; '{NOBODY}' "
    "is anonymous and needs no entry.",
    {"type": "object", "minProperties": 1, "additionalProperties": {"type": ["object", "null"]}},
    _parse_identities,
)
"""``identities: {admin: {role: admin}, visitor: null}``."""
AS = build_field(
    "The identities that ask: one case for each, compared with one another.",
    any_of(TEXT, array_of(TEXT, minItems=1, uniqueItems=True)),
    _parse_names,
)
"""``as: [admin, analyst, anonymous]``."""
LEAKS = choice_field(
    "Whether a leak fails the case: a value that reaches an identity although it is withheld from "
    "it elsewhere.",
    get_args(LeakRule),
)
"""``leaks: ignore``."""
_TOOL_KEYS = {"tool": TEXT, "args": {"type": "object"}, "allow_absent": {"type": "boolean"}}
TOOL = build_field(
    "The tool, or the call, that the decisions under 'expect:' refer to; without it, any call.",
    any_of(TEXT, object_of(_TOOL_KEYS, "tool")),
    _parse_tool,
)
"""``tool: get_salary``."""
EXPECT = build_field(
    "The expected outcome for each identity, and under '*' for all others, beside "
    "'assertions:', which hold for all of them.",
    {"type": "object", "additionalProperties": refer_to("expectation")},
    parse_mapping,
)
"""``expect: {admin: allowed, "*": denied}``, where ``*`` is each identity that is not named, or
``expect: {admin: allowed, analyst: {decision: filtered, without: [salary]}, user: denied}``."""


def build_expectation_layout(checks: Mapping[str, Field]) -> Layout:
    """Return the layout of one identity's expectation: checks and the decision."""
    own = {
        "decision": build_field(
            "What the server decides.", _DECIDED, _parse_decision, takes_null=True
        ),
        "without": build_field(
            "Fields that no result for this identity may contain; with 'mask' and 'readable', what "
            "may stand in their place.",
            any_of(
                *_NAMES,
                object_of(
                    {
                        "fields": any_of(*_NAMES),
                        "mask": {"enum": ["none", "partial", "any"]},
                        "readable": {"type": ["string", "number"]},
                        "allow_unknown": {"type": "boolean"},
                    },
                    "fields",
                ),
            ),
            _parse_decision,
            takes_null=True,
        ),
        "never": build_field(
            "Fields that this identity gets by no road; true: nothing of the record that the call "
            "of 'tool:' asks for.",
            any_of({"const": True}, *_NAMES),
            _parse_decision,
            takes_null=True,
        ),
    }
    moved = {
        **dict.fromkeys(("is", "access"), "Write 'decision: …'."),
        "assertions": "Leave 'assertions:' out: write the checks directly under the identity.",
        "tool": "Put it into the test, beside 'expect:'.",
        "without_fields": "Did you mean 'without'?",
    }
    # Under an identity an empty check is a mistake: it would check nothing for this one alone.
    filled = {name: replace(field, takes_null=True) for name, field in checks.items()}
    return Layout({**filled, **own}, moved)


_DECIDED = any_of({"enum": list(_WORDS)}, array_of({"enum": list(_WORDS)}))


def build_expectation_schema(layout: Layout) -> JsonObject:
    """Return the schema of one identity's expectation."""
    written_out = object_of({name: field.schema for name, field in layout.fields.items()})
    return {
        "description": "The expected outcome for one identity.",
        "anyOf": [
            *_DECIDED["anyOf"],
            {"const": _NEVER, "description": "Denied, and got by no other road."},
            {**written_out, "minProperties": 1},
        ],
    }


# ── Cases ────────────────────────────────────────────────────────────────────────────────────


class IdentityReader:
    """Makes the cases of a test with several identities."""

    def __init__(
        self, reading: DocumentReader, suite: Values, expectation: Layout, decision: Field | None
    ) -> None:
        """``suite`` has the parsed values of the suite's keys.

        ``decision`` is the check of that name.
        """
        self._reading = reading
        self._expectation = expectation
        self._decision_check = decision
        # Then every name would be unknown, and each test would say so once more.
        self.is_lost = reading.has_key("identities") and "identities" not in suite
        """Whether the identities have already caused a problem."""
        self.contexts: Mapping[str, JsonObject | None] = {
            # First, so that a suite may give this name another meaning.
            NOBODY: None,
            **suite.get("identities", {}),
        }
        self.defaults = DefaultExpectations(reading, self.contexts)
        """The default expectations of tests about a tool."""

    def read_names(self, path: Steps, values: Values) -> tuple[str, ...]:
        """Return the known identities under ``as`` of a test or of the defaults."""
        if "as" in values and "user_context" in values:
            message = "'as' and 'user_context' both set the caller."
            self._reading.add_key_problem((*path, "user_context"), message, "Keep one of them.")
        for index, name in enumerate(values.get("as", ())):
            if name not in self.contexts and not self.is_lost:
                known = f"Known: {', '.join(self.contexts)}."
                meant = did_you_mean(name, self.contexts) or (
                    f"{known} Name it under 'identities:' of the suite."
                )
                self._reading.add_problem(
                    (*path, "as", index), f"there is no identity {name!r}.", meant
                )
        # Unknown ones have caused a problem; the others are still read, to find theirs.
        return tuple(name for name in values.get("as", ()) if name in self.contexts)

    def expand_case(
        self, path: Steps, values: Values, case: Case, names: Sequence[str], noun: str
    ) -> Iterator[Case]:
        """Yield ``case`` once for each of the identities, or unchanged if there are none."""
        expected = values.get("expect", {})
        if not names:
            for key in ("expect", "tool"):
                if key in values and "as" not in values and not self.is_lost:
                    message = f"{noun} has {key!r} but no 'as'."
                    self._reading.add_key_problem(
                        (*path, key), message, "Add 'as: [admin, anonymous]'."
                    )
            yield case
            return
        tool = values.get("tool")
        others = {
            name: default
            for name in names
            if tool and (default := self.defaults.find_expectation(tool["tool"], name)) is not None
        }
        if tool and not expected and not others:
            message = f"{noun} has 'tool', but no 'expect' that refers to it."
            self._reading.add_key_problem((*path, "tool"), message)
        for name in expected:
            if name not in names and name != OTHERS:
                meant = did_you_mean(name, names) or f"Its identities are {', '.join(names)}."
                message = f"{noun} does not have the identity {name!r}."
                self._reading.add_key_problem((*path, "expect", name), message, meant)
            elif expected[name] is None:
                message = f"{name}: there is no value."
                self._reading.add_key_problem((*path, "expect", name), message, NO_VALUE)
        for name in names:
            # From the exact to the general: its name in the test, `*` there, then the defaults.
            written = name if name in expected else OTHERS
            at, given = (*path, "expect", written), expected.get(written)
            if written not in expected and name in others:
                at, given = others[name]
            own = self._build_checks(at, given, tool, f"{name!r} of {noun}")
            yield replace(
                case,
                # A test without a name has a problem of its own already.
                name=f"{case.name} [{name}]" if case.name else "",
                caller=replace(
                    case.caller, user_context=self.contexts[name], identity=name, group=case.name
                ),
                # Its own first: reports show the check that failed first.
                checks=(*own, *case.checks),
            )

    def _build_checks(
        self, path: Steps, given: Any, tool: JsonObject | None, noun: str
    ) -> Iterator[Check]:
        if given is None:
            return
        if not isinstance(given, dict):
            decided = {"never": True} if given == _NEVER else {"is": given}
            yield from self._build_decision_check(path, given, {**(tool or {}), **decided})
            return
        values = self._reading.read_mapping(
            path, given, self._expectation, f"expectation for {noun}"
        )
        decided = {name: values[key] for key, name in _OWN_KEYS.items() if key in values}
        if decided:
            yield from self._build_decision_check(path, given, {**(tool or {}), **decided})
        for kind, parsed in values.items():
            if kind not in _OWN_KEYS:
                for part, check in parsed:
                    yield check.with_location(self._reading.document.locate((*path, kind, *part)))

    def _build_decision_check(
        self, path: Steps, given: Any, decided: JsonObject
    ) -> Iterator[Check]:
        """Yield the check for a word, a list of words, or ``decision`` and ``without``."""
        if self._decision_check is None:
            self._reading.add_problem(path, "no check for decisions is installed.")
            return
        try:
            parsed = self._decision_check.parse(decided)
        except InvalidValue as error:
            inside = [
                key for step in error.path[:1] for key, name in _OWN_KEYS.items() if name == step
            ]
            steps = (*inside, *error.path[1:]) if isinstance(given, dict) else error.path[1:]
            meant = error.meant
            if meant == "Name it under 'tool:'.":
                # In a test the tool is written beside `expect`.
                meant = "Name it under 'tool:' of the test."
            message = f"{path[-1]}: {error.message.rstrip('.')}."
            self._reading.add_problem((*path, *steps), message, meant)
            return
        for _, check in parsed:
            yield check.with_location(self._reading.document.locate(path))
