"""The shape of the house: what may import what, what is public, and what a command may load."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import is_dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import harness
from tests.figures import Figures, nodes, parsed
from tests.mutations import JUDGES

ROOT = Path(harness.__file__).parent

FLOORS = (
    "version",
    "re_exports",
    "types",
    "base",
    "runlog",
    "models",
    "sessions",
    "agents",
    "judging",
    "suites",
    "runner",
    "reports",
    "leaderboards",
    "probing",
    "descriptions",
    "api",
    "pytest_plugin",
    "web",
    "cli",
    "entry",
)
"""From the ground up: a module imports from floors below its own, or from its own room."""

LOOSE = {"__init__", "api", "entry", "re_exports", "version"}
"""Modules that stand beside the rooms."""


_REFERENCE = re.compile(r"(?P<module>harness(\.\w+)+)(:\w+)?")


@cache
def modules() -> dict[str, Path]:
    """Return every module of the package, by its dotted name."""
    paths = {
        ".".join(path.relative_to(ROOT.parent).with_suffix("").parts): path
        for path in sorted(ROOT.rglob("*.py"))
        if "_builtin" not in path.parts
    }
    return {name.removesuffix(".__init__"): path for name, path in paths.items()}


@cache
def imports() -> tuple[tuple[str, str, Path], ...]:
    return tuple(_imports())


def _imports() -> Iterator[tuple[str, str, Path]]:
    for path in sorted(ROOT.rglob("*.py")):
        if "_builtin" in path.parts:
            continue
        own = path.relative_to(ROOT).parts[0].removesuffix(".py")
        for node in nodes(path):
            for name in _imported(node):
                if name.startswith("harness.") and own != "__init__":
                    yield own, name.split(".")[1], path


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        # A registry imports what such a text names.
        named = node.value.startswith("harness.") and _REFERENCE.fullmatch(node.value)
        # `harness.ROOM` alone is the name of an entry-point group.
        is_module = named and named["module"] in modules() and named["module"].count(".") > 1
        return [named["module"]] if named and is_module else []
    if isinstance(node, ast.ImportFrom):
        assert node.level == 0, "imports are absolute"
        if node.module == "harness":
            return [f"harness.{alias.name}" for alias in node.names]
        return [node.module or ""]
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []


def test_ls_tells_the_architecture() -> None:
    rooms = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"_builtin"}
    assert {path.stem for path in ROOT.glob("*.py")} == LOOSE
    assert sorted(rooms | LOOSE) == sorted([*FLOORS, "__init__"])
    assert len(rooms) == 16


def test_imports_only_go_down() -> None:
    upward = {
        f"{path.relative_to(ROOT)} imports {theirs}"
        for own, theirs, path in imports()
        if own != theirs and FLOORS.index(theirs.split(".")[0]) >= FLOORS.index(own)
    }
    assert upward == set()


def test_an_import_from_another_room_goes_through_its_door() -> None:
    """What a room offers is named in its ``__init__``, and nothing else of it is imported."""
    inside = {
        f"{path.relative_to(ROOT)} imports {node.module}"
        for path in modules().values()
        for node in nodes(path)
        if isinstance(node, ast.ImportFrom)
        and (node.module or "").startswith("harness.")
        and (node.module or "").count(".") > 1
        and (node.module or "").split(".")[1] != path.relative_to(ROOT).parts[0]
        and node.module != "harness.re_exports"  # the door itself
    }
    assert inside == set()


@pytest.mark.parametrize("stub", sorted(ROOT.glob("*/__init__.pyi")), ids=lambda s: s.parent.name)
def test_what_a_room_offers_is_what_others_use(stub: Path) -> None:
    """Every name of a door exists, and somebody outside of the room imports it."""
    room = import_module(f"harness.{stub.parent.name}")
    offered = set(offers()[room.__name__])
    assert all(getattr(room, name) is not None for name in offered)
    used = {
        alias.name
        for path in modules().values()
        if path.relative_to(ROOT).parts[0] != stub.parent.name
        for node in nodes(path)
        if isinstance(node, ast.ImportFrom) and node.module == room.__name__
        for alias in node.names
    }
    # What is loaded only where it is used: `from harness import probing`, then `probing.NAME`.
    used |= {
        node.attr
        for path in modules().values()
        for node in nodes(path)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == stub.parent.name
    }
    assert offered - used == set()


@pytest.mark.parametrize(
    ("room", "never"), [("judging", "sessions"), ("models", "suites"), ("reports", "runner")]
)
def test_some_rooms_never_know_each_other(room: str, never: str) -> None:
    assert [path for own, theirs, path in imports() if own == room and theirs == never] == []


def test_nothing_imports_a_leaderboard() -> None:
    assert {own for own, theirs, _ in imports() if theirs == "leaderboards"} <= {"leaderboards"}


@cache
def offers() -> dict[str, dict[str, str]]:
    """Return what each room's ``__init__`` offers: name → the module that defines it."""
    doors = {}
    for stub in ROOT.glob("*/__init__.pyi"):
        room = f"harness.{stub.parent.name}"
        lines = [line.split() for line in stub.read_text("utf-8").splitlines()]
        doors[room] = {line[3]: room + line[1] for line in lines}
    return doors


def test_no_module_is_part_of_a_circle() -> None:
    assert Figures(ROOT.parent).cycles == []


AT_EVERY_START = {
    "harness.base.errors",
    "harness.entry",
    "harness.cli",
    "harness.pytest_plugin",
    "harness.pytest_plugin.suite_detection",
    "harness.pytest_plugin.session_end",
    "harness.runner.planning.options",
}
"""Modules that each start of a command, or of anybody's pytest, imports: they leave the rest for
later."""


def test_an_import_inside_a_function_saves_the_loading_of_an_sdk() -> None:
    idle = {
        f"{name}: {target}"
        for name, path in modules().items()
        if name not in AT_EVERY_START and not name.startswith("harness.suites.formats.")
        for function in nodes(path)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for target in _ours(function)
        if not loaded_by(target) - loaded_by(name)
    }
    assert idle == set()


@cache
def loaded_by(name: str) -> frozenset[str]:
    """Return the packages of others that are loaded with a module of ours."""
    seen: set[str] = set()
    left = [name]
    while left:
        module = left.pop()
        if module not in seen:
            seen.add(module)
            left += [target for target in _direct(module) if target in modules()]
            left += [parent for parent in [module.rpartition(".")[0]] if parent in modules()]
    outside = {target.split(".")[0] for module in seen for target in _direct(module)}
    return frozenset(outside - sys.stdlib_module_names - {"harness"})


@cache
def _direct(name: str) -> frozenset[str]:
    """Return what a module imports when it is itself imported: modules, and names in them."""
    found: set[str] = set()
    left: list[ast.AST] = [parsed(modules()[name])]
    while left:
        for node in ast.iter_child_nodes(left.pop()):
            if isinstance(node, ast.ImportFrom):
                module = node.module or ""
                door = offers().get(module, {})
                found |= {module, *(door.get(it.name, f"{module}.{it.name}") for it in node.names)}
            elif isinstance(node, ast.Import):
                found |= {one.name for one in node.names}
            elif not (
                isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
                or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
            ):
                left.append(node)
    return frozenset(found)


def _ours(function: ast.AST) -> set[str]:
    """Return the modules of ours that are imported inside a function."""
    return {
        next(
            module
            for module in (
                offers().get(node.module, {}).get(name.name),
                f"{node.module}.{name.name}",
                node.module,
            )
            if module in modules()
        )
        for node in ast.walk(function)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("harness")
        for name in node.names
    }


@pytest.mark.parametrize("page", sorted((ROOT / "types").glob("*.py")), ids=lambda page: page.stem)
def test_every_noun_is_immutable_and_every_field_of_it_is_explained(page: Path) -> None:
    for node in parsed(page).body:
        if not isinstance(node, ast.ClassDef) or not node.decorator_list:
            continue
        (decorator,) = node.decorator_list
        assert "frozen=True" in ast.unparse(decorator), node.name
        for field, after in zip(node.body, [*node.body[1:], None], strict=True):
            if isinstance(field, ast.AnnAssign):
                explained = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
                assert explained, f"{node.name}.{ast.unparse(field.target)}"


def test_the_public_api_is_exactly_this() -> None:
    assert harness.__all__ == [
        "Caller",
        "Case",
        "CaseFacts",
        "CaseResult",
        "Check",
        "CheckResult",
        "Counts",
        "Decoys",
        "Elicitation",
        "GuardRails",
        "HarnessError",
        "InstructionsEdit",
        "Limits",
        "Message",
        "ParameterEdit",
        "PythonCase",
        "PythonRun",
        "Repeats",
        "Report",
        "ScriptedCall",
        "ServerSpec",
        "SimulatedUser",
        "Suite",
        "ToolCall",
        "ToolEdit",
        "ToolSearch",
        "Transcript",
        "TransportSpec",
        "TrialResult",
        "Turn",
        "Variant",
        "load_suite",
        "run",
        "run_async",
    ]
    assert all(getattr(harness, name) is not None for name in harness.__all__)


HEAVY = (
    "mcp",
    "anthropic",
    "openai",
    "httpx2",
    "pydantic",
    "genai_prices",
    "rich",
    "yaml",
    "anyio",
    "jsonschema",
)


@pytest.mark.parametrize(
    ("arguments", "allowed"),
    [
        (["--help"], set()),
        (["--version"], set()),
        (["models"], {"yaml", "anyio"}),
        (["evals", "--help"], {"rich", "pydantic", "yaml", "anyio", "jsonschema"}),
    ],
)
def test_a_command_loads_nothing_heavy_that_it_does_not_need(
    arguments: list[str], allowed: set[str], tmp_path: Path
) -> None:
    script = (
        "import sys; sys.argv[0] = 'harness'\n"
        "from harness.cli import main\n"
        "try: main()\n"
        f"except SystemExit: print('LOADED', [name for name in {HEAVY!r} if name in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        cwd=tmp_path,
        env={"HOME": str(tmp_path)},
    )
    loaded = set(ast.literal_eval(result.stdout.split("LOADED")[1]))
    assert loaded <= allowed


def test_help_loads_no_type_no_redactor_and_no_list_of_packages(tmp_path: Path) -> None:
    """They took two thirds of its instructions, for words that are all our own."""
    script = (
        "import sys; sys.argv = ['harness', '--help']\n"
        "from harness.cli import main\n"
        "try: main()\n"
        "except SystemExit: print('LOADED', sorted(sys.modules))"
    )
    result = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        cwd=tmp_path,
        env={"HOME": str(tmp_path)},
    )
    loaded = ast.literal_eval(result.stdout.split("LOADED")[1].strip())
    slow = ("harness.types.", "harness.base.redaction", "importlib.metadata", "difflib")
    loaded = set(loaded) - {"harness.types.shared_dataclass"}  # it defines no type
    assert [module for module in loaded if module.startswith(slow)] == []


def test_every_dependency_is_pinned_to_a_release() -> None:
    lines = (ROOT.parent / "requirements.lock").read_text("utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith((" ", "#"))]
    assert len(pins) > 30
    assert [pin for pin in pins if not re.match(r"[a-z0-9._-]+(\[[a-z0-9,._-]+\])?==\d", pin)] == []


GATHERED = {"AccessFacts", "Totals", "WithheldValue", "_WaitingTrials"}
"""Records of the judges, and of what is counted of them, that grow while they are gathered."""


def test_a_status_is_decided_in_one_place_and_changed_nowhere() -> None:
    found = {
        path.relative_to(ROOT).parts[0]
        for path in ROOT.rglob("*.py")
        for node in nodes(path)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and (
            (node.func.id == "replace" and "status" in {keyword.arg for keyword in node.keywords})
            or node.func.id in {"TrialResult", "CaseResult"}
        )
    }
    assert found == {"judging"}


def test_what_a_judge_has_found_cannot_be_changed_afterwards() -> None:
    judges = [path for pattern in JUDGES for path in sorted(ROOT.parent.glob(pattern))]
    modules = [
        import_module(".".join(path.relative_to(ROOT.parent).with_suffix("").parts))
        for path in judges
    ]
    records = {
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type) and is_dataclass(value) and value.__module__ == module.__name__
    }
    assert len(records) > 20
    changing = {record.__name__ for record in records if not record.__dataclass_params__.frozen}  # type: ignore[attr-defined]
    assert changing == GATHERED
