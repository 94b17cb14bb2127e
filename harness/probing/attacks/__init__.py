"""Attacks replayed without a model: the calls of a user, then those of an attacker, as each user.

`replays` makes suites of such calls, which run as all cases without a model do; `table` reads their
log for an auditor.
"""
