"""Public leaderboards, each a plug-in in a folder of its own, found by its entry point.

Nothing imports this package: ``pyproject.toml`` names each leaderboard under the entry-point groups
``harness.leaderboards`` (its suites, see `harness.suites.leaderboards`) and ``harness.sources``
(how its data are fetched).
"""
