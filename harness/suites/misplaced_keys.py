"""Common mistakes: keys of a suite in the wrong place, and what to write instead."""

from __future__ import annotations

_IN_CONFIGURATION = "Remove it: that belongs to the configuration, not to a suite."
MISPLACED = {
    "project": _IN_CONFIGURATION,
    "profile": _IN_CONFIGURATION,
    "expected_tool": "Use assertions.must_call to name the tool that must be called.",
    "expected_tools": "Use assertions.must_call to name the tools that must be called.",
    "tools": "Remove it: a suite tests the tools that the server has, and defines none.",
    "resources": "Remove it: a suite tests tools, not resources.",
}
"""Keys that belong to no part of a suite."""

SUITE_MISPLACED = {
    "name": "The name of a suite belongs under 'suite:'.",
    "cases": "The tests of a suite belong under 'tests:'.",
    "user_context": (
        "Put it into each test that it is meant for, or under 'defaults:' for all tests."
    ),
}
"""Keys that do not belong at the top of a suite."""

TEST_MISPLACED = {
    "context": "Name it by 'user_context: …'.",
    "repeat": "Say how often with 'trials: …'.",
}
"""Keys that do not belong in a test."""
