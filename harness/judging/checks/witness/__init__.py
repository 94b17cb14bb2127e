"""Finds a valid call that an expectation matches; without one, the expectation can never matter."""
