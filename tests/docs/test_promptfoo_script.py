"""The script that converts a file of promptfoo loses no part of it without saying so."""

from __future__ import annotations

import re
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from docs.site.pages import ROOT

PAGE = (ROOT / "docs" / "migrate" / "promptfoo.md").read_text("utf-8")
(SCRIPT,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)

Convert = Callable[..., tuple[dict[str, Any] | None, str]]


@pytest.fixture
def convert(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Convert:
    """Run the script on a file with that content; return the suite, if any, and what it said."""

    def run(content: Any, *may_go: str) -> tuple[dict[str, Any] | None, str]:
        (tmp_path / "script.py").write_text(SCRIPT, "utf-8")
        text = content if isinstance(content, str) else yaml.safe_dump(content)
        (tmp_path / "c.yaml").write_text(text, "utf-8")
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["script.py", "c.yaml", "made", *may_go])
        code: object = 0
        try:
            runpy.run_path("script.py", run_name="__main__")
        except SystemExit as stopped:
            code = stopped.code
        said = capsys.readouterr()
        assert (code == 1) is (said.out == "")
        return yaml.safe_load(said.out), said.err

    return run


def config(**more: Any) -> dict[str, Any]:
    return {"prompts": ["{{q}}"], "tests": [case()], **more}


def case(**more: Any) -> dict[str, Any]:
    return {"vars": {"q": "Hi"}, "assert": [{"type": "contains", "value": "x"}], **more}


def one_assertion(**keys: Any) -> dict[str, Any]:
    return config(tests=[case(**{"assert": [keys]})])


def test_what_can_be_converted_is(convert: Convert) -> None:
    listed = [
        {"type": "icontains", "value": "{{name}}"},
        {"type": "contains-all", "value": ["a", "{{name}}"]},
        {"type": "not-contains", "value": "{{secret}}"},
        {"type": "contains-any", "value": "b, c"},
        {"type": "cost", "threshold": 0.5},
    ]
    values = {"q": "I am {{name}}", "name": "Eva", "secret": "s3"}
    made, said = convert(config(tests=[{"vars": values, "assert": listed}]))
    assert said == ""
    assert made is not None
    (test,) = made["tests"]
    assert test["prompt"] == "I am Eva"
    assert test["assertions"] == {
        "answer_contains": ["Eva", "a", "Eva"],
        "answer_not_contains": ["s3"],
        "answer_contains_any": ["b", "c"],
        "max_cost": 0.5,
    }


@pytest.mark.parametrize(
    ("content", "lost"),
    [
        (config(providers=["x"]), "providers"),
        (config(scenarios=[]), "scenarios"),
        (config(evaluateOptions={"repeat": 3}), "evaluateOptions"),
        (config(defaultTest={"options": {"transform": "x"}}), "options"),
        (config(defaultTest={"threshold": 0.5}), "threshold"),
        (config(defaultTest="file://default.yaml"), "not a mapping"),
        (config(tests="file://tests.csv"), "a list in another file"),
        (config(tests=["file://tests.yaml"]), "not a mapping"),
        (config(prompts=["file://prompt.txt"]), "a value in another file"),
        (config(prompts=["prompt.txt"]), "a prompt in another file"),
        (
            config(prompts=['[{"role": "system", "content": "x"}]']),
            "a prompt in another file or of several messages",
        ),
        (config(prompts=["{% if q %}x{% endif %}"]), "a placeholder"),
        (config(prompts=["{{ q | upper }}"]), "a placeholder"),
        (config(tests=[case(threshold=0.5)]), "threshold"),
        (config(tests=[case(options={"provider": "x"})]), "options"),
        (config(tests=[case(vars={"q": ["a", "b"]})]), "variable q, which is a list"),
        (config(tests=[case(vars="file://vars.yaml")]), "variables in another file"),
        (config(tests=[case(vars={})]), "a placeholder"),
        (config(tests=[case(vars={"q": None})]), "variable q, which has no value"),
        (
            config(prompts=["Read {{q}}"], tests=[case(vars={"q": "file://doc.txt"})]),
            "variable q, which has no value here",
        ),
        (one_assertion(type="contains"), "no value"),
        (config(tests=[case(**{"assert": []})]), "no assertion"),
        (one_assertion(type="not-contains", value="{{secret}}"), "a placeholder"),
        (one_assertion(type="contains", value="x", transform="output.text"), "transform"),
        (one_assertion(type="contains", value="x", weight=0), "weight"),
        (one_assertion(type="llm-rubric", value="x", threshold=0.9), "threshold"),
        (one_assertion(type="contains-all", value={"a": 1}), "a value that is no list of texts"),
        (one_assertion(type="contains", value=["a"]), "contains of a list"),
        (one_assertion(type="not-contains-all", value=["a"]), "not-contains-all"),
        (one_assertion(type="equals", value={"a": 1}), "equals of a dict"),
        (one_assertion(type="is-json", value="file://schema.json"), "is-json"),
        (one_assertion(type="regex", value="file://pattern.txt"), "a value in another file"),
        (one_assertion(type="javascript", value="1"), "javascript"),
        (one_assertion(**{"$ref": "#/assertionTemplates/short"}), "$ref"),
        (one_assertion(type="assert-set", **{"assert": []}), "assert"),
        (
            config(tests=[case(**{"assert": [{"type": "regex", "value": "a"}] * 2})]),
            "a second regex",
        ),
    ],
)
def test_a_file_with_a_part_that_would_be_lost_is_not_converted(
    content: Any, lost: str, convert: Convert
) -> None:
    made, said = convert(content)
    assert made is None
    assert f": {lost}" in said


def test_a_part_that_is_named_may_be_left_out(convert: Convert) -> None:
    made, said = convert(config(providers=["x"]), "providers")
    assert made is not None
    assert said == "left out: c.yaml: providers\n"


def test_values_are_read_as_promptfoo_reads_them(convert: Convert) -> None:
    """Its YAML is of version 1.2: PyYAML alone reads 12:30 as 750, and no as false."""
    texts = ["no", "On", "12:30", "2024-01-05", "007", "5", "true", "x"]
    made, said = convert(
        "prompts: ['Open at {{at}}, {{open}}?']\ntests:\n- vars: {at: 09:30, open: yes}\n"
        f"  assert: [{{type: contains-all, value: [{', '.join(texts)}]}}]\n"
    )
    assert said == ""
    assert made is not None
    (test,) = made["tests"]
    assert test["prompt"] == "Open at 09:30, yes?"
    assert test["assertions"]["answer_contains"] == [*texts[:4], "7", *texts[5:]]
