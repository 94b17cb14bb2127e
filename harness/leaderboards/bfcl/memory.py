"""The memory cases, live: the model gets earlier conversations, then questions about them.

The leaderboard gives a model the conversations of a scenario once, and then asks every question
with the memory that they left. A case here, such as `memory_kv-customer`, does the same: its
questions are its turns, each judged by the official rule, and each counts as one of the
leaderboard's cases. The memory is `servers/memory`.

Three things differ from the official run, so scores are not the leaderboard's. The tools have our
descriptions, and the vector store searches by words, not by a sentence encoder. A memory that a
model stores during one question is there for the next ones. And the required form of an answer
follows each question instead of standing in the system prompt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from harness.base import UsageError, builtin_server
from harness.leaderboards.bfcl.apis.tables import parse_constants
from harness.leaderboards.bfcl.catalog import MOST_STEPS, Category
from harness.leaderboards.bfcl.check import KIND
from harness.leaderboards.bfcl.data import BfclEntry, load_earlier_messages, question_file
from harness.leaderboards.bfcl.functions import build_prompts
from harness.leaderboards.bfcl.source import PROMPTS, data_folder, fetch_command
from harness.suites import CHUNK, build_ingest_turns
from harness.types import (
    RECALLED,
    Case,
    Check,
    LeaderboardRules,
    Limits,
    Location,
    ScriptedCall,
    ServerSpec,
    Turn,
)

_SECONDS = 60.0
"""Wall time for one turn."""
_FORM = "ADDITIONAL_SYSTEM_PROMPT_FOR_AGENTIC_RESPONSE_FORMAT"
"""The leaderboard's name for its text on the form of an answer."""
_MEMORY_CONTENT = "{memory_content}"
_SETTING = "{scenario_setting}"
# Placeholders in the leaderboard's prompts.


_CORE = ("core_memory_retrieve_all", "MEMORY_BACKEND_INSTRUCTION_CORE_ARCHIVAL")
_STORES: Mapping[str, tuple[str, str, str]] = {
    "memory_kv": ("memory_kv", *_CORE),
    "memory_vector": ("memory_vector", *_CORE),
    "memory_rec_sum": ("memory_summary", "memory_retrieve", "MEMORY_BACKEND_INSTRUCTION_UNIFIED"),
}
"""Category → the built-in server of its store, the tool that returns the memories for the system
prompt, and the leaderboard's name for its text that explains the store."""


def build_memory_cases(category: Category, entries: Sequence[BfclEntry]) -> Iterator[Case]:
    """Yield one case for each scenario of ``entries``."""
    scenarios: dict[str, list[BfclEntry]] = {}
    for entry in entries:
        scenarios.setdefault(str(entry.question["scenario"]), []).append(entry)
    for scenario, asked in scenarios.items():
        yield _build_case(category, scenario, asked)


def _build_case(category: Category, scenario: str, entries: Sequence[BfclEntry]) -> Case:
    server, recall, instruction = _STORES[category.name]
    folder = data_folder()
    words = _read_prompt_texts(folder)
    # The leaderboard's own system prompt; memories are added when a conversation begins.
    prompt = str(words[instruction]).replace(_SETTING, words["MEMORY_AGENT_SETTINGS"][scenario])
    told = build_ingest_turns(load_earlier_messages(scenario, folder), CHUNK)
    turns = (*told, *(_build_question(entry, str(words[_FORM])) for entry in entries))
    steps = MOST_STEPS * len(turns)
    return Case(
        name=f"{category.name}-{scenario}",
        # The first question: the turns before it only tell something.
        prompt=turns[-len(entries)].prompt,
        turns=turns,
        checks=(Check(kind="turns_passed", params={"at_least": 1.0}),),
        limits=Limits(max_replies=steps, max_calls=steps, timeout_s=_SECONDS * len(turns)),
        leaderboard=LeaderboardRules(
            system_prompt=prompt.replace(_MEMORY_CONTENT, RECALLED),
            recall=ScriptedCall(tool=recall),
            silence=True,
        ),
        server=_build_server(server),
        tags=(category.name, category.group),
        metadata={"category": category.name, "group": category.group, "scenario": scenario},
        at=Location(file=question_file(category), line=entries[0].line),
    )


@cache
def _build_server(name: str) -> ServerSpec:
    # Each scenario begins with an empty memory.
    return replace(builtin_server(name), isolation="case")


def _build_question(entry: BfclEntry, form: str) -> Turn:
    """Return a question, with the required form of its answer."""
    params = {"category": entry.category.name, "ground_truth": entry.answer, "among_others": True}
    prompt = f"{build_prompts(entry)[0]}\n\n{form.strip()}"
    return Turn(prompt=prompt, checks=(Check(kind=KIND, params=params),), fresh=True)


@cache
def _read_prompt_texts(folder: Path) -> Mapping[str, Any]:
    """Return the texts of the leaderboard's module of prompts, which is read as data, never run."""
    path = folder / PROMPTS
    try:
        return parse_constants(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, SyntaxError) as error:
        meant = f"Fetch it again: {fetch_command()}"
        raise UsageError(f"cannot read {path}: {error}", meant=meant) from None
