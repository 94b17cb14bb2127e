"""Configurations of promptfoo: prompts × variables, and the assertions of each test.

Sources: promptfoo.dev/docs/configuration and the package promptfoo 0.121.20. One test of ours is
made of each prompt with each combination of a test's variables. `promptfoo_assertions` translates
the assertions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from harness.base import Steps
from harness.suites.foreign.promptfoo_assertions import AssertionReader
from harness.suites.foreign.templates import NoFormError, fill_template, resolve_variables
from harness.suites.foreign.translation import DocumentTranslator, TranslatedSuite
from harness.types import JsonObject

MOST_COMBINATIONS = 10_000
"""Tests of one file: a few lists of variables multiply to billions."""

_CODE = "harness runs no code from a file of data; write a suite in Python for it."
_IN_MODELS = "Set it in the model's entry under 'models:' of harness.yml."
_INLINE = "Write it into this file."
_WITHOUT_EFFECT = {
    "$schema", "commandLineOptions", "outputPath", "sharing", "tracing", "writeLatestResults",
}  # fmt: skip
"""Keys at the top that change no verdict."""
_TOP = {
    *_WITHOUT_EFFECT, "description", "defaultTest", "evaluateOptions", "metadata", "prompts",
    "providers", "tags", "targets", "tests",
}  # fmt: skip
_TOP_NEAREST = {
    "assertScoringFunction": _CODE,
    "derivedMetrics": "Figures of a run are asked with 'harness query'.",
    "env": "Set environment variables where harness is started.",
    "extensions": _CODE,
    "nunjucksFilters": _CODE,
    "redteam": "The nearest is 'harness probe', which attacks a server without a model.",
    "scenarios": "Write them out as tests, or as 'parameters:' of a suite of ours.",
}
_TEST = {"assert", "description", "metadata", "options", "threshold", "vars"}
_TEST_NEAREST = {
    "assertScoringFunction": _CODE,
    "prompts": "Put tests with other prompts into a file of their own.",
    "provider": "Choose what answers with --model.",
    "providerOutput": "A recorded answer is judged with 'harness grade'.",
    "providers": "Choose what answers with --model.",
}
_OPTIONS = {"disableDefaultAsserts", "disableVarExpansion", "prefix", "suffix"}
_OPTIONS_NEAREST = {
    "disableConversationVar": "The nearest is 'turns:' with 'fresh: true'.",
    "postprocess": _CODE,
    "provider": "Choose the judge with --judge-model.",
    "rubricPrompt": "The nearest is 'answer_judge', with the rubric itself.",
    "runSerially": "The nearest is --concurrency 1.",
    "storeOutputAs": "The nearest is 'turns:'.",
    "transform": _CODE,
    "transformVars": _CODE,
}
_EVALUATE = {"repeat"}
_IDLE = "{} changes no verdict."
_SPEED = {"cache", "delay", "generateSuggestions", "maxConcurrency", "showProgressBar"}
_EVALUATE_NEAREST = {
    "maxEvalTimeMs": "The nearest is --timeout, for one trial.",
    "timeoutMs": "Write --timeout, which takes milliseconds.",
}
_PROMPT_NEAREST = {"config": _IN_MODELS, "function": _CODE, "id": _INLINE, "prefix": _INLINE}
_PROVIDER = {"config", "id", "label"}
_MCP_SERVER = {"args", "command", "headers", "name", "url"}
_MCP_NEAREST = {"auth": "Set it in the server's entry in harness.yml.", "path": "Write 'command'."}
_MODELS = (
    (
        re.compile(r"openai:(?:(?:chat|responses):)?((?!agents|realtime|image|embedding)[^:]+)"),
        "openai",
    ),
    (re.compile(r"anthropic:(?:messages:)?([^:]+)"), "anthropic"),
    (re.compile(r"google:(gemini[^:]*)"), "gemini"),
)
_FILE = re.compile(r"\S+\.[A-Za-z]\w{0,4}(?::\w+)?|\s*(?:file|exec|package|python|https?)://?\S*")
_MESSAGES = re.compile(r"\s*(?:\[\s*\{|\{\s*\"|-\s+role:)")


def translate_configuration(path: Path, *, lenient: bool) -> TranslatedSuite:
    """Return the configuration in ``path`` as a suite of ours.

    Raises:
        InvalidInput: with every problem of the file.
    """
    name = path.stem.removesuffix("config") if path.stem != "promptfooconfig" else "promptfoo"
    return _Configuration(path, name or path.stem, lenient=lenient).translate()


class _Configuration(DocumentTranslator):
    def translate(self) -> TranslatedSuite:
        content = self.document.value
        referred = set(_find_references(content))
        taken = self.take((), content, "the configuration", {*_TOP, *referred}, _TOP_NEAREST)
        self._read_head(taken)
        prompts = [*self._iterate_prompts(taken)]
        for key in ("providers", "targets"):
            if key in taken:
                self._read_providers((key,), taken[key])
        default = self._read_test(("defaultTest",), taken.get("defaultTest", {}), "defaultTest")
        # What the file has lost is in the notes; a test says only what it has lost itself.
        lost = self.forget_losses()
        # Without tests, each prompt is one.
        tests = taken.get("tests", [{}])
        for index, value in enumerate(self._require_inline(("tests",), tests)):
            path, given = self.follow(("tests", index), value)
            test = self._read_test(path, given, f"test {index + 1}")
            own = [*(lost if default else ()), *self.forget_losses()]
            self._add_tests(path, index, default, test, prompts, own)
        return self.finish()

    def follow(self, path: Steps, value: Any) -> tuple[Steps, Any]:
        """Return a value, or what its ``$ref`` refers to in this file, with its place."""
        for _ in range(10):
            if not (isinstance(value, dict) and isinstance(value.get("$ref"), str)):
                return path, value
            if beside := [key for key in value if key != "$ref"]:
                named = ", ".join(repr(key) for key in beside)
                self.add_fault(
                    self.locate(path), f"a '$ref' stands alone, and beside it is {named}.", _INLINE
                )
                return path, {}
            target: Any = self.document.value
            steps = tuple(value["$ref"].removeprefix("#/").split("/"))
            for step in steps:
                target = target.get(step) if isinstance(target, dict) else None
            if target is None or not value["$ref"].startswith("#/"):
                message = f"$ref {value['$ref']!r} refers to nothing in this file."
                self.add_fault(self.locate(path), message, _INLINE)
                return path, {}
            path, value = steps, target
        self.add_fault(self.locate(path), "$ref refers to itself.")
        return path, {}

    # ── The head ─────────────────────────────────────────────────────────────────────────────

    def _read_head(self, taken: Mapping[str, Any]) -> None:
        self.note_idle((), taken, sorted(_WITHOUT_EFFECT), _IDLE)
        if taken.get("description") is not None:
            self.copy_texts((), taken, description="description")
        metadata = {key: taken[key] for key in ("metadata", "tags") if key in taken}
        if metadata:
            self.content["metadata"] = metadata
        if "evaluateOptions" in taken:
            path, keys = ("evaluateOptions",), _EVALUATE | _SPEED
            given = self.take(path, taken[path[0]], path[0], keys, _EVALUATE_NEAREST)
            self.note_idle(path, given, sorted(_SPEED), _IDLE)
            if "repeat" in given:
                self.content["defaults"] = {"trials": given["repeat"]}

    def _require_inline(self, path: Steps, value: Any) -> list[Any]:
        if isinstance(value, str) or (isinstance(value, dict) and "path" in value):
            message = f"{path[-1]}: they stand in another file: {str(value)[:80]}"
            self.lose(self.locate(path), message, _INLINE)
            return []
        return self.take_list(path, value, str(path[-1]))

    def _iterate_prompts(self, taken: Mapping[str, Any]) -> Iterator[str]:
        given = taken.get("prompts", ["{{prompt}}"])
        prompts = given if isinstance(given, list) else [given]
        for index, value in enumerate(prompts):
            path: Steps = ("prompts", index) if isinstance(given, list) else ("prompts",)
            text = value
            if isinstance(value, dict):
                found = self.take(path, value, "a prompt", {"label", "raw"}, _PROMPT_NEAREST)
                if "label" in found:
                    self.note(self.locate(path), "the label of a prompt changes no verdict.")
                text = found.get("raw")
            if not isinstance(text, str) or not text.strip():
                self.add_fault(self.locate(path), "a prompt is no text.", _INLINE)
            elif _FILE.fullmatch(text.strip()):
                message = f"the prompt stands in another file: {text.strip()[:80]}"
                self.lose(self.locate(path), message, _INLINE)
            elif _MESSAGES.match(text):
                message = "the prompt is a list of messages, or JSON."
                meant = "Write the user's words; 'system_prompt' and 'turns' of a suite of ours do"
                self.lose(self.locate(path), message, f"{meant} the rest.")
            else:
                yield text

    # ── Providers ────────────────────────────────────────────────────────────────────────────

    def _read_providers(self, path: Steps, value: Any) -> None:
        providers = value if isinstance(value, list) else [value]
        for index, provider in enumerate(providers):
            place = (*path, index) if isinstance(value, list) else path
            at = self.locate(place)
            if isinstance(provider, str):
                self._read_model(place, provider)
                continue
            settings = provider
            if isinstance(provider, dict) and "id" not in provider and len(provider) == 1:
                # The short form: the id is the key.
                ((name, settings),) = provider.items()
                self._read_model(place, name)
                place, settings = (*place, name), settings or {}
            given = self.take(place, settings, "a provider", _PROVIDER, dict.fromkeys(
                ("delay", "env", "inputs", "prompts", "transform"), "Choose it with --model."
            ))  # fmt: skip
            if "label" in given:
                self.note(at, "the label of a provider changes no verdict.")
            if "id" in given:
                self._read_model((*place, "id"), given["id"])
            config = given.get("config", {})
            if isinstance(config, dict):
                nearest = {key: _IN_MODELS for key in config if key != "mcp"}
                found = self.take((*place, "config"), config, "config", {"mcp"}, nearest)
                if "mcp" in found:
                    self._read_mcp((*place, "config", "mcp"), found["mcp"])
            else:
                self.lose(self.locate((*place, "config")), "config is no mapping.", _IN_MODELS)

    def _read_model(self, path: Steps, name: Any) -> None:
        for pattern, provider in _MODELS:
            if isinstance(name, str) and (found := pattern.fullmatch(name)):
                self.add_model(self.locate(path), f"{provider}:{found[1]}")
                return
        if str(name).partition(":")[0] == "mcp":
            message = "the provider 'mcp' calls tools without a model."
            meant = "Test that as the server's own unit test, or ask a model for the same."
            self.add_fault(self.locate(path), message, meant)
            return
        message = f"the provider {str(name)[:80]!r} has no form here."
        meant = "Choose what answers with --model or --agent, and take it out."
        self.lose(self.locate(path), message, meant)

    def _read_mcp(self, path: Steps, value: Any) -> None:
        nearest = dict.fromkeys(
            ("debug", "exclude_tools", "timeout", "tools", "verbose", "pingOnConnect"),
            "Set it in the server's entry in harness.yml, or in a variant.",
        )
        mcp = self.take(path, value, "mcp", {"enabled", "server", "servers"}, nearest)
        servers: list[Steps] = [("server",)] if "server" in mcp else []
        servers += [("servers", place) for place in range(len(mcp.get("servers") or ()))]
        if mcp.get("enabled") is False or not servers:
            return
        if len(servers) > 1:
            message = f"{len(servers)} servers are started, and a suite here starts one."
            meant = "Configure them in harness.yml, and list their names under 'server:'."
            self.lose(self.locate((*path, *servers[1])), message, meant)
        given: Any = mcp
        for step in servers[0]:
            given = given[step]
        place = (*path, *servers[0])
        found = self.take(place, given, "an MCP server", _MCP_SERVER, _MCP_NEAREST)
        server = {key: part for key, part in found.items() if key != "name"}
        if self.content.get("server", server) != server:
            message = "two providers start different servers."
            self.lose(self.locate(place), message, "Put each into a file of its own.")
        elif server:
            self.content["server"] = server

    # ── Tests ────────────────────────────────────────────────────────────────────────────────

    def _read_test(self, path: Steps, value: Any, noun: str) -> dict[str, Any]:
        """Return the parts of a test, each with its place."""
        if isinstance(value, str):
            self.lose(self.locate(path), f"{noun} stands in another file: {value[:80]}", _INLINE)
            return {}
        found = dict(self.take(path, value, noun, _TEST, _TEST_NEAREST))
        if "metadata" in found:
            place = (*path, "metadata")
            found["metadata"] = self.take_mapping(place, found["metadata"], f"{noun}: metadata")
        options = found.get("options")
        if options is not None:
            place = (*path, "options")
            taken = self.take(place, options, f"{noun}: options", _OPTIONS, _OPTIONS_NEAREST)
            found["options"] = taken
        variables = found.get("vars", {})
        if not isinstance(variables, dict):
            message = f"{noun}: the variables stand in another file."
            self.lose(self.locate((*path, "vars")), message, _INLINE)
            found["vars"] = {}
            found["broken"] = True
        listed = self.take_each((*path, "assert"), found.get("assert", []), f"{noun}: assert")
        found["assert"] = [self.follow(at, one) for at, one in listed]
        return found

    def _add_tests(
        self,
        path: Steps,
        index: int,
        default: Mapping[str, Any],
        test: Mapping[str, Any],
        prompts: list[str],
        lost: list[str],
    ) -> None:
        if default.get("broken") or test.get("broken"):
            return
        options = {**(default.get("options") or {}), **(test.get("options") or {})}
        variables = {**default.get("vars", {}), **test.get("vars", {})}
        own = test.get("assert", [])
        assertions = own if options.get("disableDefaultAsserts") is True else [
            *default.get("assert", []), *own
        ]  # fmt: skip
        threshold = test.get("threshold", default.get("threshold"))
        more: JsonObject = {}
        if metadata := {**default.get("metadata", {}), **test.get("metadata", {})}:
            more = {"metadata": metadata}
        name = " ".join(str(test.get("description") or f"test_{index + 1}").split())
        at = self.locate(path)
        combinations = [variables]
        if options.get("disableVarExpansion") is not True:
            combinations = self._combine_variables(path, variables)
        for combined in combinations:
            for prompt in prompts:
                try:
                    values = resolve_variables(combined)
                    around = (str(options.get(key, "")) for key in ("prefix", "suffix"))
                    said = fill_template(prompt.join(around), values)
                except NoFormError as error:
                    self.lose(at, f"{name}: {error}.", "Write the words themselves.")
                    self.forget_losses()
                    continue
                reader = AssertionReader(self, name, values)
                parts = reader.read_all(assertions, threshold, at)
                self.add_test(at, name, said, parts, lost, **more)

    def _combine_variables(self, path: Steps, variables: JsonObject) -> list[dict[str, Any]]:
        """Return each combination of the values of variables that are lists."""
        lists = [value if isinstance(value, list) else [value] for value in variables.values()]
        count = prod(map(len, lists))
        if count > MOST_COMBINATIONS:
            message = f"its variables make {count} tests, and at most {MOST_COMBINATIONS} are read."
            self.add_fault(self.locate((*path, "vars")), message, "Split the file.")
            return []
        return [dict(zip(variables, chosen, strict=True)) for chosen in product(*lists)]


def _find_references(value: Any) -> Iterator[str]:
    """Yield the first step of each ``$ref`` within the file, at any depth."""
    if isinstance(value, dict):
        found = value.get("$ref")
        if isinstance(found, str) and found.startswith("#/"):
            yield found.removeprefix("#/").partition("/")[0]
        for part in value.values():
            yield from _find_references(part)
    elif isinstance(value, list):
        for part in value:
            yield from _find_references(part)
