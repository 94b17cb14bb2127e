from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from harness.runner.engines.machine_facts import (
    MachineFacts,
    find_differences,
    inspect_machine,
    list_files,
)
from harness.runner.planning.plan import make_plan
from harness.types import Location, ModelSpec, ServerSpec, Suite, TransportSpec
from tests.support import a_case


def here(folder: Path) -> MachineFacts:
    (folder / "server.py").write_text("print()")
    return inspect_machine(folder, ["server.py"])


def test_a_machine_with_the_same_files_and_versions_is_like_this_one(tmp_path: Path) -> None:
    ours = here(tmp_path)
    assert list(find_differences(ours, inspect_machine(tmp_path, ["server.py"]), tmp_path)) == []


def test_each_version_that_differs_is_named(tmp_path: Path) -> None:
    ours = here(tmp_path)
    own = ours.versions["harness"]
    theirs = replace(
        ours, versions={**ours.versions, "mcp": "1.0", "Python": "3.9.1", "harness": "0123"}
    )
    assert list(find_differences(ours, theirs, tmp_path)) == [
        f"the files of harness are others: their digest is 0123, here it is {own}",
        f"Python is 3.9.1, and here it is {ours.versions['Python']}",
        f"mcp is 1.0, and here it is {ours.versions['mcp']}",
    ]


def test_a_folder_or_a_file_that_is_missing_or_another_one_is_named(tmp_path: Path) -> None:
    ours = here(tmp_path)
    gone = tmp_path / "gone"
    assert list(find_differences(ours, inspect_machine(gone, ["server.py"]), gone)) == [
        f"there is no folder {gone}"
    ]
    (tmp_path / "server.py").write_text("print(1)")
    assert list(find_differences(ours, inspect_machine(tmp_path, ["server.py"]), tmp_path)) == [
        "the file server.py is another one"
    ]
    (tmp_path / "server.py").unlink()
    assert list(find_differences(ours, inspect_machine(tmp_path, ["server.py"]), tmp_path)) == [
        "there is no file server.py"
    ]


def test_the_files_of_a_plan_are_its_suites_and_what_its_servers_are_started_with(
    tmp_path: Path,
) -> None:
    for name in ("shop.yml", "server.py", "data.csv"):
        (tmp_path / name).touch()
    transport = TransportSpec(
        command="python", args=("server.py", "--data", "data.csv", "x" * 9999)
    )
    suite = Suite(name="s", cases=(a_case(),), at=Location(file="shop.yml"))
    plan = make_plan(
        [suite],
        models_of=lambda _: [ModelSpec(name="m", provider="lexical", model_id="m")],
        server_of=lambda _: ServerSpec(name="srv", transport=transport),
    )
    assert list_files(plan, tmp_path) == ["shop.yml", "server.py", "data.csv"]
