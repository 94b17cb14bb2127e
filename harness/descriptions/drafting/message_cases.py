"""Cases from conversations that another program recorded (`harness.runner.read_conversations`).

What a case checks is proposed: calls that mattered, arguments that came from the prompt, and facts
of the answer that came from results.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from harness.base import UsageError, format_path
from harness.descriptions.drafting.draft import DraftCase
from harness.descriptions.drafting.recorded_cases import RecordedCases, write_recorded_cases
from harness.runner import list_prompts, parse_json, read_conversations
from harness.types import JsonObject, Transcript

_MOST_FACTS = 3
_MOST_VALUES = 1_000  # of a result; each is sought in the answer
_SHORTEST, _LONGEST = 3, 60  # characters of a fact
_FACT = re.compile(r"[A-Z][\w.-]*\d[\w.-]*|\d[\d.,:-]*\d")
_ADVICE = """\
# What to do next:
# 1. Read each test. What it checks is proposed, for the reasons under 'proposed' of its metadata.
# 2. Correct what is wrong, and take the name of a check out of 'proposed' once you accept it.
"""


def build_suite_from_messages(path: Path, name: str, server: JsonObject | str) -> RecordedCases:
    """Return the suite ``name`` with a case for each conversation in which something mattered.

    ``server`` is the suite's ``server:``.

    Raises:
        InvalidInput: the file cannot be read, or a line is no JSON.
        UsageError: nothing can be proposed for any conversation.
    """
    cases: list[DraftCase] = []
    left_out: list[str] = []
    for one in read_conversations(path):
        case = None
        if one.transcript is not None:
            case = _propose_case(one.transcript, re.sub(r"\W+", "_", one.place))
            if one.transcript.messages and one.problem:
                left_out.append(f"{one.place}: {one.problem}")
        if case is not None:
            cases.append(case)
        else:
            what = one.problem if one.transcript is None else "no call mattered"
            left_out.append(f"{one.place}: {what}")
    if not cases:
        message = f"no case can be made of {format_path(path)}: {'; '.join(left_out)}"
        raise UsageError(message, meant="A line has 'messages', in which a call succeeds.")
    facts = {"mxcp": 1, "suite": name, "server": server}
    return write_recorded_cases(
        f"Cases from the conversations in {path.name}.", _ADVICE, facts, cases, left_out
    )


def _propose_case(conversation: Transcript, name: str) -> DraftCase | None:
    """Return a case with what mattered; ``None`` if nothing did."""
    prompts = list_prompts(conversation)
    if not prompts:
        return None
    asked = "\n".join(prompts)
    calls: dict[str, tuple[str, JsonObject]] = {}
    facts: list[str] = []
    reasons: list[str] = []
    for place, call in enumerate(conversation.tool_calls):
        if call.is_error:
            continue
        known = list(islice(_iterate_facts(call.text), _MOST_VALUES))
        given = {key: part for key, part in call.arguments.items() if _is_said(part, asked)}
        found = [
            fact
            for fact in known
            if _is_said(fact, conversation.answer) and not _is_said(fact, asked)
        ]
        later = [one.arguments for one in conversation.tool_calls[place + 1 :]]
        used = any(
            _is_said(fact, json.dumps(args, ensure_ascii=False)) for args in later for fact in known
        )
        why = "the answer repeats its result" if found else "a later call uses its result"
        if not found and not used:
            continue
        calls.setdefault(json.dumps([call.tool, given]), (call.tool, given))
        facts += [fact for fact in found if fact not in facts]
        reasons.append(f"{call.tool}: {why}")
    if not calls:
        return None
    facts = sorted(facts, key=len, reverse=True)[:_MOST_FACTS]
    proposed = {"must_succeed": "; ".join(dict.fromkeys(reasons))}
    if facts:
        proposed["answer_contains"] = "facts of the answer that came from results"
    return DraftCase(
        name=name,
        prompt=prompts[0],
        turns=tuple({"prompt": said} for said in prompts) if len(prompts) > 1 else (),
        must_succeed=tuple(calls.values()),
        answer_contains=tuple(facts),
        proposed=proposed,
    )


def _is_said(value: Any, text: str) -> bool:
    """Whether a text or number stands in ``text`` as a whole, in any case."""
    if isinstance(value, bool) or not isinstance(value, str | int | float) or value == "":
        return False
    pattern = rf"(?<!\w){re.escape(str(value))}(?!\w)"
    return re.search(pattern, text, re.IGNORECASE) is not None


def _iterate_facts(result: str) -> Iterator[str]:
    """Yield what in a result may be a fact: values of JSON; of words, numbers and identifiers."""
    value = parse_json(result)
    if isinstance(value, dict | list):
        todo: list[Any] = [value]
        while todo:
            part = todo.pop()
            if isinstance(part, dict | list):
                todo += part.values() if isinstance(part, dict) else part
            elif not isinstance(part, bool) and _SHORTEST <= len(str(part)) <= _LONGEST:
                yield str(part)
    else:
        yield from (found for found in _FACT.findall(result) if len(found) >= _SHORTEST)
