"""Suites of testmcpy: questions, each with evaluators, in one turn or several.

Source: the package testmcpy 0.11.22, ``evals/base_evaluators.py`` and ``src/test_runner.py``. A
tool's name is found there also as a part of a longer name; here it is the whole name.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, ClassVar

from harness.base import Steps
from harness.suites.foreign.assertion_forms import (
    AssertionForm,
    AssertionTranslator,
    Values,
    ask_judge,
    contain_all,
    contain_none,
)
from harness.suites.foreign.comparisons import (
    compare_text,
    equal_args,
    require_count,
    require_sequence,
)
from harness.suites.foreign.templates import NoFormError
from harness.suites.foreign.translation import (
    PROVIDERS,
    StatedChecks,
    TranslatedSuite,
    negate,
    require_any,
)
from harness.types import JsonObject

_IN_CONFIGURATION = "Set it in the server's entry in harness.yml."
_BY_SETUP = "The nearest are 'setup:' and 'teardown:' of a suite of ours."
_AUTH = "The nearest are 'identity:' of the server and 'harness login'."
_TEST = {
    "name", "description", "prompt", "steps", "evaluators", "metadata", "expected_tools", "timeout",
    "category",
}  # fmt: skip
_TEST_NEAREST = {
    "auth": _AUTH, "auth_only": _AUTH, "setup": _BY_SETUP, "teardown": _BY_SETUP,
    "load_test": "The nearest are 'trials:' and --concurrency.",
    "include_tools": "The nearest is a variant, or 'only_call'.",
    "exclude_tools": "The nearest is 'block:' of the suite.",
    "system_prompt": "Write it once, at the top: a suite has one.",
}  # fmt: skip


def translate_suite(path: Path, *, lenient: bool) -> TranslatedSuite:
    """Return the suite in ``path`` as one of ours.

    Raises:
        InvalidInput: with every problem of the file.
    """
    return _EvaluatedSuite(path, path.stem, lenient=lenient).translate()


def _call_with(tool: str, args: JsonObject) -> JsonObject:
    """Return the assertion of a call with these arguments, also if they stand in ``request``."""
    inside = {"request": {"$contains": args}}
    return require_any([{"must_call": {"tool": tool, "args": one}} for one in (args, inside)])


def _give_parameter(values: Values) -> JsonObject:
    wanted = values.take("parameter_value", "value", object, default=None)
    name = values.text("parameter_name")
    args = {name: {"$any": True}} if wanted is None else equal_args({name: wanted})
    return _call_with(values.text("tool_name"), args)


def _give_parameters(values: Values) -> JsonObject:
    given = values.mapping("parameters")
    if values.flag("partial_match", default=False):
        return _call_with(values.text("tool_name"), equal_args(given))
    exact = [{"$equals": given}, {"$equals": {"request": given}}]
    tool = values.text("tool_name")
    return require_any([{"must_call": {"tool": tool, "args": one}} for one in exact])


def _stay_in_range(values: Values) -> JsonObject:
    tool, name = values.text("tool_name"), values.text("parameter_name")
    keys = (("$gte", "min_value"), ("$lte", "max_value"))
    bounds = {ours: limit for ours, key in keys if (limit := values.number(key, None)) is not None}
    bounds = bounds or {"$type": "number"}
    outside = {"$any": True, "$not": bounds}
    return {
        "must_call": {"tool": tool, "args": {name: bounds}},
        # There, the first call with the parameter decides; here, no call may break the range.
        "must_not_call": {"tool": tool, "args": {name: outside}},
    }


def _count(values: Values) -> JsonObject:
    exact = values.number("expected_count", None)
    least, most = values.number("min_count", None), values.number("max_count", None)
    bounds = (least or 0, most) if exact is None else (exact, exact)
    return require_count(values.optional_text("tool_name"), *bounds)


def _follow(values: Values) -> JsonObject:
    names = values.texts("sequence")
    strict = values.flag("strict", default=True)
    found = require_sequence([{"tool": name} for name in names], exact=strict)
    others = values.flag("allow_intermediate", default=False)
    return found if strict or others else {**found, "only_call": list(dict.fromkeys(names))}


def _include(values: Values) -> JsonObject:
    if not values.folds():
        raise NoFormError("results are searched without regard to case here")
    options = [
        require_any(
            [compare_text("contains", one, ignore_case=True), {"tool_result_contains": one}]
        )
        for one in values.texts("content")
    ]
    every = values.flag("match_all", default=True)
    return {"all_of": options} if every and len(options) > 1 else require_any(options)


def _match(values: Values) -> JsonObject:
    found = compare_text("matches", values.text("pattern"))
    return found if values.flag("should_match", default=True) else negate(found)


def _judge(values: Values) -> JsonObject:
    provider = values.take("provider", "text", str, default="anthropic")
    model = values.optional_text("model")
    if provider not in PROVIDERS:
        raise NoFormError(f"the provider {provider!r} has no form here")
    rubric = values.optional_text("rubric")
    wanted = f"{values.text('criteria')}\n{rubric}" if rubric else values.text("criteria")
    name = f"{PROVIDERS[provider]}:{model}" if model else None
    return ask_judge(wanted, values.number("pass_threshold", 0.7), name)


_NEAR = {
    "answer_contains_link": "The nearest is 'answer_matches'.",
    "latency_percentile": "The nearest is 'max_seconds', for one trial.",
    "mcp_tool_result_matches": "The nearest is 'tool_result'.",
    "mcp_verify_response_data": "The nearest is 'end_state'.",
    "mcp_verify_side_effect": "The nearest is 'end_state'.",
    "no_hallucination": "The nearest is 'expected_answer', or 'answer_judge'.",
    "no_injection_echo": "The nearest is 'answer_not_contains'.",
    "no_leaked_data": "The nearest is 'answer_not_contains', or 'leaks:'.",
    "no_tool_call_errors": "The nearest is 'no_tool_errors'.",
    "sql_query_valid": "The nearest is 'answer_judge'.",
    "success_rate_above": "The nearest are 'trials:' and 'pass_threshold:'.",
    "tool_call_quality": "The nearest is 'graded'.",
    "unnecessary_tool_calls": "The nearest is 'only_call'.",
    "url_is_valid": "The nearest is 'answer_matches'.",
    "was_chart_created": "The nearest is 'must_succeed'.",
    "was_superset_chart_created": "The nearest is 'must_succeed'.",
    **dict.fromkeys(
        (
            "auth_rejects_missing_token", "auth_rejects_invalid_token", "auth_token_not_echoed",
            "auth_successful", "token_valid", "oauth2_flow_complete", "auth_error_handling",
            "jwt_claims_valid", "oauth_discovery_valid",
        ),
        _AUTH,
    ),
}  # fmt: skip
_WORKSPACE = {"workspace_id": "The nearest is 'must_call' with 'args:'."}


class _EvaluatedSuite(AssertionTranslator):
    placeholder = re.compile(r"\$\{[^}]+\}")
    nearest_forms = _NEAR
    forms: ClassVar = {
        "was_mcp_tool_called": AssertionForm(
            ("tool_name",),
            lambda v: require_count(v.optional_text("tool_name"), 1, None),
            _WORKSPACE,
        ),
        "execution_successful": AssertionForm(
            (), lambda _: {"no_tool_errors": True, **require_count(None, 1, None)}
        ),
        "final_answer_contains": AssertionForm(
            ("expected_content", "case_sensitive"),
            lambda v: contain_all(v.texts("expected_content"), ignore_case=v.folds()),
        ),
        "response_not_includes": AssertionForm(
            ("content", "case_sensitive"),
            lambda v: contain_none(v.texts("content"), ignore_case=v.folds()),
        ),
        "response_includes": AssertionForm(("content", "case_sensitive", "match_all"), _include),
        "response_matches_pattern": AssertionForm(("pattern", "should_match"), _match),
        "within_time_limit": AssertionForm(
            ("max_seconds",), lambda v: {"max_seconds": v.number("max_seconds")}
        ),
        "token_usage_reasonable": AssertionForm(
            ("max_tokens", "max_cost"),
            lambda v: {
                "max_tokens": v.number("max_tokens", 2000), "max_cost": v.number("max_cost", 0.1),
            },
        ),
        "tool_called_with_parameter": AssertionForm(
            ("tool_name", "parameter_name", "parameter_value"), _give_parameter
        ),
        "tool_called_with_parameters": AssertionForm(
            ("tool_name", "parameters", "partial_match"), _give_parameters, _WORKSPACE
        ),
        "parameter_value_in_range": AssertionForm(
            ("tool_name", "parameter_name", "min_value", "max_value"), _stay_in_range
        ),
        "tool_call_count": AssertionForm(
            ("tool_name", "expected_count", "min_count", "max_count"), _count
        ),
        "tool_call_sequence": AssertionForm(("sequence", "strict", "allow_intermediate"), _follow),
        "llm_judge": AssertionForm(
            ("criteria", "model", "provider", "pass_threshold", "rubric"), _judge
        ),
    }  # fmt: skip

    def translate(self) -> TranslatedSuite:
        value = self.document.value
        alone = isinstance(value, dict) and "tests" not in value
        top = {
            "version", "name", "description", "tests", "provider", "model", "config",
            "system_prompt",
        }  # fmt: skip
        nearest = {"provider_config": _IN_CONFIGURATION, "questions": "Write them under 'tests:'."}
        if alone:
            nearest |= {key: part for key, part in _TEST_NEAREST.items() if key not in top}
        given = self.take((), value, "the file", top | _TEST if alone else top, nearest)
        self.note_idle((), given, ("version",), "{} changes no verdict.")
        if "model" in given or "provider" in given:
            self.add_provider_model(
                ("model",), given.get("provider"), given.get("model"), "the file"
            )
        config = self.take(("config",), given.get("config", {}), "config", {"system_prompt"})
        if prompt := config.get("system_prompt") or given.get("system_prompt"):
            self.content["system_prompt"] = self.take_text(("config",), prompt, "system_prompt")
        if alone:
            self._read_test((), {key: part for key, part in given.items() if key in _TEST}, [])
            return self.finish()
        self.copy_texts((), given, name="suite", description="description")
        lost = self.forget_losses()
        for path, test in self.take_each(("tests",), given.get("tests"), "tests"):
            self._read_test(path, test, lost)
        return self.finish()

    def _read_test(self, path: Steps, value: Any, lost: list[str]) -> None:
        if isinstance(value, dict) and value.get("auth_only"):
            self.lose(self.locate(path), f"test {value.get('name')!r} asks no model.", _AUTH)
            return
        test = self.take(path, value, "a test", _TEST, _TEST_NEAREST)
        name = self.take_name(path, test, "name")
        noun = f"test {name!r}"
        self.note_idle(path, test, ("expected_tools",), f"{noun}: {{}} changes no verdict.")
        more: dict[str, Any] = {
            key: test[key] for key in ("description", "metadata", "timeout") if key in test
        }
        if "category" in test:
            more["tags"] = [self.take_name(path, test, "category", noun)]
        if "steps" not in test:
            prompt = self.take_name(path, test, "prompt", noun)
            parts = self._read_evaluators(path, test.get("evaluators", []), noun)
            self.add_test(self.locate(path), name, prompt, parts, lost, **more)
            return
        idle = f"{noun}: {{}} counts for nothing where there are steps."
        self.note_idle(path, test, ("prompt", "evaluators"), idle)
        turns = []
        for inside, one in self.take_each((*path, "steps"), test["steps"], noun):
            step = self.take(
                inside, one, f"{noun}: step", {"prompt", "evaluators", "name"},
                {"timeout": "The nearest is 'timeout' of the test."},
            )  # fmt: skip
            self.note_idle(inside, step, ("name",), f"{noun}: {{}} of a step changes no verdict.")
            said = self.take_name(inside, step, "prompt", noun)
            turns.append((said, self._read_evaluators(inside, step.get("evaluators", []), noun)))
        self.add_test(self.locate(path), name, "", [], lost, turns, **more)

    def _read_evaluators(self, path: Steps, value: Any, noun: str) -> list[StatedChecks]:
        parts: list[StatedChecks] = []
        for inside, one in self.take_each((*path, "evaluators"), value, f"{noun}: evaluators"):
            given = self.take(inside, one, f"{noun}: evaluator", {"name", "type", "args"})
            kind = given.get("name") or given.get("type")
            parts += self.read_assertion((*inside, "args"), kind, given.get("args") or {}, noun)
        return parts
