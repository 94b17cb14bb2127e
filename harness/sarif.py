"""Building blocks of SARIF 2.1.0, the form in which code scanning of GitHub and others reads."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from harness.types import JsonObject
from harness.version import __version__

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)


def sarif_log(
    driver: str,
    category: str,
    rules: Sequence[JsonObject],
    results: Iterable[JsonObject],
    **more: object,
) -> JsonObject:
    """Return a log with one run of ``driver``; ``category`` tells its uploads apart."""
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": driver,
                        "semanticVersion": __version__,
                        "rules": list(rules),
                    }
                },
                "automationDetails": {"id": category},
                "columnKind": "unicodeCodePoints",
                "results": list(results),
                **more,
            }
        ],
    }


def fingerprints(name: str, parts: Iterable[str]) -> JsonObject:
    """Return the fingerprints of what ``parts`` identify; ``name`` is that of their scheme."""
    print_ = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]
    # GitHub looks at the first, whose form is HASH:NUMBER; others are for anybody.
    return {"primaryLocationLineHash": f"{print_[:16]}:1", name: print_}


def physical_location(file: str, line: int, column: int | None = None) -> JsonObject:
    """Return a place in a file of the repository."""
    region = {"startLine": line} | ({} if column is None else {"startColumn": column})
    return {"artifactLocation": {"uri": file, "uriBaseId": "%SRCROOT%"}, "region": region}
