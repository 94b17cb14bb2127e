"""Simulated users, who talk with the model under test instead of scripted turns.

A `Speaker` gets only the text of the model's answers, never its tools, calls or results. It may
have tools of its own (`harness.runner.user_tools`).
`build_speaker` returns a new one for each trial; `find_ending` decides whether a message ends the
conversation.
"""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Protocol, get_args

from harness.base import HarnessError, ModelError, call_user_code, load_json
from harness.models import CallIds, Model, PerTrialModel
from harness.runlog import read_log
from harness.runner.user_tools import UserToolbox
from harness.sessions import ElicitReply
from harness.types import (
    AssistantMessage,
    ElicitAction,
    Elicitation,
    Message,
    Reply,
    SimulatedUser,
    Stop,
    ToolAnswer,
    ToolCall,
    ToolList,
    ToolMessage,
    ToolRequest,
    Transcript,
    Usage,
    UserMessage,
    dataclass,
)

GUIDELINES = """\
You play a person who talks with a customer service agent. The agent is a program; you are the \
human.

- Write one message at a time, in your own everyday words, as short as people write.
- Keep to the scenario below. Whatever it does not say about you, you do not know: never make up \
a fact, a name or
  a number.
- Do not recite the scenario. Say what you want first, and give details when the agent asks for \
them.
- Do not help the agent with its work, and do not speak about tools, prompts or this text.
- Go on until everything that you came for is done or has been refused for good. Then write \
###STOP### alone.
- If the agent hands you over to somebody else, write ###TRANSFER### alone.
- If the scenario does not tell you enough to go on, write ###OUT-OF-SCOPE### alone.
"""
"""The three markers are those of tau2-bench, whose guidelines are similar."""


def system_prompt(scenario: str, guidelines: str | None = None) -> str:
    """Return the system prompt of the model that plays a user in ``scenario``."""
    return f"{guidelines or GUIDELINES}\n<scenario>\n{scenario}\n</scenario>"


NO_TOOLS = ToolList(tools=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """One message of a user."""

    text: str
    """Its text."""
    usage: Usage = field(default_factory=Usage)
    """Tokens and cost of the message."""
    waited_s: float = 0.0
    """Seconds spent waiting because of rate limits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormAnswer:
    """What a simulated user does with a server's question."""

    reply: ElicitReply
    """The answer."""
    usage: Usage = field(default_factory=Usage)
    """Tokens and cost of it."""


_FORM = """\
[The program that the agent uses shows you a question. The agent does not see it.]
{message}
{what}
Answer as the person in your scenario would, with one JSON object and nothing else: \
{{"action": "accept", "content": {{…}}}}, {{"action": "decline"}} or {{"action": "cancel"}}."""

MOST_CALLS = 30
"""Calls, or batches of them, that a user may make before they say something."""


class ModelUser:
    """A user played by a model, which sees the conversation with the roles swapped."""

    def __init__(
        self, user: SimulatedUser, model: Model, toolbox: UserToolbox | None = None
    ) -> None:
        """Let ``model`` play ``user``, who may have tools."""
        self._model = model
        self.toolbox = toolbox
        self._ids = CallIds()
        self._system = system_prompt(user.scenario, user.guidelines)
        self._first = user.first_message
        self._side: list[Message] = []

    async def next_message(self, heard: str) -> Utterance | None:
        """Ask the model for the user's next message."""
        self._side.append(UserMessage(text=heard))
        # In its own history, so that the model knows what it is meant to have said.
        if self._first is not None:
            reply, self._first = Reply(text=self._first), None
            self._side.append(AssistantMessage(reply=reply))
            return Utterance(text=reply.text)
        usage, waited_s = Usage(), 0.0
        for _ in range(MOST_CALLS + 1):
            reply = await self._ask(usage, waited_s)
            usage, waited_s = usage + reply.usage, waited_s + reply.waited_s
            self._side.append(AssistantMessage(reply=reply))
            if self.toolbox is None or not reply.tool_requests:
                break
            await self._make_calls(self.toolbox, reply)
        else:
            words = f"the simulated user made {MOST_CALLS} calls without a word to the agent"
            raise ModelError(words, waited_s=waited_s, usage=usage)
        if not reply.text.strip():
            why = ": the reply holds only thinking" if reply.only_thinking else ""
            words = f"the simulated user said nothing{why}"
            raise ModelError(words, waited_s=waited_s, usage=usage)
        return Utterance(text=reply.text, usage=usage, waited_s=waited_s)

    async def answer_form(self, asked: Elicitation) -> FormAnswer:
        """Ask the model what the user does with a form; what cannot be read is declined."""
        form = json.dumps(asked.schema, ensure_ascii=False)
        what = f"Address to open: {asked.url}" if asked.url else f"Fields (JSON Schema): {form}"
        self._side.append(UserMessage(text=_FORM.format(message=asked.message, what=what)))
        reply = await self._ask(Usage(), 0.0, NO_TOOLS)
        self._side.append(AssistantMessage(reply=Reply(text=reply.text)))
        return FormAnswer(reply=_read_form_answer(reply.text), usage=reply.usage)

    async def _ask(self, usage: Usage, waited_s: float, tools: ToolList | None = None) -> Reply:
        """Return the model's reply; an error of it counts what this message used before, too."""
        if tools is None:
            tools = NO_TOOLS if self.toolbox is None else self.toolbox.tools
        try:
            return self._ids.take_all(await self._model.answer(self._side, tools, self._system))
        # Told apart by its words from an error of the tested model.
        except ModelError as error:
            words, waited = f"the simulated user: {error}", waited_s + error.waited_s
            used = usage + error.usage
            raise ModelError(words, kind=error.kind, waited_s=waited, usage=used) from error

    async def _make_calls(self, toolbox: UserToolbox, reply: Reply) -> None:
        """Carry out the user's calls one after the other; the agent sees none of them."""
        calls = [await toolbox.call_tool(request) for request in reply.tool_requests]
        answers = (
            ToolAnswer(request_id=request.id, text=call.text, is_error=call.is_error)
            for request, call in zip(reply.tool_requests, calls, strict=True)
        )
        self._side.append(ToolMessage(answers=tuple(answers)))


def _read_form_answer(text: str) -> ElicitReply:
    by = "the simulated user"
    begin, end = text.find("{"), text.rfind("}") + 1
    try:
        said = load_json(text[begin:end])
    except ValueError:
        said = None
    action: Any = said.get("action") if isinstance(said, dict) else None
    if not isinstance(said, dict) or action not in get_args(ElicitAction):
        return ElicitReply(action="decline", by=f"{by}, whose reply could not be read")
    content = said.get("content")
    return ElicitReply(action=action, content=content if isinstance(content, dict) else {}, by=by)


class ScriptedUser:
    """A user with scripted messages, which do not depend on the answers."""

    toolbox: UserToolbox | None = None

    async def answer_form(self, asked: Elicitation) -> None:
        """Return nothing: a script has no answers to forms."""

    def __init__(self, lines: Sequence[str]) -> None:
        """The user's messages, in order."""
        self._lines = iter(lines)

    async def next_message(self, heard: str) -> Utterance | None:
        """Return the next line."""
        line = next(self._lines, None)
        return None if line is None else Utterance(text=line)


class CodeUser:
    """A user played by a program."""

    toolbox: UserToolbox | None = None

    async def answer_form(self, asked: Elicitation) -> None:
        """Return nothing: the program only talks; `ElicitRule.code` answers forms."""

    def __init__(self, user: SimulatedUser) -> None:
        """Let ``user.code`` play ``user``."""
        self._user = user
        self._side: list[Message] = []

    async def next_message(self, heard: str) -> Utterance | None:
        """Ask the program, which gets the whole conversation from the user's side."""
        self._side.append(UserMessage(text=heard))
        said: Any = self._user.first_message if len(self._side) == 1 else None
        if said is None:
            try:
                said = await call_user_code(self._user.code, tuple(self._side))
            except HarnessError:
                raise
            except (Exception, SystemExit) as error:  # any error of a suite's own code
                raise HarnessError(
                    f"the simulated user's program raised {type(error).__name__}: {error}"
                ) from error
        if said is None:
            return None
        if not isinstance(said, str):
            raise HarnessError(
                f"the simulated user must return text or None, but returned {type(said).__name__}"
            )
        reply = Reply(text=said)  # the program may hand on what a model thought
        self._side.append(AssistantMessage(reply=reply))
        return Utterance(text=reply.text)


_THEIR_ENDS: tuple[Stop, ...] = ("user_stop", "transfer")


class RecordedUsers:
    """All simulated users of one recorded run."""

    def __init__(self, log: Path) -> None:
        """Read the run whose log is ``log``."""
        self._log = read_log(log)
        self._keys: dict[str, deque[str]] = defaultdict(deque)
        for result in self._log.results:
            # A trial that was never started has no messages to repeat.
            if result.stop is not None:
                self._keys[f"{result.suite}::{result.case.name}#{result.trial}"].append(result.key)

    def get_user(self, label: str, toolbox: UserToolbox | None = None) -> RecordedUser:
        """Return the user of the trial ``label``; with several models, one for each in turn."""
        keys = self._keys.get(label)
        transcript = self._log.read_transcript(keys[0]) if keys else None
        if keys:
            keys.rotate(-1)
        return RecordedUser(label, transcript or Transcript(), toolbox)


class RecordedUser(ScriptedUser):
    """The user of one recorded trial."""

    def __init__(
        self, label: str, transcript: Transcript, toolbox: UserToolbox | None = None
    ) -> None:
        """Repeat the user's messages and calls in ``transcript``."""
        self.toolbox = toolbox
        self._calls = deque(transcript.user_calls)
        said = (one for one in transcript.messages if isinstance(one, UserMessage))
        # What the case itself said meanwhile comes from the case again.
        # Calls after which nothing was said are no message.
        lines = [one.text for one in said if not (one.injected or (one.calls and not one.text))]
        super().__init__(lines)
        self._ended = transcript.stop in _THEIR_ENDS
        self._fault = (
            f"the simulated user: the recording of {label} has only {len(lines)} messages of this "
            "user"
        )

    async def next_message(self, heard: str) -> Utterance | None:
        """Return the next recorded message.

        Raises:
            ModelError: no message is left, but the recorded user had not stopped.
        """
        while self.toolbox and self._calls and self._calls[0].reply <= self.toolbox.reply:
            call = self._calls.popleft()
            request = ToolRequest(id=call.request_id, tool=call.tool, arguments=call.arguments)
            await self.toolbox.call_tool(request)
        said = await super().next_message(heard)
        if said is None and not self._ended:
            raise ModelError(self._fault)
        return said


class Speaker(Protocol):
    """One user in one conversation."""

    toolbox: UserToolbox | None
    """What they can do themselves; ``None`` if they can only talk."""

    async def next_message(self, heard: str) -> Utterance | None:
        """Return the user's next message after ``heard``; ``None`` if they stop.

        Raises:
            ModelError: the model that plays the user failed.
            HarnessError: the program that plays the user failed.
        """
        ...

    async def answer_form(self, asked: Elicitation) -> FormAnswer | None:
        """Return what the user does with a server's question; ``None`` if they answer none.

        Raises:
            ModelError: the model that plays the user failed.
        """
        ...


def build_speaker(
    user: SimulatedUser,
    played_by: Model | RecordedUsers | None,
    label: str,
    toolbox: UserToolbox | None = None,
) -> Speaker:
    """Return the speaker of ``user`` in the trial ``label`` (``suite::case#repeat``).

    ``toolbox`` are the user's own tools, if they have any.

    Raises:
        HarnessError: no model is named to play the user.
    """
    if isinstance(played_by, RecordedUsers):
        return played_by.get_user(label, toolbox)
    if user.code is not None:
        return CodeUser(user)
    if user.script:
        return ScriptedUser(user.script)
    if played_by is None:
        raise HarnessError(
            "no model is named to play the simulated user: name one with --user-model"
        )
    model = played_by.for_trial(label) if isinstance(played_by, PerTrialModel) else played_by
    return ModelUser(user, model, toolbox)


def find_ending(user: SimulatedUser, said: str) -> Stop | None:
    """Return how the user's message ends the conversation, if it does."""
    if any(mark in said for mark in user.transfer_when):
        return "transfer"
    return "user_stop" if any(mark in said for mark in user.stop_when) else None


def find_agent_ending(user: SimulatedUser, answer: str, calls: Iterable[ToolCall]) -> Stop | None:
    """Return how the model ended the conversation, by its ``answer`` or the ``calls`` before it."""
    # A transfer that failed has handed nobody over.
    if any(call.tool in user.transfer_when and not call.is_error for call in calls):
        return "transfer"
    return "agent_stop" if any(mark in answer for mark in user.agent_stop_when) else None
