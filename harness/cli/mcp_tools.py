"""The tools of ``harness mcp``: each runs one command of harness, whose output is its answer.

To add one, add a `CommandTool` to `TOOLS`. What an agent sends is a text that nobody has checked:
`build_arguments` writes it behind ``=`` or ``--``, where no command takes it for an option.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from harness.types import JsonObject, dataclass

Given = Mapping[str, Any]

_RUN: Final = {
    "type": "string",
    "minLength": 1,
    "description": 'Name of a run from list_runs, its beginning, or "latest".',
}
_SUITE: Final = {
    "type": "string",
    "minLength": 1,
    "description": "Name of a suite from list_suites, or the path of its file.",
}
_SERVER: Final = {
    "type": "string",
    "minLength": 1,
    "description": "Name of a configured or built-in server, or the URL of a running one.",
}
_LIMIT: Final = {"type": "integer", "minimum": 1, "maximum": 1000}
_ANSWER: Final = "--json-output"

_FAILED_TRIALS: Final = """
SELECT suite, "case", model, variant, identity, trial, status, problem, mark, file, line
FROM trials WHERE status <> 'passed' ORDER BY trial_id"""

_EXPLAINED: Final = """
SELECT suite, "case", model, variant, identity, trial, status, problem, error_detail, mark,
  file, line, answer,
  (SELECT text FROM messages WHERE messages.trial_id = t.trial_id AND messages.run = t.run
   AND role = 'user' ORDER BY n LIMIT 1) AS question,
  (SELECT json_group_array(json_object('check', label, 'verdict', verdict, 'severity', severity,
     'why', explanation, 'hint', hint, 'expected', json(expected), 'actual', json(actual)))
   FROM checks WHERE checks.trial_id = t.trial_id AND checks.run = t.run) AS checks,
  (SELECT json_group_array(json_object('tool', tool, 'arguments', json(arguments),
     'outcome', outcome, 'reply', reply, 'text', substr(text, 1, 2000)))
   FROM calls WHERE calls.trial_id = t.trial_id AND calls.run = t.run AND phase = 'model')
   AS calls
FROM trials t WHERE {} ORDER BY trial_id"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandTool:
    """A tool of the MCP server, which runs a command of harness."""

    description: str
    """What it is for, as a model reads it."""
    properties: Mapping[str, JsonObject]
    """Argument → its JSON Schema."""
    build_arguments: Callable[[Given], list[str]]
    """Returns the words of the command line behind ``harness``."""
    required: tuple[str, ...] = ()
    """The arguments that have to be given."""
    starts: bool = False
    """Whether it starts servers or asks models, and writes into the project's folder of runs."""

    @property
    def schema(self) -> JsonObject:
        """The JSON Schema of its arguments; an unknown one is an error and never left out."""
        return {
            "type": "object",
            "properties": dict(self.properties),
            "required": list(self.required),
            "additionalProperties": False,
        }


def quote_sql(text: str) -> str:
    """Return ``text`` as a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"


def _explain(given: Given) -> list[str]:
    wanted = {'"case"': given["case"], "suite": given.get("suite"), "model": given.get("model")}
    where = [f"{column} = {quote_sql(text)}" for column, text in wanted.items() if text is not None]
    if "trial" in given:
        where.append(f"trial = {given['trial']:d}")
    return [
        "query",
        _ANSWER,
        "--limit=20",
        "--",
        given["run"],
        _EXPLAINED.format(" AND ".join(where)),
    ]


def _run_suite(given: Given) -> list[str]:
    chosen = [f"--model={name}" for name in given.get("models", ())]
    chosen += [f"--pattern={given['pattern']}"] if "pattern" in given else []
    chosen += [f"--trials={given['trials']:d}"] if "trials" in given else []
    # A bound in money also where the agent asks for none: nobody looks at its calls.
    chosen.append(f"--max-cost={given.get('max_cost_usd', 1.0)}")
    return ["evals", _ANSWER, *chosen, "--", given["suite"]]


TOOLS: Final[Mapping[str, CommandTool]] = {
    "list_suites": CommandTool(
        description="List the evaluation suites of this project and their cases: name, tags, "
        "models, file and line.",
        properties={},
        build_arguments=lambda _: ["evals", "--list", _ANSWER],
    ),
    "list_runs": CommandTool(
        description="List past runs, the newest first: suite, model, when, result, cost.",
        properties={"limit": {**_LIMIT, "description": "Most runs to list; without it, 20."}},
        build_arguments=lambda given: ["runs", _ANSWER, f"-n{given.get('limit', 20):d}"],
    ),
    "list_failures": CommandTool(
        description="List the trials of a run that did not pass, each with its first problem in "
        "words and the file and line of its case. Begin here after a run, then use "
        "explain_failure.",
        properties={
            "run": _RUN,
            "limit": {**_LIMIT, "description": "Most trials to list; without it, 100."},
        },
        required=("run",),
        build_arguments=lambda given: [
            "query",
            _ANSWER,
            f"--limit={given.get('limit', 100):d}",
            "--",
            given["run"],
            _FAILED_TRIALS,
        ],
    ),
    "explain_failure": CommandTool(
        description="Show why a case of a run failed or passed: the question, every check with "
        "its reason and a hint, every tool call with arguments and result, and the answer.",
        properties={
            "run": _RUN,
            "case": {"type": "string", "description": "Name of the case, as list_failures has it."},
            "suite": {"type": "string", "description": "Its suite, where names repeat."},
            "model": {"type": "string", "description": "The case as this model answered it."},
            "trial": {"type": "integer", "minimum": 0, "description": "Number of the repeat."},
        },
        required=("run", "case"),
        build_arguments=_explain,
    ),
    "query_run": CommandTool(
        description="Ask a run in SQL (SELECT only; SQLite). Tables: runs, cases, trials, checks, "
        "calls, replies, messages, tools, findings. read_schema lists the columns.",
        properties={
            "run": _RUN,
            "sql": {"type": "string", "minLength": 1, "description": "One SELECT statement."},
            "limit": {**_LIMIT, "description": "Most rows; without it, 100."},
        },
        required=("run", "sql"),
        build_arguments=lambda given: [
            "query",
            _ANSWER,
            f"--limit={given.get('limit', 100):d}",
            "--",
            given["run"],
            # A file that an agent names with @ is none of its business.
            given["sql"].lstrip("@ \t\r\n"),
        ],
    ),
    "read_schema": CommandTool(
        description="List the tables and columns that query_run can ask, with units.",
        properties={},
        build_arguments=lambda _: ["query", "--schema"],
    ),
    "compare_runs": CommandTool(
        description="Compare two runs on the cases that they share: what changed, and whether the "
        "difference is more than chance.",
        properties={"before": _RUN, "after": _RUN},
        required=("before", "after"),
        build_arguments=lambda given: [
            "compare",
            _ANSWER,
            "--",
            given["before"],
            given["after"],
        ],
    ),
    "draft_cases": CommandTool(
        description="Draft cases from what went well in a run, as the text of a YAML suite. "
        "Nothing is written: read it, correct it, and save it below evals/.",
        properties={"run": _RUN},
        required=("run",),
        build_arguments=lambda given: ["init", "--print", f"--from={given['run']}"],
    ),
    "list_tools": CommandTool(
        description="Start a server and list its tools as a model sees them, with the tokens that "
        "they take in every request.",
        properties={"server": _SERVER},
        required=("server",),
        build_arguments=lambda given: ["tools", _ANSWER, "--", given["server"]],
        starts=True,
    ),
    "lint_server": CommandTool(
        description="Start a server and find problems in its tools' names, descriptions and "
        "schemas that make models fail, each with what to write instead.",
        properties={"server": _SERVER},
        required=("server",),
        build_arguments=lambda given: ["lint", _ANSWER, "--", given["server"]],
        starts=True,
    ),
    "run_suite": CommandTool(
        description="Run a suite and return its results. The model lexical is built in and free; "
        "it is no LLM. Others cost money. Afterwards use list_failures with the run 'latest'.",
        properties={
            "suite": _SUITE,
            "models": {
                "type": "array",
                "items": {"type": "string", "minLength": 1},
                "description": "Models under test; without it, the suite's.",
            },
            "pattern": {
                "type": "string",
                "description": "Run only cases whose name or tag matches, such as 'refund*'.",
            },
            "trials": {
                "type": "integer",
                "minimum": 1,
                "maximum": 20,
                "description": "Repeats of each case, such as 5: one repeat may be chance.",
            },
            "max_cost_usd": {
                "type": "number",
                "minimum": 0.01,
                "maximum": 100,
                "description": "Stop when this much was spent; without it, 1 US dollar.",
            },
        },
        required=("suite",),
        build_arguments=_run_suite,
        starts=True,
    ),
}
"""Tool → what it runs."""
