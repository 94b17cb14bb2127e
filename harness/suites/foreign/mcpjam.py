"""Suite files of MCPJam, of schema version 1: steps of a conversation, and assertions on it.

Sources: MCPJam/inspector, ``sdk/src/contract/eval-suite.schema.json``, and the predicates of the
package ``@mcpjam/sdk``. Expected arguments are a part of the given ones, each compared as a whole;
the words ``any``, ``string``, ``number`` and others stand for values of that type.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from harness.base import Steps
from harness.suites.foreign.assertion_forms import AssertionForm, AssertionTranslator, Values
from harness.suites.foreign.comparisons import compare_text, equal_args, refuse_keys
from harness.suites.foreign.javascript import translate_pattern
from harness.suites.foreign.templates import NoFormError
from harness.suites.foreign.translation import (
    IN_MODELS,
    WITHOUT_MODEL,
    StatedChecks,
    TranslatedSuite,
)
from harness.types import JsonObject

_IN_CONFIGURATION = "Configure servers in harness.yml, and name them with --server."
_IN_WIDGETS = "Widgets are not shown here: take it out, or test them where they are."
_STEPS = {"toolCall": WITHOUT_MODEL, "interact": _IN_WIDGETS}
_WHOLE_CASES = "The nearest are 'trials:' and 'pass_threshold:'."
_CASE = {
    "id", "title", "intent", "kind", "steps", "assertions", "isNegativeTest", "model",
    "repetitions", "passThreshold", "disabled", "import",
}  # fmt: skip


def translate_suite(path: Path, *, lenient: bool) -> TranslatedSuite:
    """Return the suite in ``path`` as one of ours.

    Raises:
        InvalidInput: with every problem of the file.
    """
    return _SuiteFile(path, path.stem, lenient=lenient).translate()


def _match_value(value: Any) -> Any:
    """Return the matcher of one argument, which may be the name of a type."""
    name = value.strip().lower() if isinstance(value, str) else ""
    if name in ("string", "number", "boolean", "object", "array"):
        return {"$type": name}
    if name in ("any", "null"):
        return {"$any": True} if name == "any" else None
    return value


def _call_with(values: Values) -> JsonObject:
    matcher = values.mapping("args")
    mode, args = matcher.get("argumentMatching", "partial"), matcher.get("args")
    refuse_keys(matcher, ("args", "argumentMatching"))
    if not isinstance(args, dict):
        raise NoFormError("'args' has no 'args' that is a mapping")
    if mode not in ("exact", "partial", "ignore"):
        raise NoFormError("'argumentMatching' is exact, partial or ignore")
    partial = {key: _match_value(value) for key, value in args.items()}
    types = {key: value for key, value in partial.items() if value is not args[key]}
    wanted = {"partial": {**equal_args(args), **types}, "exact": {"$equals": args}, "ignore": {}}
    call = {"tool": values.text("toolName"), "args": wanted[mode]}
    return {"must_call": {**call, "min_times": values.number("minCount", 1)}}


def _define(build: Any, *keys: str) -> AssertionForm:
    return AssertionForm(("type", "role", "severity", *keys), build)


class _SuiteFile(AssertionTranslator):
    forms: ClassVar = {
        "toolCalledWith": _define(_call_with, "toolName", "args", "minCount"),
        "toolCalledAtLeastOnce": _define(lambda v: {"must_call": v.text("toolName")}, "toolName"),
        "toolNeverCalled": _define(
            lambda v: {"must_not_call": {"tool": v.text("toolName"), "allow_absent": True}},
            "toolName",
        ),
        "onlyToolsCalled": _define(lambda v: {"only_call": v.texts("toolNames")}, "toolNames"),
        "responseContains": _define(
            lambda v: compare_text(
                "contains", v.text("needle"), ignore_case=v.folds("caseSensitive")
            ),
            "needle", "caseSensitive",
        ),
        "responseMatches": _define(
            lambda v: compare_text("matches", translate_pattern(v.text("pattern"))), "pattern"
        ),
        "noToolErrors": _define(lambda _: {"no_tool_errors": True}),
        "finalAssistantMessageNonEmpty": _define(lambda _: compare_text("matches", r"\S")),
        "tokenBudgetUnder": _define(lambda v: {"max_tokens": v.number("tokens") - 1}, "tokens"),
    }  # fmt: skip
    nearest_forms: ClassVar = {
        "firstToolWas": "The nearest is 'must_call_in_order'.",
        "turnCountUnder": "The nearest is 'max_replies'.",
        **dict.fromkeys(
            ("widgetRendered", "widgetRenderLatencyUnder", "widgetNoConsoleErrors"), _IN_WIDGETS
        ),
    }

    def translate(self) -> TranslatedSuite:
        keys = {
            "schemaVersion", "mode", "reportingMode", "suite", "target", "defaults", "provenance",
            "cases",
        }  # fmt: skip
        given = self.take((), self.document.value, "the file", keys)
        fixed = (("schemaVersion", "1"), ("mode", "agentWorkflow"), ("reportingMode", "standard"))
        for key, wanted in fixed:
            if given.get(key) != wanted:
                self.add_fault(
                    self.locate((key,)), f"{key!r} is {wanted!r} in files that are read."
                )
        suite = self.take(
            ("suite",), given.get("suite", {}), "suite", {"id", "name", "description"}
        )
        self.copy_texts(("suite",), suite, name="suite", description="description")
        if "id" in suite:
            self.content["metadata"] = {"id": suite["id"]}
        self._read_target(given.get("target", {}))
        self._read_defaults(given.get("defaults", {}))
        self.note_idle((), given, ("provenance",), "{} changes no verdict.")
        lost = self.forget_losses()
        for path, case in self.take_each(("cases",), given.get("cases"), "cases"):
            self._read_case(path, case, lost)
        return self.finish()

    def _read_target(self, value: Any) -> None:
        nearest = dict.fromkeys(("environment", "hosts"), _IN_CONFIGURATION)
        given = self.take(("target",), value, "target", {"servers"}, nearest)
        names = []
        servers = given.get("servers", [])
        for path, one in self.take_each(("target", "servers"), servers, "servers"):
            server = self.take(path, one, "a server", {"name", "id"})
            names.append(self.take_name(path, server, "name", "a server"))
        if names:
            self.content["server"] = names[0] if len(names) == 1 else names

    def _read_defaults(self, value: Any) -> None:
        keys = {
            "model", "provider", "systemPrompt", "repetitions", "passThreshold", "validity",
            "toolPolicy", "captureLevel",
        }  # fmt: skip
        given = self.take(("defaults",), value, "defaults", keys, {"temperature": IN_MODELS})
        self._add_model(("defaults", "model"), given, "defaults")
        self.copy_texts(("defaults",), given, systemPrompt="system_prompt")
        if repeats := self._take_repeats(given):
            self.content["defaults"] = repeats
        if given.get("captureLevel", "full") != "full":
            self.add_fault(self.locate(("defaults", "captureLevel")), "'captureLevel' is 'full'.")
        nearest = dict.fromkeys(
            ("minEligibleTrials", "minCompletionRate", "maxEvaluatorErrorRate"), _WHOLE_CASES
        )
        self.take(("defaults", "validity"), given.get("validity", {}), "validity", (), nearest)
        policy = self.take(
            ("defaults", "toolPolicy"), given.get("toolPolicy", {}), "toolPolicy", {"mode"},
            {"allow": "The nearest is 'only_call'.", "deny": "The nearest is 'block:'."},
        )  # fmt: skip
        if policy.get("mode", "default") not in ("default", "readOnly"):
            self.add_fault(self.locate(("defaults", "toolPolicy")), "mode is default or readOnly.")
        elif policy.get("mode") == "readOnly":
            self.content["read_only"] = True

    def _add_model(self, path: Steps, given: Mapping[str, Any], noun: str) -> None:
        if "model" in given:
            provider, _, name = str(given["model"]).rpartition("/")
            self.add_provider_model(path, given.get("provider") or provider, name, noun)

    @staticmethod
    def _take_repeats(given: Mapping[str, Any]) -> dict[str, Any]:
        names = (("repetitions", "trials"), ("passThreshold", "pass_threshold"))
        return {ours: given[theirs] for theirs, ours in names if theirs in given}

    def _read_case(self, path: Steps, value: Any, lost: list[str]) -> None:
        nearest = {"expectedOutput": "The nearest is 'expected_answer'."}
        case = self.take(path, value, f"case {int(path[-1]) + 1}", _CASE, nearest)
        name = self.take_name(path, case, "id")
        noun = f"case {name!r}"
        if case.get("disabled") is True:
            self.note(self.locate(path), f"{noun} is disabled, and left out.")
            return
        self._add_model((*path, "model"), case, noun)
        prompts, parts = self._read_steps((*path, "steps"), case.get("steps"), noun)
        for at, one in self.take_each((*path, "assertions"), case.get("assertions", []), noun):
            parts += self._read_predicate(at, one, noun)
        if case.get("isNegativeTest") is True:
            parts.append(StatedChecks(self.locate((*path, "isNegativeTest")), {"max_calls": 0}))
        more = self._take_repeats(case)
        if "title" in case:
            more["description"] = self.take_name(path, case, "title", noun)
        if told := {key: case[key] for key in ("intent", "kind", "import") if key in case}:
            more["metadata"] = told
        turns = [(prompt, ()) for prompt in prompts] if len(prompts) > 1 else ()
        if not prompts:
            self.lose(self.locate(path), f"{noun} has no prompt.", WITHOUT_MODEL)
        else:
            self.add_test(self.locate(path), name, prompts[0], parts, lost, turns, **more)

    def _read_steps(
        self, path: Steps, value: Any, noun: str
    ) -> tuple[list[str], list[StatedChecks]]:
        prompts: list[str] = []
        parts: list[StatedChecks] = []
        steps = self.take_list(path, value, f"{noun}: steps")
        kinds = [one.get("kind") if isinstance(one, dict) else None for one in steps]
        for place, (kind, step) in enumerate(zip(kinds, steps, strict=True)):
            inside = (*path, place)
            if kind == "prompt":
                given = self.take(inside, step, f"{noun}: prompt", {"id", "kind", "prompt"})
                prompts.append(self.take_text((*inside, "prompt"), given.get("prompt"), noun))
            elif kind == "assert" and "prompt" not in kinds[place:]:
                given = self.take(inside, step, f"{noun}: assert", {"id", "kind", "assertion"})
                parts += self._read_predicate((*inside, "assertion"), given.get("assertion"), noun)
            else:
                meant = _STEPS.get(str(kind), "Assertions stand after the last prompt.")
                self.lose(self.locate(inside), f"{noun}: a step of the kind {kind!r} here.", meant)
        return prompts, parts

    def _read_predicate(self, path: Steps, value: Any, noun: str) -> list[StatedChecks]:
        given = self.take_mapping(path, value, f"{noun}: assertion")
        if "kind" in given:
            self.lose(self.locate(path), f"{noun}: {given['kind']!r} has no form.", _IN_WIDGETS)
            return []
        parts = self.read_assertion(path, given.get("type"), given, noun)
        if given.get("role", "gating") != "gating" or given.get("severity"):
            return [
                StatedChecks(at, {"any_of": {"of": [one], "severity": "warn"}}) for at, one in parts
            ]
        return parts
