"""Recorded calls, written anew as models of other families write them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Calls: TypeAlias = Sequence[tuple[str, Mapping[str, Any]]]
"""Function and arguments of each call."""


@dataclass(frozen=True)
class Family:
    """A family of models."""

    model: str
    """One of them, as the official package knows it."""
    render: Callable[[Calls, str], Any]
    """Writes calls down, in the language of a case."""
    dotted: bool
    """Whether names keep their dots."""


def _texts(calls: Calls, _language: str) -> Any:
    return [{name: json.dumps(arguments)} for name, arguments in calls]


def _objects(calls: Calls, _language: str) -> Any:
    return [{name: arguments} for name, arguments in calls]


def _tool_names(calls: Calls, _language: str) -> Any:
    return [{"tool_name": name, "parameters": arguments} for name, arguments in calls]


def _names(calls: Calls, _language: str) -> Any:
    return [{"name": name, "arguments": arguments} for name, arguments in calls]


def source(calls: Calls, language: str) -> str:
    """Write calls as source text."""
    written = (
        f"{name}({', '.join(f'{key}={_value(each, language)}' for key, each in arguments.items())})"
        for name, arguments in calls
    )
    return f"[{', '.join(written)}]"


def _value(value: Any, language: str) -> str:
    if language == "python":
        return repr(value)
    # In Java and JavaScript cases every value is a text, most times with source in it.
    is_source = isinstance(value, str) and (
        value in ("true", "false", "null") or any(sign in value for sign in "[{(")
    )
    return str(value) if is_source else json.dumps(value)


def _tagged_source(calls: Calls, language: str) -> str:
    return f"<TOOLCALL>{source(calls, language)}</TOOLCALL>"


def _tagged(calls: Calls, _language: str) -> str:
    return "\n".join(f"<tool_call>\n{json.dumps(one)}\n</tool_call>" for one in _names(calls, ""))


def _tagged_list(calls: Calls, _language: str) -> str:
    return f"<tool_call>\n{json.dumps(_names(calls, ''))}\n</tool_call>"


def _bare(calls: Calls, _language: str) -> str:
    return json.dumps(_names(calls, ""))


def _after_thought(calls: Calls, _language: str) -> str:
    return f"<think>Well.</think>\n{_bare(calls, '')}"


def _parts(calls: Calls, _language: str) -> str:
    return "".join(f"<function_call> {json.dumps(one)}\n" for one in _names(calls, ""))


def _lines(calls: Calls, _language: str) -> str:
    return "\n".join(f"{name}\n{json.dumps(arguments)}" for name, arguments in calls)


def _tool_code(calls: Calls, language: str) -> str:
    return f"```tool_code\n{source(calls, language)}\n```"


def _fenced(calls: Calls, language: str) -> str:
    return f"```python\n{source(calls, language)}\n```"


def _fenced_json(calls: Calls, _language: str) -> str:
    return f"```\n{_bare(calls, '')}\n```"


def _parameters(calls: Calls, _language: str) -> str:
    return repr([{"name": name, "parameters": dict(arguments)} for name, arguments in calls])


FAMILIES = (
    Family("claude-sonnet-4-5-20250929-FC", _texts, dotted=False),
    Family("gpt-4o-2024-11-20-FC", _texts, dotted=False),
    Family("firefunction-v2-FC", _texts, dotted=True),
    Family("nova-pro-v1.0", _objects, dotted=False),
    Family("katanemo/Arch-Agent-7B", _objects, dotted=True),
    Family("command-a-03-2025-FC", _tool_names, dotted=False),
    Family("xiaoming-14B", _names, dotted=True),
    Family("claude-sonnet-4-5-20250929", source, dotted=True),
    Family("gpt-4o-2024-11-20", source, dotted=True),
    Family("Qwen/Qwen3-8B", source, dotted=True),
    Family("nvidia/llama-3.1-nemotron-ultra-253b-v1", _tagged_source, dotted=True),
    Family("Qwen/Qwen3-8B-FC", _tagged, dotted=True),
    Family("tiiuae/Falcon3-7B-Instruct-FC", _tagged_list, dotted=True),
    Family("Salesforce/xLAM-2-32b-fc-r", _bare, dotted=True),
    Family("meta-llama/Llama-3.1-8B-Instruct-FC", _parameters, dotted=True),
    Family("ThinkAgents/ThinkAgent-1B", _after_thought, dotted=True),
    Family("ibm-granite/granite-20b-functioncalling", _parts, dotted=False),
    Family("THUDM/glm-4-9b-chat", _lines, dotted=False),
    Family("gemini-2.5-flash", _tool_code, dotted=True),
    Family("microsoft/phi-4", _fenced, dotted=True),
    Family("MadeAgents/Hammer2.1-7b", _fenced_json, dotted=True),
)
"""Every form that is read, by the handler of some model."""
