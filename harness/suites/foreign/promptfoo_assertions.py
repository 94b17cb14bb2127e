"""The assertions of promptfoo: what each compares, ``not-`` forms, weights and thresholds.

Source: promptfoo.dev/docs/configuration/expected-outputs and the package promptfoo 0.121.20. Texts
are compared letter by letter. With a threshold, a test passes if the weighted share of assertions
that hold reaches it; without one, all of them must hold, and those of weight 0 decide nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from harness.base import Steps, did_you_mean
from harness.suites.foreign.comparisons import (
    compare_text,
    find_sufficient,
    match_partly,
    refuse_keys,
    require_count,
    require_sequence,
)
from harness.suites.foreign.javascript import translate_pattern
from harness.suites.foreign.templates import (
    NoFormError,
    fill_template,
    format_value,
    has_placeholder,
)
from harness.suites.foreign.translation import (
    DocumentTranslator,
    StatedChecks,
    negate,
    require_all,
    require_any,
)
from harness.types import JsonObject, Location

_CODE = "harness runs no code from a file of data; write a check in Python for it."
_KEYS = {"metric", "provider", "threshold", "type", "value", "weight"}
_KEYS_NEAREST = {
    "config": "Write what it sets into the assertion itself.",
    "contextTransform": _CODE,
    "rubricPrompt": "The nearest is 'answer_judge', with the rubric itself.",
    "transform": _CODE,
}
_JUDGE = "The nearest is 'answer_judge', with a rubric that says the same."
_TYPES_NEAREST = {
    "javascript": _CODE, "python": _CODE, "ruby": _CODE, "webhook": _CODE,
    "is-json": "The nearest is 'answer_json', which also finds JSON among words.",
    "contains-json": "The nearest is 'answer_json'.",
    "is-refusal": "The nearest is 'refuses', which knows more wordings.",
    "factuality": "The nearest is 'expected_answer'.",
    "similar": "The nearest is 'expected_answer'.",
    "word-count": "The nearest is 'answer_matches'.",
    "levenshtein": "The nearest is 'answer_equals', which overlooks case and spaces.",
    "is-valid-openai-tools-call": "The nearest is 'no_tool_errors'.",
    "is-valid-openai-function-call": "The nearest is 'no_tool_errors'.",
    "is-valid-function-call": "The nearest is 'no_tool_errors'.",
    "trajectory:goal-success": _JUDGE,
    **dict.fromkeys((
        "answer-relevance", "agent-rubric", "context-faithfulness", "context-recall",
        "context-relevance", "conversation-relevance", "model-graded-closedqa",
        "model-graded-factuality", "pi", "search-rubric", "moderation", "classifier",
    ), _JUDGE),
    **dict.fromkeys((
        "bleu", "contains-html", "contains-sql", "contains-xml", "finish-reason", "gleu",
        "guardrails", "human", "is-html", "is-sql", "is-xml", "max-score", "meteor", "perplexity",
        "perplexity-score", "rouge-n", "select-best", "skill-used", "trace-error-spans",
        "trace-span-count", "trace-span-duration",
    ), "There is nothing near to it; take it out, or --lenient leaves it out."),
}  # fmt: skip
_MOST_WEIGHTED = 10
"""Assertions under a threshold: each combination of them is written out."""
_RUBRIC_THRESHOLD, _G_EVAL_THRESHOLD = 0.5, 0.7
_WILDCARD = re.compile(r"[*?]")


class _WeightedChecks(NamedTuple):
    part: StatedChecks
    weight: float
    is_graded: bool


class AssertionReader:
    """Translates the assertions of one test, whose variables have these ``values``."""

    def __init__(self, translator: DocumentTranslator, name: str, values: JsonObject) -> None:
        self._translator, self._name, self._values = translator, name, values

    def read_all(
        self, given: Iterable[tuple[Steps, Any]], threshold: Any, at: Location
    ) -> list[StatedChecks]:
        """Return our assertions for those ``given``, each with its place."""
        found: list[_WeightedChecks] = []
        for path, value in given:
            if isinstance(value, dict) and value.get("type") == "assert-set":
                found += self._read_set(path, value, within=threshold is not None)
            else:
                found += self._read_one(path, value)
        return self._apply_threshold(found, threshold, at)

    # ── Weights and thresholds ───────────────────────────────────────────────────────────────

    def _apply_threshold(
        self, found: Sequence[_WeightedChecks], threshold: Any, at: Location
    ) -> list[StatedChecks]:
        if threshold is None or not found:
            if any(one.weight not in (0, 1) for one in found):
                self._translator.note(at, f"{self._name}: weights need a threshold to count.")
            return self._require_each(found)
        is_number = isinstance(threshold, int | float) and not isinstance(threshold, bool)
        if not is_number or any(one.is_graded for one in found) or len(found) > _MOST_WEIGHTED:
            reason = "of a judge's scores" if is_number else "that is no number"
            if len(found) > _MOST_WEIGHTED:
                reason = f"of more than {_MOST_WEIGHTED} assertions"
            meant = "Take it out: then every assertion must hold."
            self._lose(at, f"a threshold {reason} has no form here.", meant)
            return []
        subsets = find_sufficient([one.weight for one in found], threshold)
        if not subsets or subsets == [()]:
            how = "any answer passes" if subsets else "no answer passes"
            self._lose(at, f"with the threshold {threshold}, {how}.", "Correct the threshold.")
            return []
        if len(subsets) == 1:
            return [found[place].part for place in subsets[0]]
        options = [
            require_all([found[place].part.assertions for place in subset]) for subset in subsets
        ]
        return [StatedChecks(at, require_any(options))]

    @staticmethod
    def _require_each(found: Sequence[_WeightedChecks]) -> list[StatedChecks]:
        parts = [one.part for one in found if one.weight != 0]
        shown = [one.part for one in found if one.weight == 0]
        if shown:
            whole = require_all([part.assertions for part in shown])
            parts.insert(
                0, StatedChecks(shown[0].at, {"any_of": {"of": [whole], "severity": "warn"}})
            )
        # What only warns decides nothing: such a test would pass whatever is answered.
        return parts if len(shown) < len(found) else []

    def _read_set(self, path: Steps, value: JsonObject, *, within: bool) -> list[_WeightedChecks]:
        noun = f"{self._name}: assert-set"
        taken = self._translator.take(
            path, value, noun, {"assert", "metric", "threshold", "type", "weight"}, _KEYS_NEAREST
        )
        at = self._translator.locate(path)
        if within:
            message = "an assert-set under a threshold of the test has no form here."
            self._lose(at, message, "Take one of the two thresholds out.")
            return []
        idle = "{} of an assert-set changes no verdict."
        self._translator.note_idle(path, taken, ("metric", "weight"), idle)
        given = [*self._translator.take_each((*path, "assert"), taken.get("assert"), noun)]
        before = self._translator.count_losses()
        parts = self.read_all(given, taken.get("threshold"), at)
        if not parts or (taken.get("threshold") and self._translator.count_losses() > before):
            return []
        whole = require_all([part.assertions for part in parts])
        return [_WeightedChecks(StatedChecks(at, whole), 1, is_graded=False)]

    # ── One assertion ────────────────────────────────────────────────────────────────────────

    def _read_one(self, path: Steps, value: Any) -> list[_WeightedChecks]:
        translator, before = self._translator, self._translator.count_losses()
        taken = translator.take(path, value, f"{self._name}: an assertion", _KEYS, _KEYS_NEAREST)
        at, kind = translator.locate(path), taken.get("type")
        # A part that was refused would change what the rest compares.
        if not isinstance(kind, str):
            translator.add_fault(at, f"{self._name}: an assertion has no type.")
        if not isinstance(kind, str) or translator.count_losses() > before:
            return []
        inverse, base = kind.startswith("not-"), kind.removeprefix("not-")
        read = self._READERS.get(base)
        if read is None:
            known = [*self._READERS, *_TYPES_NEAREST]
            meant = _TYPES_NEAREST.get(base) or did_you_mean(base, known) or _JUDGE
            place = translator.locate((*path, "type"))
            self._lose(place, f"the assertion {kind!r} has no form here.", meant)
            return []
        weight = taken.get("weight", 1)
        if not isinstance(weight, int | float) or isinstance(weight, bool) or weight < 0:
            translator.add_fault(at, f"{self._name}: a weight is a number from 0 on.")
            return []
        graded = base in ("llm-rubric", "g-eval")
        if "metric" in taken:
            translator.note(translator.locate((*path, "metric")), "'metric' changes no verdict.")
        for key in ("threshold", "provider"):
            if key in taken and not graded and base not in _WITH_THRESHOLD.get(key, ()):
                translator.note(
                    translator.locate((*path, key)), f"{key!r} means nothing to {kind}."
                )
        try:
            holds = read(self, taken)
            if inverse and base != "trajectory:tool-used":
                holds = negate(holds)
        except NoFormError as error:
            self._lose(at, f"{kind}: {error}.", "Write the value itself.")
            return []
        return [_WeightedChecks(StatedChecks(at, holds), float(weight), is_graded=graded)]

    def _lose(self, at: Location, message: str, meant: str) -> None:
        self._translator.lose(at, f"{self._name}: {message}", meant)

    # ── Texts ────────────────────────────────────────────────────────────────────────────────

    def _fill(self, value: Any) -> str:
        return fill_template(value, self._values) if isinstance(value, str) else format_value(value)

    def _read_texts(self, value: Any) -> list[str]:
        if isinstance(value, str):
            filled = self._fill(value)
            if '"' in filled:
                raise NoFormError("a list in quotes is to be written as a list of YAML")
            found = [part.strip() for part in filled.split(",") if part.strip()]
        elif isinstance(value, list):
            found = [self._fill(part) for part in value]
        else:
            raise NoFormError("its value is no list of texts")
        if not found:
            raise NoFormError("its list is empty")
        return found

    def _read_equals(self, taken: JsonObject) -> JsonObject:
        return compare_text("equals", self._fill(taken.get("value")))

    def _read_start(self, taken: JsonObject) -> JsonObject:
        return compare_text("starts_with", self._require_text(taken))

    def _read_regex(self, taken: JsonObject) -> JsonObject:
        return compare_text("matches", translate_pattern(self._require_text(taken)))

    def _require_text(self, taken: JsonObject) -> str:
        if not isinstance(taken.get("value"), str) or not taken["value"]:
            raise NoFormError("its value is no text")
        return self._fill(taken["value"])

    def _read_contains(self, taken: JsonObject) -> JsonObject:
        kind = taken["type"].removeprefix("not-")
        folded, suffix = kind.startswith("icontains"), kind.rpartition("-")[2]
        if kind in ("contains", "icontains"):
            if isinstance(taken.get("value"), bool):
                raise NoFormError("its value is neither a text nor a number")
            texts = [self._fill(taken.get("value"))]
        else:
            texts = self._read_texts(taken.get("value"))
        each = [compare_text("contains", text, ignore_case=folded) for text in texts]
        combined = require_any(each) if suffix == "any" else require_all(each)
        if suffix == "all":
            combined = {"answer_verbatim": [one["answer_verbatim"] for one in each]}
        return combined

    # ── Economy, and judges ──────────────────────────────────────────────────────────────────

    def _read_limit(self, taken: JsonObject) -> JsonObject:
        limit = taken.get("threshold")
        if not isinstance(limit, int | float) or isinstance(limit, bool):
            raise NoFormError("it needs a threshold")
        is_cost = taken["type"].endswith("cost")
        return {"max_cost": limit} if is_cost else {"max_seconds": limit / 1000}

    def _read_rubric(self, taken: JsonObject) -> JsonObject:
        is_rubric = taken["type"].endswith("llm-rubric")
        threshold = taken.get("threshold", _RUBRIC_THRESHOLD if is_rubric else _G_EVAL_THRESHOLD)
        if "provider" in taken:
            raise NoFormError("its 'provider' is chosen with --judge-model here")
        if "threshold" not in taken and is_rubric:
            # Without one, the original asks its judge for a yes or no.
            self._translator.note(
                self._translator.locate(()),
                f"the judge of harness gives a score, which passes at {threshold}.",
            )
        return {"answer_judge": {"rubric": self._require_text(taken), "threshold": threshold}}

    # ── Calls ────────────────────────────────────────────────────────────────────────────────

    def _read_used(self, taken: JsonObject) -> JsonObject:
        value = taken.get("value")
        inverse = taken["type"].startswith("not-")
        if isinstance(value, dict):
            call = self._read_matcher(value, ("max", "min"))
            counted = require_count(call["tool"], value.get("min", 1), value.get("max"))
            return negate(counted) if inverse else counted
        names = [self._fill(one) for one in (value if isinstance(value, list) else [value])]
        if not names:
            raise NoFormError("its list is empty")
        calls = [self._read_matcher(name) for name in names]
        if inverse:
            # Of several, none may have been used.
            return {"must_not_call": [{**call, "allow_absent": True} for call in calls]}
        return {"must_call": calls}

    def _read_sequence(self, taken: JsonObject) -> JsonObject:
        value = taken.get("value")
        mode, steps = "in_order", value
        if isinstance(value, dict):
            refuse_keys(value, ("mode", "steps"))
            mode, steps = value.get("mode", "in_order"), value.get("steps")
        if mode not in ("exact", "in_order") or not isinstance(steps, list) or not steps:
            raise NoFormError("it needs a list of steps, and the mode exact or in_order")
        calls = [
            self._read_matcher(self._fill(step) if isinstance(step, str) else step)
            for step in steps
        ]
        return require_sequence(calls, exact=mode == "exact")

    def _read_arguments(self, taken: JsonObject) -> JsonObject:
        value = taken.get("value")
        if not isinstance(value, dict):
            raise NoFormError("its value is no mapping")
        call = self._read_matcher(value, ("args", "arguments", "ignore", "mode"))
        args = value.get("args", value.get("arguments"))
        mode, ignored = value.get("mode", "partial"), value.get("ignore", [])
        ignored = ignored if isinstance(ignored, list) else [ignored]
        if not isinstance(args, dict):
            raise NoFormError("its args are no mapping")
        if mode not in ("exact", "partial"):
            raise NoFormError("its mode is exact or partial")
        if ignored and (mode == "exact" or any(_WILDCARD.search(str(one)) for one in ignored)):
            raise NoFormError("'ignore' with the mode exact, or with * or ?, has no form here")
        if mode == "exact":
            wanted: JsonObject = {"$equals": args}
        else:
            wanted = match_partly({key: args[key] for key in args if key not in ignored})
        absent = {"allow_absent": True} if taken["type"].startswith("not-") else {}
        return {"must_call": {**call, "args": wanted, **absent}}

    def _read_count(self, taken: JsonObject) -> JsonObject:
        value = taken.get("value")
        if not isinstance(value, dict) or value.get("type") != "tool":
            raise NoFormError("only steps of the type tool are counted here")
        named = "name" in value or "pattern" in value
        tool = self._read_matcher(value, ("max", "min"))["tool"] if named else None
        if not named:
            refuse_keys(value, ("max", "min", "type"))
        return require_count(tool, value.get("min", 0), value.get("max"))

    def _read_f1(self, taken: JsonObject) -> JsonObject:
        if taken.get("threshold", 1) != 1:
            raise NoFormError("a threshold below 1 has no form here")
        value = taken.get("value")
        names = value.split(",") if isinstance(value, str) else value
        if not isinstance(names, list) or not names:
            raise NoFormError("its value is no list of tools")
        tools = list(dict.fromkeys(self._fill(one).strip() for one in names))
        return {"must_call": tools, "only_call": tools}

    @staticmethod
    def _read_matcher(value: Any, more: Sequence[str] = ()) -> dict[str, Any]:
        """Return a call of the tool that ``value`` names."""
        name = value
        if isinstance(value, dict):
            refuse_keys(value, ("name", "pattern", "type", *more))
            name = value.get("pattern") or value.get("name")
            if value.get("type", "tool") != "tool":
                raise NoFormError("only steps of the type tool are seen here")
        if not isinstance(name, str) or not name.strip():
            raise NoFormError("it names no tool")
        if _WILDCARD.search(name):
            raise NoFormError(f"{name!r} stands for several tools: name each")
        if has_placeholder(value):
            raise NoFormError("a placeholder is left in it")
        return {"tool": name}

    _READERS: Mapping[str, Callable[[AssertionReader, JsonObject], JsonObject]] = {
        "equals": _read_equals,
        "starts-with": _read_start,
        "regex": _read_regex,
        **dict.fromkeys(("contains", "contains-all", "contains-any"), _read_contains),
        **dict.fromkeys(("icontains", "icontains-all", "icontains-any"), _read_contains),
        **dict.fromkeys(("cost", "latency"), _read_limit),
        **dict.fromkeys(("llm-rubric", "g-eval"), _read_rubric),
        "trajectory:tool-used": _read_used,
        "trajectory:tool-sequence": _read_sequence,
        "trajectory:tool-args-match": _read_arguments,
        "trajectory:step-count": _read_count,
        "tool-call-f1": _read_f1,
    }


_WITH_THRESHOLD = {"threshold": ("cost", "latency", "tool-call-f1")}
