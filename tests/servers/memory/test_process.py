"""The server as the process that it is."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.end_to_end.warm import warm_python
from tests.servers.data_governance.support import ROOT, as_process
from tests.servers.memory.support import ANN, BEN

pytestmark = pytest.mark.anyio


async def test_the_store_is_chosen_at_the_start_and_memories_last_in_their_file(
    tmp_path: Path,
) -> None:
    options = ("--store", "vector", "--file", str(tmp_path / "memories.db"))
    async with as_process(*options, module="servers.memory") as server:
        await server.data(ANN, "archival_memory_add", text="Lisbon")
    async with as_process(*options, module="servers.memory", mode="legacy") as server:
        assert (await server.data(ANN, "archival_memory_retrieve", query="Lisbon"))["result"][0][
            "text"
        ] == "Lisbon"
        assert (await server.data(BEN, "archival_memory_retrieve", query="Lisbon"))["result"] == []


def test_a_file_that_is_no_memory_is_refused_in_a_sentence(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("This is not a database. " * 50)
    done = subprocess.run(
        [warm_python(), "-m", "servers.memory", "--file", str(file)],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == f"{file} cannot be used as a memory: file is not a database\n"
