"""Access policy from recorded calls: decisions, leaks, and whether identity is observed at all.

Everything here is a pure function of `View`: the tool list, the recorded calls and the answer that
one identity saw in one trial. Secrets need not be declared, since the views of identities are
compared with one another::

    views = [
        View(identity="admin", tools=all_tools, calls=(salary_of_42,)),
        View(identity="clerk", tools=some_tools, calls=(refused, search), answer="… 64,500."),
    ]
    decide(views)      # → for each view, a `Decision` on each tool: allowed, filtered, denied …
    find_leaks(views)  # → every value withheld from an identity in one place, not in another
    unobserved(views)  # → why no result shows that the identity matters to the server, or None
    not_read(views)    # → what is listed and was not read, so that no leak could be found in it

Pass all views of one server together: calls with equal tool and arguments are compared across
identities and trials. A view needs no model: calls of a program work too, with an empty answer.
Give views of the same question the same ``group``, and each view a ``key`` to identify its leaks;
set ``nobody`` on callers without attributes; ``known`` has the texts that the identity itself sent.
`decide_access` returns one tuple for each view, in order; `find_leaks` returns one `Leak` for each
field and view; `summarise_access` joins several decisions into one word. The rules are in
`harness.judging.policy.leaks` (what is a leak), `harness.judging.policy.withheld_values` (what
counts as withheld) and `harness.judging.policy.comparable_values` (which values are distinctive
enough to exclude an accidental match).
"""

from __future__ import annotations

from harness.judging.policy.decisions import decide_access as decide_access
from harness.judging.policy.decisions import find_unread as find_unread
from harness.judging.policy.decisions import summarise_access as summarise_access
from harness.judging.policy.identity_effect import explain_unobserved as explain_unobserved
from harness.judging.policy.leaks import find_leaks as find_leaks
from harness.judging.policy.views import View as View
