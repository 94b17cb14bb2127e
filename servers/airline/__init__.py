"""tau2-bench's airline: reservations, flights, customers; tools that do what the leaderboard's do.

The data are fetched (``harness fetch tau2``); without them the server says so and ends. Changes
last as long as the process, or until its state is reset. Rules that the tools do not check are the
caller's duty: they are in the policy.
"""
