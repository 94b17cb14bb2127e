"""The suite format as tables: every key, its meaning, and common mistakes.

The reader (`harness.suites.mxcp`) and the JSON Schema (`harness.suites.schema`) use them.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, get_args

from harness.base import (
    SHARE,
    TEXT,
    VERSIONS,
    Field,
    InvalidValue,
    Layout,
    any_of,
    array_of,
    build_field,
    choice_field,
    decimal_field,
    flag_field,
    integer_field,
    line_field,
    lines_field,
    mapping_field,
    parse_list,
    parse_mapping,
    parse_mapping_or_line,
    parse_share,
    parse_single_line,
    parse_version,
    refer_to,
    text_field,
)
from harness.suites.config.server_entries import ALLOW_WRITES, HANDLING
from harness.suites.default_expectations import DEFAULT_EXPECT
from harness.suites.faults import FAULTS
from harness.suites.identities import (
    AS,
    EXPECT,
    IDENTITIES,
    LEAKS,
    TOOL,
    build_expectation_layout,
    parse_contexts,
)
from harness.suites.ingest import ATTACH, CONTEXT, INGEST, INGEST_PROMPT_FIELD, USE_PROMPT
from harness.suites.interference import INTERFERENCE
from harness.suites.parameters import MATRIX, PARAMETERS
from harness.suites.readers import Vocabulary
from harness.suites.simulated_users import ELICIT, USER, USER_MODEL
from harness.suites.variants import VARIANTS
from harness.suites.wordings import WORDINGS
from harness.types import DEFAULT_TIMEOUT_S, Credential, Limits, dataclass

_IN_CONFIGURATION = "Remove it: that belongs to the configuration, not to a suite."
MISPLACED = {
    "project": _IN_CONFIGURATION,
    "profile": _IN_CONFIGURATION,
    "expected_tool": "Use assertions.must_call to name the tool that must be called.",
    "expected_tools": "Use assertions.must_call to name the tools that must be called.",
    "tools": "Remove it: a suite tests the tools that the server has, and defines none.",
    "resources": "Name what a test's model is to read under 'context:' of the test.",
}
"""Keys that belong to no part of a suite."""

SUITE_MISPLACED = {
    "name": "The name of a suite belongs under 'suite:'.",
    "cases": "The tests of a suite belong under 'tests:'.",
    "user_context": (
        "Put it into each test that it is meant for, or under 'defaults:' for all tests."
    ),
}
"""Keys that do not belong at the top of a suite."""

TEST_MISPLACED = {
    "repeat": "Say how often with 'trials: …'.",
}
"""Keys that do not belong in a test."""


MAX_TRIALS = 1000
"""More trials of one case would add no information."""


def _parse_trials(value: Any) -> int:
    count: int = _COUNT.parse(value)
    if count > MAX_TRIALS:
        raise InvalidValue(f"at most {MAX_TRIALS} trials, found {count}")
    return count


_COUNT = integer_field("", least=1)

LIMITS = {
    "timeout": decimal_field(
        "Seconds that one trial may take, from its first request to its answer.",
        unit="seconds",
        default=DEFAULT_TIMEOUT_S,
    ),
    "max_replies": integer_field(
        "Model replies in one trial.", least=1, default=Limits().max_replies
    ),
    "max_calls": integer_field("Tool calls in one trial.", least=0, default=Limits().max_calls),
    "max_tokens": integer_field("Input plus output tokens of one trial.", least=1),
    "max_cost": decimal_field(
        "US dollars that one trial may cost.", unit="US dollars", positive=False
    ),
}
"""Limits of a trial."""
REPEATS = {
    "trials": build_field(
        "How often the test is run, unless --trials says otherwise.",
        {"type": "integer", "minimum": 1, "maximum": MAX_TRIALS, "default": 1},
        _parse_trials,
    ),
    "pass_threshold": build_field(
        "The share of trials that must pass for the test to pass.",
        {**SHARE, "default": 1},
        parse_share,
    ),
}
"""How often a test is run, and how many of its trials must pass."""
LABELS = {
    "tags": lines_field(
        "Labels to pick tests by with -k. Those of the suite hold for each of its tests."
    ),
    "metadata": mapping_field(
        "Anything; carried to every report. A test's own keys go before those of the suite."
    ),
}
"""Labels of a test."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteLayouts:
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
    expectation: Layout
    """The value of an identity under ``expect:`` of a test."""
    call: Layout
    """An item of ``setup:`` and ``teardown:``."""
    parameters: Layout
    """The two keys that make several tests of one; they are also keys of a test."""


def build_layouts(vocabulary: Vocabulary) -> SuiteLayouts:
    """Return the format for suites that may use the checks of ``vocabulary``."""
    checks = {
        name: Field(
            schema=vocabulary.schema(name),
            parse=partial(vocabulary.parse, name),
            # Null is a value of most checks (an answer that equals null), and is not absent.
            takes_null=name not in MXCP_CHECKS,
        )
        for name in vocabulary.names()
    }
    expected, judge = {}, {}
    if (check := checks.get("expected_answer")) is not None:
        # MXCP has it in a test itself, beside its assertions.
        description = "An answer in your own words, which a judge compares with the model's."
        described = {**check.schema, "description": description}
        expected = {"expected_answer": replace(check, schema=described)}
    else:
        advice = "There is no check of that name here; 'answer_contains' needs no judge."
        judge = {"expected_answer": advice}
    suite = {**_SUITE_FIELDS, **HANDLING, "allow_writes": ALLOW_WRITES, **LIMITS, **LABELS}
    shared = {**LIMITS, **REPEATS, **LABELS}
    defaults = {**_WHO, "expect": DEFAULT_EXPECT, "assertions": _ASSERTIONS, **_SCRIPTED, **shared}
    test = {**_TEST_FIELDS, **expected, **_SCRIPTED, **_PARAMETERS, **shared}
    turn = {
        "prompt": text_field("What the user says.", required=True),
        "fresh": _FRESH,
        "assertions": _ASSERTIONS,
        **expected,
    }

    asserted = dict.fromkeys(checks, "Put it under 'assertions:' of a test.")
    in_test = dict.fromkeys(test, "Put it into a test, under 'tests:'.")
    in_suite = dict.fromkeys(suite, "Put it at the top of the suite.")
    in_defaults = dict.fromkeys(defaults, "Put it into a test, or under 'defaults:' for all tests.")
    for_all_turns = "Put it into the test, beside 'turns:': it holds for all of them."
    return SuiteLayouts(
        suite=Layout(
            fields=suite,
            elsewhere={**asserted, **in_test, **in_defaults, **MISPLACED, **SUITE_MISPLACED},
        ),
        defaults=Layout(
            fields=defaults, elsewhere={**asserted, **in_test, **in_suite, **MISPLACED}
        ),
        test=Layout(
            fields=test, elsewhere={**in_suite, **asserted, **judge, **MISPLACED, **TEST_MISPLACED}
        ),
        turn=Layout(
            fields=turn,
            elsewhere={**dict.fromkeys(test, for_all_turns), **asserted, **judge, **MISPLACED},
        ),
        assertions=Layout(fields=checks, elsewhere={**in_test, **judge, **MISPLACED}),
        expectation=build_expectation_layout(checks),
        call=Layout(
            fields=_CALL_FIELDS,
            elsewhere=dict.fromkeys(("arguments", "params"), "Did you mean 'args'?"),
        ),
        parameters=Layout(fields=_PARAMETERS, elsewhere={}),
    )


_ON_ANSWERS = ("answer_contains", "answer_not_contains", "expected_answer")
MXCP_CHECKS = ("must_call", "must_not_call", *_ON_ANSWERS)
"""Assertions that MXCP reads as absent if they have no value; harness does the same, with a note.
"""


# ── Values ───────────────────────────────────────────────────────────────────────────────────


def _parse_nonempty_list(noun: str, value: Any, example: str) -> list[Any]:
    """Parse a list of at least one ``noun``."""
    if isinstance(value, dict):
        meant = f"Begin each {noun} with '{example}'."
        raise InvalidValue(f"expected a list of {noun}s, found a mapping", meant=meant)
    if not parse_list(value):
        raise InvalidValue(f"there are no {noun}s", meant=f"Add at least one {noun}: '{example}'.")
    return parse_list(value)


def _parse_server(value: Any) -> str | tuple[str, ...] | dict[str, Any]:
    if not isinstance(value, list):
        given: str | dict[str, Any] = parse_mapping_or_line(value)
        return given
    names = tuple(parse_single_line(name) for name in value)
    if not names:
        meant = "Write the names of configured servers: [shop, mail]."
        raise InvalidValue("there are no servers", meant=meant)
    return names


def _parse_direct_calls(value: Any) -> list[Any] | str | dict[str, Any]:
    if isinstance(value, list):
        return _parse_nonempty_list("call", value, example="- tool: …")
    single: str | dict[str, Any] = parse_mapping_or_line(value)
    return single


_PARAMETERS = {"matrix": MATRIX, "parameters": PARAMETERS}


def _build_calls_field(description: str) -> Field:
    return build_field(description, array_of(any_of(TEXT, refer_to("call"))), parse_list)


_FRESH = flag_field(
    "Begin a new conversation here: the model remembers nothing, the server stays the same."
)
_SCRIPTED = {
    "setup": _build_calls_field(
        "Tool calls made before the conversation. If one fails, the trial is an error."
    ),
    "teardown": _build_calls_field("Tool calls made after the conversation, whatever its result."),
}
_CALL = build_field(
    "The calls of a test without a model, in place of 'prompt': one, or a list.",
    any_of(TEXT, refer_to("call"), array_of(any_of(TEXT, refer_to("call")), minItems=1)),
    _parse_direct_calls,
)
_CALL_FIELDS = {
    "tool": line_field("The tool to call.", required=True),
    "args": mapping_field("Its arguments, sent unchanged."),
    "allow_absent": flag_field(
        "true: the tool may be in no list before the first test, because it is listed later."
    ),
}
_USER = build_field(
    "The caller, as sent to the server: any keys, any values, or the name of one of "
    "'contexts:'. The model never sees it.",
    any_of({"type": "object"}, TEXT),
    parse_mapping_or_line,
)
_CREDENTIAL = choice_field(
    "The caller's token, for a server with identity 'bearer': valid, none, or flawed.",
    get_args(Credential),
)
_NO_TOOLS = flag_field(
    "Whether the test is judged even if the server offers this user no tool, otherwise an error."
)
_WHO = {
    "user_context": _USER,
    "as": AS,
    "leaks": LEAKS,
    "credential": _CREDENTIAL,
    "allow_no_tools": _NO_TOOLS,
}
_ASSERTIONS = build_field("The checks of the test.", refer_to("assertions"), parse_mapping)

_SUITE_FIELDS = {
    "mxcp": build_field("Version of the format: 1.", {"enum": list(VERSIONS)}, parse_version),
    "suite": line_field("Name of the suite, unique in the project.", required=True),
    "description": text_field("What the suite is about."),
    "model": line_field("The model that answers, unless --model names another."),
    "expected_answer_model": line_field("The model that judges answers, where a check needs one."),
    "judge_model": line_field("The same as expected_answer_model."),
    "user_model": USER_MODEL,
    "system_prompt": text_field("Sent to the model before every prompt."),
    "server": build_field(
        "The server to test: the name of a configured one, those of several, or how to "
        "start it. Without it, the configured server with the suite's name, "
        "or the only one.",
        any_of(TEXT, array_of(TEXT, minItems=1), refer_to("server")),
        _parse_server,
    ),
    "contexts": build_field(
        "Users by name, for 'user_context:' of a test. One without a value is anonymous.",
        {"type": "object", "additionalProperties": {"type": ["object", "null"]}},
        parse_contexts,
    ),
    "identities": IDENTITIES,
    "elicit": ELICIT,
    "require_identity": flag_field(
        "Whether the suite fails if nothing in it shows that the server knows who the caller is."
    ),
    "defaults": build_field(
        "Settings and assertions for every test.", refer_to("defaults"), parse_mapping
    ),
    "variants": VARIANTS,
    "faults": FAULTS,
    "interference": INTERFERENCE,
    "tests": build_field(
        "The tests.",
        array_of(refer_to("test"), minItems=1),
        partial(_parse_nonempty_list, "test", example="- name: …"),
        required=True,
    ),
}
_TEST_FIELDS = {
    "name": line_field("Name of the test, unique in the suite.", required=True),
    "description": text_field("What the test is for, in a sentence."),
    "prompt": text_field("What the user says."),
    "attach": ATTACH,
    "context": CONTEXT,
    "use_prompt": USE_PROMPT,
    "wordings": WORDINGS,
    "test": line_field(
        "The question that it asks, if other tests ask it in other words: they count as one."
    ),
    "ingest": INGEST,
    "ingest_prompt": INGEST_PROMPT_FIELD,
    "turns": build_field(
        "The user's turns in order, in place of 'prompt'.",
        array_of(refer_to("turn"), minItems=1),
        partial(_parse_nonempty_list, "turn", example="- prompt: …"),
    ),
    "user": USER,
    "call": _CALL,
    "elicit": ELICIT,
    **_WHO,
    "tool": TOOL,
    "expect": EXPECT,
    "faults": FAULTS,
    "assertions": _ASSERTIONS,
}
