"""Digests of all that a probe's result depends on: equal inputs have equal digests.

A digest shows that two probes asked the same of the same server by the same expectations, without
showing any of it. Secrets are in none: not in how a server is described, and what is known to be a
secret is replaced before anything is digested.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version

from harness.canonical_json import digest
from harness.probing.caller_sessions import ProbePlan
from harness.probing.interference.data_sets import described
from harness.probing.kept_decisions import Kept
from harness.redaction import KNOWN
from harness.runner.planning.plan import describe_case, describe_server
from harness.types import JsonObject, ToolList


def inputs_of(
    plan: ProbePlan, lists: Mapping[str, ToolList], kept: Kept | None = None
) -> JsonObject:
    """Return ``{"digest": …}`` of everything, and the digest of each part.

    Args:
        plan: What is asked, of which server, as whom, by which expectations.
        lists: Identity → the tools that it was shown.
        kept: The decisions that these are compared with (``--expect``), if any.

    The parts are ``suites`` (each test with its calls and expectations: neither comments nor
    layout, nor the order of files), ``identities`` (names and attributes), ``server`` (how it is
    started or reached), ``tools`` (every list, by identity), ``expected`` (the kept decisions),
    ``altered`` (values that are altered), ``options`` (what else decides what is asked)
    and ``harness`` (its version, as it is).
    """
    parts = {
        "suites": sorted(digest(KNOWN.json(describe_case(case))) for case in plan.cases),
        "identities": {caller.name: KNOWN.json(caller.user_context) for caller in plan.callers},
        "server": KNOWN.json(describe_server(plan.server)),
        "tools": {name: tools.digest for name, tools in lists.items()},
        "expected": kept,
        "altered": [KNOWN.json(described(one)) for one in plan.alterations] or None,
        "options": [plan.destructive, plan.damaged, plan.min_coverage],
    }
    found = {name: digest(part) for name, part in parts.items() if part is not None}
    found["harness"] = version("harness")
    return {"digest": digest(found), **found}
