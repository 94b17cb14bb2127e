"""Findings that many tools share: shown once, as ``path: 44 tools``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.descriptions.linting.findings import LintFinding
from harness.types import dataclass

_FEWEST = 3  # tools from which a finding is shown once for all of them


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedFinding:
    """A finding that several tools share."""

    finding: LintFinding
    """The finding of the first tool, with this parameter alone."""
    tools: tuple[str, ...]
    """The tools, in the server's order."""

    @property
    def message(self) -> str:
        """The problem in a line: ``No description: path: 44 tools.``."""
        said = self.finding.message.removesuffix(".")
        return f"{said}: {len(self.tools)} tools."


def collect_repeats(
    findings: Sequence[LintFinding],
) -> tuple[tuple[RepeatedFinding, ...], tuple[LintFinding, ...]]:
    """Return what three tools or more have in common, and the findings without that."""
    tools: dict[tuple[str, str, str], dict[str, LintFinding]] = {}
    for finding in findings:
        for key in _list_keys(finding):
            tools.setdefault(key, {})[finding.tool or ""] = finding
    shared = {key: by_tool for key, by_tool in tools.items() if len(by_tool) >= _FEWEST}
    repeats = tuple(
        RepeatedFinding(
            finding=_keep_parameters(next(iter(by_tool.values())), (parameter,)),
            tools=tuple(by_tool),
        )
        for (_, _, parameter), by_tool in shared.items()
    )
    rest = (_remove_shared(finding, shared) for finding in findings)
    return repeats, tuple(finding for finding in rest if finding is not None)


def _list_keys(finding: LintFinding) -> list[tuple[str, str, str]]:
    """Return what makes findings of several tools the same; nothing for the list as a whole."""
    if finding.tool is None:
        return []
    if not finding.problem:
        return [(finding.rule, finding.message, "")]
    return [(finding.rule, finding.problem, parameter) for parameter in finding.parameters]


def _remove_shared(
    finding: LintFinding, shared: dict[tuple[str, str, str], dict[str, LintFinding]]
) -> LintFinding | None:
    keys = _list_keys(finding)
    kept = [key for key in keys if key not in shared]
    if len(kept) == len(keys):
        return finding
    if not kept:
        return None
    return _keep_parameters(finding, tuple(parameter for _, _, parameter in kept))


def _keep_parameters(finding: LintFinding, parameters: tuple[str, ...]) -> LintFinding:
    if not finding.problem:
        return finding
    message = f"{finding.problem}: {', '.join(parameters)}."
    return replace(finding, parameters=parameters, message=message)
