"""tau2-bench as suites, and as recordings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from harness.base import UsageError, digest_json
from harness.leaderboards.tau2.checks import build_checks
from harness.leaderboards.tau2.data import (
    DOMAINS,
    ITEM_DETAILS,
    PREPARE_TOOL,
    domain_folder,
    domain_server,
    list_fetched_domains,
    list_user_tools,
    read_policy,
    read_split,
    read_tasks,
    select_domains,
)
from harness.leaderboards.tau2.result_files import (
    NotAResultFile,
    ResultFile,
    SimulationOutcome,
    UnsupportedDomain,
    read_results,
)
from harness.leaderboards.tau2.tasks import Criteria, Task
from harness.types import (
    Case,
    Judgement,
    Limits,
    Location,
    ScriptedCall,
    SimulatedUser,
    Suite,
    Transcript,
    dataclass,
)

NAME: Final = "tau2"
"""Name of the leaderboard."""

MAX_STEPS: Final = 200
"""Messages of agent and user together, and batches of calls, after which the leaderboard ends a
simulation."""
TYPICAL_TOKENS: Final = (58_700, 800)
"""Input and output tokens of an agent in one simulation: the mean of 80 recorded ones with
gpt-4.1."""
TIMEOUT_S: Final = 1_800.0
"""Wall time of one simulation; the leaderboard itself sets none."""

SYSTEM_PROMPT: Final = """\
<instructions>
You are a customer service agent that helps the user according to the <policy> below.
In each turn you can either send a message to the user, or make a tool call. \
You cannot do both at the same time.
Be helpful, always follow the policy, and always write valid JSON only in tool calls.
</instructions>
<policy>
{policy}
</policy>"""
"""The agent's system prompt; the policy is the domain's own text."""


SOLO_PROMPT: Final = """\
<instructions>
You are a customer service agent. There is no customer to talk with: the user's message is a \
ticket that says what is wrong and what they agreed to.
Solve it with your tools according to the <policy> below. You have the tools of the customer's \
phone, too.
Make one tool call at a time, and always write valid JSON only in tool calls. \
When all is done, answer with a short text.
</instructions>
<policy>
{policy}
</policy>"""
"""The system prompt of an agent without a customer."""

USER_GUIDELINES: Final = """\
You play a person who talks with a customer service agent. The agent is a program; you are the \
human, with the thing in your hands that this is about. Your tools are what you can do with it.

- Write one message at a time, in your own everyday words, or make one tool call; never both.
- Use a tool only if the agent asks you to, or if you need it to answer what the agent asks.
- Whatever you say about your device you know from a result of a tool. Never make a result up. \
If a call fails, mend it and try again.
- If the agent asks for several things at once, say that you can do one at a time.
- Keep to the scenario below. Whatever it does not say about you, you do not know: never make up \
a fact, a name or
  a number.
- Do not recite the scenario. Say what you want first, and give details when the agent asks for \
them.
- The agent sees your messages, not your calls or their results: tell what you found.
- Go on until everything that you came for is done or has been refused for good. Then write \
###STOP### alone.
- If the agent hands you over to somebody else, write ###TRANSFER### alone, once the agent has \
said so.
- If the scenario does not tell you enough to go on, write ###OUT-OF-SCOPE### alone.
"""
"""How to play a customer who has tools: in our words, to the effect of the leaderboard's."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The tasks of a domain that a suite has."""

    domain: str
    """The domain."""
    split: str | None = None
    """The part of it; ``None`` means its usual tasks."""
    solo: bool = False
    """Whether the agent works without a customer."""

    @property
    def reference(self) -> str:
        """The selection as a user writes it."""
        parts = [self.domain, "solo" if self.solo else "", self.split or ""]
        return ":".join(filter(None, parts))


def parse_selection(text: str) -> Selection:
    """Return what ``DOMAIN``, ``DOMAIN:PART``, ``DOMAIN:solo`` or ``DOMAIN:solo:PART`` selects.

    Raises:
        UsageError: there is no such domain, or it cannot be played without a customer.
    """
    name, *rest = text.split(":")
    (domain,) = select_domains([name])
    solo = rest[:1] == ["solo"]
    if solo and domain != "telecom":
        raise UsageError(f"{domain} has no tasks without a customer", meant="Only telecom has.")
    parts = rest[solo:]
    if len(parts) > 1:
        raise UsageError(f"{text!r} names more than one part of {domain}")
    return Selection(domain, parts[0] if parts else None, solo)


@dataclass(frozen=True, slots=True)
class Tau2:
    """tau2-bench; satisfies `harness.leaderboards.Leaderboard` and `ReplayableLeaderboard`."""

    def suites(self, part: str | None) -> Sequence[Suite]:
        """Return one suite for each of the domains that ``part`` names, joined by commas.

        ``None`` means all. ``retail:test`` are the tasks of a part of a domain, ``telecom:solo``
        those of an agent without a customer, ``telecom:solo:small`` both.

        Raises:
            UsageError: there is no such domain or part.
            NothingToRun: the data were not fetched.
        """
        names = [] if part is None else [*dict.fromkeys(map(str.strip, part.split(",")))]
        if not names:
            return [_build_suite(Selection(domain)) for domain in list_fetched_domains()]
        return [_build_suite(parse_selection(name)) for name in names]

    def load_recordings(self, path: Path) -> Mapping[str, Tau2Recording]:
        """Return the agents of a result file, or of all result files in a folder.

        Raises:
            UsageError: there is no result file.
        """
        if not path.is_dir():
            return {(results := read_results(path)).agent: Tau2Recording({results.domain: results})}
        files, notes = _read_results(path)
        agents = Counter((results.agent, results.domain) for results in files.values())
        twice = {agent for (agent, _), count in agents.items() if count > 1}
        found: dict[str, dict[str, ResultFile]] = {}
        for file, results in files.items():
            name = results.agent
            # Two files of one agent cannot be told apart, so each is an agent of its own in
            # the results.
            if name in twice:
                name += f" ({file.name.removesuffix('.gz').removesuffix('.json')})"
            found.setdefault(name, {})[results.domain] = results
        return {name: Tau2Recording(domains, notes) for name, domains in found.items()}


TAU2 = Tau2()


def _read_results(folder: Path) -> tuple[dict[Path, ResultFile], tuple[str, ...]]:
    """Return the result files in a folder that can be replayed here, and notes on the others."""
    files: dict[Path, ResultFile] = {}
    notes = []
    for file in sorted(folder.iterdir()):
        if not file.name.endswith((".json", ".json.gz")):
            continue
        try:
            files[file] = read_results(file)
        except (NotAResultFile, UnsupportedDomain) as error:
            notes.append(f"Left out: {error.message}.")
    if not files:
        message = f"there is no result file of {' or '.join(DOMAINS)} in {folder}"
        raise UsageError(message, meant="\n  ".join(notes) or None)
    return files, tuple(notes)


@dataclass(frozen=True, slots=True)
class Tau2Recording:
    """The recorded simulations of one agent; satisfies `harness.leaderboards.CarriedOut`."""

    domains: Mapping[str, ResultFile]
    """Domain → its result file."""
    notes: tuple[str, ...] = ()
    """Notes on files that were left out."""

    def list_cases(self) -> Collection[str]:
        """Return the names of the recorded tasks."""
        return {
            format_case_name(domain, simulation.task)
            for domain, results in self.domains.items()
            for simulation in results.simulations
        }

    def get_transcripts(self, case: str) -> Sequence[Transcript]:
        """Return every recorded trial of a task."""
        # The id of a task may have underscores; the name of a domain has none.
        domain, _, task = case.partition("_")
        results = self.domains.get(domain)
        return [] if results is None else [trial.transcript for trial in results.list_trials(task)]

    def restore_case(self, case: Case) -> Case:
        """Return ``case`` with the recording's criteria for its task, which may be older."""
        domain, _, task = case.name.partition("_")
        results = self.domains[domain]
        tools = list_user_tools(domain_folder(domain))
        # As it was recorded, whichever of the two the suite would play.
        as_it_was = build_case(results.tasks[task], domain, user_tools=tools, solo=results.solo)
        # If the later tool worked in a recording, its server must have it.
        if ITEM_DETAILS not in results.succeeded_tools:
            return as_it_was
        server = domain_server(domain, domain_folder(domain), (ITEM_DETAILS,))
        return replace(as_it_was, server=server)

    def restore_trial(self, case: Case, index: int) -> Case:
        """Return ``case``: all trials of a task begin alike."""
        return case

    def get_verdicts(self, case: str, index: int) -> Mapping[str, Judgement]:
        """Return ``assertion → judgement`` of the recorded judge for that trial of a task."""
        outcome = self._get_outcome(case, index)
        return {} if outcome is None else outcome.verdicts

    def get_reward(self, case: str, index: int) -> float | None:
        """Return the recorded reward of that trial of a task."""
        outcome = self._get_outcome(case, index)
        return None if outcome is None else outcome.reward

    def _get_outcome(self, case: str, index: int) -> SimulationOutcome | None:
        domain, _, task = case.partition("_")
        return self.domains[domain].list_trials(task)[index].outcome


def format_case_name(domain: str, task: str) -> str:
    """Return the name of a task's case."""
    return f"{domain}_{task}"


def build_case(
    task: Task,
    domain: str,
    at: Location | None = None,
    *,
    user_tools: Sequence[str] = (),
    solo: bool = False,
) -> Case:
    """Return a task as a case: a simulated user, the domain's tools, and the rules as checks.

    ``user_tools`` are those of the user, which an agent without one has itself (``solo``).
    """
    prepared = {"calls": list(task.preparation)}
    user = SimulatedUser(
        scenario=task.scenario,
        max_turns=MAX_STEPS,
        tools=tuple(user_tools),
        guidelines=USER_GUIDELINES if user_tools else None,
    )
    return Case(
        name=format_case_name(domain, task.id),
        prompt=(task.ticket or task.scenario) if solo else task.scenario,
        user=None if solo else user,
        setup=(ScriptedCall(tool=PREPARE_TOOL, arguments=prepared, allow_absent=True),)
        if task.preparation
        else (),
        checks=build_checks(task.criteria),
        description=task.purpose,
        limits=Limits(max_replies=MAX_STEPS, max_calls=10 * MAX_STEPS, timeout_s=TIMEOUT_S),
        tags=(domain,),
        metadata={
            "domain": domain,
            "task": task.id,
            "reward_basis": list((task.criteria or Criteria()).basis),
        },
        at=at,
    )


def _build_suite(selection: Selection) -> Suite:
    domain, solo = selection.domain, selection.solo
    folder = domain_folder(domain)
    policy = read_policy(folder, solo=solo)
    tasks = _select_tasks(read_tasks(folder), folder, selection.split)
    at = Location(file=str(folder / "tasks.json"))
    tools = list_user_tools(folder)
    cases = tuple(build_case(task, domain, at, user_tools=tools, solo=solo) for task in tasks)
    content = [policy, [case.name for case in cases], (folder / "tasks.json").read_text("utf-8")]
    return Suite(
        name="_".join([NAME, *selection.reference.split(":")]),
        cases=cases,
        description=f"tau2-bench, {selection.reference}: {len(cases)} tasks of customers, an agent "
        "with tools and a policy",
        server=domain_server(domain, folder),
        system_prompt=(SOLO_PROMPT if solo else SYSTEM_PROMPT).format(policy=policy),
        digest=digest_json(content),
        reference=f"{NAME}:{selection.reference}",
        at=at,
        leaderboard=NAME,
        typical_tokens=TYPICAL_TOKENS,
    )


def _select_tasks(tasks: Sequence[Task], folder: Path, split: str | None) -> list[Task]:
    """Return the tasks of a part of the domain.

    ``None`` means those of the leaderboard's ``base``: of telecom, a selection.
    """
    if split is None and folder.name != "telecom":
        return list(tasks)
    wanted = read_split(folder, split or "base")
    return [task for task in tasks if task.id in wanted]
