"""What others recorded comes out again in every simulation.

Over MCP, by real processes, as a command does it.
"""

from __future__ import annotations

import copy
import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from harness.base.fetching.cache import CACHE_VARIABLE
from harness.leaderboards.tau2.data import HASH_URI, domain_folder, domain_server
from harness.leaderboards.tau2.result_files import read_results
from harness.runlog import RunLog
from harness.sessions.pool import open_sessions
from harness.types import ToolCall
from tests.leaderboards.replay import replayed
from tests.leaderboards.tau2.running import run_recorded
from tests.leaderboards.tau2.support import fetched, recordings
from tests.leaderboards.tau2_parity import compare, pass_hats

UNTOUCHED = {
    "airline": "124e39a664b56402bcd09cb8a6a9cece6acb8462337c969799d5658e3250f263",
    "retail": "b25c9cb211f5efcaee5dd646054a73c4a9f43f4f5acc32c10713cd9f9ac20e9c",
}
FILES = {
    # file: simulations and calls
    "airline_gpt-4.1-finetuned_20sims": (20, 147),
    "airline_gpt-4.1_20sims": (20, 148),
    "retail_gpt-4.1_40sims": (40, 299),
}
OFTEN = ("airline_gpt-4.1-finetuned_20sims",)
SELDOM = [pytest.param(name, marks=pytest.mark.slow) for name in FILES if name not in OFTEN]
"""One file of each domain is tried by `make test`, all by `make proofs`."""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    root = fetched(tmp_path_factory.mktemp("cache"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, CACHE_VARIABLE, str(root))
        yield root


@pytest.mark.slow
@pytest.mark.parametrize("name", [*OFTEN, *SELDOM])
def test_every_reward_and_result_is_as_recorded(name: str, cache: Path, tmp_path: Path) -> None:
    path = recordings() / "recorded" / f"{name}.json.gz"
    results = read_results(path)
    log = replayed(f"tau2:{results.domain}", path, tmp_path, concurrency=1)
    tally = compare(results, log)
    simulations, calls = FILES[name]
    assert (tally.simulations, tally.rewards, tally.databases) == (simulations,) * 3
    assert tally.actions_equal == tally.actions > 60
    assert (tally.calls, tally.outputs, tally.different) == (calls, calls, [])
    assert not [
        (call.tool, call.output_errors)
        for run in log.results
        for call in _calls(log, run.key)
        if call.output_errors
        or (not call.is_error and call.tool.startswith("get_user") and not call.structured)
    ]
    assert [(k, f"{then:.3f}") for k, then, _ in pass_hats(results, log)] == [
        (k, f"{now:.3f}") for k, _, now in pass_hats(results, log)
    ]


@pytest.mark.slow
@pytest.mark.anyio
async def test_an_untouched_database_has_the_published_digest_and_the_published_schemas(
    cache: Path,
) -> None:
    async def look(domain: str) -> None:
        async with (
            open_sessions() as pool,
            pool.lend_session(domain_server(domain, domain_folder(domain)), None) as session,
        ):
            result = await session.send_request("resources/read", {"uri": HASH_URI})
            assert result["contents"][0]["text"] == UNTOUCHED[domain]
            shown = [
                {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.input_schema,
                }
                for tool in session.tools.tools
            ]
            assert shown == json.loads((recordings() / domain / "tools.json").read_bytes())
            assert all(tool.read_only is not None for tool in session.tools.tools)

    async with anyio.create_task_group() as group:
        for domain in UNTOUCHED:
            group.start_soon(look, domain)


def _calls(log: RunLog, key: str) -> tuple[ToolCall, ...]:
    transcript = log.read_transcript(key)
    assert transcript is not None
    return transcript.tool_calls


def _spoil(simulation: dict[str, Any], task: dict[str, Any], how: str) -> None:
    """Spoil a simulation that is worth 1, in one way."""
    messages, criteria = simulation["messages"], task["evaluation_criteria"]
    writes = [
        message
        for message in messages
        if any(call["name"].startswith(("modify",
                                        "cancel")) for call in message["tool_calls"] or ())
    ] if how in ("DB", "ACTION") else []  # fmt: skip
    match how:
        case "DB":
            writes[-1]["tool_calls"][0]["arguments"]["order_id"] = "#W0000000"
        case "COMMUNICATE":
            for message in messages:
                message["content"] = (message["content"] or "").replace("60", "sixty")
        case "ACTION":
            criteria["reward_basis"] = ["ACTION"]
            writes[-1]["tool_calls"][0]["name"] = "get_order_details"
        case "NL_ASSERTION":
            criteria["reward_basis"] = ["DB", "NL_ASSERTION"]
            criteria["nl_assertions"] = ["The agent was never polite."]
        case "termination":
            simulation["termination_reason"] = "max_steps"


SPOILT = {
    "untouched": "passed",
    "DB": "failed",
    "COMMUNICATE": "failed",
    "ACTION": "failed",
    "NL_ASSERTION": "error",  # nobody judges here: that is never a pass
    "termination": "failed",
}


@pytest.mark.slow
def test_each_rule_turns_the_verdict_on_a_recorded_simulation(tmp_path: Path) -> None:
    source = json.loads(
        gzip.decompress((recordings() / "recorded" / "retail_gpt-4.1_40sims.json.gz").read_bytes())
    )
    task = next(one for one in source["tasks"] if one["id"] == "40")
    recorded = next(one for one in source["simulations"] if one["task_id"] == "40")
    for message in recorded["messages"]:
        message.setdefault("tool_calls", None)
    tasks, simulations = [], []
    for how in SPOILT:
        one, other = copy.deepcopy(recorded), copy.deepcopy(task)
        one["task_id"] = other["id"] = how
        _spoil(one, other, how)
        tasks.append(other)
        simulations.append(one)
    root = fetched(tmp_path / "cache")
    (root / "tau2" / "retail" / "tasks.json").write_text(json.dumps(tasks))
    path = tmp_path / "results.json"
    path.write_text(json.dumps({**source, "tasks": tasks, "simulations": simulations}))
    log = run_recorded("retail", path, tmp_path, cache=root)
    assert {run.case.name.removeprefix("retail_"): run.status for run in log.results} == SPOILT
