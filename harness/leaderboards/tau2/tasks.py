"""The leaderboard's tasks, read from JSON: the customer's scenario, the criteria of success."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Final, Literal, TypeAlias, get_args

from harness.base import UsageError
from harness.leaderboards.json_node import JsonNode
from harness.types import JsonObject, dataclass

Component: TypeAlias = Literal["DB", "ENV_ASSERTION", "COMMUNICATE", "ACTION", "NL_ASSERTION"]
"""What a reward is made of:

- ``DB``: the final database equals the one after the gold actions.
- ``ENV_ASSERTION``: what the task asks of the final state holds.
- ``COMMUNICATE``: the agent's messages contain all required texts.
- ``ACTION``: every gold action was called.
- ``NL_ASSERTION``: a judge finds that every assertion in plain words holds.
"""

DEFAULT_BASIS: Final[tuple[Component, ...]] = ("DB", "COMMUNICATE")


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """A gold action: a call that a correct agent makes."""

    name: str
    """The tool."""
    arguments: JsonObject = field(default_factory=dict)
    """Its arguments."""
    compare_args: tuple[str, ...] | None = None
    """The arguments to compare; ``None`` means those of the call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateAssertion:
    """What a task asks of the final state of one side."""

    call: JsonObject
    """``env_type``, ``func_name`` and ``arguments``, as the task has them."""
    expected: bool = True
    """The right answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Criteria:
    """The criteria of a task's success."""

    actions: tuple[Action, ...] | None = None
    """The gold actions, in order. An empty tuple means an unchanged database, ``None`` no
    requirement."""
    state_assertions: tuple[StateAssertion, ...] = ()
    """What must be true of the final state."""
    communicate: tuple[str, ...] = ()
    """Texts that the agent must say."""
    assertions: tuple[str, ...] = ()
    """Statements that a judge must find true."""
    basis: tuple[Component, ...] = DEFAULT_BASIS
    """The components whose product is the reward."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One customer's task."""

    id: str
    """Unique in its domain."""
    scenario: str
    """The customer and their wishes, as given to the simulated user."""
    purpose: str | None = None
    """What the task is meant to test."""
    ticket: str | None = None
    """What an agent without a customer is told."""
    preparation: tuple[JsonObject, ...] = ()
    """What is done to both sides before the conversation, as the task has it."""
    criteria: Criteria | None = None
    """``None``: any conversation that ends succeeds."""


def read_task(node: JsonNode) -> Task:
    """Return the task in ``node``.

    Raises:
        UsageError: it is not a task, or needs a feature that no domain has.
    """
    described = node.get_node("description")
    criteria = node.get_node("evaluation_criteria")
    user = node.get_node("user_scenario")
    if user is None:
        raise UsageError(f"{node.place} has no 'user_scenario'")
    return Task(
        id=node.get("id", str),
        scenario=format_scenario(user.value),
        purpose=None if described is None else described.get_optional("purpose", str),
        ticket=node.get_optional("ticket", str),
        preparation=_read_preparation(node.get_node("initial_state")),
        criteria=None if criteria is None else _build_criteria(criteria),
    )


def _read_preparation(state: JsonNode | None) -> tuple[JsonObject, ...]:
    if state is None:
        return ()
    for key, found in state.value.items():
        if key != "initialization_actions" and found:
            raise UsageError(f"{state.place} has {key!r}, which is not supported here")
    return tuple(map(_read_side_call, state.get_nodes("initialization_actions")))


def _read_side_call(node: JsonNode) -> JsonObject:
    """Return a call of a function of one side, which is no tool."""
    return {
        "env_type": node.get("env_type", str),
        "func_name": node.get("func_name", str),
        "arguments": node.get_optional("arguments", dict) or {},
    }


def _build_criteria(node: JsonNode) -> Criteria:
    actions = tuple(map(_build_action, node.get_nodes("actions")))
    basis = node.get_texts("reward_basis") or DEFAULT_BASIS
    known = get_args(Component)
    unknown = [name for name in basis if name not in known]
    if unknown:
        names = f"{unknown[0]!r}; known: {', '.join(known)}"
        raise UsageError(f"{node.place}.reward_basis names {names}")
    return Criteria(
        # An empty list demands an unchanged database, and a missing one demands nothing.
        actions=None if node.get_optional("actions", list) is None else actions,
        state_assertions=tuple(map(_read_assertion, node.get_nodes("env_assertions"))),
        communicate=node.get_texts("communicate_info"),
        assertions=node.get_texts("nl_assertions"),
        basis=tuple(name for name in known if name in basis),
    )


def _read_assertion(node: JsonNode) -> StateAssertion:
    expected = node.get_optional("assert_value", bool)
    return StateAssertion(call=_read_side_call(node), expected=expected is not False)


def _build_action(node: JsonNode) -> Action:
    compared = node.get_optional("compare_args", list)
    return Action(
        name=node.get("name", str),
        arguments=node.get_optional("arguments", dict) or {},
        compare_args=None if compared is None else node.get_texts("compare_args"),
    )


_INSTRUCTIONS: Final = (
    ("reason_for_call", "Reason for call"),
    ("known_info", "Known info"),
    ("unknown_info", "Unknown info"),
    ("task_instructions", "Task instructions"),
)


def format_scenario(scenario: Mapping[str, Any]) -> str:
    """Return a ``user_scenario`` as text for the simulated user; null fields are left out."""
    # As upstream writes it for its simulated user, tabs included.
    instructions = scenario.get("instructions")
    if isinstance(instructions, Mapping):
        domain = instructions.get("domain")
        named = [] if domain is None else [f"Domain: {domain}"]
        others = _format_parts(instructions, _INSTRUCTIONS)
        scenario = {**scenario, "instructions": "\n".join([*named, *others])}
    titles = (("persona", "Persona"), ("instructions", "Instructions"))
    return "\n".join(_format_parts(scenario, titles))


def _format_parts(parts: Mapping[str, Any], titles: Sequence[tuple[str, str]]) -> Iterator[str]:
    for key, title in titles:
        if parts.get(key) is not None:
            lines = str(parts[key]).split("\n")
            yield "\n".join(
                [f"{title}:", *(f"\t{line}" if line.strip() else line for line in lines)]
            )
