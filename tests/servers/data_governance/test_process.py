"""The server as the process that it is."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from servers.common.errors import CannotStart
from servers.common.identity import USER_CONTEXT_VARIABLE
from servers.data_governance.server import POLICIES, SEED_VARIABLE, make_server
from tests.end_to_end.warm import warm_python
from tests.often import often
from tests.servers.data_governance.support import (
    ADMIN,
    ANALYST,
    NOBODY,
    READING,
    ROOT,
    USER,
    WAIT_S,
    Mode,
    as_process,
    text_of,
)

pytestmark = pytest.mark.anyio

MODULE = ["-m", "servers.data_governance"]
REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("get_customer_details", {"customer_id": "CUST_00042", "include_pii": True}),
    ("search_customers", {"email": "omar"}),
    ("update_customer", {"customer_id": "CUST_00042", "status": "inactive"}),
    ("delete_customer", {"customer_id": "CUST_00042"}),
]


@pytest.mark.parametrize("mode", often(["auto", "legacy"]))
async def test_both_eras_of_the_protocol_carry_the_identity_of_every_request(mode: Mode) -> None:
    async with as_process(mode=mode) as server:
        assert await server.tools(ADMIN) == READING | {"update_customer", "delete_customer"}
        for stranger in (USER, ANALYST, NOBODY):
            assert await server.tools(stranger) == READING
            for tool, arguments in REFUSED:
                result = await server.call(stranger, tool, **arguments)
                assert result.is_error
                assert text_of(result).startswith("Access denied: ")
        for user in (ADMIN, USER, ANALYST):
            assert (await server.data(user, "get_customer_details", customer_id="cust_00042"))[
                "name"
            ] == "Omar Petrov"
            history = await server.data(
                user, "get_customer_purchase_history", customer_id="CUST_00104"
            )
            assert history["lifetime_value"] == 802.46
            assert (await server.data(user, "search_orders", category="electronics"))[
                "total_orders"
            ] > 0
            assert (await server.data(user, "search_customers", city="Toronto"))[
                "total_matches"
            ] > 0
        whole = await server.data(
            ADMIN, "get_customer_details", customer_id="CUST_00042", include_pii=True
        )
        assert whole["email"] == "omar.petrov42@example.com"
        await server.data(
            ADMIN, "update_customer", customer_id="CUST_00042", email="new@example.com"
        )
        await server.data(ADMIN, "delete_customer", customer_id="CUST_00042")


async def test_a_process_may_be_started_for_one_user() -> None:
    async with as_process(env={USER_CONTEXT_VARIABLE: json.dumps(ADMIN)}) as server:
        assert "delete_customer" in await server.tools(NOBODY)
        assert "delete_customer" not in await server.tools(USER)


async def test_another_policy_file_decides_and_an_empty_one_forbids_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty.yml").write_text("", encoding="utf-8")
    async with as_process("--policies", str(tmp_path / "empty.yml")) as server:
        assert "delete_customer" in await server.tools(NOBODY)
        whole = await server.data(
            NOBODY, "get_customer_details", customer_id="CUST_00042", include_pii=True
        )
        assert whole["national_id"] == "666-49-9598"


@pytest.mark.slow
async def test_hundreds_of_calls_of_different_users_at_once_are_kept_apart() -> None:
    names: dict[str, str] = {}
    refused: list[str] = []

    async with as_process() as server:

        async def look_up(number: int) -> None:
            customer_id = f"CUST_{number:05d}"
            whole = await server.data(
                ADMIN, "get_customer_details", customer_id=customer_id, include_pii=True
            )
            names[customer_id] = whole["email"]

        async def try_to(number: int) -> None:
            result = await server.call(
                USER, "get_customer_details", customer_id=f"CUST_{number:05d}", include_pii=True
            )
            refused.append(text_of(result))

        with anyio.fail_after(WAIT_S):
            async with anyio.create_task_group() as tasks:
                for number in range(1, 151):
                    tasks.start_soon(look_up, number)
                    tasks.start_soon(try_to, number)
    assert len(set(names.values())) == 150
    assert len(refused) == 150
    assert all(text.startswith("Access denied: ") for text in refused)


@pytest.mark.slow
def test_it_works_from_inside_another_package(tmp_path: Path) -> None:
    inside = tmp_path / "site" / "shipped" / "_builtin"
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "servers", inside / "servers", ignore=ignore)
    for folder in (inside.parent, inside):
        (folder / "__init__.py").touch()

    async def ask(cwd: Path, module: str) -> None:
        async with as_process(cwd=cwd, module=module) as server:
            assert "delete_customer" not in await server.tools(USER)

    anyio.run(ask, inside, "servers.data_governance")
    anyio.run(ask, tmp_path / "site", "shipped._builtin.servers.data_governance")


def test_stdout_carries_the_protocol_only_and_the_end_of_stdin_is_a_clean_end() -> None:
    requests: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "t", "version": "0"}}},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list", "params": {}},
        {"id": 3, "method": "tools/call", "params": {"name": "nope", "arguments": {}}},
        {"id": 4, "method": "tools/call",
         "params": {"name": "get_customer_details", "arguments": {"customer_id": 7}}},
    ]  # fmt: skip
    lines = "".join(json.dumps({"jsonrpc": "2.0", **request}) + "\n" for request in requests)
    done = subprocess.run(
        [sys.executable, *MODULE],
        cwd=ROOT,
        input=lines,
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=False,
    )
    assert done.returncode == 0
    assert done.stderr == ""
    answers = {json.loads(line)["id"]: json.loads(line) for line in done.stdout.splitlines()}
    assert set(answers) <= {1, 2, 3, 4}
    assert answers[1]["result"]["serverInfo"]["name"] == "data_governance"


def test_nothing_on_stdin_is_a_clean_end_too() -> None:
    done = subprocess.run(
        [warm_python(), *MODULE],
        cwd=ROOT,
        input="",
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_policy_file_that_cannot_be_used_ends_the_start_with_a_message(tmp_path: Path) -> None:
    path = tmp_path / "policies.yml"
    path.write_text("input:\n  - tools: [delete_costumer]\n    action: hide\n", encoding="utf-8")
    command = [warm_python(), *MODULE, "--policies", str(path)]
    done = subprocess.run(
        command, cwd=ROOT, input="", capture_output=True, text=True, timeout=WAIT_S, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"{path}:2: a rule needs 'condition'\n"


def test_a_seed_that_is_no_number_ends_the_start_with_a_message() -> None:
    with pytest.raises(CannotStart, match="HARNESS_SEED has to be a whole number, and is 'abc'"):
        make_server(POLICIES, {SEED_VARIABLE: "abc"})
