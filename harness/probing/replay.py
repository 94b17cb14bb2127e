"""Repeat the call behind a finding: as a JSON-RPC request, or as a ``harness call`` command."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from harness.probing.arguments.argument_names import LISTS
from harness.probing.caller_views import (
    get_caller_name,
    get_facts,
    get_label,
    get_repetition,
    iterate_calls,
)
from harness.probing.callers import ProbeCaller
from harness.probing.planned_calls import ProbeCall
from harness.reports import ProbeFinding
from harness.types import USER_CONTEXT_META_KEY, JsonObject, Report, TrialResult, dataclass

_LONGEST = 2_000
"""Maximum length of a command, so that it can be pasted."""
NOTHING: JsonObject = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeOptions:
    """The arguments of ``harness probe`` that select suites and servers."""

    suites: Sequence[str] = ()
    """The named suites; empty: all suites of the project."""
    servers: Sequence[str] = ()
    """The values of ``--server``; empty: the suites' server."""

    def format_command(
        self,
        caller: ProbeCaller,
        call: ProbeCall,
        *,
        meta: JsonObject = NOTHING,
        times: int = 1,
        after: str | None = None,
        altered: str | None = None,
    ) -> str | None:
        """Return the command for ``call`` of ``caller``; ``None`` if it is too long to paste.

        ``after`` is an identity who makes the call before, in the same process. ``altered`` is the
        name of a value that is altered: the call is made with both sets of data.

        It has the identity's name, or the attributes of a damaged identity. It never has a token:
        ``harness call`` creates one of the kind ``--credential``.
        """
        words = ["harness", "call", call.tool, *self._iterate_options(caller)]
        words += ["--args", _format_json(call.arguments)] if call.arguments else []
        words += ["--meta", _format_json(meta)] if meta else []
        words += ["--times", str(times)] if times > 1 else []
        words += ["--after", after] if after is not None else []
        words += ["--altered", altered] if altered is not None else []
        text = shlex.join(words)
        return text if len(text) <= _LONGEST else None

    def build_fact(self, *asked: Any, **how: Any) -> dict[str, str]:
        """Return ``{"command": …}`` for the log, or ``{}``; arguments as in `format_command`."""
        command = self.format_command(*asked, **how)
        return {} if command is None else {"command": command}

    def _iterate_options(self, caller: ProbeCaller) -> Iterator[str]:
        for suite in self.suites:
            yield from ("--suite", suite)
        for server in self.servers:
            yield from ("--server", server)
        if not caller.bases:
            yield from ("--as", caller.name)
        elif caller.credential != "valid":
            yield from ("--as", caller.bases[0])
        else:
            # A damaged identity is in no suite, so its attributes are written out.
            yield from ("--user-context", _format_json(caller.user_context))
        if caller.credential != "valid":
            yield from ("--credential", caller.credential)


def _format_json(value: Any) -> str:
    """Return ASCII JSON, so that lookalike and invisible letters are recognisable."""
    return json.dumps(value, separators=(", ", ": "))


def find_shown_call(finding: ProbeFinding, results: Iterable[TrialResult]) -> TrialResult | None:
    """Return the first call of a probe that shows ``finding``; ``None`` if no single call did."""
    return next((call for call in iterate_calls(results) if _shows_finding(finding, call)), None)


def _shows_finding(finding: ProbeFinding, result: TrialResult) -> bool:
    if get_caller_name(result) not in finding.callers:
        return False
    if finding.after is not None:
        return get_repetition(result) == (finding.call, finding.after)
    # A call whose result depends on earlier calls shows nothing alone.
    apart = {"after", "opener", "alone"} & get_facts(result).keys()
    return not apart and finding.call in (get_label(result), result.case.name)


def get_request(finding: ProbeFinding, report: Report) -> dict[str, Any] | None:
    """Return the call that showed ``finding`` and its caller; ``None`` if no single call did.

    ``jsonrpc`` is the text of the request, including forged parts. It has the identity in
    ``_meta``. If the server takes the identity from headers, a token or the environment, these
    must carry ``user_context`` instead, with the named ``credential``. ``command`` repeats the
    call.
    """
    run = find_shown_call(finding, report.results)
    if run is None:
        return None
    facts, user_context = get_facts(run), run.case.user_context
    forged = facts.get("forged", {})
    key = report.settings.get("meta_key", USER_CONTEXT_META_KEY)
    sent = {} if user_context is None else {key: user_context}
    sent |= forged.get("brought", {}).get("meta", {})
    meta = {"_meta": sent} if sent else {}
    method, params = "tools/call", {"name": facts["tool"], "arguments": facts["arguments"], **meta}
    # These are methods of the protocol themselves, and no tools.
    if facts["tool"] in LISTS or forged.get("kind") == "request":
        method, params = facts["tool"], {**facts["arguments"], **meta}
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return {
        "identity": get_caller_name(run),
        "user_context": user_context,
        **{name: facts[name] for name in ("credential", "tool", "arguments")},
        "jsonrpc": json.dumps(message, ensure_ascii=False),
        "command": facts.get("command"),
    }
