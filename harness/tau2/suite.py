"""The benchmark as the rest of the house sees it: its tasks as cases, and recordings of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.canonical import digest
from harness.errors import UsageError, did_you_mean
from harness.tau2.checks import checks_of
from harness.tau2.data import DOMAINS, domain_folder, domain_server, read_policy, read_tasks
from harness.tau2.recorded import IRREPRODUCIBLE, Results, read_results
from harness.tau2.tasks import Criteria, Task
from harness.types import Case, Check, Limits, Location, SimulatedUser, Suite, Transcript

NAME: Final = "tau2"
"""What the benchmark is called."""

MAX_STEPS: Final = 200
"""Messages of agent and user together, and batches of calls: where the benchmark ends a simulation."""
TYPICAL_TOKENS: Final = (58_700, 800)
"""What an agent reads and writes in one simulation: the mean of 80 recorded ones of gpt-4.1."""
TIMEOUT_S: Final = 1_800.0
"""Wall time of one simulation; the benchmark itself sets none."""

SYSTEM_PROMPT: Final = """\
<instructions>
You are a customer service agent that helps the user according to the <policy> below.
In each turn you can either send a message to the user, or make a tool call. You cannot do both at the same time.
Be helpful, always follow the policy, and always write valid JSON only in tool calls.
</instructions>
<policy>
{policy}
</policy>"""
"""What the agent is told; the policy is the domain's own text."""


@dataclass(frozen=True, slots=True)
class Tau2:
    """tau2-bench; satisfies `harness.suites.benchmarks.Benchmark` and `Replayable`."""

    def suites(self, part: str | None) -> Sequence[Suite]:
        """Return one suite for each of the domains that ``part`` names, joined by commas; ``None`` means all.

        Raises:
            UsageError: there is no such domain.
            NothingToRun: the data are not there.
        """
        names = DOMAINS if part is None else tuple(dict.fromkeys(name.strip() for name in part.split(",")))
        for name in names:
            if name not in DOMAINS:
                near = did_you_mean(name, DOMAINS) or f"Domains: {', '.join(DOMAINS)}."
                raise UsageError(f"tau2-bench has no domain {name!r} here", meant=near)
        return [_suite(name) for name in names]

    def recordings(self, path: Path) -> Mapping[str, Recording]:
        """Return the agents of a result file, or of all those in a folder.

        Raises:
            UsageError: there is no result file.
        """
        files = _files(path) if path.is_dir() else [path]
        found: dict[str, dict[str, Results]] = {}
        for file in files:
            results = read_results(file)
            if results.domain in found.setdefault(results.agent, {}):
                raise UsageError(f"{path} has several result files of {results.agent} in the domain {results.domain}")
            found[results.agent][results.domain] = results
        return {agent: Recording(domains) for agent, domains in found.items()}


TAU2 = Tau2()


def _files(folder: Path) -> list[Path]:
    files = sorted(path for path in folder.iterdir() if path.name.endswith((".json", ".json.gz")))
    if not files:
        raise UsageError(f"there is no result file in {folder}")
    return files


@dataclass(frozen=True, slots=True)
class Recording:
    """What one agent did; satisfies `harness.suites.benchmarks.CarriedOut`."""

    domains: Mapping[str, Results]
    """Domain → its result file."""

    def cases(self) -> Collection[str]:
        """Return the names of the tasks that were recorded."""
        return {name_of(domain, one.task) for domain, results in self.domains.items() for one in results.simulations}

    def transcripts(self, case: str) -> Sequence[Transcript]:
        """Return every recorded trial of a task."""
        domain, _, task = case.partition("_")
        results = self.domains.get(domain)
        return [] if results is None else [one.transcript for one in results.of_task(task)]

    def case(self, case: Case) -> Case:
        """Return ``case`` by the criteria that the recording has of its task, which may be older ones."""
        domain, _, task = case.name.partition("_")
        return case_of(self.domains[domain].tasks[task], domain)

    def irreproducible(self, request_id: str) -> str | None:
        """Return why the recorded result of that call cannot come out again, where that is known."""
        return IRREPRODUCIBLE.get(request_id)


def name_of(domain: str, task: str) -> str:
    """Return what the case of a task is called."""
    return f"{domain}_{task}"


def case_of(task: Task, domain: str, at: Location | None = None) -> Case:
    """Return a task as a case: a simulated user, the domain's tools, and the rules as checks."""
    return Case(
        name=name_of(domain, task.id),
        prompt=task.scenario,
        user=SimulatedUser(scenario=task.scenario, max_turns=MAX_STEPS),
        checks=checks_of(task.criteria) or (_NOTHING,),
        description=task.purpose,
        limits=Limits(max_turns=MAX_STEPS, max_calls=10 * MAX_STEPS, timeout_s=TIMEOUT_S),
        tags=(domain,),
        metadata={"domain": domain, "task": task.id, "reward_basis": list((task.criteria or Criteria()).basis)},
        at=at,
    )


_NOTHING = Check(kind="max_turns", params={"limit": MAX_STEPS})
"""What stands in for a task without criteria: whatever comes of it is right, if it comes to an end."""


def _suite(domain: str) -> Suite:
    folder = domain_folder(domain)
    tasks, policy = read_tasks(folder), read_policy(folder)
    at = Location(file=str(folder / "tasks.json"))
    cases = tuple(case_of(task, domain, at) for task in tasks)
    return Suite(
        name=f"{NAME}_{domain}",
        cases=cases,
        description=f"tau2-bench, {domain}: {len(cases)} tasks of customers, an agent with tools and a policy",
        server=domain_server(domain, folder),
        system_prompt=SYSTEM_PROMPT.format(policy=policy),
        digest=digest([policy, [case.name for case in cases], (folder / "tasks.json").read_text("utf-8")]),
        reference=f"{NAME}:{domain}",
        at=at,
        benchmark=NAME,
        typical_tokens=TYPICAL_TOKENS,
    )
