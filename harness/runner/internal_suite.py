"""The built-in suite ``internal``: the harness's own kernel, checked end to end with any model.

Its tools are served by real processes over real sessions. The cases are easy for any model: a
failure means that the connection to the model, the connection to the tools, or the loop between
them is broken.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from typing import Annotated

import anyio
from pydantic import Field

from harness.judging import PythonRun
from harness.suites import PythonCase

_CUSTOMERS = {"ada lovelace": "CUST_0042"}
_ORDERS = {"CUST_0042": 17}
_DEGREES = {"oslo": 4, "lima": 19}

Finding = tuple[bool, str]
"""Whether the case passes, and the explanation."""


# ── Tools ────────────────────────────────────────────────────────────────────────────────────


def add_numbers(first: int, second: int) -> int:
    """Add two numbers and return their sum."""
    return first + second


def find_customer(name: str) -> dict[str, str]:
    """Find a customer by name and return the customer_id."""
    if name.strip().lower() not in _CUSTOMERS:
        raise LookupError(f"there is no customer named {name!r}")
    return {"customer_id": _CUSTOMERS[name.strip().lower()]}


def count_orders(customer_id: Annotated[str, Field(pattern=r"^CUST_\d{4}$")]) -> dict[str, int]:
    """Return the number of orders of the customer with this customer_id."""
    if customer_id not in _ORDERS:
        raise LookupError(
            f"there is no customer {customer_id!r}; find_customer returns the customer_id"
        )
    return {"number_of_orders": _ORDERS[customer_id]}


def get_weather(city: str) -> dict[str, str | int]:
    """Return the weather in a city: the temperature in degrees Celsius."""
    if city.strip().lower() not in _DEGREES:
        raise LookupError(f"there is no weather station in {city!r}")
    return {"city": city, "temperature": _DEGREES[city.strip().lower()]}


async def wait_for_signal() -> str:
    """Wait for the signal and return once it came."""
    # The check of the case finds the process by this line, and looks whether it is gone.
    sys.stderr.write(f"waiting in process {os.getpid()}\n")
    sys.stderr.flush()
    # Longer than any trial: only the abort ends it.
    await anyio.sleep(600)
    return "the signal came"


# ── Checks ───────────────────────────────────────────────────────────────────────────────────


def _check_sum(run: PythonRun) -> Finding:
    worked = [call for call in run.tool_calls if call.outcome == "ok"]
    if {"19", "23"} not in [{*map(str, call.arguments.values())} for call in worked]:
        calls = _format_calls(run)
        return False, f"expected a call of add_numbers with 19 and 23; the calls were {calls}"
    return "42" in run.answer, f"expected 42 in the answer, found {run.answer!r}"


def _check_reasoning(run: PythonRun) -> Finding:
    # Of several calls of a tool, the first counts.
    worked = {call.name: call for call in reversed(run.tool_calls) if call.outcome == "ok"}
    found, counted = worked.get("find_customer"), worked.get("count_orders")
    if found is None or counted is None:
        calls = _format_calls(run)
        words = "expected find_customer, then count_orders with its result; the calls were"
        return False, f"{words} {calls}"
    # In one reply the second call could only guess the customer's id.
    if counted.reply <= found.reply:
        words = "expected the second call in a later reply than the first, whose result it needs"
        return False, words
    return "17" in run.answer, f"expected 17 in the answer, found {run.answer!r}"


def _heeds_steering(run: PythonRun) -> Finding:
    said = [message["role"] for message in run.messages]
    if said.count("user") != 2 or said[1] != "assistant":  # noqa: PLR2004 - the prompt and what was said later
        words = "the second message did not reach the conversation while the run was under way"
        return False, words
    cities = [str(call.arguments.get("city", "")).lower() for call in run.tool_calls]
    words = f"expected a call for Lima, which only the second message asks for; found {cities}"
    return "lima" in cities, words


def _aborts_cleanly(run: PythonRun) -> Finding:
    waiting = re.search(r"waiting in process (\d+)", run.stderr)
    if run.error != "aborted" or waiting is None:
        words = f"no call was under way that could be aborted; the calls were {_format_calls(run)}"
        return False, words
    try:
        os.kill(int(waiting[1]), 0)
    except ProcessLookupError:
        return True, ""
    return False, f"the server's process {waiting[1]} is still there"


def _format_calls(run: PythonRun) -> str:
    calls = (f"{one.name}({dict(one.arguments)}) → {one.outcome}" for one in run.tool_calls)
    return ", ".join(calls) or "none"


_CHECKS: dict[str, Callable[[PythonRun], Finding]] = {
    "basic_text": lambda run: (
        bool(run.answer.strip()) and not run.tool_calls,
        f"expected an answer in words, found {run.answer!r}",
    ),
    "simple_tool_call": _check_sum,
    "multi_turn_reasoning": _check_reasoning,
    "steering_response": _heeds_steering,
    "abort_clean": _aborts_cleanly,
}


# ── The suite ────────────────────────────────────────────────────────────────────────────────


class InternalSuite:
    """The harness's own kernel, end to end: model, session, tools, steering, abort."""

    name = "internal"
    # The check of abort_clean needs a process that ends with its trial.
    isolation = "case"
    allow_writes = True  # its tools are functions of this module, which change nothing

    def cases(self) -> list[PythonCase]:
        """Return the five cases."""
        return [
            PythonCase(
                id="basic_text",
                description="A model without tools answers in words.",
                input="Say hello in one short sentence.",
            ),
            PythonCase(
                id="simple_tool_call",
                description="One call reaches the tool, and its result reaches the answer.",
                input="Use the tool to add the numbers 19 and 23. What is their sum?",
                tools=[add_numbers],
            ),
            PythonCase(
                id="multi_turn_reasoning",
                description="The second call needs the result of the first.",
                input="How many orders does the customer Ada Lovelace have?",
                tools=[find_customer, count_orders],
            ),
            PythonCase(
                id="steering_response",
                description="What the user says while the run is under way is heard.",
                input="What is the weather in Oslo?",
                steering="Tell me the weather in Lima, too.",
                tools=[get_weather],
            ),
            PythonCase(
                id="abort_clean",
                description="Aborting ends the session and leaves no process.",
                input="Wait for the signal, then tell me that it came.",
                abort=True,
                tools=[wait_for_signal],
            ),
        ]

    def check(self, case: PythonCase, run: PythonRun) -> tuple[bool, str]:
        """Judge a run by the rule for its case."""
        passed, words = _CHECKS[case.id](run)
        return passed, "" if passed else words
