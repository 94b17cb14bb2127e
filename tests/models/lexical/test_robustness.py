"""Whatever it is given, it ends, it does not raise, and it says the same again."""

from __future__ import annotations

import cProfile
import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.base.json_text import canonical_json
from harness.models.lexical.dates import find_periods
from harness.models.tool_text.terms import word_set
from harness.types import (
    AssistantMessage,
    Message,
    Tool,
    ToolAnswer,
    ToolList,
    ToolMessage,
    UserMessage,
)
from tests.clock import is_in_proportion
from tests.models.lexical.conversations import model, reply, talk
from tests.models.lexical.prompts import DEVELOPED_ON, HELD_OUT
from tests.models.lexical.toolsets import TOOLSETS, tool
from tests.often import often

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
KEYWORDS = st.sampled_from(
    sorted(
        word_set(
            "type properties required enum pattern items anyOf oneOf allOf $ref $defs description "
            "title default format "
            "minimum maximum const examples additionalProperties not"
        )
    )
)
TYPES = st.sampled_from(
    ["string", "number", "integer", "boolean", "array", "object", "null", "what"]
)
SCHEMA = st.recursive(
    st.fixed_dictionaries(
        {}, optional={"type": TYPES, "description": st.text(max_size=30), "pattern": st.text()}
    ),
    lambda inner: (
        st.dictionaries(KEYWORDS, inner | JSON, max_size=5)
        | st.fixed_dictionaries(
            {
                "type": st.just("object"),
                "properties": st.dictionaries(
                    st.sampled_from(["id", "query", "limit", "from", "a b", ""]), inner
                ),
                "required": st.lists(st.sampled_from(["id", "query", "limit", "zz"]), max_size=3),
            }
        )
    ),
    max_leaves=8,
)
WORDS = st.lists(
    st.sampled_from(
        [
            *sorted(
                word_set(
                    "show delete customer CUST_00042 and then orders over $500 last year 'x' \"y "
                    'z" Maria Keller '
                    ", . ; 7% 10 /srv/a.txt Europe/Berlin a@b.org without include who find it "
                    "2024-02-31 between -3 "
                    "0001-01-01"
                )
            ),
            "\n",
        ]
    ),
    max_size=25,
).map(" ".join)
TOOLS = st.lists(
    st.builds(
        Tool,
        name=st.sampled_from(["get_customer", "delete_customer", "search", "x", "find_orders", ""]),
        description=WORDS | st.text(max_size=60),
        input_schema=SCHEMA,
    ),
    max_size=4,
).map(lambda tools: ToolList(tools=tuple(tools)))
RESULTS = WORDS | st.text(max_size=80) | JSON.map(canonical_json)
MANY_CALLS = 15_000
"""Three times what a reply takes."""
QUICK = settings(derandomize=True)


@QUICK
@given(
    text=WORDS | st.text(max_size=200),
    tools=TOOLS,
    results=st.lists(RESULTS, min_size=1, max_size=3),
)
def test_any_prompt_any_tools_and_any_results_end_in_an_answer(
    text: str, tools: ToolList, results: list[str]
) -> None:
    pending = iter(results * 200)
    came = talk(tools, text, lambda _tool, _arguments: next(pending))
    assert came.answer
    assert came.turns <= 7


@QUICK
@given(
    text=WORDS,
    domain=st.sampled_from(sorted(TOOLSETS)),
    results=st.lists(RESULTS, min_size=1, max_size=3),
)
def test_real_tools_with_any_results_end_in_an_answer(
    text: str, domain: str, results: list[str]
) -> None:
    pending = iter([("!" if place % 2 else "") + one for place, one in enumerate(results)] * 200)
    assert talk(domain, text, lambda _tool, _arguments: next(pending)).answer


@QUICK
@given(
    st.lists(
        st.builds(UserMessage, text=WORDS)
        | st.builds(
            ToolMessage,
            answers=st.tuples(st.builds(ToolAnswer, request_id=st.just("?"), text=RESULTS)),
        )
        | st.builds(
            AssistantMessage, reply=st.just(reply([UserMessage(text="x")], TOOLSETS["git"]))
        ),
        max_size=6,
    )
)
def test_any_order_of_messages_gets_a_reply_and_the_same_one_again(messages: list[Message]) -> None:
    first = reply(messages, TOOLSETS["governance"])
    assert first.text or first.tool_requests
    assert reply(messages, TOOLSETS["governance"]) == first


@given(text=WORDS | st.text(max_size=60), day=st.dates())
def test_any_text_on_any_day_holds_only_days_that_exist(text: str, day: Any) -> None:
    for period in find_periods(text, day):
        assert 0 <= period.start < period.end <= len(text)


@pytest.mark.parametrize(
    ("part", "times"),
    often(
        [
            ("a", 200_000),
            ("A", 20_000),
            ("Aa ", 5_000),
            (".", 20_000),
            ("-", 20_000),
            ("/", 20_000),
            ("/a.", 5_000),
            ("1,", 10_000),
            ("1 ", 10_000),
            ("a@a.", 5_000),
            ("A/B_", 5_000),
            ("'", 20_000),
            ("and then ", 3_000),
            ("9", 5_000),
        ],
        3,
    ),
)
def test_long_prompts_are_read_in_time_in_proportion_to_their_length(part: str, times: int) -> None:
    def answered(count: int) -> None:
        assert talk("governance", f"Show orders {part * count}").answer

    assert is_in_proportion(answered, times)


@pytest.mark.parametrize(
    "text", ["\ud800 lone surrogates \udfff", "+" + "1 " * 1_000], ids=["surrogates", "digits"]
)
def test_odd_prompts_are_answered(text: str) -> None:
    assert talk("governance", f"Show orders {text}").answer


@pytest.mark.parametrize(
    ("pattern", "length"),
    [
        ("^(a+)+$", 25),
        ("^(a|a)*$", 25),
        (r"^\w*-?\w*-?\w*-?\w*-?\w*$", 92),
        ("(?=a", 5),
        ("[", 5),
        (r"(a)\1", 5),
        ("\ud800", 5),
    ],
)
def test_a_pattern_that_hangs_other_engines_or_is_none_holds_nobody_up(
    pattern: str, length: int
) -> None:
    properties = {"order_id": {"type": "string", "pattern": pattern}}
    schema = {"type": "object", "properties": properties, "required": ["order_id"]}
    tools = ToolList(
        tools=(Tool(name="get_order", description="Get one order", input_schema=schema),)
    )
    assert talk(tools, f"Get the order '{'a' * length}!'").answer


def test_a_schema_that_contains_itself_is_read_to_an_end() -> None:
    inside = {f"child_{n}": {"$ref": "#/$defs/node"} for n in range(60)}
    node = {"type": "object", "properties": inside}
    schema = {"type": "object", "$defs": {"node": node}, "properties": inside}
    assert talk(
        ToolList(tools=(Tool(name="get_tree", input_schema=schema),)), "Get the tree"
    ).answer


def test_a_result_nested_too_deep_to_be_read_is_told_as_text() -> None:
    came = talk("governance", "Show customer CUST_00042", lambda _tool, _arguments: "[" * 100_000)
    assert came.answer


@pytest.mark.slow
def test_a_reply_with_twenty_tools_takes_few_steps() -> None:
    """Calls of functions are counted, for time says more of the machine; docs/lexical.md has it."""
    tools = ToolList(tools=tuple(tool for tools in TOOLSETS.values() for tool in tools.tools)[:20])
    lexical = model()
    prompts = [prompt.text for prompt in DEVELOPED_ON]
    for text in prompts:
        reply([UserMessage(text=text)], tools, lexical)  # read the tools, fill the caches of stems
    took = [
        calls_of(partial(reply, [UserMessage(text=f"{text} ")], tools, lexical)) for text in prompts
    ]
    assert sorted(took)[len(took) // 2] < MANY_CALLS


def calls_of(work: Callable[[], object]) -> int:
    """Return how many functions are called in ``work``."""
    profile = cProfile.Profile()
    profile.runcall(work)
    return sum(entry.callcount for entry in profile.getstats())


def everything_said() -> str:
    """Return the digest of many conversations.

    The last one is about tools that fit equally well.
    """
    asked = [(prompt.domain, prompt.text) for prompt in (*DEVELOPED_ON, *HELD_OUT)]
    said = [talk(domain, text)[:3] for domain, text in asked]
    tied = [tool(f"tool_{letter}", "List orders.", {}) for letter in "fbdghc"]
    said.append(talk(ToolList(tools=tuple(tied)), "List the orders")[:3])
    return hashlib.sha256(repr(said).encode()).hexdigest()


@pytest.mark.slow
def test_the_same_conversation_gets_the_same_reply_in_every_process() -> None:
    program = (
        "from tests.models.lexical.test_robustness import everything_said; print(everything_said())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        ).stdout.strip()
        for seed in ("4242",)
    }
    assert digests == {everything_said()}
