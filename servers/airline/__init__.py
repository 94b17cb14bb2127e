"""tau2-bench's airline: reservations, flights, customers; tools that do what the leaderboard's do.

The data are fetched (``harness fetch tau2``); without them the server says so and ends. Changes
last as long as the process, or until its state is reset. What the tools do not check is the duty of
whoever calls them: it stands in the policy.
"""
