"""The recipes of the documentation, against the servers of others that they are for."""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from harness.api import load_suite
from harness.suites.config import load_config
from harness.types import FLAWS
from tests.end_to_end.harness_process import Finished, Project
from tests.end_to_end.policies.recipes import PAGE, files_of, project_of

STRANGERS = Path(__file__).parents[2] / "strangers"
NODE = Path(os.environ.get("HARNESS_STRANGERS", STRANGERS / "node_modules")) / ".bin"
VENVS = Path(os.environ.get("HARNESS_STRANGER_VENVS", STRANGERS / ".venvs"))


def needs(program: Path) -> pytest.MarkDecorator:
    reason = f"needs {program.name}, which .ci/run installs (see CONTRIBUTING.md)"
    return pytest.mark.skipif(shutil.which(program) is None, reason=reason)


def decisions(finished: Finished) -> dict[str, list[str]]:
    table = finished.document["decisions"]
    return {
        call: [table[call][name]["access"] for name in finished.document["identities"]]
        for call in table
    }


def probe(project: Project, *arguments: str) -> Finished:
    finished = project.run("probe", "--json-output", *arguments)
    assert finished.code == (1 if finished.document["findings"] else 0), finished.stderr
    return finished


@pytest.mark.slow
@needs(VENVS / "fastmcp" / "bin" / "fastmcp")
def test_fastmcp_decides_by_the_claims_and_scopes_of_our_tokens(tmp_path: Path) -> None:
    project = project_of("FastMCP", tmp_path, VENVS / "fastmcp" / "bin")
    found = probe(project)
    assert {one["problem"] for one in found.document["findings"]} == {"token_accepted"}
    # Its verifier looks at no 'nbf', which is a finding, and asks for no 'exp', which is none.
    assert all(
        FLAWS["not_yet_valid"].words in finding["words"] for finding in found.document["findings"]
    )
    accepted = {FLAWS["not_yet_valid"].words, FLAWS["missing_expiry"].words}
    assert {
        name.partition(": ")[2]
        for name, fate in found.document["tokens"].items()
        if fate == "accepted"
    } == accepted
    assert found.document["flawed_tokens"] == 3 * len(FLAWS)
    assert decisions(found) == {
        'get_customer(customer_id="C-17")': ["allowed", "filtered", "denied", "denied"],
        "export_customers()": ["allowed", "hidden", "hidden", "denied"],
    }


@pytest.mark.slow
@needs(VENVS / "mxcp" / "bin" / "mxcp")
def test_the_policies_of_mxcp_are_enforced_over_http_and_fail_open_where_the_recipe_says(
    tmp_path: Path,
) -> None:
    project = project_of("MXCP", tmp_path, VENVS / "mxcp" / "bin")
    suite = project.run("evals", "customers", "--model", "lexical", "--json-output")
    assert suite.code == 0, suite.stdout
    found = probe(project)
    call = 'get_customer(customer_id="C-17")'
    assert decisions(found)[call] == ["allowed", "filtered", "denied", "denied"]
    problems = Counter(finding["problem"] for finding in found.document["findings"])
    assert problems == {"fails_open": 4, "token_swapped": 2}
    assert found.code == 1

    tool = tmp_path / "tools" / "get_customer.yml"
    before, _, _ = tool.read_text(encoding="utf-8").partition("  policies:\n")
    (repaired,) = (block for block in PAGE.split("```yaml\n") if block.startswith("  policies:\n"))
    tool.write_text(before + repaired.partition("```")[0], encoding="utf-8")
    config = tmp_path / "harness.yml"
    (args,) = (block for block in PAGE.split("```yaml\n") if block.startswith("    args: [serve"))
    stateful = re.compile("^    args:.*\n", re.MULTILINE)
    written = stateful.sub(args.partition("```")[0], config.read_text(encoding="utf-8"))
    config.write_text(written, encoding="utf-8")
    found = probe(project)
    assert (found.code, found.document["findings"]) == (0, [])
    assert decisions(found)[call] == ["allowed", "filtered", "denied", "denied"]


@pytest.mark.slow
@needs(VENVS / "mxcp" / "bin" / "mxcp")
@pytest.mark.parametrize(
    ("field", "declared", "value", "action", "said"),
    [
        ("email", "string, sensitive: true", "'ann@x.org'", "filter_sensitive_fields", "ann@x.org"),
        ("balance", "number", "1834.5", "mask_fields, fields: [balance]", "valid number"),
    ],
)
def test_what_the_recipe_says_of_mxcp_itself_is_so(
    tmp_path: Path, field: str, declared: str, value: str, action: str, said: str
) -> None:
    project = project_of("MXCP", tmp_path, VENVS / "mxcp" / "bin")
    (tmp_path / "tools" / "get_customer.yml").write_text(
        "mxcp: 1\n"
        "tool:\n"
        "  name: get_customer\n"
        "  description: Look up a customer.\n"
        "  parameters: [{name: customer_id, type: string, description: Its id.}]\n"
        f"  return: {{type: object, properties: {{{field}: {{type: {declared}}}}}}}\n"
        f"  source: {{code: \"SELECT {value} AS {field} WHERE $customer_id > 'A'\"}}\n"
        f"  policies: {{output: [{{condition: \"user.role != 'admin'\", action: {action}}}]}}\n",
        encoding="utf-8",
    )
    asked = ("--suite", "customers", "--as", "agent", "--args", '{"customer_id": "C-17"}')
    assert said in project.run("call", "get_customer", *asked).stdout


@pytest.mark.slow
@needs(NODE / "mcp-server-filesystem")
def test_the_filesystem_server_keeps_each_user_in_a_folder_of_their_own(tmp_path: Path) -> None:
    project = project_of("Filesystem", tmp_path, NODE)
    for name, text in (
        ("ann/notes.txt", "73-19-42-88"),
        ("bob/notes.txt", "Lisbon"),
        ("public/hours.txt", "9 to 5"),
    ):
        path = tmp_path / "folders" / name
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
    found = probe(project, "--named-only")
    assert (found.code, found.document["findings"]) == (0, [])
    table = decisions(found)
    assert table['read_text_file(path="../ann/notes.txt")'] == ["allowed", "denied", "denied"]
    assert table['list_directory(path="../bob")'] == ["denied", "allowed", "denied"]
    assert table['read_text_file(path="../public/hours.txt")'] == ["denied", "denied", "allowed"]


def test_every_recipe_has_all_its_files() -> None:
    crm = {"harness.yml", "evals/customers.yml"}
    assert set(files_of("MXCP")) == crm | {
        "mxcp-site.yml",
        "mxcp-config.yml",
        "tools/get_customer.yml",
    }
    assert set(files_of("FastMCP")) == crm | {"crm.py"}
    assert set(files_of("Filesystem")) == {"harness.yml", "evals/files.yml"}


@pytest.mark.parametrize("title", ["MXCP", "FastMCP", "Filesystem"])
def test_harness_can_read_every_recipe(title: str, tmp_path: Path) -> None:
    project = project_of(title, tmp_path, NODE)
    config = load_config(tmp_path, {})
    for path in (project.folder / "evals").iterdir():
        suite = load_suite(path)
        assert isinstance(suite.server, str)
        assert config.resolve_server(suite.server, suite.name).identity.via in {"bearer", "env"}
