"""What each store keeps, finds and refuses, through MCP."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from servers.memory.sizes import ARCHIVAL, CORE, SUMMARY_CHARACTERS
from tests.servers.memory.support import ANN, BEN, remembering

pytestmark = pytest.mark.anyio

KV = {"add", "remove", "replace", "clear", "retrieve", "list_keys", "key_search"}
VECTOR = {"add", "remove", "update", "clear", "retrieve", "retrieve_all"}
TOOLS = {
    "kv": {f"{part}_memory_{name}" for part in ("core", "archival") for name in KV}
    | {"core_memory_retrieve_all"},
    "vector": {f"{part}_memory_{name}" for part in ("core", "archival") for name in VECTOR},
    "summary": {f"memory_{name}" for name in ("append", "update", "replace", "clear", "retrieve")},
}


@pytest.mark.parametrize("store", TOOLS)
async def test_each_store_has_tools_of_its_own(store: str) -> None:
    async with remembering(store) as server:
        assert await server.tools(ANN) == TOOLS[store]


# ── Keys and values ──────────────────────────────────────────────────────────────────────────


async def test_a_value_is_found_by_its_key_and_a_key_by_its_words() -> None:
    async with remembering("kv") as server:
        for key, value in (
            ("home_town", "Lisbon"),
            ("dog_name", "Rex"),
            ("town_of_birth", "Porto"),
        ):
            await server.data(ANN, "archival_memory_add", key=key, value=value)
        assert await server.data(ANN, "archival_memory_retrieve", key="dog_name") == {
            "value": "Rex"
        }
        assert await server.data(ANN, "archival_memory_list_keys") == {
            "keys": ["home_town", "dog_name", "town_of_birth"]
        }
        found = (await server.data(ANN, "archival_memory_key_search", query="the home town", k=2))[
            "ranked_results"
        ]
        assert [one["key"] for one in found] == ["home_town", "town_of_birth"]
        assert found[0]["score"] > found[1]["score"] > 0


async def test_what_is_replaced_or_removed_is_gone() -> None:
    async with remembering("kv") as server:
        for key in ("one", "two"):
            await server.data(ANN, "core_memory_add", key=key, value=key)
        await server.data(ANN, "core_memory_replace", key="one", value="eins")
        assert await server.data(ANN, "core_memory_retrieve_all") == {
            "entries": {"one": "eins", "two": "two"}
        }
        await server.data(ANN, "core_memory_remove", key="one")
        assert await server.data(ANN, "core_memory_list_keys") == {"keys": ["two"]}
        await server.data(ANN, "core_memory_clear")
        assert await server.data(ANN, "core_memory_list_keys") == {"keys": []}


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("core_memory_add", {"key": "Home Town", "value": "x"}, "A key is in snake_case"),
        (
            "core_memory_add",
            {"key": "there", "value": "x"},
            "There is a key there already; use core_memory_replace",
        ),
        (
            "core_memory_add",
            {"key": "new", "value": "x" * 301},
            "301 characters, and an entry of core memory holds 300",
        ),
        ("core_memory_replace", {"key": "there", "value": "x" * 301}, "301 characters"),
        (
            "core_memory_replace",
            {"key": "other", "value": "x"},
            "There is no key other in core memory",
        ),
        ("core_memory_remove", {"key": "other"}, "core_memory_list_keys lists all"),
        ("core_memory_retrieve", {"key": "There"}, "There is no key There"),
        ("archival_memory_retrieve", {"key": "there"}, "There is no key there in archival memory"),
        (
            "core_memory_key_search",
            {"query": "x", "k": 0},
            "Invalid arguments for core_memory_key_search",
        ),
    ],
)
async def test_what_cannot_be_done_with_keys_is_an_error_that_says_why(
    tool: str, arguments: dict[str, Any], said: str
) -> None:
    async with remembering("kv") as server:
        await server.data(ANN, "core_memory_add", key="there", value="it is")
        result = await server.call(ANN, tool, **arguments)
        assert result.is_error
        assert said in await server.text(ANN, tool, **arguments)


@pytest.mark.parametrize(
    ("part", "entries"), [("core", CORE.entries), ("archival", ARCHIVAL.entries)]
)
async def test_a_full_part_takes_no_more_until_something_is_removed(
    part: str, entries: int
) -> None:
    async with remembering("kv") as server:
        for number in range(entries):
            await server.data(ANN, f"{part}_memory_add", key=f"key_{number}", value="x")
        refused = await server.text(ANN, f"{part}_memory_add", key="more", value="x")
        assert refused.startswith(f"{part} memory is full: it holds {entries} entries")
        await server.data(ANN, f"{part}_memory_remove", key="key_0")
        await server.data(ANN, f"{part}_memory_add", key="more", value="x")


# ── Vectors ──────────────────────────────────────────────────────────────────────────────────


async def test_an_entry_is_found_by_words_that_it_shares_with_the_query() -> None:
    async with remembering("vector") as server:
        texts = (
            "Ann lives in Lisbon, near the river.",
            "Her dog is called Rex.",
            "She repairs violins for a living.",
        )
        numbers = [
            (await server.data(ANN, "archival_memory_add", text=text))["id"] for text in texts
        ]
        assert numbers == [0, 1, 2]
        for query, number in (
            ("What is the dog called?", 1),
            ("repairing a violin", 2),
            ("LISBON", 0),
        ):
            found = (await server.data(ANN, "archival_memory_retrieve", query=query, top_k=2))[
                "result"
            ]
            assert (len(found), found[0]["id"], found[0]["text"]) == (2, number, texts[number])
            assert 1 >= found[0]["similarity_score"] > found[1]["similarity_score"] >= 0


async def test_entries_are_updated_and_removed_by_their_number() -> None:
    async with remembering("vector") as server:
        await server.data(ANN, "core_memory_add", text="Rent is 900 euros.")
        await server.data(ANN, "core_memory_add", text="The cat is Bosun.")
        await server.data(ANN, "core_memory_update", vec_id=0, new_text="Rent is 950 dollars.")
        found = (await server.data(ANN, "core_memory_retrieve", query="dollars"))["result"]
        assert found[0]["text"] == "Rent is 950 dollars."
        await server.data(ANN, "core_memory_remove", vec_id=0)
        assert (await server.data(ANN, "core_memory_retrieve_all"))["result"] == [
            {"id": 1, "text": "The cat is Bosun."}
        ]
        for tool, arguments in (
            ("remove", {"vec_id": 0}),
            ("update", {"vec_id": 0, "new_text": "x"}),
        ):
            assert "There is no entry 0 in core memory" in await server.text(
                ANN, f"core_memory_{tool}", **arguments
            )
        await server.data(ANN, "core_memory_clear")
        assert (await server.data(ANN, "core_memory_retrieve", query="cat"))["result"] == []


async def test_a_text_that_is_too_long_is_not_cut_but_refused() -> None:
    async with remembering("vector") as server:
        refused = await server.text(ANN, "archival_memory_add", text="x" * 2001)
        assert (
            "This text has 2,001 characters, and an entry of archival memory holds 2,000; "
            "shorten it"
        ) in refused


# ── One text ─────────────────────────────────────────────────────────────────────────────────


async def test_the_one_text_is_added_to_rewritten_and_bounded() -> None:
    async with remembering("summary") as server:
        assert "The memory is empty" in await server.text(ANN, "memory_retrieve")
        await server.data(ANN, "memory_append", text="Ann lives in Lisbon.")
        await server.data(ANN, "memory_append", text=" She has a dog.")
        await server.data(ANN, "memory_replace", old_text="Lisbon", new_text="Porto")
        assert await server.data(ANN, "memory_retrieve") == {
            "memory_content": "Ann lives in Porto. She has a dog."
        }
        assert "no such passage" in await server.text(
            ANN, "memory_replace", old_text="Rome", new_text="x"
        )
        full = await server.text(ANN, "memory_append", text="x" * SUMMARY_CHARACTERS)
        assert (
            "The memory would have 10,034 characters, and it holds 10,000; shorten it with "
            "memory_update"
        ) in full
        await server.data(ANN, "memory_update", text="Ann: Porto, dog.")
        assert await server.data(ANN, "memory_retrieve") == {"memory_content": "Ann: Porto, dog."}
        await server.data(ANN, "memory_clear")
        assert "The memory is empty" in await server.text(ANN, "memory_retrieve")


# ── Whose memory it is ───────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("store", "tell", "ask", "told"),
    [
        (
            "kv",
            ("core_memory_add", {"key": "town", "value": "Lisbon"}),
            "core_memory_list_keys",
            {"keys": ["town"]},
        ),
        (
            "vector",
            ("core_memory_add", {"text": "Lisbon"}),
            "core_memory_retrieve_all",
            {"result": [{"id": 0, "text": "Lisbon"}]},
        ),
        (
            "summary",
            ("memory_append", {"text": "Lisbon"}),
            "memory_retrieve",
            {"memory_content": "Lisbon"},
        ),
    ],
)
async def test_every_user_has_a_memory_of_their_own_that_a_file_keeps(
    tmp_path: Path, store: str, tell: tuple[str, dict[str, str]], ask: str, told: dict[str, Any]
) -> None:
    file = tmp_path / "memories.db"
    async with remembering(store, file) as server:
        await server.data(ANN, tell[0], **tell[1])
        assert await server.data(ANN, ask) == told
        for other in (BEN, None, {"user": "ann", "role": "x"}):
            assert "Lisbon" not in await server.text(other, ask)
    async with remembering(store, file) as server:
        assert await server.data(ANN, ask) == told
    async with remembering(store) as server:
        assert "Lisbon" not in await server.text(ANN, ask)
