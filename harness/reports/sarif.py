"""Building blocks of SARIF 2.1.0, the form in which code scanning of GitHub and others reads."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from harness.types import JsonObject
from harness.version import __version__

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_LINE_HASH = "primaryLocationLineHash"
"""The fingerprint by which GitHub tells two results of one rule apart."""


def sarif_log(
    driver: str,
    category: str,
    rules: Sequence[JsonObject],
    results: Iterable[JsonObject],
    **more: object,
) -> JsonObject:
    """Return a log with one run of ``driver``; ``category`` tells its uploads apart."""
    tool = {"name": driver, "semanticVersion": __version__, "rules": list(rules)}
    run = {
        "tool": {"driver": tool},
        "automationDetails": {"id": category},
        "columnKind": "unicodeCodePoints",
        "results": list(_number_duplicates(results)),
        **more,
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _number_duplicates(results: Iterable[JsonObject]) -> Iterator[JsonObject]:
    """Yield ``results``; of those that a reader would take for one, the later ones are numbered."""
    seen: Counter[tuple[str, str]] = Counter()
    for result in results:
        prints: JsonObject = result["partialFingerprints"]
        known = result["ruleId"], prints[_LINE_HASH]
        seen[known] += 1
        later = {name: f"{text.partition(':')[0]}:{seen[known]}" for name, text in prints.items()}
        yield result if seen[known] == 1 else {**result, "partialFingerprints": later}


def build_fingerprints(name: str, parts: Iterable[str]) -> JsonObject:
    """Return the fingerprints of what ``parts`` identify; ``name`` is that of their scheme."""
    print_ = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]
    # GitHub looks at the first, whose form is HASH:NUMBER; others are for anybody.
    return {_LINE_HASH: f"{print_[:16]}:1", name: print_}


def physical_location(file: str, line: int, column: int | None = None) -> JsonObject:
    """Return a place in a file of the repository."""
    region = {"startLine": line} | ({} if column is None else {"startColumn": column})
    return {"artifactLocation": {"uri": file, "uriBaseId": "%SRCROOT%"}, "region": region}
