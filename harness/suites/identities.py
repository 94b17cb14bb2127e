"""One test is asked as several identities: ``identities:``, ``as:`` and ``expect:`` of a suite in YAML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

from harness.documents.document import Steps
from harness.documents.fields import Field, Layout, as_line, as_mapping, choice, found
from harness.documents.reading import Reading
from harness.errors import InvalidValue, did_you_mean
from harness.types import Access, Case, Check, JsonObject, LeakRule

NOBODY = "anonymous"
"""The identity that every suite has: nobody in particular, unless the suite says otherwise."""
DECISION = "decision"
"""The check that the words of an expectation stand for."""

_WORDS = tuple(word for word in get_args(Access) if word not in {"error", "mixed"})
_OWN_KEYS = {"decision": "is", "without": "without"}
_NAME: JsonObject = {"type": "string", "pattern": r"\S"}


# ── What stands under the keys ───────────────────────────────────────────────────────────────


def contexts(value: Any) -> dict[str, Any]:
    """Take users by name; one without a value is nobody."""
    for name, context in as_mapping(value).items():
        if context is not None and not isinstance(context, dict):
            words = (
                f"expected a mapping (lines of 'key: value'), or nothing; found {found(context)}"
            )
            raise InvalidValue(words, path=(name,))
    return as_mapping(value)


def _identities(value: Any) -> dict[str, Any]:
    for name in as_mapping(value):
        as_line(name)
    if not value:
        raise InvalidValue("there are no identities", meant="Write 'admin: {role: admin}'.")
    return contexts(value)


def _names(value: Any) -> tuple[str, ...]:
    given = value if isinstance(value, list) else [value]
    if not given:
        raise InvalidValue("there are no identities", meant="Write 'as: [admin, anonymous]'.")
    names: list[str] = []
    for index, item in enumerate(given):
        try:
            name = as_line(item)
        except InvalidValue as error:
            raise InvalidValue(
                error.message, path=(index,), meant="Name one of 'identities:'."
            ) from error
        if name in names:
            raise InvalidValue(f"{name!r} is named twice", path=(index,), meant="Remove one.")
        names.append(name)
    return tuple(names)


def _something(value: Any) -> Any:
    """Take what the check ``decision`` will read; nothing at all would ask for nothing."""
    if value is None:
        raise InvalidValue(
            "nothing stands here", meant="Write what is expected, or leave the key out."
        )
    return value


def _tool(value: Any) -> JsonObject:
    """Take a tool's name, or ``{tool, args}``."""
    if not isinstance(value, dict):
        return {"tool": as_line(value)}
    unknown = next((key for key in value if key not in {"tool", "args", "allow_absent"}), None)
    if unknown is not None:
        meant = "It takes 'tool', 'args' and 'allow_absent'."
        raise InvalidValue(f"unknown key {unknown!r}", path=(unknown,), meant=meant)
    if "tool" not in value:
        raise InvalidValue("'tool' is missing", meant="Write {tool: …, args: {…}}.")
    as_line(value["tool"])
    if not isinstance(absent := value.get("allow_absent", False), bool):
        raise InvalidValue(f"expected true or false, found {found(absent)}", path=("allow_absent",))
    return value


IDENTITIES = Field(
    schema={
        "type": "object",
        "minProperties": 1,
        "additionalProperties": {"type": ["object", "null"]},
        "description": "Who may ask, by name, for 'as:' of a test. One without a value is nobody; "
        f"'{NOBODY}' is nobody without being named here.",
    },
    parse=_identities,
)
"""``identities: {admin: {role: admin}, visitor: null}``."""
AS = Field(
    schema={
        "anyOf": [_NAME, {"type": "array", "items": _NAME, "minItems": 1, "uniqueItems": True}],
        "description": "The identities that ask: one test for each, held against one another.",
    },
    parse=_names,
)
"""``as: [admin, analyst, anonymous]``."""
LEAKS = choice(
    "What it comes to when an identity is shown what is kept from it elsewhere: its test fails, or "
    "nobody looks.",
    get_args(LeakRule),
)
"""``leaks: ignore``."""
TOOL = Field(
    schema={
        "anyOf": [
            _NAME,
            {
                "type": "object",
                "properties": {
                    "tool": _NAME,
                    "args": {"type": "object"},
                    "allow_absent": {"type": "boolean"},
                },
                "required": ["tool"],
                "additionalProperties": False,
            },
        ],
        "description": (
            "The tool, or the call, that the decisions under 'expect:' are about; without it, any."
        ),
    },
    parse=_tool,
)
"""``tool: get_salary``."""
EXPECT = Field(
    schema={
        "type": "object",
        "additionalProperties": {"$ref": "#/$defs/expectation"},
        "description": (
            "What must come of it for each identity, beside 'assertions:', which hold "
            "for all of them."
        ),
    },
    parse=as_mapping,
)
"""``expect: {admin: allowed, analyst: {decision: filtered, without: [salary]}, user: denied}``."""


def expectation_layout(checks: Mapping[str, Field]) -> Layout:
    """Return the keys of one identity's expectation: checks, and the decision in a word or a list."""
    own = {
        "decision": Field(
            schema={"description": "What the server decides.", **_DECIDED},
            parse=_something,
            takes_null=True,
        ),
        "without": Field(
            schema={
                "anyOf": [_NAME, {"type": "array", "items": _NAME, "minItems": 1}],
                "description": "Fields that no result may give to this identity.",
            },
            parse=_something,
            takes_null=True,
        ),
    }
    moved = {
        **dict.fromkeys(("is", "access"), "Write 'decision: …'."),
        "assertions": "Leave 'assertions:' out: the checks stand right under the identity.",
        "tool": "Put it into the test, beside 'expect:'.",
        "without_fields": "Did you mean 'without'?",
    }
    filled = {name: replace(field, takes_null=True) for name, field in checks.items()}
    return Layout(fields={**filled, **own}, elsewhere=moved)


_DECIDED: JsonObject = {
    "anyOf": [{"enum": list(_WORDS)}, {"type": "array", "items": {"enum": list(_WORDS)}}]
}


def expectation_schema(layout: Layout) -> JsonObject:
    """Return the schema of one identity's expectation."""
    properties = {name: field.schema for name, field in layout.fields.items()}
    written_out = {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "minProperties": 1,
    }
    return {
        "description": "What must come of it for one identity.",
        "anyOf": [*_DECIDED["anyOf"], written_out],
    }


# ── Cases ────────────────────────────────────────────────────────────────────────────────────


class IdentityReader:
    """Makes the cases of a test that is asked as several identities."""

    def __init__(
        self,
        reading: Reading,
        suite: Mapping[str, Any],
        expectation: Layout,
        decision: Field | None,
    ) -> None:
        """Know the identities of a suite, of which ``suite`` has the parsed values; ``decision`` is that check."""
        self._reading = reading
        self._expectation = expectation
        self._decision_check = decision
        given = (
            reading.document.value.get("identities")
            if isinstance(reading.document.value, dict)
            else None
        )
        self.is_lost = given is not None and "identities" not in suite
        """Whether they are a problem already."""
        self.contexts: Mapping[str, JsonObject | None] = {
            NOBODY: None,
            **suite.get("identities", {}),
        }

    def names(self, path: Steps, values: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the identities that ``as`` of a test or of the defaults names and that there are."""
        if "as" in values and "user_context" in values:
            message = "'as' and 'user_context' both say who asks."
            self._problem_at_key((*path, "user_context"), message, "Keep one of them.")
        for index, name in enumerate(values.get("as", ())):
            if name not in self.contexts and not self.is_lost:
                known = ", ".join(self.contexts)
                meant = (
                    did_you_mean(name, self.contexts)
                    or f"Known: {known}. Name it under 'identities:' of the suite."
                )
                self._problem((*path, "as", index), f"there is no identity {name!r}.", meant)
        return tuple(name for name in values.get("as", ()) if name in self.contexts)

    def expand(
        self, path: Steps, values: Mapping[str, Any], case: Case, names: Sequence[str], noun: str
    ) -> Iterator[Case]:
        """Yield ``case`` as each of the identities, or as it is where there are none."""
        expected = values.get("expect", {})
        if not names:
            for key in ("expect", "tool"):
                if key in values and "as" not in values and not self.is_lost:
                    message = f"{noun} has {key!r}, and 'as' does not say for whom."
                    self._problem_at_key((*path, key), message, "Add 'as: [admin, anonymous]'.")
            yield case
            return
        if "tool" in values and not expected:
            self._problem_at_key(
                (*path, "tool"), f"{noun} has 'tool', and no 'expect' that it could be about.", None
            )
        for name in expected:
            if name not in names:
                meant = did_you_mean(name, names) or f"It is asked as {', '.join(names)}."
                self._problem_at_key(
                    (*path, "expect", name), f"{noun} is not asked as {name!r}.", meant
                )
            elif expected[name] is None:
                meant = "Write what is expected, such as 'denied', or leave the name out."
                self._problem_at_key(
                    (*path, "expect", name), f"{name}: nothing stands here.", meant
                )
        for name in names:
            own = self._checks(
                (*path, "expect", name),
                expected.get(name),
                values.get("tool"),
                f"{name!r} of {noun}",
            )
            yield replace(
                case,
                name=f"{case.name} [{name}]" if case.name else "",
                caller=replace(
                    case.caller,
                    user_context=self.contexts[name],
                    identity=name,
                    group=case.name,
                ),
                checks=(*own, *case.checks),
            )

    def _checks(
        self, path: Steps, given: Any, tool: JsonObject | None, noun: str
    ) -> Iterator[Check]:
        if given is None:
            return
        if not isinstance(given, dict):
            yield from self._decision(path, given, {**(tool or {}), "is": given})
            return
        values = self._reading.record(path, given, self._expectation, f"expectation for {noun}")
        decided = {name: values[key] for key, name in _OWN_KEYS.items() if key in values}
        if decided:
            yield from self._decision(path, given, {**(tool or {}), **decided})
        for kind, parsed in values.items():
            if kind not in _OWN_KEYS:
                for part, check in parsed:
                    yield check.placed(self._reading.document.at((*path, kind, *part)))

    def _decision(self, path: Steps, given: Any, decided: JsonObject) -> Iterator[Check]:
        """Yield the check that a word, a list of words, or ``decision`` and ``without`` stand for."""
        if self._decision_check is None:
            self._problem(path, "there is no check here that could judge a decision.", None)
            return
        try:
            parsed = self._decision_check.parse(decided)
        except InvalidValue as error:
            inside = [
                key for step in error.path[:1] for key, name in _OWN_KEYS.items() if name == step
            ]
            steps = (*inside, *error.path[1:]) if isinstance(given, dict) else error.path[1:]
            # In a test the tool stands beside `expect`.
            meant = (
                "Name it under 'tool:' of the test."
                if error.meant == "Name it under 'tool:'."
                else error.meant
            )
            self._problem((*path, *steps), f"{path[-1]}: {error.message.rstrip('.')}.", meant)
            return
        for _, check in parsed:
            yield check.placed(self._reading.document.at(path))

    def _problem(self, path: Steps, message: str, meant: str | None) -> None:
        self._reading.problem(self._reading.document.at(path), message, meant)

    def _problem_at_key(self, path: Steps, message: str, meant: str | None) -> None:
        self._reading.problem(self._reading.document.at_key(path), message, meant)
