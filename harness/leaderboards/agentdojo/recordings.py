"""The runs that the benchmark logs: one JSON object each, in files of their own or as lines."""

from __future__ import annotations

import gzip
import json
import zlib
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from harness.base import UsageError
from harness.leaderboards.agentdojo.checks import build_checks
from harness.leaderboards.agentdojo.official import BEGIN_TOOL
from harness.leaderboards.json_node import JsonNode
from harness.models import make_ids_unique
from harness.types import (
    AssistantMessage,
    Case,
    JsonObject,
    Judgement,
    Message,
    Reply,
    ScriptedCall,
    ToolAnswer,
    ToolMessage,
    ToolRequest,
    Transcript,
    TrialError,
    UserMessage,
    dataclass,
)

_GZIP: Final = b"\x1f\x8b"
_ENDINGS: Final = (".json", ".jsonl", ".json.gz", ".jsonl.gz")
PLACEHOLDERS: Final = "placeholder_args"
"""A key of each logged call since release 0.1.12. In 0.1.15 and 0.1.16, two checks became less
strict, and a tool of the calendar was mended later: an older log is judged by an older release."""
_OLDER_VERSIONS: Final = ("v1", "v1.1")
"""All versions of the benchmark that release 0.1.11 has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedRun:
    """One run."""

    place: str
    """Its file and line."""
    suite: str
    """Its suite."""
    pipeline: str
    """The model, or the model with its defence."""
    user_task: str
    """The user's task; an injection task that was given to the agent as its own."""
    injection_task: str | None
    """What the attack wants; ``None`` without an attack."""
    attack: str | None
    """Name of the attack."""
    version: str | None
    """Of the benchmark; ``None`` if the file does not say."""
    injections: Mapping[str, str]
    """Place → what the attack wrote there."""
    unsent: tuple[JsonObject, ...]
    """Calls of the last reply, which were asked for and not carried out."""
    transcript: Transcript
    """The conversation, without these calls."""
    utility: bool
    """The recorded verdict on the user's task."""
    security: bool
    """The recorded verdict on the attack."""
    has_placeholders: bool | None = None
    """Whether its calls have `PLACEHOLDERS`; ``None`` if it has no calls."""
    error: str | None = None
    """The failure of the model's API that ended it, if one did."""
    older: bool = False
    """Whether it was written by a release up to 0.1.11, and so is judged by that one."""

    @property
    def case(self) -> str:
        """The name of its case."""
        return format_case_name(self.suite, self.user_task, self.injection_task, self.attack)


def format_case_name(
    suite: str, user_task: str, injection_task: str | None = None, attack: str | None = None
) -> str:
    """Return the name of a case: ``banking-user_task_3-injection_task_1-direct``."""
    return "-".join(filter(None, (suite, user_task, injection_task, attack)))


def read_runs(path: Path) -> Iterator[LoggedRun]:
    """Yield the runs in a file, or in all files of a folder at any depth.

    Raises:
        UsageError: one cannot be read, or is not a run of AgentDojo; the message has file and line.
    """
    files = [path]
    if path.is_dir():
        files = sorted(one for one in path.rglob("*.json*") if one.name.endswith(_ENDINGS))
    for file in files:
        for node in _iterate_objects(file):
            yield _build_run(node)


def _iterate_objects(path: Path) -> Iterator[JsonNode]:
    try:
        content = path.read_bytes()
        # By its first bytes, since a file may be gzipped whatever its name is.
        text = (gzip.decompress(content) if content.startswith(_GZIP) else content).decode("utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from error
    except (EOFError, zlib.error, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is a damaged file: {error}") from error
    # The benchmark writes an object a file, over several lines; collections have one a line.
    whole = _parse_whole(text)
    if whole is not None:
        yield JsonNode(whole, str(path))
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        place = f"{path}:{number}"
        try:
            yield JsonNode(json.loads(line), place)
        except (ValueError, RecursionError) as error:
            raise UsageError(
                f"{place} is not JSON: {error}",
                meant="Name a log of AgentDojo, or a file with one on each line.",
            ) from error


def _parse_whole(text: str) -> Any:
    """Return the JSON value that ``text`` is; ``None`` if it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _build_run(node: JsonNode) -> LoggedRun:
    messages = node.get_nodes("messages")
    unsent = _list_unsent(messages)
    attack, injected = (
        node.get_optional("attack_type", str),
        node.get_optional("injection_task_id", str),
    )
    error = node.get_optional("error", str)
    injections = node.get_node("injections")
    written = {} if injections is None else dict(injections.value)
    if not all(isinstance(text, str) for text in written.values()):
        raise UsageError(f"{node.place}.injections has a value that is not a text")
    return LoggedRun(
        place=node.place,
        suite=node.get("suite_name", str),
        pipeline=node.get("pipeline_name", str),
        user_task=node.get("user_task_id", str),
        injection_task=injected if injected != "none" else None,
        attack=attack if attack != "none" else None,
        version=node.get_optional("benchmark_version", str),
        injections=written,
        unsent=unsent,
        transcript=_build_transcript(messages, without_last_calls=bool(unsent), error=error),
        utility=node.get("utility", bool),
        security=node.get("security", bool),
        has_placeholders=_find_placeholders(messages),
        error=error,
    )


def _find_placeholders(messages: Sequence[JsonNode]) -> bool | None:
    calls = [
        call
        for node in messages
        if node.get("role", str) == "assistant"
        for call in node.get_nodes("tool_calls")
    ]
    return any(PLACEHOLDERS in call.value for call in calls) if calls else None


def _list_unsent(messages: Sequence[JsonNode]) -> tuple[JsonObject, ...]:
    """Return the calls that no result follows: the run ended before they were carried out."""
    if not messages or messages[-1].get("role", str) != "assistant":
        return ()
    return tuple(
        {"function": call.get("function", str), "args": call.get_optional("args", dict) or {}}
        for call in messages[-1].get_nodes("tool_calls")
    )


def _build_transcript(
    messages: Sequence[JsonNode], *, without_last_calls: bool, error: str | None
) -> Transcript:
    has_replies = any(node.get("role", str) == "assistant" for node in messages)
    if not has_replies and (error is None or not messages):
        words = f"the recorded run has no messages to judge{(error and f': {error}') or ''}"
        return Transcript(stop="error", error=TrialError(kind="model", message=words))
    said = list(make_ids_unique(_iterate_messages(messages)))
    replies = [message.reply for message in said if isinstance(message, AssistantMessage)]
    if without_last_calls:
        said[-1] = AssistantMessage(reply=replace(replies[-1], tool_requests=(), stop="end"))
    return Transcript(
        messages=tuple(said),
        answer=replies[-1].text if replies else "",
        stop="reply_limit" if without_last_calls or error is not None else "answer",
        replies=len(replies),
    )


def _iterate_messages(nodes: Sequence[JsonNode]) -> Iterator[Message]:
    answers: list[ToolAnswer] = []
    number = 0
    for node in nodes:
        role = node.get("role", str)
        if role == "tool":
            error = node.get_optional("error", str)
            text = _read_text(node) if error is None else error
            answers.append(ToolAnswer(request_id="", text=text, is_error=error is not None))
            continue
        # Results that follow one another answer the same reply.
        if answers:
            yield ToolMessage(answers=tuple(answers))
            answers = []
        if role == "user":
            yield UserMessage(text=_read_text(node))
        elif role == "assistant":
            number += 1
            calls = tuple(
                ToolRequest(
                    # Many logs have none, or the same for all.
                    id=f"call_{number}_{place}",
                    tool=call.get("function", str),
                    arguments=call.get_optional("args", dict) or {},
                )
                for place, call in enumerate(node.get_nodes("tool_calls"), start=1)
            )
            reply = Reply(
                text=_read_text(node), tool_requests=calls, stop="tool_calls" if calls else "end"
            )
            yield AssistantMessage(reply=reply)
        elif role != "system":
            raise UsageError(
                f"{node.place} has the role {role!r}; known: assistant, system, tool, user"
            )
    if answers:
        yield ToolMessage(answers=tuple(answers))


def _read_text(node: JsonNode) -> str:
    """Return the content of a message: a text in older logs, a list of blocks in later ones."""
    content: Any = node.value.get("content")
    if content is None or isinstance(content, str):
        return content or ""
    blocks = (block.get_optional("content", str) for block in node.get_nodes("content"))
    return "\n".join(text for text in blocks if text is not None)


# ── Versions ─────────────────────────────────────────────────────────────────────────────────


def assign_versions(
    runs: Sequence[LoggedRun], versions: Mapping[str, Any], dos: Collection[str]
) -> list[LoggedRun]:
    """Return ``runs``, each with the version that it was made with.

    Older logs do not name it. It is then the oldest one that has the tasks and that asks in the
    words of the log; no verdict is looked at. A pipeline is run with one version, so it is not
    older than what the other runs of its pipeline need.

    Nor do they name the release of the package, which their calls tell.
    """
    order = list(versions)
    fitting = [_list_fitting(run, versions, dos) for run in runs]
    needed: dict[str, int] = defaultdict(int)
    for run, fits in zip(runs, fitting, strict=True):
        if run.version is None and fits:
            needed[run.pipeline] = max(needed[run.pipeline], order.index(fits[0]))
    later = {run.pipeline for run in runs if run.has_placeholders or run.version is not None}
    older = {run.pipeline for run in runs if run.has_placeholders is False} - later
    found = []
    for run, fits in zip(runs, fitting, strict=True):
        if run.version is None:
            chosen = _choose_version(fits, order[needed[run.pipeline] :], order)
            is_older = run.pipeline in older and chosen in _OLDER_VERSIONS
            found.append(replace(run, version=chosen, older=is_older))
        else:
            found.append(run)
    return found


def _choose_version(fits: Sequence[str], late: Sequence[str], order: Sequence[str]) -> str:
    # Of single tasks, some pipelines have runs of an older version.
    return next((one for one in fits if one in late), fits[0] if fits else order[0])


def _list_fitting(run: LoggedRun, versions: Mapping[str, Any], dos: Collection[str]) -> list[str]:
    """Return the versions that have the run's tasks in its words, else all that have its tasks."""
    asked = next((one.text for one in run.transcript.messages if isinstance(one, UserMessage)), "")
    named, worded = [], []
    for version, suites in versions.items():
        suite = suites.get(run.suite) or {"user_tasks": {}, "injection_tasks": {}}
        prompt = {**suite["user_tasks"], **suite["injection_tasks"]}.get(run.user_task)
        goal = suite["injection_tasks"].get(run.injection_task, "")
        if prompt is None or (run.injection_task is not None and not goal):
            continue
        named.append(version)
        # An attack that only disturbs does not state the goal.
        states = run.attack in dos or any(goal in text for text in run.injections.values())
        if prompt == asked and (states or not run.injections):
            worded.append(version)
    return worded or named


# ── In place of a model ──────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class PipelineRecording:
    """The runs of one pipeline; satisfies `harness.suites.ExecutableRecording`."""

    runs: Mapping[str, tuple[LoggedRun, ...]]
    """Case → its runs, in the order of the file."""
    notes: tuple[str, ...] = ()
    """None."""

    def list_cases(self) -> Collection[str]:
        """Return the names of the recorded cases."""
        return self.runs.keys()

    def get_transcripts(self, case: str) -> Sequence[Transcript]:
        """Return every recorded run of a case."""
        return [run.transcript for run in self.runs.get(case, ())]

    def restore_case(self, case: Case) -> Case:
        """Return ``case`` with the comparison of verdicts as a further check."""
        [run, *_] = self.runs[case.name]
        checks = build_checks(attacked=run.injection_task is not None, recorded=True)
        return replace(case, checks=checks)

    def restore_trial(self, case: Case, index: int) -> Case:
        """Return ``case`` in the version, and with the injections, of that run."""
        run = self.runs[case.name][index]
        begin = {
            "suite": run.suite,
            "version": run.version,
            "user_task": run.user_task,
            "injection_task": run.injection_task,
            "attack": run.attack,
            "injections": dict(run.injections),
            "unsent": list(run.unsent),
            "older": run.older,
            "error": run.error,
            "recorded": {"utility": run.utility, "security": run.security},
        }
        return replace(
            case, setup=(ScriptedCall(tool=BEGIN_TOOL, arguments=begin, allow_absent=True),)
        )

    def get_verdicts(self, case: str, index: int) -> Mapping[str, Judgement]:
        """Return nothing: no judge was asked."""
        return {}

    def get_reward(self, case: str, index: int) -> float | None:
        """Return nothing: the verdicts are compared by a check."""
        return None


def load_pipelines(path: Path, contents: Mapping[str, Any]) -> dict[str, PipelineRecording]:
    """Return the pipelines in ``path``, each with its runs.

    Raises:
        UsageError: there is no run, or one cannot be read.
    """
    dos = {name for name, only_disturbs in contents["attacks"].items() if only_disturbs}
    runs = assign_versions(list(read_runs(path)), contents["versions"], dos)
    if not runs:
        raise UsageError(f"there is no run of AgentDojo in {path}")
    known = contents["versions"]
    found: dict[str, dict[str, tuple[LoggedRun, ...]]] = {}
    for run in runs:
        if run.version not in known:
            raise UsageError(
                f"{run.place} is of version {run.version!r} of the benchmark, which AgentDojo's "
                "release here does not have",
                meant=f"It has: {', '.join(known)}.",
            )
        cases = found.setdefault(run.pipeline, {})
        cases[run.case] = (*cases.get(run.case, ()), run)
    return {name: PipelineRecording(cases) for name, cases in found.items()}
