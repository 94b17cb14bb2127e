"""The rules, each broken in the way in which a plausible checker would be wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from harness.leaderboards.bfcl.checker import calls, multi_turn, single, values
from harness.leaderboards.bfcl.checker.values import AcceptedType, Fault, standardize_text

Patch = pytest.MonkeyPatch


@dataclass(frozen=True)
class Mutation:
    """A rule broken."""

    name: str
    apply: Callable[[Patch], None]
    recorded: bool = True
    """Whether some recorded output shows it; if not, only the samples do."""

    @property
    def of_conversations(self) -> bool:
        """Whether the rule is one of multi-turn cases."""
        return MUTATIONS.index(self) >= _FIRST_OF_CONVERSATIONS


def _exact_strings(patch: Patch) -> None:
    patch.setattr(values, "standardize_text", lambda text: text)
    patch.setattr(values, "standardize_value", lambda value: value)


def _spaces_count(patch: Patch) -> None:
    def keeping_spaces(text: str) -> str:
        return re.sub(r"[,./\-_*^]", "", text).lower().replace("'", '"')

    patch.setattr(values, "standardize_text", keeping_spaces)


def _case_counts(patch: Patch) -> None:
    patch.setattr(
        values, "standardize_text", lambda text: re.sub(r"[ ,./\-_*^]", "", text).replace("'", '"')
    )


def _quotes_count(patch: Patch) -> None:
    patch.setattr(values, "standardize_text", lambda text: re.sub(r"[ ,./\-_*^]", "", text).lower())


def _texts_in_lists_exact(patch: Patch) -> None:
    patch.setattr(values, "standardize_value", lambda value: value)


def _ordered_parallel(patch: Patch) -> None:
    def in_order(language: Any, functions: Any, made: Any, expected: Any) -> Fault | None:
        if len(made) != len(expected):
            return calls._build_count_fault(
                "parallel_function_checker_no_order", made, len(expected)
            )
        for call, one in zip(made, expected, strict=True):
            fault = calls.find_call_fault(language, calls._find_function(functions, one), call, one)
            if fault is not None:
                return Fault("parallel_function_checker_no_order:cannot_find_match", fault.message)
        return None

    patch.setattr(calls, "_find_parallel_fault", in_order)


def _best_pairing(patch: Patch) -> None:
    """Pair calls so that all fit, where taking the first that fits does not."""
    greedy = calls._find_parallel_fault

    def thorough(language: Any, functions: Any, made: Any, expected: Any) -> Fault | None:
        fault = greedy(language, functions, made, expected)
        backwards = greedy(language, functions, made, list(reversed(expected)))
        return None if backwards is None else fault

    patch.setattr(calls, "_find_parallel_fault", thorough)


def _call_used_twice(patch: Patch) -> None:
    def reusing(language: Any, functions: Any, made: Any, expected: Any) -> Fault | None:
        if len(made) != len(expected):
            return calls._build_count_fault(
                "parallel_function_checker_no_order", made, len(expected)
            )
        for one in expected:
            described = calls._find_function(functions, one)
            if all(
                calls.find_call_fault(language, described, call, one) is not None for call in made
            ):
                return Fault("parallel_function_checker_no_order:cannot_find_match", "")
        return None

    patch.setattr(calls, "_find_parallel_fault", reusing)


def _more_calls_pass(patch: Patch) -> None:
    original = calls.find_calls_fault

    def lenient(
        category: str, language: Any, functions: Any, made: Sequence[Any], expected: Sequence[Any]
    ) -> Any:
        return original(category, language, functions, list(made)[: len(expected)], expected)

    patch.setattr(single, "find_calls_fault", lenient)


def _no_int_to_float(patch: Patch) -> None:
    patch.setattr(calls, "_convert_value", lambda value, language, kind: value)


def _lenient_numbers(patch: Patch) -> None:
    original = calls._convert_value

    def lenient(value: Any, language: Any, kind: str) -> Any:
        if kind == "integer" and isinstance(value, float) and value.is_integer():
            return int(value)
        return original(value, language, kind)

    patch.setattr(calls, "_convert_value", lenient)


def _numbers_in_texts(patch: Patch) -> None:
    original = calls._convert_value

    def lenient(value: Any, language: Any, kind: str) -> Any:
        if language == "python" and kind in ("integer", "float") and isinstance(value, str):
            try:
                return float(value) if kind == "float" else int(value)
            except ValueError:
                return value
        return original(value, language, kind)

    patch.setattr(calls, "_convert_value", lenient)


def _bool_is_int(patch: Patch) -> None:
    original = calls._convert_value

    def lenient(value: Any, language: Any, kind: str) -> Any:
        return (
            int(value)
            if kind == "integer" and isinstance(value, bool)
            else original(value, language, kind)
        )

    patch.setattr(calls, "_convert_value", lenient)


def _types_ignored(patch: Patch) -> None:
    patch.setattr(
        calls, "check_type", lambda name, value, answers, expected: AcceptedType(is_variable=False)
    )


def _no_variables(patch: Patch) -> None:
    original = values.check_type

    def strict(name: str, value: Any, answers: Any, expected: Any) -> Any:
        found = original(name, value, answers, expected)
        wrong = isinstance(found, AcceptedType) and type(value) is not expected.outer
        return Fault("type_error:simple", "") if wrong else found

    patch.setattr(calls, "check_type", strict)


def _variables_loosely(patch: Patch) -> None:
    original = values.check_type

    def lenient(name: str, value: Any, answers: Any, expected: Any) -> Any:
        found = original(name, value, answers, expected)
        if isinstance(found, AcceptedType) and found.is_variable and isinstance(value, str):
            same = any(
                isinstance(one, str) and standardize_text(one) == standardize_text(value)
                for one in answers
            )
            return found if same else Fault("value_error:others", "")
        return found

    def plain(name: str, value: Any, answers: Any) -> Fault | None:
        loosely = [standardize_text(one) if isinstance(one, str) else one for one in answers]
        return (
            None
            if (standardize_text(value) if isinstance(value, str) else value) in loosely
            else Fault("x", "")
        )

    patch.setattr(calls, "check_type", lenient)
    patch.setattr(calls, "find_plain_fault", plain)


def _elements_of_any_type(patch: Patch) -> None:
    patch.setattr(values, "_elements_fit", lambda *_: True)


def _ints_among_floats(patch: Patch) -> None:
    original = values._elements_fit

    def lenient(parameter: str, value: Any, answers: Any, inner: type) -> bool:
        if inner is float:
            value = [float(item) if type(item) is int else item for item in value]
        return original(parameter, value, answers, inner)

    patch.setattr(values, "_elements_fit", lenient)


def _optional_always(patch: Patch) -> None:
    patch.setattr(calls, "_find_missing_parameter", lambda call, allowed: None)


def _optional_never(patch: Patch) -> None:
    patch.setattr(calls, "OPTIONAL", object())


def _required_ignored(patch: Patch) -> None:
    original = calls.find_call_fault

    def lenient(language: Any, function: Any, call: Any, expected: Any) -> Any:
        parameters = {**function["parameters"], "required": []}
        return original(language, {**function, "parameters": parameters}, call, expected)

    patch.setattr(calls, "find_call_fault", lenient)


def _more_arguments_pass(patch: Patch) -> None:
    original = calls.find_call_fault

    def lenient(language: Any, function: Any, call: Any, expected: Any) -> Any:
        allowed = next(iter(expected.values()))
        known = {name: value for name, value in call.arguments.items() if name in allowed}
        return original(language, function, type(call)(call.name, known), expected)

    patch.setattr(calls, "find_call_fault", lenient)


def _any_function(patch: Patch) -> None:
    original = calls.find_call_fault

    def lenient(language: Any, function: Any, call: Any, expected: Any) -> Any:
        return original(language, function, type(call)(function["name"], call.arguments), expected)

    patch.setattr(calls, "find_call_fault", lenient)


def _keys_may_be_missing(patch: Patch) -> None:
    patch.setattr(values, "_find_missing_key", lambda value, answer: None)


def _wrong_entries_first(patch: Patch) -> None:
    missing, wrong = values._find_missing_key, values._find_wrong_entry
    patch.setattr(values, "_find_missing_key", wrong)
    patch.setattr(values, "_find_wrong_entry", missing)


def _entries_ignored(patch: Patch) -> None:
    patch.setattr(values, "_find_wrong_entry", lambda value, answer: None)


def _objects_in_any_order(patch: Patch) -> None:
    original = values.find_list_of_dicts_fault

    def unordered(name: str, value: Any, answers: Any) -> Any:
        backwards = original(name, list(reversed(value)), answers)
        return None if backwards is None else original(name, value, answers)

    patch.setattr(calls, "find_list_of_dicts_fault", unordered)


def _lists_in_any_order(patch: Patch) -> None:
    original = values.find_list_fault

    def unordered(name: str, value: Any, answers: Any) -> Any:
        in_order = [sorted(map(str, answer)) for answer in answers if isinstance(answer, list)]
        return None if sorted(map(str, value)) in in_order else original(name, value, answers)

    patch.setattr(calls, "find_list_fault", unordered)


def _language_ignored(language: str) -> Callable[[Patch], None]:
    def apply(patch: Patch) -> None:
        patch.setattr(
            calls,
            "_WRITTEN",
            {name: way for name, way in calls._WRITTEN.items() if name != language},
        )

    return apply


def _undecodable_is_empty(patch: Patch) -> None:
    original = single.find_expected_calls_fault

    def lenient(category: Any, functions: Any, expected: Any, step: Any) -> Any:
        return original(category, functions, expected, type(step)(calls=step.calls))

    patch.setattr("harness.leaderboards.bfcl.check.find_expected_calls_fault", lenient)
    patch.setattr("tests.leaderboards.bfcl.cases.find_expected_calls_fault", lenient)


def _judged_by(name: str, replacement: Callable[..., Any]) -> Callable[[Patch], None]:
    def apply(patch: Patch) -> None:
        patch.setattr(f"harness.leaderboards.bfcl.check.{name}", replacement)
        patch.setattr(f"tests.leaderboards.bfcl.cases.{name}", replacement)

    return apply


def _answers_in_parts_of_words(patch: Patch) -> None:
    patch.setattr(single, "re", _WithoutBounds())


class _WithoutBounds:
    """`re` without the ends of words."""

    escape = staticmethod(re.escape)

    @staticmethod
    def search(pattern: str, text: str) -> Any:
        return re.search(pattern.replace(r"\b", ""), text)


def _answers_without_spaces(patch: Patch) -> None:
    patch.setattr(single, "standardize_answer", standardize_text)


def _answers_anywhere(patch: Patch) -> None:
    original = single.find_answer_fault

    def lenient(turns: Any, answers: Any) -> Any:
        every = [original([[step]], answers) for steps in turns for step in steps]
        return None if None in every else original(turns, answers)

    _judged_by("find_answer_fault", lenient)(patch)


def _results_of_the_turn_alone(patch: Patch) -> None:
    original = multi_turn.find_turns_fault

    def last_turns(conversation: Any, turns: Any) -> Any:
        kept: list[str] = []
        real = multi_turn.find_results_fault

        def only_new(number: int, found: Sequence[str], wanted: Any) -> Any:
            new = list(found)[len(kept) :]
            kept.extend(new)
            return real(number, new, wanted)

        with pytest.MonkeyPatch.context() as inner:
            inner.setattr(multi_turn, "find_results_fault", only_new)
            return original(conversation, turns)

    _judged_by("find_turns_fault", last_turns)(patch)


def _results_count_once(patch: Patch) -> None:
    def as_a_set(number: int, found: Sequence[str], wanted: Sequence[Any]) -> Any:
        missing = any(outcome.result not in found for outcome in wanted)
        return Fault("multi_turn:execution_response_mismatch", "") if missing else None

    patch.setattr(multi_turn, "find_results_fault", as_a_set)


def _broken_off_conversations_judged(patch: Patch) -> None:
    original = multi_turn.find_turns_fault

    def padded(conversation: Any, turns: Any) -> Any:
        missing = len(conversation.expected) - len(turns)
        return original(conversation, [*turns, *([()] * missing)])

    _judged_by("find_turns_fault", padded)(patch)


def _silent_turns_judged(patch: Patch) -> None:
    original = multi_turn.find_turns_fault

    def strict(conversation: Any, turns: Any) -> Any:
        for steps, expected in zip(turns, conversation.expected, strict=False):
            if not expected and any(step.calls for step in steps):
                return Fault("multi_turn:irrelevance_error:decoder_success", "")
        return original(conversation, turns)

    _judged_by("find_turns_fault", strict)(patch)


def _only_the_end_judged(patch: Patch) -> None:
    """Compare the state once, after the last turn."""
    original = multi_turn.find_turns_fault

    def at_the_end(conversation: Any, turns: Any) -> Any:
        real = multi_turn.find_state_fault

        def late(number: int, model: Any, truth: Any) -> Any:
            return real(number, model, truth) if number == len(conversation.expected) else None

        with pytest.MonkeyPatch.context() as inner:
            inner.setattr(multi_turn, "find_state_fault", late)
            return original(conversation, turns)

    _judged_by("find_turns_fault", at_the_end)(patch)


def _never(*_: Any) -> None:
    return None


MUTATIONS = [
    Mutation("texts must be equal to the letter", _exact_strings),
    Mutation("spaces in texts count", _spaces_count),
    Mutation("upper and lower case count", _case_counts),
    Mutation("the sort of quotes counts", _quotes_count, recorded=False),
    Mutation("texts in lists and objects must be equal to the letter", _texts_in_lists_exact),
    Mutation("parallel calls must come in order", _ordered_parallel),
    Mutation("parallel calls are paired so that most fit", _best_pairing, recorded=False),
    Mutation("one call may stand for two", _call_used_twice, recorded=False),
    Mutation("more calls than expected pass", _more_calls_pass),
    Mutation("a whole number is no float", _no_int_to_float),
    Mutation("a float may stand for a whole number", _lenient_numbers, recorded=False),
    Mutation("a number may stand in a text", _numbers_in_texts, recorded=False),
    Mutation("true is a number", _bool_is_int, recorded=False),
    Mutation("types do not count", _types_ignored),
    Mutation("a variable is of the wrong type", _no_variables),
    Mutation("variables are compared loosely", _variables_loosely),
    Mutation("elements of lists may be of any type", _elements_of_any_type),
    Mutation("whole numbers pass among floats", _ints_among_floats),
    Mutation("everything may be left out", _optional_always),
    Mutation("nothing may be left out", _optional_never),
    Mutation("required parameters are not looked for", _required_ignored),
    Mutation("parameters that nobody expects pass", _more_arguments_pass),
    Mutation("the function's name does not count", _any_function),
    Mutation("keys of objects may be missing", _keys_may_be_missing),
    Mutation("a wrong entry weighs more than a missing key", _wrong_entries_first),
    Mutation("entries of objects are not compared", _entries_ignored),
    Mutation("objects in a list may come in any order", _objects_in_any_order, recorded=False),
    Mutation("lists may come in any order", _lists_in_any_order),
    Mutation("Java values are compared as texts", _language_ignored("java")),
    Mutation("JavaScript values are compared as texts", _language_ignored("javascript")),
    Mutation("words are an empty list of calls", _undecodable_is_empty),
    Mutation("any call passes where none fits", _judged_by("find_no_call_fault", _never)),
    Mutation("words pass where a call is wanted", _judged_by("find_some_call_fault", _never)),
    Mutation("a part of a word is an answer", _answers_in_parts_of_words),
    Mutation("spaces in answers do not count", _answers_without_spaces),
    Mutation("an answer may stand in any message", _answers_anywhere, recorded=False),
    Mutation(
        "states are not compared",
        lambda patch: patch.setattr(multi_turn, "find_state_fault", _never),
    ),
    Mutation("states are compared at the end alone", _only_the_end_judged),
    Mutation(
        "results are not compared",
        lambda patch: patch.setattr(multi_turn, "find_results_fault", _never),
    ),
    Mutation("results of earlier turns do not count", _results_of_the_turn_alone),
    Mutation("one result stands for two", _results_count_once),
    Mutation(
        "conversations that were broken off are judged",
        _broken_off_conversations_judged,
        recorded=False,
    ),
    Mutation("turns that expect no call must have none", _silent_turns_judged),
    Mutation(
        "posts without mentions share none",
        lambda patch: patch.setattr(multi_turn, "share_state", _never),
        False,
    ),
]

_FIRST_OF_CONVERSATIONS = next(
    place for place, one in enumerate(MUTATIONS) if one.name.startswith("states")
)
