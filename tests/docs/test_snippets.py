"""Every listing of every page is read by what will read it, or a reason says why not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click import ClickException

from docs.site.pages import ROOT
from harness.base.errors import HarnessError
from tests.docs.snippets import Snippet, commands_in, read, snippets

_CI = "a workflow: tests/end_to_end/test_ci_page.py runs its steps"
_MXCP = "a file of MXCP: tests/end_to_end/policies/test_recipes.py starts MXCP with it"
_CUT = "an extract, with … for what is left out"

READ_ELSEWHERE: dict[tuple[str, str], str] = {
    ("docs/ci.md", "- name: Lint for code scanning"): _CI,
    ("docs/ci.md", "evals:"): _CI,
    ("docs/ci.md", "permissions:"): "a workflow: tests/packaging/test_action.py runs its steps",
    ("docs/ci.md", "include:"): "a pipeline: tests/packaging/test_gitlab.py runs its script",
    ("docs/ci.md", "repos:"): "hooks: tests/end_to_end/test_ci_page.py compares them",
    ("docs/engines.md", "job=$(sbatch"): "for Slurm: the scripts that it submits are run",
    ("docs/migrate.md", "description: Prices are found"): (
        "a file of promptfoo: tests/docs/test_walkthroughs.py runs it"
    ),
    ("docs/policies.md", "- run: harness evals customers --report junit:report.xml"): (
        "steps of a workflow"
    ),
    ("docs/recipes.md", "policies:"): _MXCP,
    ("docs/reports.md", '{"suite": "support_desk", "case_id": "who_is_it", "model": "'): _CUT,
    ("docs/tutorial/index.md", "must_error: [{tool: read_multiple_files, severity: warn}]"): (
        "a line of a file: tests/docs/test_walkthroughs.py puts it there"
    ),
}
"""(Page, how the listing's first line begins) → why it is not read here."""


SNIPPETS = list(snippets())


def reason(snippet: Snippet) -> str | None:
    """Return why ``snippet`` is not read here, if it is not."""
    for (page, begin), why in READ_ELSEWHERE.items():
        if snippet.page == page and snippet.begin.startswith(begin):
            return why
    return None


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda one: f"{one.page}:{one.line}")
def test_a_listing_can_be_read(snippet: Snippet, tmp_path: Path) -> None:
    if reason(snippet) is None:
        read(snippet, tmp_path)


def test_every_reason_is_of_a_listing_and_names_a_test_that_exists() -> None:
    for (page, begin), why in READ_ELSEWHERE.items():
        assert any(one.page == page and one.begin.startswith(begin) for one in SNIPPETS), begin
        for path in re.findall(r"tests/[\w/]+\.py", why):
            assert (ROOT / path).exists()


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("sh", "harness evals shop --no-such-option"),
        ("sh", "harness no_such_command"),
        ("sh", "cd x && make no_such_target"),
        ("console", "$ harness lint --fail-on\nfine"),
        ("sh", "frobnicate"),
        ("yaml", "suite: shop\ntests: [{name: a, prompt: b, expect_tool: c}]"),
        ("yaml", "must_call: [{tol: get_order}]"),
        ("yaml", "mxcp: 1\nservers: {shop: {comand: python}}"),
        ("yaml", "identity: {via: telepathy}"),
        ("python", "from harness import NoSuchThing"),
        ("python", "def f(:"),
        ("json", '{"a": …}'),
    ],
)
def test_a_wrong_listing_is_noticed(language: str, text: str, tmp_path: Path) -> None:
    with pytest.raises((AssertionError, SyntaxError, ValueError, HarnessError, ClickException)):
        read(Snippet(page="p.md", line=1, language=language, text=text), tmp_path)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("sh", "A=1 harness evals shop -k a > x.txt 2>&1 | tee y   # comment"),
        ("yaml", "- name: a\n  prompt: b\n  assertions: {must_call: [c]}"),
        ("yaml", "interference:\n  - {alters: a, a: {env: {X: y}}, b: {env: {X: z}}}"),
    ],
)
def test_a_part_of_a_file_is_read_in_its_place(language: str, text: str, tmp_path: Path) -> None:
    read(Snippet(page="p.md", line=1, language=language, text=text), tmp_path)


def test_a_line_is_taken_apart_as_a_shell_does() -> None:
    line = "A=1 harness evals 'a; b' > x.txt 2>&1 | tee y && cd z  # then; rest"
    assert commands_in(line) == [
        ["A=1", "harness", "evals", "a; b", "2"],
        ["tee", "y"],
        ["cd", "z"],
    ]
