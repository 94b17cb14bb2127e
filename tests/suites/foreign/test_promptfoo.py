"""Configurations of promptfoo: the same tests, the same verdicts, and no key that vanishes."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import InvalidInput
from harness.judging.checks import VOCABULARY
from harness.suites.conversion import convert_suite
from harness.suites.readers import read_suite
from harness.types import ServerSpec, Suite
from tests.suites.foreign.translated import passes, read_rows, read_text

# The verdicts and the prompts are those of promptfoo 0.121.20.
ROWS = read_rows("promptfoo.jsonl")
CONFIGURATIONS = read_rows("promptfoo_configurations.jsonl")


def write(assertions: list[Any], *, top: Any = None, test: dict[str, Any] | None = None) -> str:
    one: dict[str, Any] = {"description": "one", "vars": {"q": "Hi", "w": "Apple"}}
    one["assert"] = assertions
    return json.dumps(
        {"prompts": ["{{q}}"], "tests": [one | (test or {})], **(top or {})}, indent=1
    )


def read(text: str, folder: Path, *, lenient: bool = False) -> Suite:
    return read_text(folder / "promptfooconfig.yaml", text, lenient=lenient)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: json.dumps(row["assert"])[:70])
def test_every_verdict_is_that_of_the_original(row: dict[str, Any], tmp_path: Path) -> None:
    threshold = {"threshold": row["threshold"]} if "threshold" in row else {}
    suite = read(write(row["assert"], test=threshold), tmp_path)
    assert passes(suite.cases[0], row["answer"], row["calls"]) == row["passes"]


@pytest.mark.parametrize("row", CONFIGURATIONS, ids=lambda row: json.dumps(row["config"])[:70])
def test_every_prompt_and_verdict_of_a_file_is_that_of_the_original(
    row: dict[str, Any], tmp_path: Path
) -> None:
    suite = read(json.dumps({"providers": ["openai:gpt-5"], **row["config"]}), tmp_path)
    # The original answers with the prompt itself.
    found = [(case.prompt, passes(case, case.prompt, [])) for case in suite.cases]
    assert found == list(zip(row["prompts"], row["passes"], strict=True))


def test_the_head_of_a_file_becomes_the_suites(tmp_path: Path) -> None:
    mcp = {"enabled": True, "server": {"command": "python", "args": ["s.py"], "name": "s"}}
    top = {
        "description": "Prices",
        "providers": [{"id": "anthropic:messages:claude-sonnet-4-6", "config": {"mcp": mcp}}],
        "evaluateOptions": {"repeat": 3, "maxConcurrency": 2},
        "outputPath": "x.csv",
    }
    suite = read(write([{"type": "contains", "value": "x"}], top=top), tmp_path)
    assert (suite.name, suite.description) == ("promptfoo", "Prices")
    assert suite.model == "anthropic:claude-sonnet-4-6"
    assert isinstance(suite.server, ServerSpec)
    assert suite.server.transport.args == ("s.py",)
    assert suite.cases[0].repeats.trials == 3
    notes = "\n".join(suite.notes)
    assert "'outputPath' changes no verdict" in notes
    assert "'maxConcurrency' changes no verdict" in notes


HOLDS = {"type": "contains", "value": "x"}


@pytest.mark.parametrize(
    ("assertion", "told"),
    [
        ({"type": "javascript", "value": "output.length"}, "'javascript' has no form here"),
        ({"type": "not-python", "value": "True"}, "runs no code from a file of data"),
        ({"type": "contain", "value": "x"}, "Did you mean 'contains'"),
        ({**HOLDS, "transform": "output.trim()"}, "'transform' has no form here"),
        ({**HOLDS, "wieght": 2}, "unknown key 'wieght'"),
        ({"type": "contains", "value": "{{gone}}"}, "no variable fills {{gone}}"),
        ({"type": "contains", "value": "{{w | upper}}"}, "is more than a name"),
        ({"type": "contains", "value": "{% if w %}x{% endif %}"}, "is more than a name"),
        ({"type": "contains", "value": "file://x.txt"}, "stands elsewhere"),
        ({"type": "contains", "value": "file://x.js"}, "stands elsewhere"),
        ({"type": "contains"}, "is no text"),
        ({"type": "contains", "value": ""}, "an empty text"),
        ({"type": "contains-any", "value": []}, "its list is empty"),
        ({"type": "regex", "value": "(?=x)"}, "regular expression"),
        ({"type": "regex", "value": "x*"}, "every answer matches"),
        ({"type": "latency"}, "needs a threshold"),
        ({"type": "is-json"}, "answer_json"),
        ({"type": "similar", "value": "x"}, "expected_answer"),
        ({"type": "trajectory:tool-used", "value": "get_*"}, "stands for several tools"),
        ({"type": "trajectory:step-count", "value": {"min": 1}}, "only steps of the type tool"),
        (
            {"type": "trajectory:tool-args-match", "value": {"name": "a", "args": {"b": "{{w}}"}}},
            "a placeholder is left",
        ),
        (
            {"type": "trajectory:tool-args-match", "value": {"name": "a", "args": {"$gt": 1}}},
            "would be read as a matcher",
        ),
        ({"type": "llm-rubric", "value": "x", "provider": "openai:x"}, "--judge-model"),
        ({"value": "x"}, "has no type"),
        ("contains: x", "expected a mapping"),
        ({"$ref": "#/nowhere/x"}, "refers to nothing"),
        ({**HOLDS, "weight": 0}, "checks nothing"),
    ],
)
def test_an_assertion_without_a_form_here_is_refused_with_its_line(
    assertion: Any, told: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match=r"promptfooconfig\.yaml:[0-9]+") as caught:
        read(write([assertion]), tmp_path)
    assert told in str(caught.value)


TOP: dict[str, Any] = {
    "$schema": "x", "assertScoringFunction": "x", "commandLineOptions": {}, "derivedMetrics": [],
    "description": "d", "env": {}, "evaluateOptions": {"timeoutMs": 5}, "extensions": [],
    "metadata": {"a": 1}, "nunjucksFilters": {}, "outputPath": "x", "redteam": {},
    "scenarios": [], "sharing": True, "tags": {"a": "b"}, "tracing": {}, "strange": 1,
    "writeLatestResults": True, "providers": ["exec:python x.py"], "targets": "openai:gpt-5",
    "defaultTest": {"assert": [{"type": "contains", "value": "y"}]},
}  # fmt: skip
TEST: dict[str, Any] = {
    "assertScoringFunction": "x", "metadata": {"a": 1}, "prompts": ["x"], "provider": "x",
    "providerOutput": "x", "providers": ["x"], "strange": 1, "threshold": 0.4,
    "vars": "file://x.csv", "description": "other",
}  # fmt: skip
OPTIONS: dict[str, Any] = {
    "disableConversationVar": True, "postprocess": "x", "prefix": "x", "provider": "x",
    "rubricPrompt": "x", "runSerially": True, "storeOutputAs": "x", "strange": 1, "suffix": "x",
    "transform": "x", "transformVars": "x",
}  # fmt: skip
ASSERTION: dict[str, Any] = {
    "config": {}, "contextTransform": "x", "provider": "x", "rubricPrompt": "x", "strange": 1,
    "threshold": 0.5, "transform": "x", "weight": 0, "value": "other", "metric": "m",
}  # fmt: skip
CONFIG: dict[str, Any] = {
    "apiKey": "x", "max_tokens": 5, "temperature": 0, "tools": [], "mcp": {"tools": ["a"]},
}  # fmt: skip


@pytest.mark.parametrize(
    ("place", "key", "value"),
    [
        (place, key, value)
        for place, keys in {
            "top": TOP, "test": TEST, "options": OPTIONS, "assertion": ASSERTION, "config": CONFIG,
        }.items()
        for key, value in keys.items()
    ],
)  # fmt: skip
def test_no_key_of_the_schema_vanishes(place: str, key: str, value: Any, tmp_path: Path) -> None:
    def build(*, changed: bool) -> str:
        extra = {key: value} if changed else {}
        second = {"type": "contains", "value": "x", **(extra if place == "assertion" else {})}
        top: dict[str, Any] = extra if place == "top" else {}
        if place == "config":
            top = {"providers": [{"id": "openai:gpt-5", "config": extra}]}
        test: dict[str, Any] = {"options": extra} if place == "options" else {}
        test |= extra if place == "test" else {}
        return write([{"type": "contains", "value": "z"}, second], top=top, test=test)

    before = read(build(changed=False), tmp_path)
    try:
        after = read(build(changed=True), tmp_path)
    except InvalidInput as error:
        assert str(error)  # noqa: PT017 - one of two outcomes
        return
    told = [
        (suite.model, suite.description, suite.notes,
         [(case.name, case.prompt, case.metadata, [{**check.dump_params(), "kind": check.kind}
          for check in case.checks]) for case in suite.cases],
         suite.cases[0].metadata)
        for suite in (before, after)
    ]  # fmt: skip
    assert told[0] != told[1] or key in ("metadata", "tags")


def test_metadata_of_the_file_is_that_of_each_test(tmp_path: Path) -> None:
    suite = read(write([HOLDS], top={"tags": {"a": "b"}}), tmp_path)
    assert suite.cases[0].metadata == {"tags": {"a": "b"}}


def test_leniently_a_test_says_what_it_no_longer_checks(tmp_path: Path) -> None:
    code = {"type": "javascript", "value": "true"}
    tests = [
        {"description": "both", "vars": {"q": "Hi"}, "assert": [HOLDS, code]},
        {"description": "gone", "vars": {"q": "Hi"}, "assert": [code]},
        {"description": "whole", "vars": {"q": "Hi"}, "assert": [HOLDS]},
    ]
    suite = read(write([], top={"tests": tests}), tmp_path, lenient=True)
    assert [case.name for case in suite.cases] == ["both", "whole"]
    assert "javascript" in suite.cases[0].metadata["not_checked"][0]
    assert suite.cases[1].metadata == {}
    assert "'gone' checks nothing" in "\n".join(suite.notes)


def test_it_becomes_yaml_that_says_the_same(tmp_path: Path) -> None:
    source, target = tmp_path / "promptfooconfig.yaml", tmp_path / "promptfoo.yml"
    group = {"type": "assert-set", "threshold": 0.5, "assert": [HOLDS, {**HOLDS, "value": "no"}]}
    used = {"type": "trajectory:tool-used", "value": {"name": "get", "min": 1, "max": 2}}
    source.write_text(write([HOLDS, group, used, {"type": "not-equals", "value": "0o17"}]))
    convert_suite(source, target, VOCABULARY)
    theirs, ours = (read_suite(path, VOCABULARY) for path in (source, target))
    assert [check.dump_params() for check in theirs.cases[0].checks] == [
        check.dump_params() for check in ours.cases[0].checks
    ]


HUNDRED = list(range(100))
MANY = json.dumps({"prompts": ["x"], "tests": [{"vars": dict.fromkeys("abc", HUNDRED)}]})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("prompts: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\ntests: []\n", "unknown key"),
        ("prompts: [x]\ntests: " + "[" * 2_000, "nested deeper"),
        ("prompts: [x]\nproviders: [y]\ntests: [" + "{assert: [" * 60, "promptfooconfig"),
        (MANY, "make 1000000 tests"),
    ],
)  # fmt: skip
def test_hostile_files_are_refused_in_bounded_time(text: str, told: str, tmp_path: Path) -> None:
    begun = time.process_time()
    with pytest.raises(InvalidInput) as caught:
        read(text, tmp_path)
    assert told in str(caught.value)
    assert time.process_time() - begun < 2


@pytest.mark.parametrize(
    "text",
    [
        "prompts: ['x']\nproviders: ['y']\n",
        "# c\ndescription: d\nproviders:\n  - y\ntests: file://t.csv\n",
        '{"prompts": ["x"], "tests": []}',
        '{\n  "providers": ["x"],\n  "prompts": []\n}',
    ],
)
def test_a_configuration_is_recognised_by_its_content(text: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as caught:
        read(text, tmp_path)
    assert "neither 'suite:' nor 'tests:'" not in str(caught.value)
