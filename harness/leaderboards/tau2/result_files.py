"""Result files of tau2-bench: tasks, and simulations with every message and their reward."""

from __future__ import annotations

import gzip
import json
import zlib
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import field
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from harness.base import UsageError
from harness.judging import MAX_EXPLANATION, RECORDED_JUDGE
from harness.leaderboards.json_node import JsonNode
from harness.leaderboards.tau2.data import DOMAINS
from harness.leaderboards.tau2.tasks import Task, read_task
from harness.models import make_ids_unique
from harness.types import (
    AssistantMessage,
    Judgement,
    Message,
    Reply,
    Stop,
    ToolAnswer,
    ToolCall,
    ToolMessage,
    ToolRequest,
    Transcript,
    TrialError,
    Usage,
    UserMessage,
    attach_user_calls,
    dataclass,
)

_GZIP: Final = b"\x1f\x8b"

_STOPS: Final[Mapping[str, Stop]] = {
    "user_stop": "user_stop",
    "agent_stop": "agent_stop",
    "max_steps": "reply_limit",
    "too_many_errors": "call_limit",
    "timeout": "time_limit",
}
"""Why a simulation ended: tau2-bench's reason → ours."""

_NO_CUSTOMER: Final = "dummy_user"
"""What stands in the customer's place where the agent worked alone."""

_PREMATURE: Final = ("agent_error", "user_error", "context_window_exceeded", "unexpected_error")
"""Ends caused by the agent or the simulated customer; the leaderboard rewards them with 0 like any
other failure. ``infrastructure_error``, which its metrics leave out, and unknown reasons are errors
of the trial."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationOutcome:
    """The recorded reward of a simulation, with its parts."""

    reward: float
    """0 or 1."""
    same_database: bool | None
    """Whether the database was the gold one; ``None`` where it was not compared."""
    actions_matched: tuple[bool, ...]
    """For each gold action, in order."""
    verdicts: Mapping[str, Judgement] = field(default_factory=dict)
    """Assertion → the recorded judge's verdict; empty if no judge was asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """One conversation."""

    id: str
    """Unique in the file."""
    task: str
    """Id of the task."""
    trial: int
    """0-based repeat of the task."""
    transcript: Transcript
    """All messages and calls; results are in its tool messages only."""
    outcome: SimulationOutcome | None
    """``None`` if the file has no outcome."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultFile:
    """One result file."""

    domain: str
    """``airline``, ``retail`` or ``telecom``."""
    agent: str
    """The model under test."""
    solo: bool
    """Whether the agent worked without a customer, with the tools of both sides."""
    tasks: Mapping[str, Task]
    """The file's own tasks by id; they may differ from the leaderboard's current ones."""
    simulations: tuple[Simulation, ...]
    """In the order of the file."""

    @property
    def succeeded_tools(self) -> frozenset[str]:
        """The tools of which some recorded call succeeded."""
        said = [
            message for simulation in self.simulations for message in simulation.transcript.messages
        ]
        return frozenset(
            request.tool
            # The results of a reply come right after it.
            for asked, after in pairwise(said)
            if isinstance(asked, AssistantMessage) and isinstance(after, ToolMessage)
            for request, answer in zip(asked.reply.tool_requests, after.answers, strict=False)
            if not answer.is_error
        )

    def list_trials(self, task: str) -> tuple[Simulation, ...]:
        """Return the trials of a task, in order."""
        found = [simulation for simulation in self.simulations if simulation.task == task]
        return tuple(sorted(found, key=lambda one: one.trial))


def read_results(path: Path) -> ResultFile:
    """Read a result file, gzipped or not.

    Raises:
        NoResults: it is JSON, but not a result file of tau2-bench.
        OtherDomain: there is no server for its domain.
        UsageError: it cannot be read, or its format is not the leaderboard's.
    """
    whole = JsonNode(_parse_file(path), str(path))
    domain, agent, solo = _read_entrant(whole)
    if domain not in DOMAINS:
        raise UnsupportedDomain(
            f"{path} is of the domain {domain!r}, for which there is no server here",
            meant=f"Domains: {', '.join(DOMAINS)}.",
        )
    tasks = {task.id: task for task in map(read_task, whole.get_nodes("tasks"))}
    simulations = tuple(_build_simulation(node) for node in whole.get_nodes("simulations"))
    for simulation in simulations:
        if simulation.task not in tasks:
            which = f"the simulation {simulation.id} is of task {simulation.task}"
            raise UsageError(f"{path}: {which}, which is missing")
    return ResultFile(domain=domain, agent=agent, solo=solo, tasks=tasks, simulations=simulations)


class NotAResultFile(UsageError):
    """A file is not a result file of tau2-bench."""


class UnsupportedDomain(UsageError):
    """A result file is of a domain that cannot be replayed here."""


def _read_entrant(whole: JsonNode) -> tuple[str, str, bool]:
    """Return the domain and the agent of a result file, and whether it had no customer."""
    info = whole.get_node("info") if isinstance(whole.value, dict) else None
    environment = None if info is None else info.get_node("environment_info")
    agent = None if info is None else info.get_node("agent_info")
    if environment is None or agent is None:
        why = "it does not name its domain and agent"
        raise NotAResultFile(f"{whole.place} is not a result file of tau2-bench: {why}")
    user = None if info is None else info.get_node("user_info")
    solo = user is not None and user.get_optional("implementation", str) == _NO_CUSTOMER
    return environment.get("domain_name", str), agent.get("llm", str), solo


def _parse_file(path: Path) -> Any:
    try:
        content = path.read_bytes()
        # By its first bytes, since a file may be gzipped whatever its name is.
        return json.loads(gzip.decompress(content) if content.startswith(_GZIP) else content)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from error
    except (EOFError, zlib.error) as error:
        raise UsageError(f"{path} is a damaged archive: {error}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not JSON: {error}") from error


def _build_simulation(node: JsonNode) -> Simulation:
    reason = node.get("termination_reason", str)
    stop = _STOPS.get(reason, "premature" if reason in _PREMATURE else "error")
    messages, user_calls = _separate_user_calls(node.get_nodes("messages"))
    greeting = _find_greeting(messages)
    # In the files of some agents, the ids of calls repeat.
    said = tuple(make_ids_unique(_iterate_messages(messages[1:] if greeting else messages)))
    replies = [message.reply for message in said if isinstance(message, AssistantMessage)]
    rewarded = node.get_node("reward_info")
    error = None
    if stop == "error":
        message = f"the recorded simulation ended with {reason}, which is not the agent's doing"
        error = TrialError(kind="model", message=message)
    return Simulation(
        id=node.get("id", str),
        task=node.get("task_id", str),
        trial=node.get_optional("trial", int) or 0,
        transcript=Transcript(
            messages=attach_user_calls(said, user_calls),
            greeting=greeting,
            answer=next((reply.text for reply in reversed(replies) if not reply.tool_requests), ""),
            stop=stop,
            stop_detail=reason,
            replies=len(replies),
            usage=sum((reply.usage for reply in replies), Usage()),
            error=error,
        ),
        outcome=None if rewarded is None else _build_outcome(rewarded),
    )


def _separate_user_calls(
    nodes: tuple[JsonNode, ...],
) -> tuple[tuple[JsonNode, ...], tuple[ToolCall, ...]]:
    """Return the messages without the user's calls and their results, and those calls."""
    kept: list[JsonNode] = []
    calls: list[ToolCall] = []
    waiting: deque[ToolRequest] = deque()
    replies = 0
    for place, node in enumerate(nodes):
        role = node.get("role", str)
        if role == "tool" and node.get_optional("requestor", str) == "user" and waiting:
            answer = _build_answer(node)
            calls.append(
                ToolCall(
                    tool=waiting[0].tool,
                    arguments=waiting.popleft().arguments,
                    outcome="tool_error" if answer.is_error else "ok",
                    reply=replies,
                    request_id=answer.request_id,
                    text=answer.text,
                )
            )
        elif role == "user" and node.get_nodes("tool_calls"):
            waiting.extend(_iterate_requests(node))
        else:
            # The greeting before the first message of the user is no reply.
            replies += role == "assistant" and place > 0
            kept.append(node)
    return tuple(kept), tuple(calls)


def _find_greeting(messages: tuple[JsonNode, ...]) -> str:
    """Return the agent's greeting before the user's first message, which was not generated."""
    if not messages or messages[0].get("role", str) != "assistant":
        return ""
    if messages[0].get_optional("tool_calls", list):
        return ""
    return messages[0].get_optional("content", str) or ""


def _iterate_messages(nodes: tuple[JsonNode, ...]) -> Iterator[Message]:
    """Yield the conversation; the results of one reply's calls are one message."""
    answers: list[ToolAnswer] = []
    for node in nodes:
        role = node.get("role", str)
        if role == "tool":
            answers.append(_build_answer(node))
            continue
        # Results that follow one another answer the same reply.
        if answers:
            yield ToolMessage(answers=tuple(answers))
            answers = []
        if role == "user":
            yield UserMessage(text=node.get_optional("content", str) or "")
        elif role == "assistant":
            yield AssistantMessage(reply=_build_reply(node))
        else:
            raise UsageError(f"{node.place} has the role {role!r}; known: assistant, user, tool")
    if answers:
        yield ToolMessage(answers=tuple(answers))


def _build_answer(node: JsonNode) -> ToolAnswer:
    return ToolAnswer(
        request_id=node.get("id", str),
        text=node.get_optional("content", str) or "",
        is_error=node.get_optional("error", bool) or False,
    )


def _build_reply(node: JsonNode) -> Reply:
    used = node.get_node("usage")
    calls = tuple(_iterate_requests(node))
    # Read by hand, since JSON may have 0 for 0.0.
    cost = node.value.get("cost")
    return Reply(
        text=node.get_optional("content", str) or "",
        tool_requests=calls,
        stop="tool_calls" if calls else "end",
        usage=Usage(
            input_tokens=None if used is None else used.get_optional("prompt_tokens", int),
            output_tokens=None if used is None else used.get_optional("completion_tokens", int),
            cache_read_tokens=None,
            cache_write_tokens=None,
            cost_usd=float(cost) if isinstance(cost, int | float) else None,
        ),
    )


def _iterate_requests(node: JsonNode) -> Iterator[ToolRequest]:
    for call in node.get_nodes("tool_calls"):
        yield ToolRequest(
            id=call.get("id", str),
            tool=call.get("name", str),
            arguments=call.get_optional("arguments", dict) or {},
        )


def _build_outcome(node: JsonNode) -> SimulationOutcome:
    compared = node.get_node("db_check")
    # As above: JSON may have 1 for 1.0.
    value = node.value.get("reward")
    if not isinstance(value, int | float):
        raise UsageError(f"{node.place}.reward is not a number")
    return SimulationOutcome(
        reward=float(value),
        same_database=None if compared is None else compared.get_optional("db_match", bool),
        actions_matched=tuple(
            found.get("action_match", bool) for found in node.get_nodes("action_checks")
        ),
        verdicts=dict(map(_read_verdict, node.get_nodes("nl_assertions"))),
    )


def _read_verdict(node: JsonNode) -> tuple[str, Judgement]:
    """Return an assertion and its recorded verdict.

    The recording does not have the question to the judge.
    """
    met = node.get("met", bool)
    return node.get("nl_assertion", str), Judgement(
        question="",
        model=RECORDED_JUDGE,
        prompt_version=RECORDED_JUDGE,
        score=1.0 if met else 0.0,
        grade="correct" if met else "wrong",
        explanation=(node.get_optional("justification", str) or "")[:MAX_EXPLANATION],
    )
