"""The three clients against a model server that nobody here wrote: `@copilotkit/aimock` from npm.

::

    npm install --prefix DIR @copilotkit/aimock
    HARNESS_AIMOCK=DIR pytest tests/models/test_independent_server.py

``HARNESS_AIMOCK`` is the folder that it was installed into, the package's own folder, or its
``cli.js``.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import anyio
import httpx2
import pytest

from harness.base.errors import ModelError
from harness.types import Reply, UserMessage
from tests.clock import BOUND_S
from tests.models.support import APIS, TOOLS, Api, converse, opened

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("api", APIS)]

VARIABLE = "HARNESS_AIMOCK"
ROUND = [
    {"match": {"toolResultContains": "about 8"}, "response": {"content": "Order 7 is on its way."}},
    {
        "match": {"userMessage": "order 7", "hasToolResult": False},
        "response": {
            "content": "Let me see.",
            "toolCalls": [
                {"name": "get_order", "arguments": {"id": 7}},
                {"name": "get_order", "arguments": {"id": 8}},
            ],
        },
    },
    {"match": {"userMessage": "hello"}, "response": {"content": "Hi there."}},
    {
        "match": {"userMessage": "too fast"},
        "response": {
            "error": {"message": "slow down"},
            "status": 429,
            "retryAfter": 10 * BOUND_S,  # longer than the trial may take
        },
    },
    {
        "match": {"userMessage": "broken"},
        "response": {"error": {"message": "out of order"}, "status": 500},
    },
]


def command() -> list[str]:
    """Return the command that starts the server, or skip the test with the reason."""
    place = os.environ.get(VARIABLE)
    if not place:
        pytest.skip(
            f"{VARIABLE} is not set: npm install --prefix DIR @copilotkit/aimock, then "
            f"{VARIABLE}=DIR"
        )
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    root = Path(place)
    for path in (root, root / "dist/cli.js", root / "node_modules/@copilotkit/aimock/dist/cli.js"):
        if path.is_file():
            return [node, str(path)]
    pytest.skip(f"{VARIABLE}={place} leads to no aimock: there is no dist/cli.js in it")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run the server on a free port, and give its address."""
    fixtures = tmp_path_factory.mktemp("aimock") / "fixtures.json"
    fixtures.write_text(json.dumps({"fixtures": ROUND}), encoding="utf-8")
    arguments = [*command(), "--port", "0", "--fixtures", str(fixtures), "--strict"]
    with subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            yield address(process)
        finally:
            process.terminate()


def address(process: subprocess.Popen[str]) -> str:
    """Return the address that the server says it listens on."""
    assert process.stdout is not None
    said = []
    for line in process.stdout:
        said.append(line)
        if found := re.search(r"listening on (http://\S+)", line):
            return found[1]
    raise AssertionError(f"aimock did not start: {''.join(said)}")


def asked(words: str) -> tuple[UserMessage, ...]:
    return (UserMessage(text=words),)


async def test_a_round_of_parallel_calls_is_carried_to_the_answer(api: Api, server: str) -> None:
    async with opened(api, server) as model:
        first, last = await converse(
            model,
            conversation=asked("Where is order 7?"),
            system="Be brief.",
            answer=lambda tool, arguments: f"about {arguments['id']}",
        )
    assert [(request.tool, request.arguments) for request in first.tool_requests] == [
        ("get_order", {"id": 7}),
        ("get_order", {"id": 8}),
    ]
    assert (first.stop, first.text) == ("tool_calls", "Let me see.")
    assert (last.stop, last.text) == ("end", "Order 7 is on its way.")
    assert last.usage.cost_usd is None


async def test_its_journal_shows_the_tools_that_were_offered(api: Api, server: str) -> None:
    async with opened(api, server) as model:
        await model.answer(asked("hello"), TOOLS, None)
    paths = {
        "messages": "/v1/messages",
        "chat": "/v1/chat/completions",
        "responses": "/v1/responses",
    }
    async with httpx2.AsyncClient() as client:
        journal = (
            await client.get(f"{server}/__aimock/journal", params={"path": paths[api]})
        ).json()
    assert "list_orders" in json.dumps(journal[-1]["body"]["tools"])


async def test_many_trials_at_once_get_their_own_answers(api: Api, server: str) -> None:
    replies: list[Reply] = []
    async with opened(api, server) as model:

        async def ask() -> None:
            replies.append(await model.answer(asked("hello"), TOOLS, None))

        with anyio.fail_after(BOUND_S):
            async with anyio.create_task_group() as group:
                for _ in range(50):
                    group.start_soon(ask)
    assert [reply.text for reply in replies] == ["Hi there."] * 50


async def test_its_rate_limit_is_understood(api: Api, server: str) -> None:
    async with opened(api, server, max_retries=3) as model:
        await model.answer(asked("hello"), TOOLS, None)  # from here on there is a connection
        with anyio.fail_after(BOUND_S), pytest.raises(ModelError, match="slow down") as raised:
            await model.answer(asked("too fast"), TOOLS, None)
    assert (raised.value.status, raised.value.attempts) == (429, 1)
    assert "the next attempt may start in" in str(raised.value)


async def test_its_failure_is_asked_again_as_often_as_promised(api: Api, server: str) -> None:
    async with opened(api, server, max_retries=2) as model:
        with pytest.raises(ModelError, match="out of order") as raised:
            await model.answer(asked("broken"), TOOLS, None)
    assert (raised.value.status, raised.value.attempts) == (500, 3)
