"""The sound servers, and how each is probed with the data of one seed."""

from __future__ import annotations

import atexit
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TypeAlias

import anyio

from harness.judging.checks import VOCABULARY
from harness.probing.callers import name_callers
from harness.probing.prober import ProbePlan, run_probe
from harness.probing.report import ProbeReport
from harness.reports.findings import ProbeFinding
from harness.suites.config import load_config
from harness.suites.readers import read_suite
from harness.types import FLAWS, Alteration, DataSet, IdentitySpec, ServerSpec, TransportSpec
from tests.end_to_end.policies.recipes import DOCS, PAGE, files_of
from tests.end_to_end.warm import warm_python
from tests.proofs.planted.measure import asked
from tests.proofs.planted.measure import probed as clinic
from tests.proofs.sound.people import ANOTHER_EMAIL, EMAIL, customers, with_people
from tests.proofs.warm import warm

Probed: TypeAlias = Callable[[int, Path], ProbeReport]
"""The report on the data of a seed, whose log goes below a folder."""

STRANGERS = Path(__file__).parents[2] / "strangers"
NODE = Path(os.environ.get("HARNESS_STRANGERS", STRANGERS / "node_modules"))
VENVS = Path(os.environ.get("HARNESS_STRANGER_VENVS", STRANGERS / ".venvs"))
_NO_RICH = 'raise ImportError("coloured tracebacks take most of the time of a refusal")\n'
"""Stands in for the module: the Python SDK then logs refusals in plain words."""
_PLAIN_LOG = {"FASTMCP_ENABLE_RICH_LOGGING": "false"}
"""The same for FastMCP."""
_SHARED = {
    "fastmcp": ("fastmcp.cli", "fastmcp.server.http", "uvicorn.protocols.http.auto"),
    "mxcp": ("mxcp.__main__", "mxcp.server.interfaces.server.mcp", "uvicorn.protocols.http.auto"),
}
"""What these programs import, in every process the same."""
_ENDS = ExitStack()
"""What is open until this process ends."""
atexit.register(_ENDS.close)
_ALTERED = ("balance", "email", "notes", "patient_id")


@dataclass(frozen=True, slots=True)
class Subject:
    """One sound server, asked in some ways."""

    probed: Probed
    modes: str
    """How it is asked, in words."""
    is_true: Callable[[ProbeFinding], bool] = lambda _: False
    """Whether a finding is no false alarm: a recipe's server that is known not to be sound."""


def _stdio(seed: int, folder: Path) -> ProbeReport:
    return clinic(None, folder, seed=seed, python=warm_python())


def _changing(seed: int, folder: Path) -> ProbeReport:
    return clinic(None, folder, seed=seed, python=warm_python(), damaged=False, destructive=True)


def _http(seed: int, folder: Path) -> ProbeReport:
    suite = asked(("a_record", "all_patients", "a_colleague", "invoices", "a_ward"))
    return clinic(None, folder, seed=seed, python=warm_python(), suite=suite, transport="http")


def _altered(seed: int, folder: Path) -> ProbeReport:
    return clinic(
        None, folder, seed=seed, python=warm_python(), damaged=False, suite=asked(fields=_ALTERED)
    )


def _python_sdk(seed: int, folder: Path, *, alters: bool = False) -> ProbeReport:
    page = (DOCS / "policies.md").read_text(encoding="utf-8")
    files = with_people(files_of("A server with a policy", page), seed)
    files["rich.py"] = _NO_RICH
    transport = TransportSpec(command=warm_python(), args=("desk.py",))
    return _recipe(files, folder, _desk(transport), alters=alters)


def _typescript_sdk(seed: int, folder: Path, *, alters: bool = False) -> ProbeReport:
    page = (DOCS / "policies.md").read_text(encoding="utf-8")
    files = with_people(files_of("A server with a policy", page), seed)
    (folder / "node_modules").symlink_to(NODE)
    shutil.copy(Path(__file__).with_name("desk.mjs"), folder)
    people = json.dumps(customers(seed))
    transport = TransportSpec(command="node", args=("desk.mjs",), env={"DESK_CUSTOMERS": people})
    return _recipe(files, folder, _desk(transport), alters=alters)


def _desk(transport: TransportSpec) -> ServerSpec:
    return ServerSpec(name="desk", transport=transport, identity=IdentitySpec())


def _fastmcp(seed: int, folder: Path, *, alters: bool = False) -> ProbeReport:
    return _recipe(with_people(files_of("FastMCP"), seed), folder, alters=alters)


def _mxcp(seed: int, folder: Path) -> ProbeReport:
    """Probe the recipe with the conditions that the page mends, and with sessions."""
    files = with_people(files_of("MXCP"), seed)
    (mended,) = (block for block in PAGE.split("```yaml\n") if block.startswith("  policies:\n"))
    tool = "tools/get_customer.yml"
    files[tool] = files[tool].partition("  policies:\n")[0] + mended.partition("```")[0]
    return _recipe(files, folder, alters=False)


def _recipe(
    files: Mapping[str, str], folder: Path, server: ServerSpec | None = None, *, alters: bool
) -> ProbeReport:
    """Probe the project of ``files``; ``alters``: with another address of the first customer.

    Damaged identities and forged calls are then left out: they ask nothing of altered data.
    Without ``server`` its configuration says which.
    """
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    suite = read_suite(folder / "evals" / "customers.yml", VOCABULARY)
    if server is None:
        server = load_config(folder, {}).resolve_server(str(suite.server), suite.name)
        command, *args = (*_forked(str(server.transport.command)), *server.transport.args)
        env = {**server.transport.env, **_PLAIN_LOG}
        transport = replace(server.transport, command=command, args=tuple(args), env=env)
        server = replace(server, transport=transport)
    server = replace(server, transport=replace(server.transport, cwd=str(folder)))
    address = Alteration(field="email", a=DataSet(), b=DataSet(env={EMAIL: ANOTHER_EMAIL}))
    plan = ProbePlan(
        server=server,
        callers=name_callers(suite.cases),
        cases=suite.cases,
        damaged=not alters,
        destructive=True,
        alterations=(address,) if alters else (),
    )
    return anyio.run(run_probe, plan, folder / "runs").report


_KEPT = re.compile(
    r"\(customer_id=\"C-\d+\"\) works with the token of guest in a session of (admin|agent), "
    r"and in a session of their own it is refused to guest$"
)


def _keeps_the_opener(finding: ProbeFinding) -> bool:
    """Whether a finding says that a session of MXCP keeps the user who opened it: it does."""
    return finding.problem == "token_swapped" and _KEPT.search(finding.words) is not None


@cache
def _forked(program: str) -> tuple[str, ...]:
    """Return the command that stands for a ``program`` of its own environment (`warm`)."""
    folder = VENVS / program / "bin"
    address = Path(_ENDS.enter_context(tempfile.TemporaryDirectory())) / "socket"
    return (
        *_ENDS.enter_context(warm(folder / "python", _SHARED[program], address)),
        str(folder / program),
    )


def _ignores_nbf(finding: ProbeFinding) -> bool:
    """Whether a finding says that FastMCP's verifier does not look at ``nbf``: it does not."""
    return finding.problem == "token_accepted" and FLAWS["not_yet_valid"].words in finding.words


_VALUES = "altered values, --named-only"
_ALL = "attributes, smuggled, arguments, cursors"
SUBJECTS: Mapping[str, Subject] = {
    "clinic": Subject(_stdio, _ALL),
    "clinic_changing": Subject(_changing, "--destructive, --named-only"),
    "clinic_http": Subject(_http, f"{_ALL}, tokens, swapped tokens"),
    "clinic_altered": Subject(_altered, _VALUES),
    "python_sdk": Subject(_python_sdk, f"{_ALL}, --destructive"),
    "python_sdk_altered": Subject(partial(_python_sdk, alters=True), _VALUES),
    "typescript_sdk": Subject(_typescript_sdk, f"{_ALL}, --destructive"),
    "typescript_sdk_altered": Subject(partial(_typescript_sdk, alters=True), _VALUES),
    "fastmcp": Subject(_fastmcp, f"{_ALL}, tokens, --destructive", is_true=_ignores_nbf),
    "fastmcp_altered": Subject(partial(_fastmcp, alters=True), _VALUES, is_true=_ignores_nbf),
    "mxcp": Subject(
        _mxcp, f"{_ALL}, tokens, swapped tokens, --destructive", is_true=_keeps_the_opener
    ),
}
"""By name."""
