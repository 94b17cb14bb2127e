"""Datasets of mcp-server-tester of gleanwork, of its versions 1 and 2.

Sources: gleanwork/mcp-server-tester, ``schema/eval-dataset.schema.json`` (version 2), and the
package ``@gleanwork/mcp-server-tester`` 1.1.0 (version 1: ``scenario``, ``mcpHostConfig``,
``iterations``, ``accuracyThreshold``, ``expect``). Texts are compared letter by letter; expected
arguments are a part of the given ones, at every depth.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.base import Steps
from harness.suites.foreign.javascript import translate_pattern
from harness.suites.foreign.translation import (
    IN_MODELS,
    PROVIDERS,
    WITHOUT_MODEL,
    DocumentTranslator,
    StatedChecks,
    TranslatedSuite,
    negate,
    require_all,
)
from harness.types import JsonObject

_DATASET = {"$schema", "name", "description", "cases", "metadata"}
_CASE = {
    "id", "description", "input", "scenario", "mode", "toolName", "args", "model", "mcpHostConfig",
    "trials", "iterations", "passThreshold", "accuracyThreshold", "expected", "canonicalAnswer",
    "tags", "metadata", "assertions", "expect",
}  # fmt: skip
_CASE_NEAREST = {
    "client": "Choose what answers with --model or --agent.",
    "clientOptions": "Set the options of models under 'models:' of harness.yml.",
    "judgeReps": "A judge is asked once; harness judge-check measures how often it errs.",
}
_HOST = {"provider", "model"}
_MODEL_NEAREST = dict.fromkeys(("apiKeyEnvVar", "maxTokens", "temperature"), IN_MODELS)
_HOST_NEAREST = {
    **_MODEL_NEAREST,
    "maxToolCalls": "Write it as 'max_calls' in a suite of ours.",
    "cli": "Name a command-line agent with --agent.",
}
_ASSERTIONS = {"containsText", "matchesPattern", "passesJudge", "toolsTriggered", "toolCallCount"}
_OF_RESULTS = "The nearest is 'tool_result', on the result of a call that a model made."
_ASSERTIONS_NEAREST = {
    "response": _OF_RESULTS,
    "schema": "The nearest is 'output_schema_valid'.",
    "snapshot": "The nearest is 'answer_verbatim', with the text itself.",
    "snapshotSanitizers": "The nearest is 'answer_verbatim' with 'matches'.",
    "isError": "The nearest are 'must_succeed' and 'must_error'.",
    "responseSize": "The nearest is 'max_tokens'.",
}
_JUDGE = {"rubric", "reference", "threshold", "provider", "model"}
_JUDGE_NEAREST = {
    "judge": "The nearest is 'answer_judge' with a rubric.",
    **_MODEL_NEAREST,
    "reps": _CASE_NEAREST["judgeReps"],
    "maxBudgetUsd": "The nearest is --max-cost, for the whole run.",
    "maxToolOutputSize": "The nearest is 'max_tokens'.",
}
_RUBRICS = {
    "correctness": "Is everything that the answer says right, and does it answer the question?",
    "completeness": "Does the answer cover every part of the question?",
    "groundedness": "Is every claim of the answer supported by the results of the tools?",
    "instruction-following": "Does the answer follow every instruction in the question?",
    "conciseness": "Is the answer as short as it can be without losing anything that matters?",
}
"""The original's named rubrics, in words of our own."""
_THRESHOLD = 0.7


def translate_dataset(path: Path, *, lenient: bool) -> TranslatedSuite:
    """Return the dataset in ``path`` as a suite of ours.

    Raises:
        InvalidInput: with every problem of the file.
    """
    return _Dataset(path, path.stem, lenient=lenient).translate()


class _Dataset(DocumentTranslator):
    def translate(self) -> TranslatedSuite:
        given = self.take((), self.document.value, "the dataset", _DATASET)
        self.copy_texts((), given, name="suite", description="description")
        if "metadata" in given:
            self.content["metadata"] = given["metadata"]
        for path, case in self.take_each(("cases",), given.get("cases"), "cases"):
            self.forget_losses()
            self._read_case(path, case)
        return self.finish()

    def _read_case(self, path: Steps, value: Any) -> None:
        case = self.take(path, value, f"case {int(path[-1]) + 1}", _CASE, _CASE_NEAREST)
        at, name = self.locate(path), self.take_name(path, case, "id")
        noun = f"case {name!r}"
        # Without a mode, version 1 calls the tool itself; version 2 has no modes.
        if case.get("mode", "mcp_host" if "input" in case else "direct") != "mcp_host":
            self.lose(at, f"{noun} asks no model.", WITHOUT_MODEL)
            return
        if both := [pair for pair in _SAME if pair <= case.keys()]:
            for pair in both:
                self.add_fault(at, f"{noun} has both {' and '.join(map(repr, sorted(pair)))}.")
            return
        idle = f"{noun}: {{}} counts for nothing where a model is asked."
        self.note_idle(path, case, ("toolName", "args"), idle)
        asked = "input" if "input" in case else "scenario"
        prompt = self.take_name(path, case, asked, noun)
        self._read_model(path, case, noun)
        more: dict[str, Any] = {
            ours: case[theirs] for theirs, ours in _RENAMED.items() if theirs in case
        }
        if "metadata" in case:
            inside = (*path, "metadata")
            more["metadata"] = self.take_mapping(inside, case["metadata"], f"{noun}: metadata")
        expected = case.get("expected", {})
        if "expected" in case:
            expected = self.take(
                (*path, "expected"), expected, f"{noun}: expected", {"answer"},
                {"criteria": "The nearest is 'answer_judge', one for each criterion."},
            )  # fmt: skip
        reference = case.get("canonicalAnswer", expected.get("answer"))
        if reference is not None:
            more["metadata"] = {**more.get("metadata", {}), "expected": reference}
        key = "assertions" if "assertions" in case else "expect"
        parts = self._read_assertions((*path, key), case.get(key, {}), noun, reference)
        self.add_test(at, name, prompt, parts, **more)

    def _read_model(self, path: Steps, case: JsonObject, noun: str) -> None:
        if "model" in case:
            self.add_model(self.locate((*path, "model")), str(case["model"]))
        if "mcpHostConfig" not in case:
            return
        path = (*path, "mcpHostConfig")
        host = self.take(
            path, case["mcpHostConfig"], f"{noun}: mcpHostConfig", _HOST, _HOST_NEAREST
        )
        provider, model = host.get("provider"), host.get("model")
        if provider is not None and str(provider) not in PROVIDERS:
            message = f"{noun}: the provider {provider!r} has no form here."
            self.lose(self.locate((*path, "provider")), message, "Choose one with --model.")
        elif provider is not None and model is not None:
            self.add_model(self.locate((*path, "model")), f"{PROVIDERS[str(provider)]}:{model}")
        elif host:
            message = f"{noun}: a model is its provider and its name; one of them is missing."
            self.lose(self.locate(path), message, "Give both, or choose with --model.")

    # ── Assertions ───────────────────────────────────────────────────────────────────────────

    def _read_assertions(
        self, path: Steps, value: Any, noun: str, reference: Any
    ) -> list[StatedChecks]:
        given = self.take(path, value, noun, _ASSERTIONS, _ASSERTIONS_NEAREST)
        parts: list[StatedChecks] = []
        for key, part in given.items():
            place = (*path, key)
            at = self.locate(place)
            if key in ("containsText", "matchesPattern"):
                name = "contains" if key == "containsText" else "matches"
                for text in self.take_texts(place, part, f"{noun}: {key}"):
                    wanted = text if name == "contains" else translate_pattern(text)
                    parts.append(StatedChecks(at, {"answer_verbatim": {name: wanted}}))
            elif key == "toolsTriggered":
                parts += self._read_calls(place, part, noun)
            elif key == "toolCallCount":
                parts += self._read_count(place, part, noun)
            else:
                judges = part if isinstance(part, list) else [part]
                for index, judge in enumerate(judges):
                    one = (*place, index) if isinstance(part, list) else place
                    parts += self._read_judge(one, judge, noun, reference)
        return parts

    def _read_calls(self, path: Steps, value: Any, noun: str) -> list[StatedChecks]:
        noun = f"{noun}: toolsTriggered"
        given = self.take(path, value, noun, {"calls", "order", "exclusive"})
        at = self.locate(path)
        calls: list[tuple[JsonObject, bool]] = []
        for place, item in self.take_each((*path, "calls"), given.get("calls"), noun):
            call = self.take(place, item, f"{noun}: call", {"name", "arguments", "required"})
            name = self.take_name(place, call, "name", noun)
            wanted: dict[str, Any] = {"tool": name}
            if call.get("arguments"):
                wanted["args"] = self._translate_args((*place, "arguments"), call["arguments"])
            calls.append((wanted, call.get("required", True) is not False))
        needed = [call for call, required in calls if required]
        parts = [StatedChecks(at, {"must_call": call}) for call in needed]
        if given.get("order", "any") not in ("any", "strict"):
            self.add_fault(self.locate((*path, "order")), f"{noun}: order is 'strict' or 'any'.")
        if given.get("order") == "strict" and len(calls) > 1:
            # A call that may be left out moves the place from which the next one is sought.
            if not all(required for _, required in calls[:-1]):
                message = f"{noun}: an order with calls that may be left out has no form here."
                meant = "The nearest is 'must_call_in_order' with the required calls."
                self.lose(self.locate((*path, "order")), message, meant)
            elif len(needed) > 1:
                parts = [StatedChecks(at, {"must_call_in_order": needed})]
        if given.get("exclusive") is True:
            names = list(dict.fromkeys(call["tool"] for call, _ in calls))
            parts.append(StatedChecks(at, {"only_call": names}))
        return parts

    def _translate_args(self, path: Steps, given: Any) -> JsonObject:
        if not isinstance(given, dict):
            self.take_text(path, given, "arguments")
            return {}
        self._refuse_operators(path, given)
        return {key: self._translate_value((*path, key), value) for key, value in given.items()}

    def _refuse_operators(self, path: Steps, given: JsonObject) -> None:
        for key in given:
            if key.startswith("$"):
                message = f"the argument {key!r} would be read as a matcher here."
                self.lose(self.document.locate_key((*path, key)), message)

    def _translate_value(self, path: Steps, value: Any) -> Any:
        """Return what matches as the original does: parts of objects, beginnings of lists."""
        if value in ({}, []):
            return {"$type": ["object", "array"]}
        if isinstance(value, dict):
            if "$pattern" in value:
                found = self.take(path, value, "a pattern", {"$pattern", "$flags"})
                flags = str(found.get("$flags", ""))
                if set(flags) - set("ims"):
                    self.lose(self.locate(path), f"the flags {flags!r} have no form here.")
                pattern = translate_pattern(str(found["$pattern"]))
                return {"$matches": f"(?{flags}){pattern}" if flags else pattern}
            self._refuse_operators(path, value)
            inner = {key: self._translate_value((*path, key), part) for key, part in value.items()}
            return {"$contains": inner}
        if isinstance(value, list):
            inner = {
                f"[{index}]": self._translate_value((*path, index), part)
                for index, part in enumerate(value)
            }
            return {"$path": inner}
        return value

    def _read_count(self, path: Steps, value: Any, noun: str) -> list[StatedChecks]:
        noun = f"{noun}: toolCallCount"
        given = self.take(path, value, noun, {"min", "max", "exact"})
        at, parts = self.locate(path), []
        bounds = dict(given)
        for key, count in given.items():
            if not isinstance(count, int) or isinstance(count, bool) or count < 0:
                self.add_fault(self.locate((*path, key)), f"{noun}: {key} is no number of calls.")
                return []
        exact = bounds.pop("exact", None)
        most = [count for count in (exact, bounds.get("max")) if count is not None]
        least = [count for count in (exact, bounds.get("min")) if count]
        if most:
            parts.append(StatedChecks(at, {"max_calls": min(most)}))
        if least:
            parts.append(StatedChecks(at, negate({"max_calls": max(least) - 1})))
        return parts

    def _read_judge(self, path: Steps, value: Any, noun: str, reference: Any) -> list[StatedChecks]:
        noun = f"{noun}: passesJudge"
        before = self.count_losses()
        given = self.take(path, value, noun, _JUDGE, _JUDGE_NEAREST)
        rubric = given.get("rubric")
        if isinstance(rubric, dict):
            rubric = self.take((*path, "rubric"), rubric, f"{noun}: rubric", {"text"}).get("text")
        elif isinstance(rubric, str) and rubric in _RUBRICS:
            rubric = _RUBRICS[rubric]
        elif not isinstance(value, dict) or "judge" not in value:
            known = ", ".join(_RUBRICS)
            message = f"{noun}: the rubric is no known one."
            self.add_fault(self.locate(path), message, f"Known: {known}.")
        if (
            not isinstance(rubric, str)
            or not rubric
            or (self.count_losses() > before and not self.lenient)
        ):
            return []
        reference = given.get("reference", reference)
        if reference is not None:
            rubric = f"{rubric}\nThe answer is compared with this one, which is right: {reference}"
        judge: dict[str, Any] = {"rubric": rubric, "threshold": given.get("threshold", _THRESHOLD)}
        provider = PROVIDERS.get(str(given.get("provider", "claude")))
        if "model" in given and provider is not None:
            judge["model"] = f"{provider}:{given['model']}"
        elif "provider" in given:
            named = f"the provider {given['provider']!r}"
            what = named if "model" in given else "a provider without a model"
            message = f"{noun}: {what} has no form here."
            self.lose(self.locate((*path, "provider")), message, "Choose one by --judge-model.")
        return [StatedChecks(self.locate(path), require_all([{"answer_judge": judge}]))]


_SAME = (
    {"input", "scenario"},
    {"trials", "iterations"},
    {"passThreshold", "accuracyThreshold"},
    {"assertions", "expect"},
    {"model", "mcpHostConfig"},
)
"""Keys of the two versions for one thing."""
_RENAMED = {
    "description": "description",
    "tags": "tags",
    "metadata": "metadata",
    "trials": "trials",
    "iterations": "trials",
    "passThreshold": "pass_threshold",
    "accuracyThreshold": "pass_threshold",
}
