"""Small outputs for every rule, with the official name of what is wrong with each.

No fetched data is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.leaderboards.bfcl.catalog import CATEGORIES
from harness.leaderboards.bfcl.checker.multi_turn import MultiTurnCase, find_turns_fault
from harness.leaderboards.bfcl.checker.single import (
    find_answer_fault,
    find_expected_calls_fault,
    find_no_call_fault,
    find_some_call_fault,
)
from harness.leaderboards.bfcl.checker.values import Fault
from harness.leaderboards.bfcl.transcript_steps import OutputCall, Step


@dataclass(frozen=True)
class Sample:
    """One output and what the official rules say of it."""

    name: str
    judge: Callable[[], Fault | None]
    error_type: str | None

    def found(self) -> str | None:
        fault = self.judge()
        return None if fault is None else fault.error_type


def step(*calls: tuple[str, Mapping[str, Any]]) -> Step:
    return Step(calls=tuple(OutputCall(name, arguments) for name, arguments in calls))


def function(name: str = "f", required: Sequence[str] = (), **properties: Any) -> dict[str, Any]:
    typed = {
        key: {"type": kind} if isinstance(kind, str) else kind for key, kind in properties.items()
    }
    return {
        "name": name,
        "parameters": {"type": "dict", "properties": typed, "required": list(required)},
    }


def array(of: str, kind: str = "array") -> dict[str, Any]:
    return {"type": kind, "items": {"type": of}}


def one(
    name: str,
    kind: Any,
    allowed: Sequence[Any],
    value: Any,
    error_type: str | None,
    category: str = "simple_python",
) -> Sample:
    """Return a sample of one call of one function with one argument."""
    offered = [function(x=kind)]
    expected = [{"f": {"x": list(allowed)}}]
    output = step(("f", {} if value is ABSENT else {"x": value}))
    return Sample(
        name,
        lambda: find_expected_calls_fault(CATEGORIES[category], offered, expected, output),
        error_type,
    )


ABSENT = object()
STRING, OTHER, LIST = "value_error:string", "value_error:others", "value_error:list/tuple"
SIMPLE, NESTED = "type_error:simple", "type_error:nested"
KEY, VALUE, COUNT = "value_error:dict_key", "value_error:dict_value", "value_error:list_dict_count"


def several(
    name: str,
    category: str,
    expected: Sequence[Mapping[str, Any]],
    output: Step,
    error_type: str | None,
) -> Sample:
    """Return a sample where two functions are offered."""
    offered = [
        function("a.one", ["n"], n="integer"),
        function("two", ["n"], n="integer", m="integer"),
    ]
    return Sample(
        name,
        lambda: find_expected_calls_fault(CATEGORIES[category], offered, expected, output),
        error_type,
    )


def _one(n: int) -> dict[str, Any]:
    return {"a.one": {"n": [n]}}


def _two(n: int, *allowed_m: Any) -> dict[str, Any]:
    return {"two": {"n": [n], "m": list(allowed_m)}}


ARGUMENTS = [
    one("a text loosely equal", "string", ["April 1, 2024"], "april-1.2024", None),
    one("quotes of either sort", "string", ["it's"], 'IT"s', None),
    one("another text", "string", ["Paris"], "Paris, France", STRING),
    one("a text instead of a number", "integer", [5], "5", SIMPLE),
    one("a whole number for a float", "float", [5.0], 5, None),
    one("a float for a whole number", "integer", [5], 5.0, SIMPLE),
    one("another number", "integer", [5], 6, OTHER),
    one("true is no number", "integer", [1], True, SIMPLE),
    one("one is not true", "boolean", [True], 1, SIMPLE),
    one("a whole number in a list of floats", array("float"), [[1.5, 2.5]], [1, 2], NESTED),
    one("a whole number where the answers have them too", array("float"), [[1, 3]], [1, 3], None),
    one("a list in another order", array("string"), [["a", "b"]], ["b", "a"], LIST),
    one("texts in a list, loosely equal", array("string"), [["New York"]], ["new-york"], None),
    one("texts two lists deep, exactly", array("array"), [[["New York"]]], [["new york"]], LIST),
    one("an empty list where it may be left out", array("string"), ["", ["a"]], [], None),
    one("a tuple", array("integer", "tuple"), [[1, 2]], (1, 2), None),
    one("a list for a tuple", array("integer", "tuple"), [[1, 2]], [1, 2], None),
    one("a variable by its name", "integer", ["size"], "size", None),
    one("a variable by another writing of its name", "integer", ["size"], "Size", OTHER),
    one("another type than schema and answers", "integer", ["size"], 2.5, SIMPLE),
    one("any is a text", "any", ["Red"], "red", None),
    one("left out as it may be", "integer", [5, ""], ABSENT, None),
    one(
        "left out as it may not be",
        "integer",
        [5],
        ABSENT,
        "simple_function_checker:missing_optional",
    ),
    one("an object", "dict", [{"k": [1], "t": ["A b"]}], {"k": 1, "t": "ab"}, None),
    one("an object with another value", "dict", [{"k": [1]}], {"k": 2}, VALUE),
    one("an object with a key too many", "dict", [{"k": [1]}], {"k": 1, "z": 2}, KEY),
    one("an object with a key too few", "dict", [{"k": [1], "l": [2]}], {"k": 1}, KEY),
    one(
        "an object without a key that may be missing",
        "dict",
        [{"k": [1], "l": [2, ""]}],
        {"k": 1},
        None,
    ),
    one("the second of two objects", "dict", [{"k": [1]}, {"k": [2]}], {"k": 2}, None),
    one(
        "a missing key weighs more than a wrong value",
        "dict",
        [{"k": [1], "l": [2]}],
        {"k": 9},
        KEY,
    ),
    one("objects in order", array("dict"), [[{"k": [1]}, {"k": [2]}]], [{"k": 1}, {"k": 2}], None),
    one(
        "objects in another order",
        array("dict"),
        [[{"k": [1]}, {"k": [2]}]],
        [{"k": 2}, {"k": 1}],
        VALUE,
    ),
    one("an object too few", array("dict"), [[{"k": [1]}, {"k": [2]}]], [{"k": 1}], COUNT),
    one("a Java number in a text", "integer", [5], "5", None, "simple_java"),
    one("a Java number that is none", "integer", [5], 5, "type_error:java", "simple_java"),
    one("a Java long", "long", [5], "5L", None, "simple_java"),
    one("a Java long without its letter", "long", [5], "5", SIMPLE, "simple_java"),
    one("a Java float", "float", [2.5], "2.5f", None, "simple_java"),
    one(
        "a Java list",
        array("integer", "ArrayList"),
        [[1, 2]],
        "new ArrayList<>(Arrays.asList(1, 2))",
        None,
        "simple_java",
    ),
    one(
        "a Java array", array("integer", "Array"), [[1, 2]], "new int[]{1, 2}", None, "simple_java"
    ),
    one(
        "a Java map",
        "HashMap",
        [{"k": [1]}],
        'new HashMap<String, Integer>() {{ put("k", 1); }}',
        None,
        "simple_java",
    ),
    one("a JavaScript array", array("integer"), [[1, 2]], "[1, 2]", None, "simple_javascript"),
    one("a JavaScript object", "dict", [{"k": ["v"]}], "{k: 'v'}", None, "simple_javascript"),
    one("a JavaScript text in quotes", "String", ["v"], "'v'", None, "simple_javascript"),
    one(
        "a JavaScript number that is none", "integer", [5], 5, "type_error:js", "simple_javascript"
    ),
    one("a JavaScript big number", "Bigint", [5], "5n", None, "simple_javascript"),
]

CALLS = [
    several("the right one of two", "multiple", [_two(1, "")], step(("two", {"n": 1})), None),
    several(
        "the wrong one of two", "multiple", [_two(1, "")], step(("a.one", {"n": 1})),
        "simple_function_checker:wrong_func_name",
    ),
    several(
        "two instead of one", "multiple", [_one(1)], step(("a.one", {"n": 1}), ("a.one", {"n": 1})),
        "multiple_function_checker:wrong_count",
    ),
    several("none instead of one", "multiple", [_one(1)], step(),
            "multiple_function_checker:wrong_count"),
    several("none in a simple case", "simple_python", [_one(1)], step(),
            "simple_function_checker:wrong_count"),
    several(
        "without what is required", "multiple", [_two(1, "")], step(("two", {"m": 1})),
        "simple_function_checker:missing_required",
    ),
    several(
        "with what nobody knows", "multiple", [_two(1, "")], step(("two", {"n": 1, "z": 1})),
        "simple_function_checker:unexpected_param",
    ),
    several(
        "with what the schema knows and the answer does not", "multiple", [{"two": {"n": [1]}}],
        step(("two", {"n": 1, "m": 1})), "simple_function_checker:unexpected_param",
    ),
    several("in any order", "parallel", [_one(1), _one(2)],
            step(("a.one", {"n": 2}), ("a.one", {"n": 1})), None),
    several(
        "one twice", "parallel", [_one(1), _one(2)], step(("a.one", {"n": 1}), ("a.one", {"n": 1})),
        "parallel_function_checker_no_order:cannot_find_match",
    ),
    several(
        "one too few", "parallel", [_one(1), _one(2)], step(("a.one", {"n": 1})),
        "parallel_function_checker_no_order:wrong_count",
    ),
    several(
        (
            "the first that fits is taken, even from a later one"
        ), "parallel_multiple", [_two(1, 5, ""), _two(1, 5)],
        step(("two", {"n": 1, "m": 5}), ("two", {"n": 1})),
        "parallel_function_checker_no_order:cannot_find_match",
    ),
    several("words", "multiple", [_one(1)], Step(unreadable="words", text="No."),
            "ast_decoder:decoder_failed"),
    several(
        "arguments that are no object", "multiple", [_one(1)], Step(unreadable="misshapen"),
        "ast_decoder:decoder_wrong_output_format",
    ),
    Sample("no call where none fits", lambda: find_no_call_fault(step()), None),
    Sample("words where none fits",
           lambda: find_no_call_fault(Step(unreadable="words", text="No.")), None),
    Sample("a call where none fits", lambda: find_no_call_fault(step(("f", {}))),
           "irrelevance_error:decoder_success"),
    Sample("a call where one fits", lambda: find_some_call_fault(step(("f", {}))), None),
    Sample("no call where one fits", lambda: find_some_call_fault(step()),
           "relevance_error:decoder_failed"),
    Sample("words where one fits", lambda: find_some_call_fault(Step(unreadable="words")),
           "relevance_error:decoder_failed"),
]  # fmt: skip


def said(
    name: str, texts: Sequence[str | Step], answers: Sequence[str], error_type: str | None
) -> Sample:
    steps = [
        one if isinstance(one, Step) else Step(unreadable="words" if one else None, text=one)
        for one in texts
    ]
    return Sample(name, lambda: find_answer_fault([steps], answers), error_type)


NOT_FOUND = "agentic:answer_not_found"
ANSWERS = [
    said("the answer as it stands", ["It is Michael."], ["Michael"], None),
    said("the answer in another writing", ["{'answer': 'DONG-SUP Yoon'}"], ["Dongsup Yoon"], None),
    said("one of several", ["35"], ["thirty five", "35"], None),
    said("a part of a word", ["It is 350."], ["35"], NOT_FOUND),
    said("spaces count", ["thirtyfive"], ["thirty five"], NOT_FOUND),
    said("parentheses do not", ["Michael (Jordan)"], ["michael jordan"], None),
    said("only the last message", ["Michael", "I do not know"], ["Michael"], NOT_FOUND),
    said("calls after it do not count", ["Michael", step(("f", {}))], ["Michael"], None),
    said("nothing but calls", [step(("f", {}))], ["Michael"], "agentic:no_last_message"),
    said("nothing at all at the end", ["Michael", ""], ["Michael"], "agentic:no_last_message"),
    Sample(
        "more than one turn", lambda: find_answer_fault([[], []], ["x"]), "agentic:inference_error"
    ),
]

_FILES = {
    "GorillaFileSystem": {
        "root": {
            "home": {
                "type": "directory",
                "contents": {"a.txt": {"type": "file", "content": "alpha"}},
            }
        }
    }
}


def talk(
    name: str,
    expected: Sequence[Sequence[str]],
    turns: Sequence[Sequence[Step]],
    error_type: str | None,
) -> Sample:
    conversation = MultiTurnCase(
        classes=["GorillaFileSystem"],
        initial_config=_FILES,
        expected=expected,
        long_context=False,
        data={},
    )
    return Sample(name, lambda: find_turns_fault(conversation, turns), error_type)


TOUCH, LOOK, READ = (
    step(("touch", {"file_name": "b.txt"})),
    step(("ls", {})),
    step(("cat", {"file_name": "a.txt"})),
)
WORDS = Step(unreadable="words", text="Done.")
_STATE, _RESULT = "multi_turn:instance_state_mismatch", "multi_turn:execution_response_mismatch"
TALKS = [
    talk("the same calls", [["touch('b.txt')"]], [[TOUCH, WORDS]], None),
    talk("more calls that change nothing", [["touch('b.txt')"]], [[LOOK, TOUCH, READ]], None),
    talk("another state", [["touch('b.txt')"]], [[LOOK]], _STATE),
    talk("a result that is missing", [["cat('a.txt')"]], [[LOOK]], _RESULT),
    talk(
        "a result from an earlier turn", [["ls()"], ["cat('a.txt')"]], [[READ, LOOK], [LOOK]], None
    ),
    talk("a result that came once and is expected twice", [["ls()", "ls()"]], [[LOOK]], _RESULT),
    talk("results in another order", [["ls()", "cat('a.txt')"]], [[READ, LOOK]], None),
    talk(
        "a wrong state in the first of two turns",
        [["touch('b.txt')"], ["ls()"]],
        [[LOOK], [TOUCH, LOOK]],
        _STATE,
    ),
    talk(
        "no call where one is expected",
        [["ls()"]],
        [[WORDS]],
        "multi_turn:empty_turn_model_response",
    ),
    talk("calls in a turn that expects none", [[], ["ls()"]], [[LOOK], [LOOK]], None),
    talk("a change in a turn that expects none", [[], ["ls()"]], [[TOUCH], [LOOK]], _STATE),
    talk("a turn too few", [["ls()"], ["ls()"]], [[LOOK]], "multi_turn:force_terminated"),
    talk(
        "a call that cannot be executed", [["ls()"]], [[step(("fly", {"to": "moon"})), LOOK]], None
    ),
]

_POSTS = {
    "TwitterAPI": {
        "username": "ann",
        "password": "",
        "authenticated": True,
        "tweets": {},
        "comments": {},
        "retweets": {},
        "following_list": [],
        "tweet_counter": 0,
    }
}
_POST, _POST_TO = (
    step(("post_tweet", {"content": "x"})),
    step(("post_tweet", {"content": "x", "mentions": []})),
)
_MENTION = step(("mention", {"tweet_id": 0, "mentioned_usernames": ["@ben"]}))


def posts(name: str, steps: Sequence[Step], error_type: str | None) -> Sample:
    conversation = MultiTurnCase(
        classes=["TwitterAPI"], initial_config=_POSTS,
        expected=[["post_tweet('x')"], ["posting_get_login_status()"]], long_context=False, data={},
    )  # fmt: skip
    turns = [steps[:1], [step(("posting_get_login_status", {})), *steps[1:]]]
    return Sample(name, lambda: find_turns_fault(conversation, turns), error_type)


POSTS = [
    posts("a mention more in a post that had none", [_POST, _MENTION], None),
    posts("a mention more in a post that had an empty list", [_POST_TO, _MENTION], _STATE),
]

SAMPLES: list[Sample] = [*ARGUMENTS, *CALLS, *ANSWERS, *TALKS, *POSTS]
