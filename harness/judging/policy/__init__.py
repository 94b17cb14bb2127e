"""Who may see what, read off what crossed the wire: decisions, leaks, and whether identity is observed at all.

Everything here is a pure function of `View`: one trial as one identity lived it, that is its tool
list, its recorded calls and its answer. Nobody has to say what is secret; one identity's view is
held against another's::

    views = [
        View(identity="admin", tools=all_tools, calls=(salary_of_42,)),
        View(identity="clerk", tools=some_tools, calls=(refused, a_search), answer="They earn 64,500."),
    ]
    decide(views)        # → for each view, a `Decision` on each tool: allowed, filtered, denied, hidden …
    find_leaks(views)    # → every value that is kept from an identity in one place and given it in another
    unobserved(views)    # → why nothing shows that the server knows who asks, or None

Hand in all views of one server together: calls of equal tool and arguments are compared, whoever
made them in whatever trial. A view needs no model: calls that a program made itself do as well,
with an empty answer. Give views that ask the same one ``group``, each a ``key`` of its own to tell
leaks by, and set ``nobody`` on those without any attributes; ``known`` holds what the identity
brought itself. `decide` returns one tuple for each view, in their order; `find_leaks` one `Leak`
for each field and view; `summary` makes one word of several decisions. The rules of a leak stand in
`harness.judging.policy.leaks`, those of what counts as kept back in
`harness.judging.policy.withheld`, and what makes a value distinctive enough to be told from a
coincidence in `harness.judging.policy.comparable_values`.
"""

from __future__ import annotations

from harness.judging.policy.decisions import decide, summary
from harness.judging.policy.identity_observed import unobserved
from harness.judging.policy.leaks import find_leaks
from harness.judging.policy.views import View

__all__ = ["View", "decide", "find_leaks", "summary", "unobserved"]
