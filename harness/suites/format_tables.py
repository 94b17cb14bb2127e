"""The suite format as tables: every key, its meaning, and common mistakes.

The reader (`harness.suites.mxcp`) and the JSON Schema (`harness.suites.schema`) use them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, get_args

from harness.base import (
    VERSIONS,
    Field,
    InvalidValue,
    Layout,
    as_line,
    as_list,
    as_mapping,
    as_mapping_or_line,
    as_version,
    choice,
    flag,
    line,
    mapping,
    text,
)
from harness.suites.config.server_entries import ALLOW_WRITES, HANDLING
from harness.suites.default_expectations import DEFAULT_EXPECT
from harness.suites.identities import (
    AS,
    EXPECT,
    IDENTITIES,
    LEAKS,
    TOOL,
    contexts,
    expectation_layout,
)
from harness.suites.ingest import INGEST, INGEST_PROMPT_FIELD
from harness.suites.interference import INTERFERENCE
from harness.suites.misplaced_keys import MISPLACED, SUITE_MISPLACED, TEST_MISPLACED
from harness.suites.parameters import MATRIX, PARAMETERS
from harness.suites.readers import Vocabulary
from harness.suites.shared_fields import LABELS, LIMITS, REPEATS
from harness.suites.simulated_users import USER, USER_LAYOUT, USER_MODEL
from harness.suites.variant_layouts import VARIANTS
from harness.suites.wordings import WORDINGS
from harness.types import Credential


@dataclass(frozen=True, slots=True, kw_only=True)
class Layouts:
    """The parts of the format that depend on the available checks."""

    suite: Layout
    """The file itself."""
    defaults: Layout
    """``defaults:`` of a suite."""
    test: Layout
    """An item of ``tests:``."""
    turn: Layout
    """An item of ``turns:`` of a test."""
    assertions: Layout
    """``assertions:`` of a test; each field parses to what `Vocabulary.parse` returns."""
    user: Layout
    """``user:`` of a test, written out."""
    expectation: Layout
    """The value of an identity under ``expect:`` of a test."""
    call: Layout
    """An item of ``setup:`` and ``teardown:``."""
    parameters: Layout
    """The two keys that make several tests of one; they are also keys of a test."""


def layouts(vocabulary: Vocabulary) -> Layouts:
    """Return the format for suites that may use the checks of ``vocabulary``."""
    checks = {name: _check(vocabulary, name) for name in vocabulary.names()}
    expected = _expected_answer(checks)
    suite = {**_SUITE_FIELDS, **HANDLING, "allow_writes": ALLOW_WRITES, **LIMITS, **LABELS}
    defaults = {
        **_WHO,
        "expect": DEFAULT_EXPECT,
        "assertions": _ASSERTIONS,
        **_SCRIPTED,
        **LIMITS,
        **REPEATS,
        **LABELS,
    }
    test = {
        **_TEST_FIELDS,
        **expected,
        **_SCRIPTED,
        **_PARAMETERS,
        **LIMITS,
        **REPEATS,
        **LABELS,
    }
    turn = {
        "prompt": text("What the user says.", required=True),
        "fresh": _FRESH,
        "assertions": _ASSERTIONS,
        **expected,
    }

    asserted = dict.fromkeys(checks, "Put it under 'assertions:' of a test.")
    in_test = dict.fromkeys(test, "Put it into a test, under 'tests:'.")
    in_suite = dict.fromkeys(suite, "Put it at the top of the suite.")
    in_defaults = dict.fromkeys(defaults, "Put it into a test, or under 'defaults:' for all tests.")
    judge = _unknown_judge(checks)
    return Layouts(
        suite=Layout(
            fields=suite,
            elsewhere={**asserted, **in_test, **in_defaults, **MISPLACED, **SUITE_MISPLACED},
        ),
        defaults=Layout(
            fields=defaults, elsewhere={**asserted, **in_test, **in_suite, **MISPLACED}
        ),
        test=Layout(
            fields=test,
            elsewhere={**in_suite, **asserted, **judge, **MISPLACED, **TEST_MISPLACED},
        ),
        turn=Layout(
            fields=turn, elsewhere={**_beside_turns(test), **asserted, **judge, **MISPLACED}
        ),
        assertions=Layout(fields=checks, elsewhere={**in_test, **judge, **MISPLACED}),
        user=USER_LAYOUT,
        expectation=expectation_layout(checks),
        call=Layout(
            fields=_CALL_FIELDS,
            elsewhere=dict.fromkeys(("arguments", "params"), "Did you mean 'args'?"),
        ),
        parameters=Layout(fields=_PARAMETERS, elsewhere={}),
    )


MXCP_CHECKS = (
    "must_call",
    "must_not_call",
    "answer_contains",
    "answer_not_contains",
    "expected_answer",
)
"""Assertions that MXCP reads as absent if they have no value; harness does the same, with a note.
"""


def _check(vocabulary: Vocabulary, name: str) -> Field:
    return Field(
        schema=vocabulary.schema(name),
        parse=partial(vocabulary.parse, name),
        takes_null=name not in MXCP_CHECKS,
    )


def _expected_answer(checks: Mapping[str, Field]) -> dict[str, Field]:
    """Return the check that may be written beside ``assertions:``, if it is installed."""
    if "expected_answer" not in checks:
        return {}
    check = checks["expected_answer"]
    description = "An answer in your own words, which a judge compares with the model's."
    return {"expected_answer": replace(check, schema={**check.schema, "description": description})}


def _unknown_judge(checks: Mapping[str, Field]) -> dict[str, str]:
    if "expected_answer" in checks:
        return {}
    return {
        "expected_answer": "There is no check of that name here; 'answer_contains' needs no judge."
    }


def _beside_turns(test: Mapping[str, Field]) -> dict[str, str]:
    return dict.fromkeys(test, "Put it into the test, beside 'turns:': it holds for all of them.")


# ── Values ───────────────────────────────────────────────────────────────────────────────────


def _filled(noun: str, value: Any, example: str) -> list[Any]:
    """Parse a list of at least one ``noun``."""
    if isinstance(value, dict):
        raise InvalidValue(
            f"expected a list of {noun}s, found a mapping",
            meant=f"Begin each {noun} with '{example}'.",
        )
    if not as_list(value):
        raise InvalidValue(f"there are no {noun}s", meant=f"Add at least one {noun}: '{example}'.")
    return as_list(value)


def _server(value: Any) -> str | tuple[str, ...] | dict[str, Any]:
    if not isinstance(value, list):
        given: str | dict[str, Any] = as_mapping_or_line(value)
        return given
    names = tuple(as_line(name) for name in value)
    if not names:
        raise InvalidValue(
            "there are no servers", meant="Write the names of configured servers: [shop, mail]."
        )
    return names


_PARAMETERS = {"matrix": MATRIX, "parameters": PARAMETERS}


def _calls(description: str) -> Field:
    item = {"anyOf": [{"type": "string", "pattern": r"\S"}, {"$ref": "#/$defs/call"}]}
    return Field(schema={"type": "array", "items": item, "description": description}, parse=as_list)


_FRESH = flag(
    "Begin a new conversation here: the model remembers nothing, the server stays the same."
)
_SCRIPTED = {
    "setup": _calls(
        "Tool calls made before the conversation. If one fails, the trial is an error."
    ),
    "teardown": _calls("Tool calls made after the conversation, whatever its result."),
}
_CALL_FIELDS = {
    "tool": line("The tool to call.", required=True),
    "args": mapping("Its arguments, sent unchanged."),
    "allow_absent": flag(
        "true: the tool may be in no list before the first test, because it is listed later."
    ),
}
_USER = Field(
    schema={
        "anyOf": [{"type": "object"}, {"type": "string", "pattern": r"\S"}],
        "description": (
            "The caller, as sent to the server: any keys, any values, or the name of one of "
            "'contexts:'. The model never sees it."
        ),
    },
    parse=as_mapping_or_line,
)
_CREDENTIAL = choice(
    "The caller's token, for a server with identity 'bearer': valid, none, or flawed.",
    get_args(Credential),
)
_NO_TOOLS = flag(
    "Whether the test is judged even if the server offers this user no tool, otherwise an error."
)
_WHO = {
    "user_context": _USER,
    "as": AS,
    "leaks": LEAKS,
    "credential": _CREDENTIAL,
    "allow_no_tools": _NO_TOOLS,
}
_ASSERTIONS = Field(
    schema={"$ref": "#/$defs/assertions", "description": "The checks of the test."},
    parse=as_mapping,
)

_SUITE_FIELDS = {
    "mxcp": Field(
        schema={"enum": list(VERSIONS), "description": "Version of the format: 1."},
        parse=as_version,
    ),
    "suite": line("Name of the suite, unique in the project.", required=True),
    "description": text("What the suite is about."),
    "model": line("The model that answers, unless --model names another."),
    "expected_answer_model": line("The model that judges answers, where a check needs one."),
    "judge_model": line("The same as expected_answer_model."),
    "user_model": USER_MODEL,
    "system_prompt": text("Sent to the model before every prompt."),
    "server": Field(
        schema={
            "anyOf": [
                {"type": "string", "pattern": r"\S"},
                {"type": "array", "minItems": 1, "items": {"type": "string", "pattern": r"\S"}},
                {"$ref": "#/$defs/server"},
            ],
            "description": (
                "The server to test: the name of a configured one, those of several, or how to "
                "start it. Without it, the configured server with the suite's name."
            ),
        },
        parse=_server,
    ),
    "contexts": Field(
        schema={
            "type": "object",
            "additionalProperties": {"type": ["object", "null"]},
            "description": (
                "Users by name, for 'user_context:' of a test. One without a value is anonymous."
            ),
        },
        parse=contexts,
    ),
    "identities": IDENTITIES,
    "require_identity": flag(
        "Whether the suite fails if nothing in it shows that the server knows who the caller is."
    ),
    "defaults": Field(
        schema={
            "$ref": "#/$defs/defaults",
            "description": "Settings and assertions for every test.",
        },
        parse=as_mapping,
    ),
    "variants": VARIANTS,
    "interference": INTERFERENCE,
    "tests": Field(
        schema={
            "type": "array",
            "minItems": 1,
            "items": {"$ref": "#/$defs/test"},
            "description": "The tests.",
        },
        parse=partial(_filled, "test", example="- name: …"),
        required=True,
    ),
}
_TEST_FIELDS = {
    "name": line("Name of the test, unique in the suite.", required=True),
    "description": text("What the test is for, in a sentence."),
    "prompt": text("What the user says."),
    "wordings": WORDINGS,
    "ingest": INGEST,
    "ingest_prompt": INGEST_PROMPT_FIELD,
    "turns": Field(
        schema={
            "type": "array",
            "minItems": 1,
            "items": {"$ref": "#/$defs/turn"},
            "description": "The user's turns in order, in place of 'prompt'.",
        },
        parse=partial(_filled, "turn", example="- prompt: …"),
    ),
    "user": USER,
    **_WHO,
    "tool": TOOL,
    "expect": EXPECT,
    "assertions": _ASSERTIONS,
}
