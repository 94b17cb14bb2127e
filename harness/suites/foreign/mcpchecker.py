"""Tasks of mcpchecker, of the versions v1alpha1 and v1alpha2: one file, one task.

Source: mcpchecker/mcpchecker, ``docs/reference/task-format.md``. Scripts, requests and steps of
extensions prepare and verify what surrounds a server; only what a judge verifies has a form here.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path
from typing import Any, ClassVar

from harness.base import Steps, did_you_mean
from harness.suites.foreign.assertion_forms import (
    AssertionForm,
    AssertionTranslator,
    Values,
    ask_judge,
)
from harness.suites.foreign.templates import NoFormError
from harness.suites.foreign.translation import StatedChecks, TranslatedSuite
from harness.types import JsonObject

_CODE = "harness runs no code from a file of data; 'end_state' asks a tool for what is then there."
_OUTSIDE = "The nearest are 'setup:' and 'teardown:', which call tools of the server."
_NEAR = {
    "script": _CODE,
    "http": "The nearest is 'end_state', which asks a tool for what is then there.",
    "file": _CODE,
    "inline": _CODE,
}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_THRESHOLD = 0.7


def translate_task(path: Path, *, lenient: bool) -> TranslatedSuite:
    """Return the task in ``path`` as a suite of one test.

    Raises:
        InvalidInput: with every problem of the file.
    """
    return _Task(path, path.stem, lenient=lenient).translate()


def _judge(values: Values) -> JsonObject:
    contained = values.optional_text("contains")
    exact = values.optional_text("exact")
    if bool(contained) == bool(exact):
        raise NoFormError("it has one of 'contains' and 'exact'")
    if exact:
        return {"expected_answer": exact}
    return ask_judge(f"The answer contains this information: {contained}", _THRESHOLD)


class _Task(AssertionTranslator):
    placeholder = re.compile(r"\{(?:env|steps|random|agent)\.[^}]*\}")
    forms: ClassVar = {"llmJudge": AssertionForm(("contains", "exact"), _judge)}
    nearest_forms: ClassVar = _NEAR

    def translate(self) -> TranslatedSuite:
        given = self.take(
            (), self.document.value, "the file", {"kind", "apiVersion", "metadata", "spec", "steps"}
        )
        if given.get("kind") != "Task":
            self.add_fault(self.locate(("kind",)), "only files of the kind Task are read.")
        version = given.get("apiVersion", "mcpchecker/v1alpha1")
        of_versions = {"mcpchecker/v1alpha1": "steps", "mcpchecker/v1alpha2": "spec"}
        body = of_versions.get(str(version), "spec")
        if version not in of_versions or given.keys() & {"steps", "spec"} != {body}:
            at = self.locate(("apiVersion",))
            message = f"{version!r} is no known version, or does not have {body!r} alone."
            self.add_fault(at, message, "v1alpha2 has 'spec', and v1alpha1 'steps'.")
        keys = {"name", "difficulty", "labels", "parallel", "runs"}
        metadata = self.take(
            ("metadata",), self._leave_descriptions(given.get("metadata"), keys), "metadata", keys
        )
        name = self.take_name(("metadata",), metadata, "name")
        more: dict[str, Any] = {}
        if "runs" in metadata:
            more["trials"] = metadata["runs"]
        if "difficulty" in metadata:
            more["tags"] = [self.take_name(("metadata",), metadata, "difficulty")]
        if metadata.get("labels") is not None:
            path = ("metadata", "labels")
            more["metadata"] = self.take_mapping(path, metadata["labels"], "labels")
        self.note_idle(("metadata",), metadata, ("parallel",), "{} changes no verdict.")
        task = self.take(
            (body,), given.get(body, {}), body, {"limits", "setup", "cleanup", "verify", "prompt"},
            {"requires": _OUTSIDE},
        )  # fmt: skip
        if "limits" in task:
            more |= self._read_limits((body, "limits"), task["limits"])
        for key in ("setup", "cleanup"):
            for step, kind, _ in self._iterate_steps((body, key), task.get(key, [])):
                meant = _NEAR.get(kind) if kind == "script" else _OUTSIDE
                self.lose(self.locate(step), f"{key}: the step {kind!r} has no form here.", meant)
        parts: list[StatedChecks] = []
        for step, kind, value in self._iterate_steps((body, "verify"), task.get("verify", [])):
            parts += self.read_assertion(step, kind, value, "verify")
        keys = {"inline"}
        prompt = self.take(
            (body, "prompt"), task.get("prompt"), "prompt", keys, {"file": "Write it as 'inline'."}
        )
        said = self.take_name((body, "prompt"), prompt, "inline", "prompt")
        self.add_test(self.locate(()), name, said, parts, **more)
        return self.finish()

    def _leave_descriptions(self, metadata: Any, keys: Collection[str]) -> Any:
        """Return ``metadata`` without what only describes the task, which is noted.

        The original reads past such keys, and the tasks of large projects have them.
        """
        if not isinstance(metadata, dict):
            return metadata
        described = [key for key in metadata.keys() - keys if not did_you_mean(key, keys)]
        for key in described:
            place = self.document.locate_key(("metadata", key))
            self.note(place, f"metadata: the original reads past {key!r}: it changes no verdict.")
        return {key: value for key, value in metadata.items() if key not in described}

    def _iterate_steps(self, path: Steps, value: Any) -> list[tuple[Steps, str, Any]]:
        """Return the place, the kind and the value of each step; nothing of an empty list."""
        if value is None:
            return []
        if isinstance(value, dict) and path[0] == "steps":
            # v1alpha1: one script or one judge.
            if value.keys() & {"contains", "exact"}:
                return [(path, "llmJudge", value)]
            return [((*path, key), str(key), part) for key, part in value.items()]
        found: list[tuple[Steps, str, Any]] = []
        for at, step in self.take_each(path, value, str(path[-1])):
            for key, part in self.take_mapping(at, step, "a step").items():
                if key != "id":
                    found.append(((*at, key), str(key), part))
        return found

    def _read_limits(self, path: Steps, value: Any) -> JsonObject:
        nearest = {"cleanupTimeout": "The server is ended by harness itself."}
        limits = self.take(path, value, "limits", {"timeout"}, nearest)
        text = str(limits.get("timeout", ""))
        parts = _DURATION.findall(text)
        if "timeout" in limits and "".join(map("".join, parts)) != text:
            self.add_fault(self.locate((*path, "timeout")), f"{text!r} is no time such as 15m.")
        seconds = sum(float(number) * _SECONDS[unit] for number, unit in parts)
        return {"timeout": seconds} if seconds else {}
