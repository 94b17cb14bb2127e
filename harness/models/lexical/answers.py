"""The answer in words, from the tools' results.

Keys and values are quoted as the server wrote them, so that a check finds them. A small result is
given in full. Of a large one, the answer has only the fields whose names share a word with the
question, those that identify a record, and totals.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from harness.models.lexical.arguments import beyond_filling
from harness.models.lexical.planning import GoalProgress, PlannedCall
from harness.models.lexical.results import parse_content
from harness.models.lexical.text_parsing import ParsedText
from harness.models.tool_text.terms import extract_terms, find_synonyms, split_words, term_set
from harness.types import JsonObject

_EMPTY = "The result is empty."
_SMALL = 12  # fields of an object that are reported whatever the question
_ROWS = 5  # members of a list that are reported
_ROW_FIELDS = 6
_SCALARS = 20  # members of a list of plain values
_LINES = 12
_LONGEST_TEXT = 1_200  # characters of a plain text that is reported whole
_LONGEST_VALUE = 300
_DEEPEST = 4
_KEYS = frozenset(
    [*extract_terms("name title id status total count sum average amount date type"), "id"]
)
_TOTALS = term_set("total count sum average number")
_PREFIX = re.compile(
    r"^\s*(?:Error (?:executing|calling|running) tool [\w./-]+\s*:\s*|Error\s*:\s*|\w*Error:\s*)+"
)


def compose_answer(outcomes: Sequence[GoalProgress]) -> str:
    """Return the answer to all goals; never empty."""
    answerable = [outcome for outcome in outcomes if outcome.goal.entry is not None]
    unmet = [outcome.goal for outcome in outcomes if outcome.goal.entry is None]
    held = [_describe_held_back(goal.held_back.tool.name) for goal in unmet if goal.held_back]
    # Never empty: without any words the trial would fail as one without an answer.
    if not answerable and not held:
        return "I could not find a tool for this."
    blocks = [block for outcome in answerable for block in _list_blocks(outcome)] + held
    blocks += [
        f"I could not find a tool for this: {_clip_text(goal.request.reading.text)}"
        for goal in unmet
        if goal.request.reading.actions and goal.held_back is None
    ]
    # Two goals may have made the same call, whose result is told once.
    return "\n\n".join(dict.fromkeys(blocks)) or _EMPTY


def _describe_held_back(tool: str) -> str:
    return f"I did not call {tool}: it may change something, and that was not asked for."


def list_held_back(outcomes: Sequence[GoalProgress]) -> tuple[str, ...]:
    """Return the tools that fit best, but may change something that nobody asked for."""
    held = (outcome.goal.held_back for outcome in outcomes)
    return tuple(dict.fromkeys(entry.tool.name for entry in held if entry is not None))


def describe_unfillable(outcomes: Sequence[GoalProgress]) -> str | None:
    """Return what the baseline cannot fill, and for which tool: "write SQL, which query takes"."""
    limits = dict.fromkeys(limit for outcome in outcomes for limit in _list_limits(outcome))
    return "; ".join(limits) or None


def _list_limits(outcome: GoalProgress) -> list[str]:
    filling = outcome.goal.filling
    # It was done after all, or a look-up has failed, which is told instead.
    entry = outcome.goal.entry
    if outcome.done or outcome.searched is not None or filling is None or entry is None:
        return []
    found = ((param.name, beyond_filling(param, entry.tool)) for param in filling.missing)
    return [f"{limit}, which {name} takes" for name, limit in found if limit is not None]


def _list_blocks(outcome: GoalProgress) -> list[str]:
    goal = outcome.goal
    asked = _collect_asked_terms(goal.request.reading)
    if outcome.searched is not None:
        call, answer = outcome.searched
        given = _clip_text(", ".join(str(value) for value in call.arguments.values()))
        is_error = answer.is_error
        return [_format_error(answer.text) if is_error else f"I found nothing for {given}."]
    # Before missing arguments: to ask for SQL would blame the user for a limit of the baseline.
    limits = _list_limits(outcome)
    if limits:
        return [f"This takes more than I can do: to {limit}." for limit in limits]
    if not outcome.done and goal.filling is not None and goal.filling.missing:
        names = (" ".join(split_words(param.name)) or param.name for param in goal.filling.missing)
        return [f"I need to know the {' and '.join(names)} to do this."]
    calls = [call for call, _ in outcome.done]
    blocks = []
    for call, answer in outcome.done:
        heading = _format_heading(call, calls)
        if answer.is_error:
            body = _format_error(answer.text)
        else:
            body = "\n".join(_render_value(parse_content(answer.text), asked, 0)) or _EMPTY
        blocks.append(f"{heading}:\n{body}" if heading else body)
    return blocks


def _format_heading(call: PlannedCall, calls: Sequence[PlannedCall]) -> str:
    """Name a call by the argument that differs from the other calls: ``Apple (AAPL)``."""
    others = [other for other in calls if other is not call and other.tool == call.tool]
    named = []
    for name, argument in call.arguments.items():
        if any(argument != other.arguments.get(name) for other in others):
            sent, said = str(argument), call.said.get(name, "")
            named.append(f"{said} ({sent})" if said and said.lower() != sent.lower() else sent)
    return _clip_text(", ".join(named))


def _format_error(error: str) -> str:
    """Report an error in the tool's own words."""
    said = _clip_text(_PREFIX.sub("", error).strip(), _LONGEST_TEXT)
    if not said:
        return "This could not be done; the tool gives no reason."
    return f"This could not be done: {said}"


def _collect_asked_terms(reading: ParsedText) -> frozenset[str]:
    said = reading.all_terms()
    return said | {other for term in sorted(said) for other in find_synonyms(term)}


def _render_value(value: Any, asked: frozenset[str], depth: int) -> list[str]:
    if isinstance(value, Mapping):
        return _render_object(value, asked, depth)
    if isinstance(value, list):
        return _render_list(value, asked, depth)
    if isinstance(value, str) and depth == 0:
        return _render_text(value, asked)
    return [_format_scalar(value)]


def _render_object(value: JsonObject, asked: frozenset[str], depth: int) -> list[str]:
    lines: list[str] = []
    for key in _choose_keys(value, asked, _SMALL):
        inner = value[key]
        if not isinstance(inner, (Mapping, list)):
            lines.append(f"{key}: {_format_scalar(inner)}")
        elif depth < _DEEPEST:
            body = _render_value(inner, asked, depth + 1) or ["none"]
            flat = len(body) == 1
            lines += [f"{key}: {body[0]}"] if flat else [f"{key}:", *(f"  {line}" for line in body)]
    return lines


def _render_list(value: Sequence[Any], asked: frozenset[str], depth: int) -> list[str]:
    if not value:
        return ["none"] if depth else ["Nothing was found."]
    if not any(isinstance(item, (Mapping, list)) for item in value):
        shown = ", ".join(_format_scalar(item) for item in value[:_SCALARS])
        return [shown + (f" and {len(value) - _SCALARS} more" if len(value) > _SCALARS else "")]
    lines = [f"- {_format_row(item, asked)}" for item in value[:_ROWS]]
    head = [f"{len(value)} found:"] if depth == 0 and len(value) > 1 else []
    return [*head, *lines, *([f"… and {len(value) - _ROWS} more"] if len(value) > _ROWS else [])]


def _format_row(item: Any, asked: frozenset[str]) -> str:
    if not isinstance(item, Mapping):
        return _format_scalar(item)
    chosen = [key for key in _choose_keys(item, asked, _ROW_FIELDS) if _is_plain(item[key])]
    return "; ".join(f"{key}: {_format_scalar(item[key])}" for key in chosen)


def _is_plain(value: Any) -> bool:
    """Whether a value is shown on one line: a scalar, or a few of them."""
    parts = value if isinstance(value, list) and value else [value]
    return not any(isinstance(part, (Mapping, list)) for part in parts)


def _choose_keys(value: JsonObject, asked: frozenset[str], few: int) -> list[str]:
    """Return the keys to mention, in the object's order."""
    # Null tells nothing, and takes the place of a field that does.
    keys = [key for key, inner in value.items() if inner is not None]
    if len(keys) <= few:
        return keys
    # A stable sort: of fields that are equally relevant, the server's first.
    ranked = sorted(keys, key=lambda key: -_score_relevance(key, value[key], asked))
    # Chosen by relevance, but told in the server's order.
    return sorted(ranked[:few], key=keys.index)


def _score_relevance(key: str, inner: Any, asked: frozenset[str]) -> int:
    own = term_set(key) | ({"id"} & set(split_words(key)))
    said = isinstance(inner, str) and len(inner) < _LONGEST_VALUE and bool(asked & term_set(inner))
    return 4 * bool(own & asked) + 2 * bool(own & _KEYS) + bool(own & _TOTALS) + said


def _render_text(text: str, asked: frozenset[str]) -> list[str]:
    if len(text) <= _LONGEST_TEXT:
        return text.splitlines()
    lines = [line for line in text.splitlines() if line.strip()]
    # Only its beginning: one line may hold megabytes.
    related = [line for line in lines if asked & term_set(line[:_LONGEST_VALUE])]
    shown = [_clip_text(line) for line in (related or lines)[:_LINES]]
    return [*shown, f"… ({len(lines)} lines in all)"] if len(lines) > len(shown) else shown


def _format_scalar(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list) and value and _is_plain(value):
        return _clip_text(", ".join(_format_scalar(part) for part in value[:_SCALARS]))
    if isinstance(value, (Mapping, list)):
        return f"{len(value)} entries"
    return "null" if value is None else _clip_text(str(value))


def _clip_text(text: str, longest: int = _LONGEST_VALUE) -> str:
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"
