"""The same correct server over other people's data: nothing in it may look like a leak.

``HARNESS_SEEDS=100`` tries a hundred; ``python -m tests.proofs.false_alarms`` does so over real
processes, as damaged identities, too.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from mcp import Client

from harness.judging.policy import View, decide_access, explain_unobserved, find_leaks
from harness.types import Tool, ToolCall, ToolList
from servers.data_governance.seed import SEED, generate
from servers.data_governance.server import POLICIES, SEED_VARIABLE, make_server
from tests.proofs.false_alarms import IDENTITIES, calls_on, chosen, probed
from tests.servers.data_governance.support import WAIT_S, Caller, text_of

SEEDS = range(SEED + 1, SEED + 1 + int(os.environ.get("HARNESS_SEEDS", "30")))
OFTEN = 1
"""So many of the seeds are tried by `make test`, all by `make proofs`."""
EVERYBODY = {**IDENTITIES, "anonymous": None}


async def lived(seed: int, customers: int = 2) -> list[View]:
    """Let everybody make every call on some customers, and return what each of them saw."""
    calls = [call for row in chosen(seed, customers) for call in calls_on(row)]
    views = []
    server = make_server(POLICIES, {SEED_VARIABLE: str(seed)})
    async with Client(server, read_timeout_seconds=WAIT_S, cache=None) as client:
        caller = Caller(client)
        for name, user in EVERYBODY.items():
            offered = ToolList(
                tools=tuple(Tool(name=tool, input_schema={}) for tool in await caller.tools(user))
            )
            for number, (tool, arguments, _) in enumerate(calls):
                result = await caller.call(user, tool, **arguments)
                made = ToolCall(
                    tool=tool,
                    arguments=arguments,
                    outcome="denied" if result.is_error else "ok",
                    refusal="tool_error" if result.is_error else None,
                    reply=1,
                    text=text_of(result),
                    structured=result.structured_content,
                )
                # An honest answer repeats all that the server gave.
                views.append(
                    View(
                        identity=name,
                        calls=(made,),
                        tools=offered,
                        answer=made.text,
                        case=f"{number} [{name}]",
                        group=str(number),
                        nobody=not user,
                    )
                )
    return views


@pytest.mark.parametrize(
    "seed",
    [*SEEDS[:OFTEN], *(pytest.param(seed, marks=pytest.mark.slow) for seed in SEEDS[OFTEN:])],
)
def test_a_correct_server_leaks_nothing_whatever_its_data(seed: int) -> None:
    views = anyio.run(lived, seed)
    assert find_leaks(views) == []
    assert explain_unobserved(views) is None
    assert {one.access for decisions in decide_access(views) for one in decisions if one.calls} == {
        "allowed",
        "filtered",
        "denied",
    }


def test_other_seeds_are_other_people_and_the_same_seed_the_same() -> None:
    def people(seed: int) -> Iterator[str]:
        return (row[1] for row in generate(seed).customers)

    assert list(people(1)) == list(people(1)) != list(people(2))
    assert generate() == generate(SEED)


@pytest.mark.slow
def test_as_damaged_identities_over_a_real_process_nothing_is_wrong_either(tmp_path: Path) -> None:
    report = probed(SEED + 1, tmp_path, customers=1)
    assert (report.findings, report.silent, report.lost) == ((), {}, ())
    assert report.damaged > 40
