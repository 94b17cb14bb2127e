"""Every kind of fault on servers that others wrote, over each transport that they speak."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import pytest

from harness.sessions import FaultInjector, FaultySession, open_sessions
from harness.types import FAILING, UNASKED, FaultKind, FaultRule, FaultSet, ServerSpec, ToolRequest
from tests.clock import PATIENT_S
from tests.support import a_server

STRANGERS = Path(
    os.environ.get("HARNESS_STRANGERS") or Path(__file__).parents[2] / "strangers" / "node_modules"
)
NODE = shutil.which("node")
pytestmark = [
    pytest.mark.anyio,
    pytest.mark.slow,
    pytest.mark.skipif(
        NODE is None or not (STRANGERS / ".bin").is_dir(),
        reason="needs node and the packages of tests/strangers (npm ci --prefix tests/strangers)",
    ),
]
CALLS: Mapping[str, tuple[tuple[str, dict[str, str]], tuple[str, dict[str, str]]]] = {
    "everything": (
        ("echo", {"message": "hello"}),
        ("get-structured-content", {"location": "Chicago"}),
    ),
    "filesystem": (("list_directory", {"path": "."}), ("get_file_info", {"path": "a.txt"})),
}
"""Server → a call whose answer may be repeated, and the call that is hit."""
UNABLE: Mapping[str, frozenset[FaultKind]] = {
    # One row has no first half of its rows.
    "everything": frozenset({"partial"}),
    "filesystem": frozenset(),
}


def find_server(name: str, transport: str, folder: Path) -> ServerSpec:
    script = STRANGERS / "@modelcontextprotocol" / f"server-{name}" / "dist" / "index.js"
    kinds: Mapping[str, dict[str, Any]] = {
        "stdio": {"args": (str(script), *(["stdio"] if name == "everything" else [str(folder)]))},
        "http": {"args": (str(script), "streamableHttp"), "transport": "http"},
        "sse": {"args": (str(script), "sse"), "transport": "sse"},
    }
    waits: dict[str, Any] = {"start_timeout_s": PATIENT_S, "call_timeout_s": PATIENT_S}
    return a_server(name=name, command=NODE, cwd=str(folder), **kinds[transport], **waits)


@pytest.mark.parametrize(
    ("name", "transport"),
    [
        ("everything", "stdio"),
        ("everything", "http"),
        ("everything", "sse"),
        ("filesystem", "stdio"),
    ],
)
async def test_each_kind_fires_on_a_server_that_others_wrote(
    name: str, transport: str, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    (tmp_path / "b.txt").write_text("two\n")
    (first, given), (tool, arguments) = CALLS[name]
    before = ToolRequest(id="1", tool=first, arguments=given)
    asked = ToolRequest(id="2", tool=tool, arguments=arguments)
    server = find_server(name, transport, tmp_path)
    async with open_sessions() as pool, pool.lend_session(server, None) as lent:
        for kind in get_args(FaultKind):
            rule = FaultRule(do=kind, on=tool, nth=2, seed=1)
            injector = FaultInjector(FaultSet(name="f", faults=(rule,)), "c", 30)
            session = FaultySession(lent, injector)
            assert (await session.call(before, reply=1, epoch=0.0)).outcome == "ok"
            clean = await session.call(asked, reply=2, epoch=0.0)
            made = await session.call(asked, reply=3, epoch=0.0)
            assert (clean.outcome, clean.injected) == ("ok", None), clean.text
            assert made.outcome == ("injected" if kind in UNASKED else "ok")
            if kind in UNABLE[name]:
                assert made.injected is None, kind
                continue
            assert made.injected is not None, kind
            assert made.told_as_error == (kind in FAILING)
            assert (made.told_text == clean.text) == (kind == "slow")
