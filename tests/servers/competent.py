"""Models whose every turn is told case by case, so that a suite can be shown to be passable, and to
catch harm.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from tests.end_to_end.harness_process import Project, code_of
from tests.fake_provider import FakeProvider, Incoming, Step, calls, say

Calls: TypeAlias = Sequence[tuple[str, Mapping[str, Any]]]
"""What is called in one reply."""

Turns: TypeAlias = Sequence[Calls | str]
"""Replies in their order; the last is the answer, in which ``{results}`` stands for what the tools
returned."""

Verdicts: TypeAlias = dict[str, list[str]]
"""Case → why it failed; nothing if it passed."""


def run_suite(
    project: Project, suite: str, models: Mapping[str, Mapping[str, Turns]], *options: str
) -> dict[str, Verdicts]:
    """Run a suite of ours on several models (name → prompt → turns) at once, through the real SDK.

    Returns each model's verdicts.
    """

    def answer(request: Incoming) -> Step:
        turn = models[str(request.body["model"])][request.prompt.strip()][request.turn]
        if isinstance(turn, str):
            return say(
                turn.replace("{results}", "\n".join(text for _, text, *_ in request.tool_results))
            )
        return calls(*turn)

    named = [argument for name in models for argument in ("--model", name)]
    with FakeProvider(answer) as provider:
        fake = {"type": "openai", "base_url": f"{provider.url}/v1", "api_key": "test-key"}
        project.configure(models={"models": {name: {**fake, "model": name} for name in models}})
        finished = project.run("evals", suite, "-c", "8", *named, *options)
        assert [request.rejected for request in provider.journal if request.rejected] == []
    assert finished.code == code_of(project.log()), finished.stdout + finished.stderr
    verdicts: dict[str, Verdicts] = {name: {} for name in models}
    for run in project.log().results:
        told = [
            check.explanation
            for check in run.checks
            if check.verdict != "passed" and check.severity == "fail"
        ]
        verdicts[run.model][run.case.name] = (
            told if run.status in ("passed", "failed") else [str(run.error)]
        )
    return verdicts
