"""The suites and servers that come with the project."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import harness
from harness.base.builtin import builtin_root, builtin_server, builtin_servers, builtin_suites
from harness.base.errors import UsageError

PACKAGE = Path(harness.__file__).parent

REPORT = """
import json, harness.base.builtin as b
folder = b.builtin_server("shop").transport.cwd
print(json.dumps([str(b.builtin_root()), str(b.builtin_suites()), b.builtin_servers(), folder]))
"""


def layout(root: Path) -> None:
    """Put a suite folder, two servers, something shared and something stray below ``root``."""
    for name in ("shop", "bank", "common"):
        (root / "servers" / name).mkdir(parents=True)
        (root / "servers" / name / "__main__.py").write_text("")
    (root / "servers" / "notes").mkdir()
    (root / "evals").mkdir()


def package(folder: Path) -> Path:
    """Copy the modules that finding built-ins needs, and nothing else, to a package below
    ``folder``.
    """
    target = folder / "harness"
    (target / "base").mkdir(parents=True)
    for part in (target, target / "base"):
        (part / "__init__.py").write_text("")
    for name in ("builtin", "errors"):
        shutil.copy(PACKAGE / "base" / f"{name}.py", target / "base")
    shutil.copy(PACKAGE / "re_exports.py", target)
    shutil.copytree(PACKAGE / "types", target / "types")
    return target


def reported(folder: Path) -> list[object]:
    done = subprocess.run(
        [sys.executable, "-c", REPORT],
        env={"PYTHONPATH": str(folder)},
        cwd="/",
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    answer: list[object] = json.loads(done.stdout)
    return answer


def test_a_checkout_has_its_suites_and_servers_beside_the_package(tmp_path: Path) -> None:
    package(tmp_path)
    layout(tmp_path)
    root = str(tmp_path)
    assert reported(tmp_path) == [root, f"{root}/evals", ["bank", "shop"], root]


def test_an_installed_copy_uses_its_own_and_not_what_happens_to_lie_beside_it(
    tmp_path: Path,
) -> None:
    installed = package(tmp_path) / "_builtin"
    layout(installed)
    (tmp_path / "servers" / "stranger").mkdir(parents=True)
    (tmp_path / "servers" / "stranger" / "__main__.py").write_text("")
    assert reported(tmp_path) == [
        str(installed),
        f"{installed}/evals",
        ["bank", "shop"],
        str(installed),
    ]


def test_this_project_has_its_data_governance_server() -> None:
    assert "data_governance" in builtin_servers()
    assert builtin_suites() == builtin_root() / "evals"


def test_a_built_in_server_is_run_by_this_interpreter_and_told_who_asks_in_meta() -> None:
    server = builtin_server("data_governance")
    assert (server.transport.command, server.transport.args) == (
        sys.executable,
        ("-m", "servers.data_governance"),
    )
    assert server.transport.cwd == str(builtin_root())
    assert server.identity.via == "meta"


def test_an_unknown_built_in_server_is_answered_with_the_nearest_name() -> None:
    with pytest.raises(UsageError, match=r"Did you mean 'data_governance'\?"):
        builtin_server("data_govrnance")


def test_servers_that_can_do_so_are_reached_over_http_under_a_second_name() -> None:
    names = [name for name in builtin_servers() if name.endswith("_http")]
    assert names == ["data_governance_http", "finance_http", "hr_http", "memory_http", "sales_http"]
    server = builtin_server("hr_http")
    assert server.transport.args[:3] == ("-m", "servers.hr", "--transport")
    assert (server.transport.kind, server.identity.via, server.transport.url) == (
        "http",
        "bearer",
        "http://127.0.0.1:{port}/mcp",
    )
    assert builtin_server("hr").transport.kind == "stdio"
