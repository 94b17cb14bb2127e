"""``agents:`` of a configuration."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.agents.agent import KINDS
from harness.base.errors import InvalidInput, UsageError
from harness.suites.config import load_config
from harness.suites.config.agents import AGENT_LAYOUT


def config(folder: Path, text: str) -> None:
    (folder / "harness.yml").write_text(text, encoding="utf-8")


def test_an_agent_has_its_references_replaced_and_words_split_before(tmp_path: Path) -> None:
    config(
        tmp_path,
        "agents:\n  ours:\n    type: command\n    command: run '${NAME} {prompt}' x\n"
        "    env: {KEY: '${KEY:-none}'}\n",
    )
    model = load_config(tmp_path, {"NAME": "a b"}).resolve_agent("ours", tmp_path)
    assert model.agent is not None
    assert model.agent.command == ("run", "a b {prompt}", "x")
    assert (model.provider, model.model_id) == ("agent", "command")
    assert dict(model.agent.env) == {"KEY": "none"}


def test_a_kind_gets_the_keys_of_its_provider_if_they_are_set(tmp_path: Path) -> None:
    environ = {"ANTHROPIC_API_KEY": "sk-ant-1", "OPENAI_API_KEY": "sk-2"}
    claude = load_config(tmp_path, environ).resolve_agent("claude-code", tmp_path).agent
    assert claude is not None
    assert dict(claude.env) == {"ANTHROPIC_API_KEY": "sk-ant-1"}


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("type: comand", "4:11: agent 'ours': there is no type of agent named 'comand'."),
        ("type: command", "agent 'ours': type command needs 'command'."),
        ("type: codex\n    function: a:b", "5:5: agent 'ours': type codex takes no 'function'."),
        ("type: acp\n    command: ''", "5:14: command: expected a program and its arguments"),
        ("command: x", "agent 'ours' has no 'type'."),
        ("type: codex\n    temperature: 1", "An agent's temperature cannot be set from outside."),
        ("type: codex\n    tolls: [a]", "Did you mean 'tools'?"),
        ("type: codex\n    max_output_mb: 0", "expected a number of megabytes above 0"),
    ],
)
def test_a_mistake_is_named_with_its_place(entry: str, words: str, tmp_path: Path) -> None:
    config(tmp_path, f"mxcp: 1\nagents:\n  ours:\n    {entry}\n")
    with pytest.raises(InvalidInput) as error:
        load_config(tmp_path, {})
    assert words in str(error.value)
    assert "harness.yml:" in str(error.value)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("env: {KEY: '${KEY}'}", "5:16: agent 'ours': the environment variable KEY is not set"),
        ("files: gone", "5:12: agent 'ours': there is no folder 'gone'"),
    ],
)
def test_what_is_not_there_is_named_when_the_agent_is_used(
    entry: str, words: str, tmp_path: Path
) -> None:
    config(tmp_path, f"mxcp: 1\nagents:\n  ours:\n    type: codex\n    {entry}\n")
    with pytest.raises(InvalidInput) as error:
        load_config(tmp_path, {}).resolve_agent("ours", tmp_path)
    assert words in str(error.value)


def test_an_agent_that_is_asked_for_as_a_model_is_recognised(tmp_path: Path) -> None:
    config(tmp_path, "agents: {ours: {type: codex}}\n")
    with pytest.raises(UsageError) as error:
        load_config(tmp_path, {}).resolve_model("ours")
    assert "'ours' is an agent, not a model" in str(error.value)
    assert "--agent ours" in str(error.value)


PAGE = (Path(__file__).parents[3] / "docs" / "agents.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("setting", AGENT_LAYOUT.fields)
def test_every_setting_stands_in_the_table_of_the_page(setting: str) -> None:
    assert re.search(rf"^\|[^|]*`{setting}`", PAGE, re.MULTILINE)


def test_the_example_of_the_page_is_a_configuration_that_can_be_used(tmp_path: Path) -> None:
    example = next(
        text
        for text in re.findall(r"^```yaml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
        if text.startswith("agents:")
    )
    config(tmp_path, example)
    (tmp_path / "agents" / "opencode").mkdir(parents=True)
    ready = load_config(tmp_path, {})
    names = list(ready.files[0].agents)
    assert {ready.resolve_agent(name, tmp_path).model_id for name in names} == set(
        KINDS.built_in_names
    )


@pytest.mark.parametrize("kind", KINDS.built_in_names)
def test_the_page_names_every_kind_and_what_it_is_passed(kind: str) -> None:
    assert f"`{kind}`" in PAGE or f"`type: {kind}`" in PAGE
    assert [name for name in KINDS.get(kind).passes if f"`{name}`" not in PAGE] == []
