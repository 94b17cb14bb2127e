"""A ratchet for CI: earlier findings of `harness lint` are accepted, new ones fail.

The baseline is the JSON that ``harness lint --json-output`` printed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from harness.base import UsageError, format_path, load_json, read_bytes
from harness.descriptions.linting.findings import LintFinding
from harness.types import dataclass

# A wrong file must not fill the memory.
_MOST_BYTES = 50_000_000


class FindingKey(NamedTuple):
    """Identity of a finding without its wording: one key for each of its parameters or tools."""

    rule: str
    """Name of the rule."""
    tool: str
    """The tool; empty for the list as a whole."""
    part: str = ""
    """The parameter, or for the whole list one of the tools; empty if there is none."""
    number: int = 1
    """Number that distinguishes otherwise equal findings."""

    def __str__(self) -> str:
        """``id-without-example of get_order (order_id)``."""
        about = f" of {self.tool}" if self.tool else ""
        part = f" ({self.part})" if self.part else ""
        return f"{self.rule}{about}{part}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """The accepted findings."""

    file: str
    """The file, as messages show it."""
    keys: frozenset[FindingKey]
    """Its findings."""
    tokens: int
    """Tokens of its tool list."""


def iterate_keys(findings: Sequence[LintFinding]) -> Iterator[tuple[FindingKey, LintFinding]]:
    """Yield each finding with its keys, which do not depend on its wording or numbers."""
    seen: Counter[FindingKey] = Counter()
    for finding in findings:
        # A finding on the tool itself has one key, without a part.
        for part in (*finding.parameters, *finding.tools) or ("",):
            key = FindingKey(finding.rule, finding.tool or "", part)
            seen[key] += 1
            yield key._replace(number=seen[key]), finding


def read_baseline(path: Path, server: str) -> Baseline:
    """Read the output of ``harness lint --json-output`` for ``server``.

    Raises:
        InvalidInput: the file cannot be read.
        UsageError: the file is not such output, or of another server.
    """
    try:
        document = load_json(read_bytes(path, max_bytes=_MOST_BYTES))
        return _parse_baseline(document, format_path(path), server)
    # JSON of another shape fails at the parts that it lacks.
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{format_path(path)} is not a baseline of harness lint",
            meant="Write one with: harness lint --json-output > FILE",
        ) from error


def _parse_baseline(document: Mapping[str, Any], file: str, server: str) -> Baseline:
    if document["server"] != server:
        raise UsageError(
            f"{file} is the baseline of the server {document['server']!r}, not of {server!r}",
            meant="Keep a baseline for each server.",
        )
    # Only what makes up a key: wordings may change from version to version.
    findings = [
        LintFinding(
            rule=str(finding["rule"]),
            tool=finding["tool"],
            parameters=tuple(map(str, finding["parameters"])),
            tools=tuple(map(str, finding["tools"])),
            message="",
        )
        for finding in document["findings"]
    ]
    accepted = frozenset(key for key, _ in iterate_keys(findings))
    return Baseline(file=file, keys=accepted, tokens=int(document["tokens"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineChange:
    """How a tool list differs from its baseline."""

    baseline: Baseline
    """The baseline."""
    new: tuple[tuple[FindingKey, LintFinding], ...]
    """Findings that the baseline does not have."""
    gone: tuple[FindingKey, ...]
    """Findings that only the baseline has."""
    tokens: int
    """Tokens of the current list."""

    @property
    def added_tokens(self) -> int:
        """Increase of tokens over the baseline; negative if it shrank."""
        return self.tokens - self.baseline.tokens

    def format_lines(self) -> Iterator[str]:
        """Yield lines that name new findings, gone findings, and the change in tokens."""
        more = self.added_tokens
        tokens = f"{self.tokens:,} tokens, {more:+,}" if more else "no more tokens"
        yield f"Against {self.baseline.file}: {len(self.new)} new, {len(self.gone)} gone; {tokens}"
        yield from (f"  new: {finding.severity} {key}" for key, finding in self.new)
        yield from (f"  gone: {key}" for key in self.gone)


def compare_with_baseline(
    findings: Sequence[LintFinding], tokens: int, baseline: Baseline
) -> BaselineChange:
    """Return how ``findings`` and ``tokens`` differ from ``baseline``."""
    now = tuple(iterate_keys(findings))
    still = {key for key, _ in now}
    return BaselineChange(
        baseline=baseline,
        new=tuple((key, finding) for key, finding in now if key not in baseline.keys),
        gone=tuple(sorted(baseline.keys - still)),
        tokens=tokens,
    )
