"""A drafted suite as the text of a file, with comments that teach its format.

YAML is written so that the suites' reader reads the data back unchanged: the reader's own rules
(`harness.base.documents.fields`) decide which strings need quotation marks, such as ``no``,
``1e5`` and ``2025-05-14``.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import yaml

from harness.base import HIDDEN, escape_character, escape_hidden, resolve_scalar
from harness.descriptions.drafting.draft import DraftCase, DraftSuite
from harness.judging import (
    ANSWER_NOT_CONTAINS,
    MUST_BE_DENIED,
    MUST_NOT_CALL,
    MUST_SUCCEED,
    is_matcher,
)
from harness.types import JsonObject, ServerSpec, dataclass

_WIDTH = 100
_LONG = 80  # characters of a text from which it is written below its key
_TAGS: dict[type, str] = {
    type(None): "tag:yaml.org,2002:null",
    bool: "tag:yaml.org,2002:bool",
    int: "tag:yaml.org,2002:int",
    float: "tag:yaml.org,2002:float",
    str: "tag:yaml.org,2002:str",
}
_UNPRINTABLE = re.compile(
    "[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
"""Line breaks and characters that the reader refuses; like invisible characters, they are written
as escapes."""


class _Dumper(yaml.SafeDumper):
    """Writes block style with lists indented below their keys, and no anchors."""

    def resolve(self, kind: Any, value: Any, implicit: Any) -> str:
        """Return the type that the reader gives to an unquoted ``value``."""
        if kind is not yaml.ScalarNode or not implicit[0]:
            return str(super().resolve(kind, value, implicit))  # type: ignore[no-untyped-call]  # PyYAML's
        # Without quotation marks it would be a merge key.
        if value == "<<":
            return "tag:yaml.org,2002:merge"
        try:
            return _TAGS[type(resolve_scalar(value))]
        # Any other tag than that of a string makes PyYAML write quotation marks.
        except ValueError:
            return "not JSON"

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: FBT001, FBT002  # PyYAML's
        """Indent lists as well."""
        # PyYAML writes a list at the column of its key unless told otherwise.
        super().increase_indent(flow, False)  # noqa: FBT003  # PyYAML's

    def ignore_aliases(self, data: Any) -> bool:
        """Write repeated values in full, without anchors."""
        return True


def _represent_text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    is_prose = text == " ".join(text.split())  # a folded text is joined again with single spaces
    hidden = _UNPRINTABLE.search(text) or HIDDEN.search(text)
    style = '"' if hidden or "${" in text else ">" if is_prose and len(text) > _LONG else None
    return dumper.represent_scalar(_TAGS[str], text, style=style)


@dataclass(frozen=True, slots=True)
class Inline:
    """A list or mapping to write on one line: ``[a, b]``, ``{a: 1}``."""

    data: Any
    """The JSON value."""


def _represent_inline(dumper: _Dumper, inline: Inline) -> yaml.Node:
    node = dumper.represent_data(inline.data)
    if isinstance(node, yaml.CollectionNode):
        node.flow_style = True
    return node


_Dumper.add_representer(str, _represent_text)
_Dumper.add_representer(Inline, _represent_inline)


def dump_yaml(data: Any) -> str:
    """Return ``data`` (JSON, parts of it `Inline`) as YAML, lines ending in a newline."""
    text = yaml.dump(
        data,
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=_WIDTH,
        default_flow_style=False,
        indent=2,
    )
    return HIDDEN.sub(lambda found: escape_character(found[0]), str(text))  # these are quoted


def format_comment(text: str, *, indent: int = 0) -> str:
    """Return ``text`` as comment lines, whatever characters it has."""
    # Joined again, since a character that is left out leaves a space.
    visible = " ".join(_UNPRINTABLE.sub(" ", escape_hidden(" ".join(text.split()))).split())
    prefix = " " * indent + "# "
    return "".join(
        f"{line}\n"
        for line in textwrap.wrap(visible, _WIDTH, initial_indent=prefix, subsequent_indent=prefix)
    )


def comment_out(text: str) -> str:
    """Return lines of YAML as comments that are YAML again without their ``# ``."""
    # Empty lines as well, which textwrap leaves alone by default.
    return textwrap.indent(text, "# ", lambda _line: True)


def join_parts(parts: Iterable[str]) -> str:
    """Join parts of a file, an empty line between them."""
    return "\n".join(part for part in parts if part)


SCHEMA_NAME = "suite.schema.json"
"""The schema file beside the suite, with which editors complete it."""

_NEXT = """\
# 1. Reword the prompts the way your users talk. These follow the tools' own descriptions,
#    which makes them easier than real life.
# 2. Where a comment says "guessed", put in values that exist in your data.
# 3. Say what the answer must hold: a fact that no model can know without the call.
#        answer_contains: ["…"]
# 4. Say who asks, and what they may not see: the last part of this file shows how.
"""
_BLOCKED = (
    "The server does not mark these tools as read-only (readOnlyHint: true), so no call is sent to "
    "them, and a case that asks for one fails. Take out of the list what only reads; take out the "
    "rest only when the server runs on test data."
)
_ENV_HINT = '  # env: {API_TOKEN: "${API_TOKEN}"}    # a variable of yours that the server needs\n'
_HEADERS_HINT = (
    '  # headers: {Authorization: "Bearer ${API_TOKEN}"}    # with a variable of yours, if it '
    "wants one\n"
)
_READ_ONLY = (
    "One of them has a name that cannot be written here: only what is marked as read-only is sent "
    "at all."
)


def suite_text(suite: DraftSuite) -> str:
    """Return the whole file."""
    return join_parts(
        (
            _render_head(suite),
            _render_facts(suite),
            "tests:\n" + format_comment("One case for each tool.", indent=2).rstrip("\n"),
            *(case_text(case, suite.user_context) for case in suite.cases),
            _render_safety(suite),
            *(case_text(case, suite.user_context) for case in suite.safety),
            _render_identity(suite),
        )
    )


def _render_head(suite: DraftSuite) -> str:
    drafted = format_comment(
        "A first suite, drafted by 'harness init' from the server's list of tools. None of them "
        "was called."
    )
    notes = "".join(format_comment(f"Note: {note}") for note in suite.notes)
    return (
        f"# yaml-language-server: $schema={SCHEMA_NAME}\n{drafted}#\n#     harness evals "
        f"{suite.name}    # the built-in baseline: free, and not an LLM\n#     harness evals "
        f"{suite.name} --model claude-4-sonnet    # an LLM\n#\n# What to do next:\n{_NEXT}{notes}"
    )


def _render_facts(suite: DraftSuite) -> str:
    facts = dump_yaml(
        {
            "mxcp": 1,
            "suite": suite.name,
            "description": "Does a model find the right tool, and leave the others alone?",
        }
    )
    if isinstance(suite.server, str):
        return facts + dump_yaml({"server": suite.server}) + _render_guards(suite)
    server = dump_yaml({"server": server_entry(suite.server)})
    server += _ENV_HINT if suite.server.transport.url is None else _HEADERS_HINT
    return facts + server + textwrap.indent(_render_guards(suite), "  ")


def _render_guards(suite: DraftSuite) -> str:
    """Return the guard rails (``read_only``, ``block``), unindented."""
    text = ""
    if suite.blocked:
        text += format_comment(_BLOCKED) + dump_yaml({"block": Inline(list(suite.blocked))})
    if suite.read_only:
        text += format_comment(_READ_ONLY) + dump_yaml({"read_only": True})
    return text


def server_entry(server: ServerSpec) -> dict[str, Any]:
    """Return ``server:`` of a suite that starts or reaches ``server``."""
    transport = server.transport
    if transport.url is not None:
        return {"url": transport.url}
    args = {"args": Inline(list(transport.args))} if transport.args else {}
    return {"command": transport.command, **args}


def case_text(case: DraftCase, user_context: JsonObject | None = None) -> str:
    """Return one case of a file, asked as ``user_context`` if the case has no own context."""
    comments = "".join(format_comment(text, indent=2) for text in case.comments)
    written = textwrap.indent(dump_yaml([_case_data(case, user_context)]), "  ")
    return comments + (written if case.is_live else comment_out(written))


def _case_data(case: DraftCase, user_context: JsonObject | None) -> dict[str, Any]:
    assertions: dict[str, Any] = {}
    if case.must_succeed:
        assertions[MUST_SUCCEED.name] = _calls_data(case.must_succeed)
    if case.must_not_call:
        assertions[MUST_NOT_CALL.name] = Inline(list(case.must_not_call))
    if case.answer_contains:
        assertions["answer_contains"] = list(case.answer_contains)
    who = user_context if case.user_context is None else case.user_context
    facts = {
        "name": case.name,
        "description": case.description,
        **({"turns": list(case.turns)} if case.turns else {"prompt": case.prompt}),
        "user_context": None if who is None else Inline(dict(who)),
        "tags": Inline(list(case.tags)) if case.tags else None,
        "metadata": {"proposed": dict(case.proposed)} if case.proposed else None,
    }
    return {
        **{key: value for key, value in facts.items() if value is not None},
        "assertions": assertions,
    }


def _calls_data(calls: Sequence[tuple[str, Mapping[str, Any]]]) -> Any:
    """Return calls in a suite's form: names alone on one line, calls with arguments as a list."""
    if not any(arguments for _, arguments in calls):
        return Inline([tool for tool, _ in calls])
    return [
        {"tool": tool, "args": Inline(_quote_arguments(arguments))} if arguments else tool
        for tool, arguments in calls
    ]


def _quote_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return literals for ``arguments``, so that a key such as ``$gt`` is not read as a matcher."""
    if is_matcher(arguments):
        return {"$equals": dict(arguments)}
    return {
        name: {"$equals": value} if _holds_matcher(value) else value
        for name, value in arguments.items()
    }


def _holds_matcher(value: Any) -> bool:
    if isinstance(value, Mapping):
        return is_matcher(value) or any(map(_holds_matcher, value.values()))
    return isinstance(value, list) and any(map(_holds_matcher, value))


def _render_safety(suite: DraftSuite) -> str:
    lines = ""
    if suite.safety:
        lines = format_comment("── Safety: run these alone with -k safety. ──", indent=2)
    if not suite.marks:
        lines += format_comment(
            "The server marks no tool as reading or destructive (readOnlyHint, destructiveHint), "
            "so which questions are asked here was told by the tools' own words. See 'harness "
            "lint'.",
            indent=2,
        )
    return lines


def _render_identity(suite: DraftSuite) -> str:
    """Return a commented case with a ``user_context``, made from the suite's first live case."""
    # A blocked tool is not called, so nothing could be denied.
    sent = (
        (case, tool)
        for case in suite.cases
        if case.is_live and (tool := case.must_succeed[0][0]) not in suite.blocked
    )
    first, tool = next(sent, (None, ""))
    if first is None:
        return ""
    shown = replace(first, name=f"{first.name}_as_guest", comments=())
    data = _case_data(shown, {"role": "guest", "permissions": []})
    data["assertions"] = {
        MUST_BE_DENIED.name: Inline([tool]),
        ANSWER_NOT_CONTAINS.name: Inline(["what a guest must not learn"]),
    }
    return (
        format_comment("── Who may see what. ──", indent=2)
        + format_comment(
            "A user_context tells the server who asks; the model never sees it. Uncomment the "
            "case, and say who it is and what they must not get. The server reads it from _meta of "
            "every request, unless 'identity:' says otherwise.",
            indent=2,
        )
        + comment_out(textwrap.indent(dump_yaml([data]), "  "))
    )
