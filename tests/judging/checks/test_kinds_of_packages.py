"""A kind of check from another package is treated as a built-in one, in every output.

All built-in kinds are taken out, and the same ones come back from a package under other names.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import anyio
import pytest

from harness.base.errors import InvalidInput, UsageError
from harness.judging.checks import VOCABULARY, evaluate_checks
from harness.judging.checks.kind import Evidence
from harness.judging.checks.registry import (
    KINDS,
    checks_with,
    expected_tools,
    find_judge_needs,
    tool_names,
    valid_calls,
    wanted_calls,
    wanted_first,
    wanted_states,
)
from harness.judging.trial import judge_trial
from harness.probing.planned_calls import Expectations, choose_calls
from harness.runlog import RunLog, TrialLine, read_lines
from harness.suites.readers import read_suite
from harness.types import (
    Case,
    Check,
    CheckTrait,
    Outcome,
    ToolCall,
    Transcript,
    Trial,
    TrialResult,
    UserMessage,
)
from harness.web.results import encode_result
from tests.judging.checks.test_vocabulary import GOOD
from tests.reports.formats.test_console import summary
from tests.reports.packs import blocks_of
from tests.reports.sample_logs import a_log, written
from tests.support import a_tool_list

pytestmark = pytest.mark.slow

NAMES = KINDS.built_in_names
ALIASES = {name: f"{name[:-1]}Z" for name in NAMES}
"""The names under which a package brings the kinds: as long as theirs, so that as much is cut."""

PACKAGE = f"""
import copy
from harness.judging.checks import registry

def alias(name, new):
    kind = copy.copy(registry._find_kinds()[name][0])
    object.__setattr__(kind, "name", new)
    return kind

globals().update({{new: alias(name, new) for name, new in {ALIASES!r}.items()}})
"""
ENTRY_POINTS = "[harness.checks]\n" + "".join(f"{new} = acme:{new}\n" for new in ALIASES.values())

TOGETHER: list[dict[str, Any]] = [
    {"must_not_call": ["a"], "refuses": True},
    {"must_call": ["a"], "must_not_call": ["b"]},
    {"tool_result_not_contains": ["secret"]},
    {"any_of": [{"must_be_denied": ["a"]}, {"must_call": ["b"]}]},
    {"all_of": [{"max_calls": 0}, {"not": {"must_call": ["a"]}}]},
    {"decision": {"is": "denied", "tool": "a"}, "only_call": ["a"]},
    {"decision": {"is": ["hidden", "not_attempted"], "tool": "c"}},
    {"decision": {"is": "allowed", "tool": "a", "without": ["email"]}},
    {"graded": {"expected": ["a"], "keywords": ["cannot"], "threshold": 0.1}},
]
CONTRADICTIONS: list[dict[str, Any]] = [
    {"must_call": ["a"], "must_not_call": ["a"]},
    {"not": {"must_call": ["a"]}, "must_succeed": ["a"]},
    {"turns_passed": 0.5},
    {"any_of": [{"must_call": ["a"]}, {"answer_equals": "x"}], "only_call": [],
     "answer_not_contains": ["x"]},
]  # fmt: skip
OUTCOMES: list[tuple[Outcome, ...]] = [("ok",), ("denied",), ("tool_error", "blocked")]


@contextmanager
def kinds_of_a_package(site: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    info = site / "acme-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "acme.py").write_text(PACKAGE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    found = ("_builtin", "_entry_points")
    with monkeypatch.context() as changed:
        changed.syspath_prepend(site)
        changed.setattr(KINDS, "_given", {})
        changed.setattr(KINDS, "_loaded", {})
        for name in found:
            changed.delitem(vars(KINDS), name, raising=False)
        assert KINDS.built_in_names == ()
        assert set(ALIASES.values()) == set(KINDS.list_names())
        with pytest.raises(UsageError, match="there is no check named 'must_call'"):
            KINDS.get("must_call")
        try:
            yield
        finally:
            for name in found:
                vars(KINDS).pop(name, None)


def renamed(assertions: Any) -> Any:
    """Return assertions with the names of the package, also inside groups."""
    if isinstance(assertions, list):
        return [renamed(part) for part in assertions]
    if not isinstance(assertions, dict):
        return assertions
    return {
        ALIASES.get(name, name): renamed(value)
        if name in {"any_of", "all_of", "not", "of"}
        else value
        for name, value in assertions.items()
    }


def renamed_back(text: str) -> str:
    """Return ``text`` with the names of the built-in kinds, and without the time of writing."""
    text = re.sub("|".join(ALIASES.values()), lambda found: NAMES_OF[found[0]], text)
    return re.sub(r"20\d\d-\d\d-\d\dT[\d:.]+Z", "TIME", text)


NAMES_OF = {new: name for name, new in ALIASES.items()}


def a_suite(folder: Path, tests: list[dict[str, Any]]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "shop.yml"
    listed = [
        {"name": f"t{place}", "prompt": "x", "assertions": assertions}
        for place, assertions in enumerate(tests)
    ]
    path.write_text(json.dumps({"suite": "shop", "tests": listed}))
    return path


async def _judged(
    case: Case, outcomes: tuple[Outcome, ...], index: int
) -> tuple[TrialResult, Transcript]:
    calls = tuple(
        ToolCall(tool="a", arguments={}, outcome=one, reply=1, text="not allowed")
        for one in outcomes
    )
    said = Transcript(
        messages=(UserMessage(text="x"),),
        tool_calls=calls,
        tools=("a",),
        answer="I cannot do that.",
    )
    evidence = Evidence(case=case, transcript=said, tools=a_tool_list("a", "b"))
    trial = Trial(suite="shop", case=case, model="m", number=index + 1, key=f"{case.name}-{index}")
    judged = judge_trial(trial, said, await evaluate_checks(evidence))
    # Two users, so that there is a matrix of access.
    who = "clerk" if index else "admin"
    facts = replace(judged.case, name=f"{case.name} [{who}]", group=case.name, identity=who)
    return replace(judged, case=facts), said


def a_judged_log(folder: Path, cases: tuple[Case, ...]) -> RunLog:
    async def all_of_them() -> list[tuple[TrialResult, Transcript]]:
        return [
            await _judged(case, outcomes, index)
            for case in cases
            for index, outcomes in enumerate(OUTCOMES)
        ]

    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return a_log(folder, anyio.run(all_of_them))


def every_output(folder: Path, tests: list[dict[str, Any]]) -> dict[str, str]:
    cases = read_suite(a_suite(folder, tests), VOCABULARY).cases
    log = a_judged_log(folder / "run", cases)
    lines = [line for _, _, line in read_lines(log.path) if isinstance(line, TrialLine)]
    formats = ["json", "jsonl", "csv", "markdown", "github", "junit"]
    return {
        **{name: written(log, name) for name in formats},
        "html": json.dumps(blocks_of(written(log, "html"))),
        "console": summary(log, width=200),
        "page": json.dumps([encode_result(line) for line in lines]),
        "asked": "\n".join(asked_of(case) for case in cases),
    }


def asked_of(case: Case) -> str:
    """Return what the program asks about the checks of a case before it runs."""
    checks: list[Check] = [one for check in case.every_check for one in check.walk()]
    return repr(
        [
            list(wanted_calls(case)),
            expected_tools(case),
            wanted_first(case),
            wanted_states(case.every_check),
            list(find_judge_needs(case.every_check)),
            [(list(valid_calls(check)), list(tool_names(check))) for check in checks],
            choose_calls([case], {}, destructive=False),
            Expectations([case], {}).list_hidden_tools(None),
            [bool(checks_with(trait, checks)) for trait in get_args(CheckTrait)],
        ]
    )


def refused(folder: Path, assertions: dict[str, Any]) -> str:
    with pytest.raises(InvalidInput) as caught:
        read_suite(a_suite(folder, [assertions]), VOCABULARY)
    return str(caught.value)


def test_every_output_is_that_of_the_built_in_kinds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tests = [{name: value} for name, values in GOOD.items() for value in values[:2]]
    tests = [test for test in tests if "turns_passed" not in test] + TOGETHER
    own = every_output(tmp_path / "suite", tests)
    with kinds_of_a_package(tmp_path / "site", monkeypatch):
        theirs = every_output(tmp_path / "suite", renamed(tests))
    assert "passed, but no call succeeded" in own["console"]
    assert "must_call" in own["html"]
    for name, text in own.items():
        assert "must_calZ" not in text
        assert renamed_back(theirs[name]) == renamed_back(text), name


def test_the_lint_of_a_suite_is_that_of_the_built_in_kinds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = [refused(tmp_path / "suite", test) for test in CONTRADICTIONS]
    with kinds_of_a_package(tmp_path / "site", monkeypatch):
        theirs = [refused(tmp_path / "suite", renamed(test)) for test in CONTRADICTIONS]
    assert [renamed_back(text) for text in theirs] == own
