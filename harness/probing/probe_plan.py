"""The configuration of a probe, and digests of everything that its result depends on.

Equal digests show that two probes made the same calls to the same server with the same
expectations, without revealing any of them. No secret is digested: known secrets are replaced
before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from harness.base import KNOWN, digest_json
from harness.probing.callers import ProbeCaller
from harness.probing.effort.budget import NO_BUDGET, ProbeBudget
from harness.probing.effort.narrowing import Narrowing
from harness.probing.interference.data_sets import describe_alteration
from harness.probing.kept_decisions import Kept
from harness.probing.replay import ProbeOptions
from harness.runner import describe_case, describe_server
from harness.types import Alteration, Case, JsonObject, ServerSpec, ToolList, dataclass
from harness.version import __version__


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbePlan:
    """The configuration of a probe."""

    server: ServerSpec
    """The server under test."""
    callers: tuple[ProbeCaller, ...]
    """The suite's own identities."""
    cases: tuple[Case, ...]
    """The suites' cases, which the calls are taken from."""
    destructive: bool = False
    """Whether calls that may change data are made."""
    damaged: bool = True
    """Whether damaged identities call as well."""
    min_coverage: float | None = None
    """The minimum coverage in percent (`harness.probing.report`)."""
    origin: ProbeOptions = field(default_factory=ProbeOptions)
    """The source of server and identities, for commands that repeat a call."""
    alterations: tuple[Alteration, ...] = ()
    """Withheld values that are altered (`harness.probing.interference`)."""
    budget: ProbeBudget = NO_BUDGET
    """The bounds of calls and time."""
    narrowing: Narrowing = field(default_factory=Narrowing)
    """The part that is asked."""


def digest_inputs(
    plan: ProbePlan, lists: Mapping[str, ToolList], kept: Kept | None = None
) -> JsonObject:
    """Return ``{"digest": …}`` of everything, and the digest of each part.

    Args:
        plan: The configuration of the probe.
        lists: Identity → its list of tools.
        kept: The decisions that the probe is compared with (``--expect``), if any.

    The parts are ``suites`` (each test with its calls and expectations, but no comments, layout or
    order of files), ``identities`` (names and attributes), ``server`` (command or URL), ``tools``
    (the tool list of each identity), ``expected`` (the kept decisions), ``altered`` (the altered
    values), ``options`` (further options that select calls) and ``harness`` (its plain version).
    """
    parts = {
        "suites": sorted(
            digest_json(KNOWN.redact_json(describe_case(case))) for case in plan.cases
        ),
        "identities": {
            caller.name: KNOWN.redact_json(caller.user_context) for caller in plan.callers
        },
        "server": KNOWN.redact_json(describe_server(plan.server)),
        "tools": {name: tools.digest for name, tools in lists.items()},
        "expected": kept,
        "altered": [
            KNOWN.redact_json(describe_alteration(alteration)) for alteration in plan.alterations
        ]
        or None,
        "options": [
            plan.destructive,
            plan.damaged,
            plan.min_coverage,
            *plan.budget.options,
            *plan.narrowing.options,
        ],
    }
    found = {name: digest_json(part) for name, part in parts.items() if part is not None}
    # In plain text: it tells why the digests of two versions differ.
    found["harness"] = __version__
    return {"digest": digest_json(found), **found}
