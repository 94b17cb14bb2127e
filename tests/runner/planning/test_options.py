"""Every option of a run means the same at every entrance that has it."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any, get_args

import click
import pytest
from _pytest.config import _prepareconfig
from starlette.exceptions import HTTPException

import harness
from docs.site.reference.options import options_page
from harness.api import read_arguments
from harness.base.errors import UsageError
from harness.cli.run_options import BUDGET, REQUEST, RUN_OPTIONS
from harness.pytest_plugin.options import given_options
from harness.runner.planning.options import (
    MOST_ON_PAGE,
    OPTIONS,
    Entrance,
    RunOption,
    fields_of,
    option_named,
    options_of,
    read_options,
    texts_of,
)
from harness.runner.planning.request import RunBudget, RunOptions, RunRequest
from harness.types import Protocol
from harness.web.pages import STATIC, api_document
from harness.web.uploads import read_choices
from harness.web.worker import read_chosen

Values = dict[str, Any]

VALID: dict[str, list[tuple[str, Any]]] = {
    "model": [("claude", "claude")],
    "agent": [("codex", ["codex"])],
    "category": [("simple,live", "simple,live")],
    "attack": [("direct,dos", "direct,dos")],
    "pattern": [("refund*", "refund*")],
    "server": [("crm", ("crm",))],
    "mcp_config": [(".mcp.json", ".mcp.json")],
    "protocol": [("legacy", "legacy")],
    "start_timeout": [("300", 300), ("2.5", 2.5)],
    "user_context": [('{"role": "admin"}', {"role": "admin"})],
    "timeout": [("1500", 1500), ("0.5e4", 5000.0)],
    "trials": [("3", 3), ("3..10", "3..10"), ("1000", 1000)],
    "shard": [("2/3", "2/3")],
    "read_only": [("true", True)],
    "judge_model": [("none", "none")],
    "user_model": [("claude", "claude")],
    "max_cases": [("7", 7)],
    "lenient": [("true", True)],
    "block": [("refund", {"refund"})],
    "variant": [("terse", ["terse"])],
    "faults": [("standard", "standard")],
    "attacks": [("standard", "standard")],
    "fault": [("a#1: error", ["a#1: error"])],
    "concurrency": [("1", 1), ("16", 16)],
    "max_cost": [("0", 0), ("0.5", 0.5)],
    "max_tokens": [("1", 1)],
    "max_errors": [("2", 2)],
    "fail_fast": [("true", True)],
    "grace": [("0.5", 0.5)],
    "engine": [("process", "process")],
}
"""Key → texts of terminal, configuration and form, each with the same value in Python."""
_NUMBERS = [("", ""), ("a", "a"), ("nan", float("nan")), ("inf", float("inf")), ("-1", -1)]
_WHOLE = [*_NUMBERS, ("0", 0), ("1.5", 1.5), ("9e999", float("inf")), ("0x1", "0x1")]
INVALID: dict[str, list[tuple[str, Any]]] = {
    "protocol": [("1999-01-01", "1999-01-01"), ("", "")],
    "start_timeout": [*_NUMBERS, ("0", 0)],
    "user_context": [('["admin"]', ["admin"]), ("5", 5), ('"@x"', "@x")],
    "timeout": [*_NUMBERS, ("0", 0)],
    "trials": [*_WHOLE, *((text, text) for text in ("5..2", "0..3", "3..", "..3", "2..1001"))],
    "shard": [(text, text) for text in ("0/3", "4/3", "2", "2/", "-1/3", "a/b", "1/0")],
    "max_cases": _WHOLE,
    "concurrency": [*_WHOLE, ("100001", 100_001)],
    "max_cost": _NUMBERS,
    "max_tokens": _WHOLE,
    "max_errors": _WHOLE,
    "grace": _NUMBERS,
}


@click.command()
@REQUEST
@BUDGET
@RUN_OPTIONS
def a_command(**parts: Any) -> Any:
    return tuple(parts[name] for name in ("request", "budget", "options"))


def parts_of(values: Values) -> Any:
    makers = {"request": RunRequest, "budget": RunBudget, "options": RunOptions}
    return tuple(make(**fields_of(part, values)) for part, make in makers.items())  # type: ignore[arg-type]


def ask_command_line(option: RunOption, text: str, _value: Any) -> Any:
    name = option.spelled_at("command line")
    words = [name] if option.metavar is None else [f"{name}={text}"]
    return a_command.main(words, standalone_mode=False)


def ask_python(option: RunOption, _text: str, value: Any) -> Any:
    bound = inspect.signature(harness.run).bind(**{option.spelled_at("python"): value})
    bound.apply_defaults()
    return parts_of(read_arguments(dict(bound.arguments)))


def ask_pytest(option: RunOption, text: str, _value: Any) -> Any:
    ini = [f"harness_{option.key}={text}"] if option.metavar is None else []
    named = [] if ini else [f"{option.spelled_at('pytest')}={text}"]
    return parts_of(read_options("pytest", given_options(a_session(named, ini))))


def a_session(words: list[str], ini: list[str]) -> pytest.Config:
    settings = [word for line in ini for word in ("-o", line)]
    return _prepareconfig(["-c", "/dev/null", "-p", "no:cacheprovider", *settings, *words])


def ask_page(option: RunOption, text: str, _value: Any) -> Any:
    try:
        choices = read_choices([(option.key, text)])
    except HTTPException as error:
        raise UsageError(error.detail) from error
    return parts_of(read_chosen(json.loads(json.dumps({"choice": choices}))))


ASK: dict[Entrance, Callable[[RunOption, str, Any], Any]] = {
    "command line": ask_command_line,
    "python": ask_python,
    "pytest": ask_pytest,
    "page": ask_page,
}


def having(option: RunOption) -> list[Entrance]:
    return [entrance for entrance in ASK if entrance not in option.absent]


@pytest.mark.slow
@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.key)
def test_a_valid_value_asks_for_the_same_run_at_every_entrance(option: RunOption) -> None:
    for text, value in VALID[option.key]:
        asked = [ASK[entrance](option, text, value) for entrance in having(option)]
        assert all(one == asked[0] for one in asked), (text, asked)
        assert (asked[0] != parts_of({})) == (option.key != "engine"), asked


@pytest.mark.slow
@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.key)
def test_an_invalid_value_is_refused_in_the_same_words_at_every_entrance(
    option: RunOption,
) -> None:
    for text, value in INVALID.get(option.key, []):
        for entrance in having(option):
            if not text and entrance in ("pytest", "page"):
                continue  # an empty setting or field is none
            with pytest.raises(UsageError) as refused:
                ASK[entrance](option, text, value)
            kind = option.narrowed.get(entrance, option.type)
            words = f"{option.spelled_at(entrance)}: expected {kind.expected}, found {value!r}"
            assert str(refused.value) == words


@pytest.mark.slow
@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.key)
def test_an_entrance_that_cannot_have_an_option_says_why(option: RunOption) -> None:
    for entrance, why in option.absent.items():
        wanted = TypeError if entrance == "python" else UsageError
        with pytest.raises(wanted) as refused:
            ASK[entrance](option, *VALID[option.key][0])
        if entrance != "python":  # there is no such parameter
            name = option.spelled_at(entrance)
            assert str(refused.value) == f"{name}: not possible here: {why}"


def test_a_setting_of_pytest_means_what_its_option_means() -> None:
    words = [
        word
        for option in options_of("pytest")
        if option.metavar
        for word in (option.spelled_at("pytest"), VALID[option.key][0][0])
    ]
    lines = [f"harness_{one.key}={VALID[one.key][0][0]}" for one in options_of("pytest")]
    by_words = given_options(a_session([*words, "--harness-read-only"], []))
    by_lines = given_options(a_session([], lines))
    assert read_options("pytest", by_words) == read_options("pytest", by_lines)


@pytest.mark.parametrize("option", options_of("page"), ids=lambda option: option.key)
def test_the_fields_of_a_run_are_given_again_as_they_were_given(option: RunOption) -> None:
    for text, _ in VALID[option.key]:
        value = option.read("page", [text] if option.repeated else text)
        recorded = json.loads(json.dumps(fields_of(option.part, {option.key: value})))
        assert option.read("page", texts_of("page", recorded)[option.key]) == value


def test_several_values_are_given_in_the_way_of_each_entrance() -> None:
    model = option_named("model")
    asked = [
        a_command.main(["-m", "a", "--model", "b"], standalone_mode=False),
        ask_python(model, "", ["a", "b"]),
        parts_of(read_chosen({"choice": read_choices([("model", "a"), ("model", "b")])})),
        parts_of(
            read_options("pytest", given_options(a_session(["--harness-model", "a"] * 2, [])))
        ),
    ]
    assert [one[0].models for one in asked] == [("a", "b")] * 3 + [("a", "a")]


def test_only_who_has_a_terminal_names_a_file_of_attributes(tmp_path: Any) -> None:
    option = option_named("user_context")
    file = tmp_path / "caller.json"
    file.write_text('{"role": "admin"}')
    assert option.read("pytest", f"@{file}") == {"role": "admin"}
    with pytest.raises(UsageError, match=r"^user_context: this is not JSON: .* one\.$"):
        option.read("page", f"@{file}")
    with pytest.raises(UsageError, match=r"^--user-context: .*caller\.jso cannot be read"):
        option.read("command line", f"@{file}"[:-1])


def test_the_table_says_the_defaults_and_words_of_the_code() -> None:
    known = {
        field.name: field.default
        for part in (RunRequest, RunBudget, RunOptions)
        for field in fields(part)
        if field.default is not MISSING
    }
    for option in OPTIONS:
        (*_, name) = option.fields or (option.key,)
        default = known.pop(name)
        if default not in (None, (), False):
            expected = f"{default:g}" if isinstance(default, float) else str(default)
            assert option.default is not None
            assert expected in option.default
    assert set(known) == {"suites", "cases", "least_trials", "traced", "catch_signals"}
    protocol = option_named("protocol").type
    assert protocol.expected == f"one of {', '.join(get_args(Protocol))}"


def test_the_python_function_has_the_parameters_of_the_table_with_their_help() -> None:
    told = {
        name: " ".join(text.split())
        for name, text in re.findall(
            r"^    (\w+): (.*?)(?=^    \w|^\w|^$)",
            inspect.getdoc(harness.run) or "",
            re.DOTALL | re.MULTILINE,
        )
    }
    options = {option.spelled_at("python"): option for option in options_of("python")}
    beside = {"suite", "report_path", "provider_opts"}
    assert (
        set(inspect.signature(harness.run).parameters)
        == {*options, *beside}
        == {*told}
        - {
            "UsageError",
            "NothingToRun",
        }
    )
    for name, option in options.items():
        assert told[name] == " ".join(option.help_at("python").split())


def test_the_form_and_the_description_of_the_page_have_options_of_the_table() -> None:
    keys = {option.key for option in options_of("page")}
    body = api_document()["paths"]["/evaluations/run"]["post"]["requestBody"]["content"]
    told = body["multipart/form-data"]["schema"]["properties"]
    assert {*told} == {"file", "failed_of", *keys}
    script = (STATIC / "setup.js").read_text("utf-8")
    sent = re.findall(
        r"^      (\w+): ", script.partition("  choice() {")[2].partition("}")[0], re.MULTILINE
    )
    assert sent
    assert {*sent} <= keys
    form = (STATIC / "evaluation.html").read_text("utf-8")
    assert f'id="concurrency" type="number" min="1" max="{MOST_ON_PAGE}"' in form


def test_the_reference_has_every_option_at_every_entrance() -> None:
    page = options_page()
    for option in OPTIONS:
        assert f"| `{option.spelled_at('command line')}" in page
        for entrance in ("python", "pytest", "page"):
            assert entrance in option.absent or f"`{option.spelled_at(entrance)}" in page
