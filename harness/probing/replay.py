"""The request behind a finding, small enough to be made again by hand."""

from __future__ import annotations

import json
from typing import Any

from harness.probing.caller_views import asked, facts_of, label_of, name_of
from harness.probing.report import ProbeFinding
from harness.sessions.identity.delivery import USER_CONTEXT_META_KEY
from harness.types import Report

_FORGED = frozenset({"smuggled_identity", "opened_by_arguments"})


def request_of(finding: ProbeFinding, report: Report) -> dict[str, Any] | None:
    """Return the call that showed ``finding``, and who made it; ``None`` if no single call did.

    ``jsonrpc`` is the text of the request. It has the identity in ``_meta``, where servers read it
    unless they are told by headers, a token or the environment: these have to carry the
    ``user_context`` then, with the ``credential`` that is named.
    """
    run = next(
        (
            one
            for one in asked(report.results)
            # What was forged stands in the finding's words; the plain call would not show it.
            if finding.problem not in _FORGED
            and finding.call in (label_of(one), one.case.name)
            and name_of(one) in finding.callers
        ),
        None,
    )
    if run is None:
        return None
    facts, told = facts_of(run), run.case.user_context
    meta = {} if told is None else {"_meta": {USER_CONTEXT_META_KEY: told}}
    params = {"name": facts["tool"], "arguments": facts["arguments"], **meta}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return {
        "identity": name_of(run),
        "user_context": told,
        "credential": facts["credential"],
        "tool": facts["tool"],
        "arguments": facts["arguments"],
        "jsonrpc": json.dumps(message, ensure_ascii=False),
    }
