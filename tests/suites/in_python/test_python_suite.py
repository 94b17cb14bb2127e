from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import harness
from harness.base.errors import InvalidInput, NothingToRun, UsageError
from harness.judging.checks import VOCABULARY
from harness.probing.interference.data_sets import describe_alteration
from harness.suites.config import Config
from harness.suites.discovery import find_suites
from harness.suites.in_python.case import PASS_AT, PythonCase
from harness.suites.in_python.suite import read_object, read_reference
from harness.suites.readers import read_suite
from harness.types import (
    ModelSpec,
    ServerSpec,
    Suite,
    TransportSpec,
)
from tests.suites.in_python.python_project import PythonProject, project

__all__ = ["project"]


def look(thing: str) -> str:
    """Look at a thing."""
    return thing


def touch(thing: str) -> str:
    """Touch a thing."""
    return thing


@dataclass
class ForeignCase:
    """As another evaluation runner has it."""

    id: str
    input: str
    expected: Any = None
    tools: list[Any] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)
    timeout_ms: int | None = None


class Base:
    """What it is about.

    And more.
    """

    name = "sample"
    listed: Iterable[Any] = ({"id": "a", "input": "What?"},)

    def cases(self) -> Any:
        return self.listed

    def check(self, case: Any, run: Any) -> bool:
        return True


def suite_of(*cases: Any, **members: Any) -> Suite:
    """Read a suite class with these cases and members."""
    return read_object(
        type("Sample", (Base,), {"listed": cases or Base.listed, **members}), VOCABULARY
    )


def problems_of(*cases: Any, **members: Any) -> str:
    with pytest.raises(InvalidInput) as caught:
        suite_of(*cases, **members)
    return str(caught.value)


def test_a_class_becomes_an_ordinary_suite() -> None:
    suite = read_object(Base, VOCABULARY)
    assert (suite.name, suite.description, len(suite.cases)) == ("sample", "What it is about.", 1)
    assert suite.reference == f"{__name__}:Base"
    assert suite.at is not None
    assert suite.at.file.endswith("test_python_suite.py")
    (check,) = suite.cases[0].checks
    assert check.kind == "python"
    assert (check.params["suite"], check.params["case"]) == (f"{__name__}:Base", "a")
    assert check.code.threshold == PASS_AT


def test_an_instance_is_a_suite_too() -> None:
    assert read_object(Base(), VOCABULARY).name == "sample"


@pytest.mark.parametrize(
    "case",
    [
        PythonCase(id="a", input="What?", metadata={"k": (1, 2)}, timeout_ms=1500),
        ForeignCase(id="a", input="What?", metadata={"k": [1, 2]}, timeout_ms=1500),
        {
            "id": "a",
            "input": "What?",
            "metadata": {"k": [1, 2]},
            "timeout_ms": 1500,
            "anything": object(),
        },
    ],
)
def test_a_case_is_ours_or_anything_with_its_attributes_or_keys(case: Any) -> None:
    (read,) = suite_of(case).cases
    assert (read.name, read.prompt, read.limits.timeout_s) == ("a", "What?", 1.5)
    assert read.metadata == {"k": [1, 2]}
    assert read.checks[0].code.case is case


def test_our_own_case_says_who_asks_and_more() -> None:
    (case,) = suite_of(
        PythonCase(
            id="a",
            input=["First.", "Second."],
            user_context={"role": "admin"},
            tags=["smoke"],
            test="files",
            description="why",
            steering="Stop.",
            abort=True,
        )
    ).cases
    assert case.prompts == ("First.", "Second.")
    assert case.test == "files"
    assert (case.caller.user_context, case.tags, case.description) == (
        {"role": "admin"},
        ("smoke",),
        "why",
    )
    assert (case.interruption.steering, case.interruption.abort) == ("Stop.", True)


def test_assertions_are_those_of_suites_in_yaml_and_stand_beside_the_check() -> None:
    case = {
        "id": "a",
        "input": "What?",
        "assertions": {"must_call": ["look"], "answer_contains": ["x", "y"]},
    }
    assert [check.kind for check in suite_of(case).cases[0].checks] == [
        "must_call",
        "answer_contains",
        "answer_contains",
        "python",
    ]
    assert [check.kind for check in suite_of(case, check=None).cases[0].checks][
        -1
    ] == "answer_contains"


def test_cases_may_be_generated_and_ids_may_be_numbers() -> None:
    suite = suite_of(cases=lambda self: ({"id": number, "input": "What?"} for number in range(3)))
    assert [case.name for case in suite.cases] == ["0", "1", "2"]


def test_a_suite_without_cases_is_nothing_to_run() -> None:
    with pytest.raises(NothingToRun, match="sample has no cases; perhaps its data was not fetched"):
        suite_of(cases=lambda self: [])


# ── Tools and servers ────────────────────────────────────────────────────────────────────────


def server_of(suite: Suite) -> ServerSpec:
    assert isinstance(suite.server, ServerSpec)
    return suite.server


def test_default_tools_are_served_by_a_process_of_their_own() -> None:
    suite = read_object(WithTools, VOCABULARY)
    server = server_of(suite)
    assert server.transport.command == sys.executable
    assert server.transport.args == (
        "-P",
        "-m",
        "harness.suites.in_python.server",
        f"{__name__}:WithTools",
    )
    assert suite.cases[0].server is None


def test_cases_with_tools_of_their_own_have_a_server_and_share_it_where_tools_are_equal() -> None:
    first, second, third, fourth = (
        case.server for case in read_object(WithTools, VOCABULARY).cases
    )
    assert first is None
    assert second is third
    assert second is not None
    assert second.transport.args[-1] == "two"
    assert fourth is not None
    assert fourth.transport.args[-1] == "four"
    assert second.name != fourth.name


class WithTools(Base):
    listed = (
        {"id": "one", "input": "What?"},
        {"id": "two", "input": "What?", "tools": [look]},
        {"id": "three", "input": "What?", "tools": [look]},
        {"id": "four", "input": "What?", "tools": [look, touch]},
    )

    def default_tools(self) -> list[Any]:
        return [touch]


def test_a_suite_without_tools_is_served_without_importing_it_again() -> None:
    assert server_of(suite_of()).transport.args == ("-P", "-m", "harness.suites.in_python.server")


@pytest.mark.parametrize(
    "server", ["shop", ServerSpec(name="shop", transport=TransportSpec(command="true"))]
)
def test_a_suite_may_name_a_server_or_hold_one(server: Any) -> None:
    assert suite_of(server=server).server == server


def test_a_server_may_be_written_out_as_in_yaml() -> None:
    server = server_of(
        suite_of(server={"command": "python", "args": ["s.py"], "env": {"TOKEN": "${TOKEN}"}})
    )
    assert (server.transport.command, server.transport.args, server.name) == (
        "python",
        ("s.py",),
        "sample",
    )
    ready = Config(environ={"TOKEN": "t"}).resolve_server(server, "sample")
    assert ready.transport.env == {"TOKEN": "t"}


def test_mistakes_in_a_server_are_told_as_in_yaml() -> None:
    assert "unknown key 'comand' in the server" in problems_of(server={"comand": "python"})
    assert "contains a value that is not JSON" in problems_of(server={"command": object()})


def test_a_server_and_tools_do_not_go_together() -> None:
    assert "a server or tools of its own, not both" in problems_of(
        server="shop", default_tools=lambda self: [look]
    )


def test_tools_of_a_class_that_nobody_can_import_are_refused_in_words() -> None:
    class Hidden(Base):
        def default_tools(self) -> list[Any]:
            return [look]

    with pytest.raises(InvalidInput, match="a separate process, which cannot import the suite"):
        read_object(Hidden, VOCABULARY)


@pytest.mark.parametrize(
    ("tools", "words"),
    [
        ([lambda x: x], "tool number 1 has no name of its own"),
        ([{"name": "x"}], "tool number 1 is a dict without a name and a handler"),
        ([3], "tool number 1 is a int without a name and a handler"),
        ([look, look], "the tool 'look' is listed twice"),
        (look, "expected a list of functions, found function"),
        (
            [{"name": "x", "handler": look, "parameters": "city"}],
            "the input_schema of tool 'x' is a str",
        ),
    ],
)
def test_a_tool_that_is_none_is_named(tools: Any, words: str) -> None:
    assert f"default_tools(): {words}" in problems_of(default_tools=lambda self: tools)
    assert f"case 'a': tools: {words}" in problems_of({"id": "a", "input": "What?", "tools": tools})


# ── Wrong shapes ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ({"input": "What?"}, "case number 1 has no 'id'"),
        ({"id": "a"}, "case 'a' has no 'input'"),
        (7, "case number 1 has no 'id'"),
        ({"id": "a", "input": " "}, "case 'a': input: expected text, found str ' '"),
        ({"id": "a", "input": []}, "case 'a': input: expected text"),
        ({"id": "a", "input": 3}, "case 'a': input: expected a list of texts, found int 3"),
        ({"id": True, "input": "What?"}, "case number 1: id: expected text, found bool True"),
        (
            {"id": "a", "input": "What?", "metadata": [1]},
            "case 'a': metadata: expected a mapping, found list [1]",
        ),
        (
            {"id": "a", "input": "What?", "metadata": {"x": {1}}},
            "case 'a': metadata: contains a value that is not JSON",
        ),
        (
            {"id": "a", "input": "What?", "timeout_ms": 0},
            "case 'a': timeout_ms: expected a number of milliseconds",
        ),
        (
            {"id": "a", "input": "What?", "tags": "smoke"},
            "case 'a': tags: expected a list of texts",
        ),
        ({"id": "a", "input": "What?", "abort": "yes"}, "case 'a': abort: expected True or False"),
        (
            {"id": "a", "input": "What?", "assertions": {"must_cal": []}},
            "case 'a': there is no check 'must_cal'",
        ),
        (
            {"id": "a", "input": "What?", "assertions": {"must_call": 3}},
            "case 'a': assertions: must_call: ",
        ),
        (
            {"id": "a", "input": "What?", "assertions": {"python": "x"}},
            "case 'a': there is no check 'python'",
        ),
    ],
)
def test_a_case_of_the_wrong_shape_is_named_with_what_is_wrong(case: Any, words: str) -> None:
    assert words in problems_of(case)


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"name": None}, "has no 'name'"),
        ({"name": 3.5}, "name: expected text, found float 3.5"),
        ({"cases": None}, "is not a suite: it has no cases()"),
        ({"cases": lambda self: 3}, "cases() must return a list of cases; it returned int"),
        ({"check": lambda self, run: True}, "check must take two arguments: the case and the run"),
        ({"check": None}, "case 'a' checks nothing"),
        ({"threshold": 2}, "threshold: expected a share above 0 and up to 1, found int 2"),
        ({"isolation": "no"}, "isolation: expected 'identity' or 'case' or 'none'"),
        (
            {"allow_writes": "touch"},
            "allow_writes: expected True or a list of tools, found str 'touch'",
        ),
    ],
)
def test_a_class_of_the_wrong_shape_is_told_what_is_wrong(
    members: dict[str, Any], words: str
) -> None:
    assert words in problems_of(**members)


@pytest.mark.parametrize(
    ("allowed", "everything", "tools"),
    [(None, False, ()), (True, True, ()), (["touch"], False, ("touch",))],
)
def test_a_class_may_allow_tools_that_are_not_known_to_read(
    allowed: Any, everything: bool, tools: tuple[str, ...]
) -> None:
    guard = suite_of(allow_writes=allowed).guard
    assert (guard.allow_writes, tuple(one.tool for one in guard.allowed)) == (everything, tools)


def test_cases_that_are_a_coroutine_are_refused_in_words() -> None:
    async def cases(self: Any) -> list[Any]:
        return []

    assert "it returned coroutine" in problems_of(cases=cases)


def test_every_problem_is_told_at_once_and_an_id_stands_for_one_case() -> None:
    told = problems_of({"id": "a", "input": "x"}, {"id": "a", "input": "y"}, {"id": "b"})
    assert "case 'a' is defined twice" in told
    assert "case 'b' has no 'input'" in told


def test_what_the_suites_own_code_raises_is_told_with_its_line(project: PythonProject) -> None:
    project.write(
        "bench.py",
        "class Suite:\n    name = 's'\n    def cases(self):\n        return open('data.csv')\n",
    )
    with pytest.raises(UsageError, match=r"bench.py:4: FileNotFoundError"):
        read_reference("bench:Suite", VOCABULARY)


def test_a_function_is_no_suite_and_a_class_that_takes_something_says_so() -> None:
    with pytest.raises(UsageError, match="is a function, not a suite"):
        read_object(look, VOCABULARY)
    with pytest.raises(UsageError, match="missing 1 required positional argument"):
        suite_of(__init__=lambda self, size: None)


# ── What makes two trials the same ───────────────────────────────────────────────────────────


def asked(**members: Any) -> Any:
    return suite_of(**members).cases[0].checks[0].params["asks"]


def test_another_expectation_or_threshold_asks_something_else() -> None:
    assert asked() == asked()
    assert asked(threshold=0.5) != asked()
    assert asked(listed=[{"id": "a", "input": "What?", "expected": 1}]) != asked()


def test_an_expectation_that_is_no_json_asks_the_same_every_time() -> None:
    assert asked(listed=[{"id": "a", "input": "What?", "expected": object()}]) == asked()


# ── By name ──────────────────────────────────────────────────────────────────────────────────


def test_a_dotted_path_stands_where_a_suites_name_may_stand(project: PythonProject) -> None:
    project.write(
        "bench/capitals.py",
        """
        class Capitals:
            name = "capitals"
            def cases(self): return [{"id": 1, "input": "What?"}]
            def check(self, case, run): return True
        """,
    )
    for name in (
        "bench.capitals.Capitals",
        "bench.capitals:Capitals",
        "bench/capitals.py:Capitals",
    ):
        (suite,) = find_suites([name], [project.folder / "evals"], VOCABULARY)
        assert (suite.name, suite.reference) == ("capitals", name)


def test_the_name_of_a_suite_in_yaml_comes_before_a_dotted_path(project: PythonProject) -> None:
    project.write(
        "evals/x.yml",
        "suite: internal\ntests: [{name: a, prompt: b, assertions: {must_call: [c]}}]\n",
    )
    (suite,) = find_suites(["internal"], [project.folder / "evals"], VOCABULARY)
    assert suite.at is not None
    assert suite.at.file == "evals/x.yml"


def test_the_built_in_suite_is_found_by_its_name(project: PythonProject) -> None:
    (suite,) = find_suites(["internal"], [project.folder / "evals"], VOCABULARY)
    assert [case.name for case in suite.cases] == [
        "basic_text",
        "simple_tool_call",
        "multi_turn_reasoning",
        "steering_response",
        "abort_clean",
    ]


def test_a_name_that_is_neither_is_told_both(project: PythonProject) -> None:
    with pytest.raises(UsageError, match=r"there is no suite named 'shop\.orders'") as caught:
        find_suites(["shop.orders"], [project.folder / "evals"], VOCABULARY)
    assert "Nor is it a suite in Python: there is no module 'shop'" in str(caught.value)
    with pytest.raises(UsageError, match="Did you mean 'internal'"):
        find_suites(["internl"], [project.folder / "evals"], VOCABULARY)


def test_two_suites_in_python_of_one_name_are_refused(project: PythonProject) -> None:
    for module in ("one", "two"):
        project.write(
            f"{module}.py",
            "class Suite:\n    name = 's'\n    def cases(self): return [{'id': 1, 'input': 'x'}]\n"
            "    def check(self, case, run): pass\n",
        )
    with pytest.raises(InvalidInput, match="suite 's' is defined twice"):
        find_suites(["one:Suite", "two:Suite"], [project.folder / "evals"], VOCABULARY)


def test_the_public_case_is_the_one_that_suites_use() -> None:
    assert harness.PythonCase is PythonCase


# ── Variants ─────────────────────────────────────────────────────────────────────────────────


def test_a_suite_has_variants_as_objects_or_as_yaml_has_them() -> None:
    objects = suite_of(variants=[harness.Variant(name="a", order=3)])
    mapping = suite_of(variants={"a": {"order": {"seed": 3}}})
    assert objects.variants == mapping.variants == (harness.Variant(name="a", order=3),)
    assert objects.variants[0].at is not None


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["a"], "variants: number 1 is a str, not a Variant"),
        ("a", "variants: expected a list or a mapping, found str"),
        ({"a": {"oder": 3}}, "Did you mean 'order'?"),
        ([harness.Variant(name="a"), harness.Variant(name="a")], "two of them are named 'a'"),
    ],
)
def test_wrong_variants_are_told(given: Any, words: str) -> None:
    assert words in problems_of(variants=given)


def test_a_suite_has_faults_as_yaml_has_them() -> None:
    lost, slow = suite_of(faults=["book#1: lost_answer", {"on": "book", "do": "slow"}]).faults
    assert [one.name for one in (lost, slow)] == ["book#1:lost_answer", "book:slow"]
    assert lost.at is not None
    assert "Did you mean 'timeout'?" in problems_of(faults=["book: timout"])
    assert "faults: expected a list, found str." in problems_of(faults="book: timeout")


# ── Altered values ───────────────────────────────────────────────────────────────────────────


def test_a_suite_alters_values_as_yaml_does(tmp_path: Path) -> None:
    path = tmp_path / "people.yml"
    path.write_text(
        "suite: s\ntests: [{name: a, prompt: x, assertions: {max_calls: 1}}]\n"
        "interference:\n- alters: salary\n  a: {setup: [restore]}\n"
        "  b: {env: {SEED: '2'}, setup: [{tool: set_salary, args: {salary: 1}}]}\n"
        "  may_depend: [count_people]\n",
        encoding="utf-8",
    )
    (in_yaml,) = read_suite(path, VOCABULARY).alterations
    (one,) = suite_of(
        interference=[
            {
                "alters": "salary",
                "a": {"setup": ["restore"]},
                "b": {
                    "env": {"SEED": "2"},
                    "setup": [{"tool": "set_salary", "args": {"salary": 1}}],
                },
                "may_depend": ["count_people"],
            }
        ]
    ).alterations
    assert one.at is not None
    assert describe_alteration(one) == describe_alteration(in_yaml)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"alters": "salary"}, "interference: expected a list, found dict"),
        (["salary"], "interference: number 1 is a str, not a mapping"),
        ([{"alters": "salary", "b": {}}], "'b' of number 1 of 'interference' is empty"),
        ([{"field": "salary", "b": {"args": ["x"]}}], "Did you mean 'alters'?"),
        ([{"alters": "salary", "b": {"setup": [7]}}], "expected a tool's name"),
    ],
)
def test_wrong_altered_values_are_told(given: Any, words: str) -> None:
    assert words in problems_of(interference=given)


def answer(messages: list[Any], tools: list[Any]) -> str:
    """Answer in place of a model."""
    return "Paris"


class Answering:
    """An instance answers as well."""

    def __call__(self, messages: list[Any], tools: list[Any]) -> str:
        return "Paris"


def answer_as_method(self: Any, messages: list[Any], tools: list[Any]) -> str:
    """Answer as a method of the suite."""
    return "Paris"


@pytest.mark.parametrize(
    "model", [answer, staticmethod(answer), Answering, Answering(), answer_as_method]
)
def test_a_function_is_its_model(model: Any) -> None:
    chosen = suite_of({"id": "a", "input": "What?"}, model=model).model
    assert isinstance(chosen, ModelSpec)
    assert chosen.function is not None
    assert chosen.function([], []) == "Paris"
    assert chosen.name.startswith("python:")


@pytest.mark.parametrize("model", [lambda: "Paris", len, 7, " "])
def test_what_cannot_be_its_model_is_a_problem(model: Any) -> None:
    with pytest.raises(InvalidInput, match="model: "):
        suite_of({"id": "a", "input": "What?"}, model=model)
