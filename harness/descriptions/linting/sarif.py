"""Findings as SARIF 2.1.0, for code scanning of GitHub and others.

Code scanning shows a result at a line of a file in the repository, and matches the results of two
runs by rule and fingerprint alone. So a finding becomes one result for each of its parameters, with
a fingerprint that does not depend on its wording. Its location is the first occurrence of the
tool's name in the server's source, or else the server's configuration.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.base import project_of
from harness.descriptions.linting.findings import LintFinding, Rule
from harness.descriptions.linting.ratchet import Key, keys
from harness.reports import fingerprints, physical_location, sarif_log
from harness.types import JsonObject, Location, ServerSpec

_CONFIG = "harness.yml"
_MOST_SOURCE = 2_000_000  # bytes of a source file that are searched for the tools' names


def sarif(
    findings: Sequence[LintFinding],
    spec: ServerSpec,
    known: Mapping[str, Rule],
    folder: Path,
) -> JsonObject:
    """Return the SARIF log of ``findings`` of the server ``spec`` by the ``known`` rules.

    ``folder`` is the working directory; paths are relative to its repository.
    """
    names = sorted(known)
    places = _Places(spec, folder)
    return sarif_log(
        "harness lint",
        f"harness-lint/{spec.name}/",
        [_rule(name, known[name]) for name in names],
        [
            _result(key, finding, spec, places, names.index(finding.rule))
            for key, finding in keys(findings)
        ],
    )


def _rule(name: str, rule: Rule) -> JsonObject:
    evidence = f"Evidence: {rule.evidence.brief}."
    return {
        "id": name,
        "name": "".join(map(str.capitalize, name.split("-"))),
        "shortDescription": {"text": name.replace("-", " ").capitalize()},
        "fullDescription": {"text": rule.why},
        "help": {"text": f"{rule.why}\n\n{evidence}", "markdown": f"{rule.why}\n\n*{evidence}*"},
        "defaultConfiguration": {"level": rule.severity},
        "properties": {
            "tags": ["mcp", "tool-description", f"evidence/{rule.evidence.kind}"],
            "problem.severity": {"note": "recommendation"}.get(rule.severity, rule.severity),
        },
    }


def _result(
    key: Key, finding: LintFinding, spec: ServerSpec, places: _Places, index: int
) -> JsonObject:
    named = ".".join(part for part in (spec.name, key.tool, key.part) if part)
    about = f"{key.tool}: " if key.tool else ""
    return {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": finding.severity,
        "message": {"text": f"{about}{finding.message} {finding.instead}"},
        "locations": [
            {
                "physicalLocation": places.of(key.tool or key.part),
                "logicalLocations": [{"fullyQualifiedName": named, "kind": "function"}],
            }
        ],
        "partialFingerprints": fingerprints("harnessLint/v1", (spec.name, *map(str, tuple(key)))),
    }


class _Places:
    """The locations of a server's tools in the repository."""

    def __init__(self, spec: ServerSpec, folder: Path) -> None:
        self._root = project_of(folder / "x")
        source = _source(spec, folder, self._root)
        at = spec.at or Location(file=_CONFIG)
        self._file = source or _within(folder / at.file, self._root) or _CONFIG
        self._line = 1 if source else at.line or 1
        self._lines = _lines(self._root / source) if source else []

    def of(self, tool: str) -> JsonObject:
        """Return the physical location of ``tool``."""
        word = re.compile(rf"(?<![\w-]){re.escape(tool)}(?![\w-])") if tool else None
        found = (number for number, line in enumerate(self._lines, 1) if word and word.search(line))
        return physical_location(self._file, next(found, self._line))


def _source(spec: ServerSpec, folder: Path, root: Path) -> str | None:
    """Return the program that ``spec``'s command starts, if it is a file of the repository."""
    start = folder / (spec.transport.cwd or ".")
    for word in (spec.transport.command or "", *spec.transport.args):
        file = start / word
        if word and file.suffix and file.is_file():
            return _within(file, root)
    return None


def _within(file: Path, root: Path) -> str | None:
    """Return the path of ``file`` relative to ``root``; ``None`` if it is elsewhere."""
    resolved = file.resolve()
    return resolved.relative_to(root).as_posix() if resolved.is_relative_to(root) else None


def _lines(file: Path) -> list[str]:
    with file.open("rb") as stream:
        return stream.read(_MOST_SOURCE).decode("utf-8", "replace").splitlines()
