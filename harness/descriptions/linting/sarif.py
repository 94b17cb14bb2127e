"""Findings as SARIF 2.1.0, for code scanning of GitHub and others.

Code scanning shows a result at a line of a file in the repository, and matches the results of two
runs by rule and fingerprint alone. So a finding becomes one result for each of its parameters, with
a fingerprint that does not depend on its wording. Its location is the first occurrence of the
tool's name in the server's source, or else the server's configuration.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from harness.base import find_project
from harness.descriptions.linting.baseline import FindingKey, iterate_keys
from harness.descriptions.linting.findings import LintFinding, Rule
from harness.reports import build_fingerprints, physical_location, sarif_log
from harness.types import JsonObject, Location, ServerSpec

_CONFIG = "harness.yml"
_SECURITY_SEVERITY = "8.0"  # high, on GitHub's scale of 0 to 10
_MOST_SOURCE = 2_000_000  # bytes of a source file that are searched for the tools' names


def build_sarif(
    findings: Sequence[LintFinding], spec: ServerSpec, known: Mapping[str, Rule], folder: Path
) -> JsonObject:
    """Return the SARIF log of ``findings`` of the server ``spec`` by the ``known`` rules.

    ``folder`` is the working directory; paths are relative to its repository.
    """
    names = sorted(known)
    locate = _locate_tools(spec, folder)
    return sarif_log(
        "harness lint",
        f"harness-lint/{spec.name}/",
        [_rule_json(name, known[name]) for name in names],
        [
            _result_json(key, finding, spec.name, locate, names.index(finding.rule))
            for key, finding in iterate_keys(findings)
        ],
    )


def _rule_json(name: str, rule: Rule) -> JsonObject:
    evidence = f"Evidence: {rule.evidence.summary}."
    return {
        "id": name,
        "name": "".join(map(str.capitalize, name.split("-"))),
        "shortDescription": {"text": name.replace("-", " ").capitalize()},
        "fullDescription": {"text": rule.why},
        "help": {"text": f"{rule.why}\n\n{evidence}", "markdown": f"{rule.why}\n\n*{evidence}*"},
        "defaultConfiguration": {"level": rule.severity},
        "properties": {
            "tags": [
                "mcp",
                "tool-description",
                f"evidence/{rule.evidence.kind}",
                *(["security"] if rule.security else []),
            ],
            # GitHub lists a rule among its security alerts if it has this.
            **({"security-severity": _SECURITY_SEVERITY} if rule.security else {}),
            # GitHub's word for it.
            "problem.severity": {"note": "recommendation"}.get(rule.severity, rule.severity),
        },
    }


def _result_json(
    key: FindingKey,
    finding: LintFinding,
    server: str,
    locate: Callable[[str], JsonObject],
    index: int,
) -> JsonObject:
    named = ".".join(part for part in (server, key.tool, key.part) if part)
    about = f"{key.tool}: " if key.tool else ""
    return {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": finding.severity,
        "message": {"text": f"{about}{finding.message} {finding.instead}"},
        "locations": [
            {
                "physicalLocation": locate(key.tool or key.part),
                "logicalLocations": [{"fullyQualifiedName": named, "kind": "function"}],
            }
        ],
        "partialFingerprints": build_fingerprints(
            "harnessLint/v1", (server, *map(str, tuple(key)))
        ),
    }


def _locate_tools(spec: ServerSpec, folder: Path) -> Callable[[str], JsonObject]:
    """Return what gives the physical location of a tool in the repository."""
    # The function looks upwards from a file; this one need not exist.
    root = find_project(folder / "x")
    source = _find_source(spec, folder, root)
    at = spec.at or Location(file=_CONFIG)
    file = source or _relative_path(folder / at.file, root) or _CONFIG
    lines = _read_lines(root / source) if source else []

    def locate(tool: str) -> JsonObject:
        word = re.compile(rf"(?<![\w-]){re.escape(tool)}(?![\w-])") if tool else None
        found = (number for number, line in enumerate(lines, 1) if word and word.search(line))
        # The first line stands for a tool whose name is not in the source.
        return physical_location(file, next(found, 1 if source else at.line or 1))

    return locate


def _find_source(spec: ServerSpec, folder: Path, root: Path) -> str | None:
    """Return the program that ``spec``'s command starts, if it is a file of the repository."""
    start = folder / (spec.transport.cwd or ".")
    for word in (spec.transport.command or "", *spec.transport.args):
        file = start / word
        # Without a suffix it is a program or a folder, and no source.
        if word and file.suffix and file.is_file():
            return _relative_path(file, root)
    return None


def _relative_path(file: Path, root: Path) -> str | None:
    """Return the path of ``file`` relative to ``root``; ``None`` if it is elsewhere."""
    resolved = file.resolve()
    return resolved.relative_to(root).as_posix() if resolved.is_relative_to(root) else None


def _read_lines(file: Path) -> list[str]:
    with file.open("rb") as stream:
        # Only names are searched for, so bytes of another encoding do no harm.
        return stream.read(_MOST_SOURCE).decode("utf-8", "replace").splitlines()
