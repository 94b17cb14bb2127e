"""Evaluations of mcp-evals: questions whose answers a model marks.

Source: mclenhard/mcp-evals 2.0.1, ``src/yaml-loader.ts`` and ``src/index.ts``. The original gives
marks from 1 to 5 for five qualities, and has no verdict; it does not read ``expected_result``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.base import Steps
from harness.suites.foreign.assertion_forms import ask_judge
from harness.suites.foreign.translation import DocumentTranslator, StatedChecks, TranslatedSuite

_QUALITIES = (
    "The answer is free of errors, complete, to the point, easy to understand and reasoned."
)
_THRESHOLD = 0.7
_KEY = "Set it as an environment variable: whoever reads the file reads the key."


def translate_evaluations(path: Path, *, lenient: bool) -> TranslatedSuite:
    """Return the evaluations in ``path`` as a suite of ours.

    Raises:
        InvalidInput: with every problem of the file.
    """
    return _Evaluations(path, path.stem, lenient=lenient).translate()


class _Evaluations(DocumentTranslator):
    def translate(self) -> TranslatedSuite:
        given = self.take((), self.document.value, "the file", {"model", "evals"})
        if "model" in given:
            keys = {"provider", "name"}
            model = self.take(("model",), given["model"], "model", keys, {"api_key": _KEY})
            self.add_provider_model(("model",), model.get("provider"), model.get("name"), "model")
        lost = self.forget_losses()
        for path, one in self.take_each(("evals",), given.get("evals"), "evals"):
            self._read_question(path, one, lost)
        message = f"marks from 1 to 5 become a verdict: {_THRESHOLD} of our judge or above passes."
        self.note(self.locate(("evals",)), message)
        return self.finish()

    def _read_question(self, path: Steps, value: Any, lost: list[str]) -> None:
        keys = ("name", "description", "prompt", "expected_result")
        given = self.take(path, value, f"eval {int(path[-1]) + 1}", keys)
        found = {
            key: self.take_name(path, given, key)
            for key in (*keys[:3], *(key for key in keys[3:] if key in given))
        }
        wanted = found.get("expected_result")
        rubric = f"{_QUALITIES} It was expected: {wanted}" if wanted else _QUALITIES
        judged = StatedChecks(self.locate(path), ask_judge(rubric, _THRESHOLD))
        more: dict[str, Any] = {"description": found["description"]}
        self.add_test(self.locate(path), found["name"], found["prompt"], [judged], lost, **more)
