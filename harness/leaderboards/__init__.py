"""Public leaderboards whose cases and rules come with harness, one room each."""
