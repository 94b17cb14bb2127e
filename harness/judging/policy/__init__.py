"""Who may see what, from recorded calls: decisions, leaks, and whether identity is observed at all.

Everything here is a pure function of `View`: what one identity saw in one trial, that is its tool
list, its recorded calls and its answer. Nobody has to declare what is secret: the views of
identities are compared with one another::

    views = [
        View(identity="admin", tools=all_tools, calls=(salary_of_42,)),
        View(identity="clerk", tools=some_tools, calls=(refused, search), answer="… 64,500."),
    ]
    decide(views)      # → for each view, a `Decision` on each tool: allowed, filtered, denied …
    find_leaks(views)  # → every value that one place withholds from an identity and another gives
    unobserved(views)  # → why nothing shows that the server knows who asks, or None

Pass all views of one server together: calls with equal tool and arguments are compared, whoever
made them in whatever trial. A view needs no model: calls that a program made itself work too,
with an empty answer. Give views of the same question one ``group``, and each view its own ``key``
to identify its leaks; set ``nobody`` on callers without any attributes; ``known`` holds what the
identity itself brought. `decide` returns one tuple for each view, in their order; `find_leaks`
returns one `Leak` for each field and view; `summary` sums up several decisions in one word. The
rules are in `harness.judging.policy.leaks` (what a leak is), `harness.judging.policy.withheld`
(what counts as withheld) and `harness.judging.policy.comparable_values` (which values are
distinctive enough to rule out a coincidence).
"""

from __future__ import annotations

from harness.judging.policy.decisions import decide, summary
from harness.judging.policy.identity_observed import unobserved
from harness.judging.policy.leaks import find_leaks
from harness.judging.policy.views import View

__all__ = ["View", "decide", "find_leaks", "summary", "unobserved"]
