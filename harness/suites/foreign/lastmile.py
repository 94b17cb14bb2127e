"""Datasets of mcp-eval of lastmile: cases, and evaluators of each and of all.

Source: the package mcpevals 0.1.10, ``datasets.py`` and ``evaluators``. The original drops an
evaluator that it does not know, and keys that it does not read, without a word.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from harness.base import Steps
from harness.suites.foreign.assertion_forms import (
    AssertionForm,
    AssertionTranslator,
    Values,
    ask_judge,
)
from harness.suites.foreign.comparisons import (
    compare_text,
    equal_args,
    require_count,
    require_sequence,
)
from harness.suites.foreign.templates import NoFormError
from harness.suites.foreign.translation import (
    StatedChecks,
    TranslatedSuite,
    negate,
    require_all,
    require_any,
)
from harness.types import JsonObject


def translate_dataset(path: Path, *, lenient: bool) -> TranslatedSuite:
    """Return the dataset in ``path`` as a suite of ours.

    Raises:
        InvalidInput: with every problem of the file.
    """
    return _CaseDataset(path, path.stem, lenient=lenient).translate()


def _contain(values: Values) -> JsonObject:
    folded, text = values.folds(), values.text("text")
    if values.flag("regex", default=False):
        # The original writes the pattern in lower case: \S becomes \s.
        return compare_text("matches", text.lower() if folded else text, ignore_case=folded)
    return compare_text("contains", text, ignore_case=folded)


def _equal_expected(values: Values) -> JsonObject:
    if not isinstance(values.expected, str):
        raise NoFormError("there is no 'expected_output' that is a text")
    how = "equals" if values.flag("exact_match", default=True) else "contains"
    return compare_text(how, values.expected, ignore_case=values.folds(sensitive=True))


def _require_success(values: Values) -> JsonObject:
    tool, rate = values.optional_text("tool_name"), values.number("min_rate", 0.9)
    if 0 < rate < 1:
        raise NoFormError(f"a rate of {rate} has no form here: 1 has, and 'no_tool_errors'")
    none_fails = {"no_tool_errors": {"tool": tool} if tool else True} if rate else {}
    return require_all([require_count(tool, 1, None), *([none_fails] if none_fails else [])])


def _require_failure(values: Values) -> JsonObject:
    tool = values.text("tool_name")
    values.number("min_rate", 0.9)
    # As there, a tool that nobody calls has failed.
    return require_any([{"max_calls": {"tool": tool, "limit": 0}}, {"must_error": tool}])


def _follow(values: Values) -> JsonObject:
    calls = [{"tool": tool} for tool in values.texts("expected_sequence")]
    return require_sequence(calls, exact=not values.flag("allow_other_calls", default=True))


def _judge(values: Values) -> JsonObject:
    model, rubric = values.optional_text("model"), values.text("rubric")
    if values.flag("include_expected", default=True) and values.expected is not None:
        rubric = f"{rubric}\nThe expected answer is: {values.expected}"
    values.flag("include_input", default=False)
    values.flag("require_reasoning", default=True)
    return ask_judge(rubric, values.number("min_score", 0.8), model)


_JUDGES = "The nearest is 'answer_judge', one for each criterion."


class _CaseDataset(AssertionTranslator):
    forms: ClassVar = {
        "ToolWasCalled": AssertionForm(
            ("tool_name", "min_times"),
            lambda v: require_count(v.text("tool_name"), v.number("min_times", 1), None),
        ),
        "ExactToolCount": AssertionForm(
            ("tool_name", "expected_count"),
            lambda v: require_count(v.text("tool_name"), *[v.number("expected_count")] * 2),
        ),
        "ToolCalledWith": AssertionForm(
            ("tool_name", "expected_args"),
            lambda v: {
                "must_call": {
                    "tool": v.text("tool_name"), "args": equal_args(v.mapping("expected_args")),
                }
            },
        ),
        "ToolSequence": AssertionForm(("expected_sequence", "allow_other_calls"), _follow),
        "ToolSuccessRate": AssertionForm(("tool_name", "min_rate"), _require_success),
        "ToolFailed": AssertionForm(("tool_name", "min_rate"), _require_failure),
        "ResponseContains": AssertionForm(("text", "case_sensitive", "regex"), _contain),
        "NotContains": AssertionForm(
            ("text", "case_sensitive", "regex"), lambda v: negate(_contain(v))
        ),
        "EqualsExpected": AssertionForm(("exact_match", "case_sensitive"), _equal_expected),
        "MaxIterations": AssertionForm(
            ("max_iterations",), lambda v: {"max_replies": v.number("max_iterations")}
        ),
        "ResponseTimeCheck": AssertionForm(
            ("max_ms",), lambda v: {"max_seconds": v.number("max_ms") / 1000}
        ),
        "LLMJudge": AssertionForm(
            (
                "rubric", "min_score", "model", "include_input", "include_expected",
                "require_reasoning",
            ),
            _judge,
        ),
    }  # fmt: skip
    nearest_forms: ClassVar = {
        "IsInstance": "Every answer is a text: take it out.",
        "MultiCriteriaJudge": _JUDGES,
        "PathEfficiency": "The nearest are 'max_calls' and 'max_replies'.",
        "ToolOutputMatches": "The nearest is 'tool_result', with a path and a value.",
    }

    def translate(self) -> TranslatedSuite:
        keys = {
            "name", "description", "server_name", "metadata", "agent_spec", "cases", "evaluators"
        }  # fmt: skip
        given = self.take((), self.document.value, "the dataset", keys)
        names = {"name": "suite", "description": "description", "server_name": "server"}
        stated = {key: part for key, part in given.items() if part is not None}
        self.copy_texts((), stated, **names)
        if given.get("metadata"):
            self.content["metadata"] = self.take_mapping(
                ("metadata",), given["metadata"], "metadata"
            )
        if isinstance(given.get("agent_spec"), dict):
            message = "'agent_spec' counts for nothing there unless it is a name."
            self.note(self.document.locate_key(("agent_spec",)), message)
        elif given.get("agent_spec") is not None:
            message = "'agent_spec' has no form here."
            self.lose(self.locate(("agent_spec",)), message, "Choose what answers with --agent.")
        lost = self.forget_losses()
        for path, case in self.take_each(("cases",), given.get("cases"), "cases"):
            self._read_case(path, case, given.get("evaluators") or [], lost)
        return self.finish()

    def _read_case(self, path: Steps, value: Any, shared: Any, lost: list[str]) -> None:
        keys = {"name", "inputs", "expected_output", "metadata", "evaluators"}
        case = self.take(path, value, f"case {int(path[-1]) + 1}", keys)
        name = self.take_name(path, case, "name")
        noun = f"case {name!r}"
        prompt = self.take_name(path, case, "inputs", noun)
        self.expected = case.get("expected_output")
        own = case.get("evaluators") or []
        parts = self._read_evaluators((*path, "evaluators"), own, noun)
        named = isinstance(own, list) and any(
            isinstance(one, dict) and "EqualsExpected" in one for one in own
        )
        if self.expected is not None and not named:
            parts += self.read_assertion((*path, "expected_output"), "EqualsExpected", {}, noun)
        parts += self._read_evaluators(("evaluators",), shared, noun)
        more = {"metadata": case["metadata"]} if case.get("metadata") else {}
        self.add_test(self.locate(path), name, prompt, parts, lost, **more)

    def _read_evaluators(self, path: Steps, value: Any, noun: str) -> list[StatedChecks]:
        return [
            part
            for at, one in self.take_each(path, value, f"{noun}: evaluators")
            for kind, given in self.take_mapping(at, one, f"{noun}: evaluator").items()
            for part in self.read_assertion((*at, kind), kind, given or {}, noun)
        ]
