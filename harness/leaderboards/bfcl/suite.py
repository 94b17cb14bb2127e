"""BFCL as suites (the memory cases live among them), and as recordings."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from harness.base import CACHE_VARIABLE, NothingToRun, UsageError, builtin_server, cache_root
from harness.leaderboards.bfcl.apis.tables import parse_constants
from harness.leaderboards.bfcl.catalog import MOST_STEPS, SCORES, Category, select_categories
from harness.leaderboards.bfcl.check import KIND, build_check
from harness.leaderboards.bfcl.data import (
    PROMPTS,
    BfclEntry,
    compute_digest,
    data_folder,
    fetch_command,
    find_entry,
    load_earlier_messages,
    load_entries,
    question_file,
    read_fetched_facts,
)
from harness.leaderboards.bfcl.functions import build_prompts, build_system_prompt, list_functions
from harness.leaderboards.bfcl.result_files import BfclRecording, read_recordings
from harness.leaderboards.bfcl.server import CASE, TURN, list_held_back, measure_tools
from harness.suites import CHUNK, build_ingest_turns
from harness.types import (
    RECALLED,
    Caller,
    Case,
    Check,
    LeaderboardRules,
    Limits,
    Location,
    ScriptedCall,
    ServerSpec,
    Suite,
    Tool,
    TransportSpec,
    Turn,
    dataclass,
)
from harness.version import DISTRIBUTION

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
    """Yield one case for each scenario of ``entries``: earlier conversations, then the questions.

    The leaderboard gives a model the conversations of a scenario once, and then asks every question
    with the memory that they left. A case here, such as `memory_kv-customer`, does the same: its
    questions are its turns, each judged by the official rule, and each counts as one of the
    leaderboard's cases. The memory is `servers/memory`.

    Three things differ from the official run, so scores are not the leaderboard's. The tools have
    our descriptions, and the vector store searches by words, not by a sentence encoder. A memory
    that a model stores during one question is there for the next ones. And the required form of an
    answer follows each question instead of standing in the system prompt.
    """
    scenarios: dict[str, list[BfclEntry]] = {}
    for entry in entries:
        scenarios.setdefault(str(entry.question["scenario"]), []).append(entry)
    for scenario, asked in scenarios.items():
        yield _build_memory_case(category, scenario, asked)


def _build_memory_case(category: Category, scenario: str, entries: Sequence[BfclEntry]) -> Case:
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
        server=_build_memory_server(server),
        tags=(category.name, category.group),
        metadata={"category": category.name, "group": category.group, "scenario": scenario},
        at=Location(file=question_file(category), line=entries[0].line),
    )


@cache
def _build_memory_server(name: str) -> ServerSpec:
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


NAME = "bfcl"
"""Name of the leaderboard."""

_NEEDS_SERVICES = (
    "web_search cases need a search engine, which is not part of harness: "
    "score recorded outputs of them with --model recorded:FILE"
)
_ASKED_TOGETHER = (
    "questions to a memory are asked together, in one case for each scenario such as "
    "memory_kv-customer"
)


@dataclass(frozen=True, slots=True)
class Bfcl:
    """BFCL; satisfies `harness.leaderboards.Leaderboard` and `ReplayableLeaderboard`."""

    def suites(self, part: str | None) -> Sequence[Suite]:
        """Return one suite with the cases of the categories that ``part`` names."""
        categories = select_categories(part)
        noted = read_fetched_facts()
        if noted is None:
            raise NothingToRun(f"BFCL's data was not fetched. Fetch it: {fetch_command()}")
        # Categories that nobody named may be missing; a named one that was not fetched is an error.
        if part is None:
            there = noted["categories"]
            categories = tuple(category for category in categories if category.name in there)
        _refuse_missing_packages(categories)
        cases = tuple(case for category in categories for case in _iterate_cases(category))
        suite = Suite(
            name=NAME,
            cases=cases,
            description="Berkeley Function-Calling Leaderboard v4",
            server=_build_server(),
            digest=compute_digest(noted),
            reference=NAME if part is None else f"{NAME}:{part}",
            at=Location(file=str(data_folder())),
            leaderboard=NAME,
            scores=SCORES,
        )
        return [suite]

    def list_decoys(self) -> Sequence[Tool]:
        """Return the functions of the fetched single-reply cases, each name once."""
        return list_functions(data_folder())

    def load_recordings(self, path: Path) -> Mapping[str, BfclRecording]:
        """Return the recorded outputs in ``path``, by model."""
        return read_recordings(path, find_entry)


BFCL = Bfcl()


def _refuse_missing_packages(categories: Sequence[Category]) -> None:
    """Refuse categories that cannot be judged without packages of the extra, before any runs."""
    lacking = {
        package: category.name
        for category in reversed(categories)
        for package in _list_packages(category)
        if find_spec(package) is None
    }
    if lacking:
        raise UsageError(
            f"BFCL's {min(lacking.values())} needs more packages "
            f"({', '.join(sorted(lacking))} is missing)",
            meant=f'Install them: pip install "{DISTRIBUTION}[bfcl]"',
        )


def _list_packages(category: Category) -> tuple[str, ...]:
    if category.judging == "multi_turn":
        return ("mpmath",)
    if category.language == "python":
        return ()
    return ("tree_sitter", f"tree_sitter_{category.language}")


def _iterate_cases(category: Category) -> Iterator[Case]:
    """Yield the cases of a category.

    Memory cases come in addition to the cases that only recordings have.
    """
    entries = load_entries(category.name, data_folder())
    # Once for all of them: the place of the cache follows from the environment, anew each time.
    yield from map(partial(_build_case, file=question_file(category)), entries)
    if category.needs_memory:
        yield from build_memory_cases(category, entries)


def _build_case(entry: BfclEntry, *, file: str) -> Case:
    category = entry.category
    prompts = build_prompts(entry)
    several = len(prompts) > 1
    # The turns from which on the server offers other functions.
    later = [turn for turn in range(len(prompts)) if str(turn) in list_held_back(entry)]
    unavailable = _ASKED_TOGETHER if category.needs_memory else _NEEDS_SERVICES
    letters = measure_tools(entry)
    return Case(
        name=entry.id,
        prompt=prompts[0],
        turns=tuple(Turn(prompt=prompt) for prompt in prompts) if several else (),
        checks=(build_check(entry),),
        leaderboard=LeaderboardRules(
            routing={CASE: entry.id},
            later_routing={turn: {TURN: turn} for turn in later} if several else {},
            system_prompt=build_system_prompt(entry),
            typical_tokens=compute_token_limits(entry, letters),
            silence=True,
            one_reply=category.judging in ("calls", "no_call", "some_call"),
            unavailable=None if category.is_live else unavailable,
        ),
        limits=Limits(
            max_replies=MOST_STEPS * len(prompts),
            max_calls=1000,
            timeout_s=600.0 if category.judging == "multi_turn" else None,
        ),
        tags=(category.name, category.group),
        metadata={"category": category.name, "group": category.group},
        caller=Caller(allow_no_tools=not letters),
        at=Location(file=file, line=entry.line),
    )


def compute_token_limits(entry: BfclEntry, tools: int) -> tuple[int, int]:
    """Return the input and output tokens that a trial may use, over all its requests.

    ``tools`` is the number of characters of its tools (`measure_tools`).
    """
    sent = (tools + sum(map(len, build_prompts(entry)))) // _LETTERS_A_TOKEN + _FRAME
    if entry.category.judging != "multi_turn":
        return sent, _A_REPLY
    replies = sum(len(calls) + 1 for calls in entry.answer)
    result = _LONG_RESULT if entry.category.name == "multi_turn_long_context" else _A_RESULT
    # Each request repeats all results before it.
    return replies * sent + result * replies * (replies - 1) // 2, replies * _A_REPLY


_LETTERS_A_TOKEN = 4
_FRAME = 300  # tokens that an API adds around tools
_A_REPLY = 100
_A_RESULT, _LONG_RESULT = 100, 2000
# Tokens of a call and its result, which every later request repeats.


def _build_server() -> ServerSpec:
    transport = TransportSpec(
        command=sys.executable,
        args=("-m", "harness.leaderboards.bfcl.server", "{port}"),
        kind="http",
        env={CACHE_VARIABLE: str(cache_root())},
    )
    return ServerSpec(name=NAME, transport=transport)
