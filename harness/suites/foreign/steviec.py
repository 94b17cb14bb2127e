"""Suites of mcp-server-tester of steviec: its ``evals``, which ask a model.

Source: steviec/mcp-server-tester 1.4.0, ``src/schemas/tests-schema.json`` and
``src/commands/evals/runner.ts``. Its patterns overlook case, and are sought in the JSON of a reply.
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
)
from harness.suites.foreign.comparisons import compare_text
from harness.suites.foreign.javascript import translate_pattern
from harness.suites.foreign.templates import NoFormError
from harness.suites.foreign.translation import WITHOUT_MODEL, StatedChecks, TranslatedSuite
from harness.types import JsonObject


def translate_tests(path: Path, *, lenient: bool) -> TranslatedSuite:
    """Return the tests in ``path`` as a suite of ours.

    Raises:
        InvalidInput: with every problem of the file.
    """
    return _Tests(path, path.stem, lenient=lenient).translate()


def _match_reply(values: Values) -> JsonObject:
    pattern = values.text("pattern")
    if pattern.startswith("^") or re.search(r"(?<!\\)\$\Z", pattern):
        raise NoFormError("it is compared with the JSON of a reply, whose ends no words are")
    return compare_text("matches", translate_pattern(pattern), ignore_case=True)


class _Tests(AssertionTranslator):
    placeholder = re.compile(r"\$\{[^}]+\}")
    forms: ClassVar = {
        "regex": AssertionForm(("type", "pattern"), _match_reply),
        "llm-judge": AssertionForm(
            ("type", "criteria", "threshold"),
            # As there, a threshold of 0 is none.
            lambda values: ask_judge(values.text("criteria"), values.number("threshold", 0) or 0.7),
        ),
    }

    def translate(self) -> TranslatedSuite:
        given = self.take((), self.document.value, "the file", {"tools", "evals"})
        if "tools" in given:
            message = "the tests under 'tools' ask no model."
            self.lose(self.document.locate_key(("tools",)), message, WITHOUT_MODEL)
        self.forget_losses()
        keys = {"models", "timeout", "max_steps", "tests"}
        evals = self.take(("evals",), given.get("evals", {}), "evals", keys)
        names = self.take_texts(("evals", "models"), evals.get("models", []), "models")
        for place, name in enumerate(names):
            self.add_model(self.locate(("evals", "models", place)), f"anthropic:{name}")
        for theirs, ours, scale in (("timeout", "timeout", 1000), ("max_steps", "max_replies", 1)):
            if theirs in evals:
                value = evals[theirs]
                if isinstance(value, int | float) and not isinstance(value, bool):
                    self.content[ours] = value / scale if scale > 1 else value
                else:
                    self.add_fault(self.locate(("evals", theirs)), f"{theirs} is no number.")
        lost = self.forget_losses()
        for path, test in self.take_each(("evals", "tests"), evals.get("tests", []), "tests"):
            self._read_test(path, test, lost)
        return self.finish()

    def _read_test(self, path: Steps, value: Any, lost: list[str]) -> None:
        keys = {"name", "prompt", "expected_tool_calls", "response_scorers"}
        test = self.take(path, value, f"test {int(path[-1]) + 1}", keys)
        name = self.take_name(path, test, "name")
        noun = f"test {name!r}"
        prompt = self.take_name(path, test, "prompt", noun)
        parts: list[StatedChecks] = []
        inside = (*path, "expected_tool_calls")
        calls = self.take(
            inside, test.get("expected_tool_calls", {}), noun, {"required", "allowed"}
        )
        needed = self.take_texts((*inside, "required"), calls.get("required", []), noun)
        for tool in dict.fromkeys(needed):
            # Whatever the original requires, it requires to succeed each time.
            checks = {"must_call": tool, "no_tool_errors": {"tool": tool}}
            parts.append(StatedChecks(self.locate((*inside, "required")), checks))
        if "allowed" in calls:
            allowed = self.take_texts((*inside, "allowed"), calls["allowed"], noun)
            only = {"only_call": list(dict.fromkeys([*allowed, *needed]))}
            parts.append(StatedChecks(self.locate((*inside, "allowed")), only))
        scorers = test.get("response_scorers", [])
        for at, scorer in self.take_each((*path, "response_scorers"), scorers, noun):
            kind = scorer.get("type") if isinstance(scorer, dict) else None
            parts += self.read_assertion(at, kind, scorer, noun)
        self.add_test(self.locate(path), name, prompt, parts, lost)
