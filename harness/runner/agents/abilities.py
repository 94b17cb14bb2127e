"""Refuses, before anything is started, cases that an agent cannot run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from harness.agents import KINDS, AgentKind
from harness.base import UsageError
from harness.runner.variants.clients import get_habit
from harness.types import AgentSpec, Case, Interruption, LeaderboardRules, ModelSpec, Suite, Variant

_SHOWN = 5


def refuse_unsupported_cases(suites: Sequence[Suite], agents: Sequence[ModelSpec]) -> None:
    """Check that every case of ``suites`` can be run with every one of ``agents``.

    Raises:
        UsageError: with each case that cannot, and why.
    """
    for agent in agents:
        assert agent.agent is not None
        spec, kind, refused = agent.agent, KINDS.get(agent.agent.kind), []
        for suite in suites:
            if suite.system_prompt and not kind.takes_system_prompt(spec):
                how = " (write {system_prompt} into its command)" if spec.kind == "command" else ""
                refused.append(f"{suite.name}: it cannot be given the suite's system prompt{how}")
            refused += [
                f"{case.at or suite.name}: test {case.name!r}: {why}"
                for case in suite.cases
                for why in islice(_iterate_reasons(case, spec, kind), 1)
            ]
        if refused:
            more = len(refused) - _SHOWN
            refused[_SHOWN:] = [f"and {more} more"] if more > 0 else []
            listed = "\n".join(f"  - {one}" for one in refused)
            raise UsageError(
                f"the agent {agent.name} cannot run all of these cases:\n{listed}",
                meant="Select other cases with -k, or run these with a model.",
            )


def refuse_clients_habits(entrants: Iterable[tuple[ModelSpec, Variant]]) -> None:
    """Check that no agent has a variant that imitates a client: an agent is a client itself.

    Raises:
        UsageError: an agent has a variant that cuts results, or that adds a tool search.
    """
    for model, variant in entrants:
        habit = get_habit(variant)
        if model.agent and habit is not None:
            key, does = habit
            raise UsageError(
                f"variant {variant.name!r} has {key!r}, which is for models: "
                f"an agent such as {model.name} {does} itself",
                meant="Try the variant with a model, or the agent without it.",
            )


def _iterate_reasons(case: Case, spec: AgentSpec, kind: AgentKind) -> Iterator[str]:
    if case.leaderboard != LeaderboardRules():
        yield "a leaderboard decides how its conversations go, and the agent's loop is its own"
    if case.interruption != Interruption():
        yield "it interrupts the conversation, which an agent does not allow from outside"
    if not kind.resumes(spec):
        if case.user is not None:
            yield "it has a simulated user, and this kind of agent cannot continue a conversation"
        # A turn that begins anew needs nothing of the one before.
        elif any(not turn.fresh for turn in case.turns[1:]):
            yield "it has several turns, and this kind of agent cannot continue a conversation"
