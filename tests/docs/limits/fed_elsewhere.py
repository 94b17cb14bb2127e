"""What is fed for the sentences about servers, models, variants, agents, recordings and logs."""

from __future__ import annotations

import json

from tests.docs.limits.fed import (
    AGENT,
    PLAIN,
    SUITE,
    UNREACHED,
    Feed,
    configure,
    of_client,
    of_server,
    of_variant,
    suite,
)

_CONTRARY = "Contradictory keys are errors with their line"
_HEADER = "A value with a line break, a control character"
_CLAIMS = "Setting them under `claims:` is an error"
_REFERENCE = "literal text: another"
_UNSUITABLE = "If a suite needs a feature that an agent does not have"
_RECORDED = "The formats of functiongemma and MiniCPM are not supported"
_OTHER_USER = "a test name that no suite of the run has"
_CLIENTS = "settings that only concern the client are ignored"
_UNCONFIGURED = "evals s --agent ag"

OF_SERVERS = (
    of_server(
        "| `url` | not allowed",
        f"{{{PLAIN}, type: stdio, url: '{UNREACHED}'}}",
        "harness.yml:3:",
        "'url' has no effect on a server over stdio",
    ),
    of_server(
        "| `headers` | not allowed",
        f"{{{PLAIN}, headers: {{A: b}}}}",
        "harness.yml:3:",
        "'headers' has no effect on a server over stdio",
    ),
    of_server(
        "is the port | not allowed",
        f"{{url: '{UNREACHED}', args: [x]}}",
        "harness.yml:3:",
        "'args' has no effect on a server that is already running",
    ),
    of_server(
        _CONTRARY,
        f"{{url: '{UNREACHED}', env: {{A: b}}}}",
        "harness.yml:3:",
        "'env' has no effect on a server that is already running",
    ),
    of_server(
        "A pattern that matches every text is an error",
        f"{{{PLAIN}, refusals: ['.*']}}",
        "harness.yml:3:",
        "matches every text",
    ),
    *(
        of_server(
            _HEADER,
            f"{{url: '{UNREACHED}', headers: {{A: {value}}}}}",
            "harness.yml:3:",
            "the header 'A' cannot be sent",
        )
        for value in ('"a\\nb"', '"a\\x01"', "'a '", "'a€'")
    ),
    # As the template of an identity: the place is that of the test.
    Feed(
        words=_HEADER,
        says=(
            f"{SUITE}:5:5: test 'a': the header 'X-A' of this user_context cannot be sent",
            "Encode such a value",
        ),
        files={
            SUITE: suite(case='user_context: {a: "x\\ny"}'),
            "harness.yml": configure(
                f"{{url: '{UNREACHED}', identity: {{via: header, headers: {{X-A: '{{a}}'}}}}}}"
            ),
        },
    ),
    Feed(
        words="Only the credentials `valid` and `none` work with a `token_command`",
        says=(f"{SUITE}:5:5: test 'a': credential 'expired' cannot be made", "Only 'valid'"),
        files={
            SUITE: suite(case="user_context: {a: x}\ncredential: expired"),
            "harness.yml": configure(
                f"{{url: '{UNREACHED}', identity: {{via: bearer, token_command: 'echo x'}}}}"
            ),
        },
    ),
    Feed(
        words="(only with `identity: meta`)",
        says=(
            f"{SUITE}:5:5: test 'a': isolation 'none' needs identity 'meta'",
            "Only 'meta' names the user in each request",
        ),
        files={
            SUITE: suite(top="isolation: none"),
            "harness.yml": configure(
                f"{{{PLAIN}, identity: {{via: env, variables: {{R: '{{role}}'}}}}}}"
            ),
        },
    ),
    of_server(
        "only with identity by 'meta'",
        f"{{{PLAIN}, isolation: none, identity: {{via: env, variables: {{R: '{{role}}'}}}}}}",
        "harness.yml:3:",
        "isolation 'none' needs identity 'meta', and this is 'env'",
    ),
    of_server(
        _CLAIMS,
        f"{{url: '{UNREACHED}', identity: {{via: bearer, claims: {{iss: x}}}}}}",
        "harness.yml:3:",
        "the claim 'iss' cannot be set",
    ),
    Feed(
        words=_CLAIMS,
        says=(f"{SUITE}:5:5: test 'a': the user_context has 'iss'", "map it to another claim"),
        files={
            SUITE: suite(case="user_context: {iss: x}"),
            "harness.yml": configure(f"{{url: '{UNREACHED}', identity: {{via: bearer}}}}"),
        },
    ),
    of_client(_CLIENTS, {"disabled": True}, "the server 'a' is disabled at m.json:1:"),
    of_client("any other line is an error with its number", {"envFile": "e.env"}, "e.env:2: "),
    Feed(
        words="a variable that names anything else is an error that names it",
        says=("HTTP_PROXY names a proxy with a scheme that harness does not speak",),
        files={"harness.yml": configure("{url: 'http://example.invalid/mcp'}")},
        env={"HTTP_PROXY": "ftp://127.0.0.1:9"},
    ),
    of_server(
        "An unknown rule or tool is an error that suggests the nearest name",
        f"{{{PLAIN}, lint_ignore: {{ecko: [no-description]}}}}",
        "harness.yml:3:",
        "the server lists no tool 'ecko'",
        "Did you mean 'echo'?",
        command="lint --server plain",
    ),
    Feed(
        words="An unknown rule or tool is an error that suggests the nearest name",
        says=("there is no rule 'no-descriptio'", "Did you mean 'no-description'?"),
        command="lint --server plain --ignore no-descriptio",
    ),
    of_server(
        "a tool that is in no list is an error, unless it is written",
        f"{{{PLAIN}, block: [ecko]}}",
        "harness.yml:3:",
        "offers no tool 'ecko'",
        "allow_absent: true",
    ),
)


def _of_model(words: str, entry: str, *says: str) -> Feed:
    return of_server(
        words,
        f"{{{PLAIN}}}",
        *says,
        more=f"models: {{models: {{m: {entry}}}}}\n",
        command="evals s --model m",
    )


OF_MODELS = (
    _of_model(
        "In the first two files, unknown keys are errors with file, line and column",
        "{type: openai, api_kay: k}",
        "harness.yml:4:",
        "unknown key 'api_kay' in model 'm'",
        "Did you mean 'api_key'?",
    ),
    _of_model(
        _REFERENCE,
        "{type: openai, api_key: '${A:-${B}}'}",
        "harness.yml:4:",
        "the default of A contains another reference",
    ),
    _of_model(
        "A variable that is not set is an error only when its model or server is used",
        "{type: openai, api_key: '${A}'}",
        "harness.yml:4:",
        "A is not set",
    ),
    Feed(
        words="A value that the option does not take is refused before anything starts",
        says=("--trials: expected a whole number from 1 to 1000", "found 0"),
        command="evals s --model lexical --trials 0",
    ),
)

OF_VARIANTS = (
    of_variant(
        "The built-in baseline `lexical` cannot use the search",
        "{tool_search: {beyond: 1}}",
        "variant 'x' has 'tool_search', which the baseline 'lexical' cannot use",
        "with an LLM",
    ),
    of_variant(
        "Each tool that a variant names must be offered",
        "{tools: {ecko: {description: y}}}",
        "offers no tool 'ecko'",
        "Did you mean 'echo'?",
    ),
    of_variant(
        _OTHER_USER, "{prompts: {nope: hi}}", "rewords the test 'nope', which no suite here has"
    ),
    Feed(
        words="The type of a parameter cannot be changed",
        says=("v.yml:1:", "unknown key 'type' in parameter 'n'", "A variant changes words"),
        files={"v.yml": "variants: {x: {tools: {echo: {parameters: {n: {type: text}}}}}}\n"},
        command="evals s --model lexical --variant v.yml",
    ),
    Feed(
        words="Two tools that would have the same name",
        says=("v.yml:1:12: variant 'x' shows two tools named 'wait'", "a name of its own"),
        files={"v.yml": "variants: {x: {tools: {echo: {name: wait}}}}\n"},
        command="evals s --model lexical --variant v.yml",
        code=4,
    ),
    Feed(
        words="so such a variant is refused with `--agent`",
        says=("v.yml:1:12: ", "'tool_search', which is for models"),
        files={
            "v.yml": "variants: {x: {tool_search: {beyond: 1}}}\n",
            "harness.yml": configure(more=AGENT),
        },
        command="evals s --agent ag --variant v.yml",
    ),
    Feed(
        words="so such a variant is refused with `--agent`",
        says=("variant 'x' has 'tool_search', which is for models", "'harness record'"),
        files={"v.yml": "variants: {x: {tool_search: {beyond: 1}}}\n"},
        command="record --server plain --variant v.yml -- true",
    ),
)


def _of_agent(words: str, text: str, *says: str, command: str = _UNCONFIGURED) -> Feed:
    files: dict[str, str | bytes] = {SUITE: text, "harness.yml": configure(more=AGENT)}
    return Feed(words=words, says=says, files=files, command=command)


_CODE = """\
class Coded:
    name = "coded"

    def cases(self):
        return [{"id": "x", "input": "hi", "tools": []}]

    def check(self, case, run):
        assert run.answer
"""
_TESTS = "suite: s\nserver: plain\ntests:\n  - {name: a, %s}\n"

OF_AGENTS = (
    Feed(
        words="A temperature cannot be set for an agent",
        says=("harness.yml:5:", "unknown key 'temperature' in agent 'ag'", "cannot be set"),
        files={"harness.yml": configure(more=AGENT.replace("cat}", "cat, temperature: 0.5}"))},
        command=_UNCONFIGURED,
    ),
    _of_agent(
        _UNSUITABLE,
        _TESTS % "turns: [{prompt: hi}, {prompt: bye, assertions: {answer_contains: [x]}}]",
        f"{SUITE}:4:5: test 'a': it has several turns",
    ),
    _of_agent(
        _UNSUITABLE,
        _TESTS % "user: {script: [hi]}, assertions: {must_not_call: [deny]}",
        f"{SUITE}:4:5: test 'a': it has a simulated user",
    ),
    _of_agent(_UNSUITABLE, suite(top="system_prompt: Be nice."), "the suite's system prompt"),
    _of_agent(
        "and [agents](agents.md) are refused",
        suite(),
        "--agent cannot be combined with --engine ray",
        command="evals s --agent ag --engine ray",
    ),
    Feed(
        words="and [agents](agents.md) are refused",
        says=("coded.py:", "code in Python (coded.Coded)", "without --engine"),
        files={"coded.py": _CODE},
        command="evals coded.Coded --model lexical --engine ray",
    ),
    Feed(
        words="A program that makes no call is an error",
        says=("Nothing was recorded: the program made no call", "HARNESS_MCP_URL"),
        command="record --server plain -- true",
        code=1,
    ),
)

_CALLS = {
    "functiongemma": "<start_function_call>call:weather.get{city:<escape>Oslo<escape>}"
    "<end_function_call>",
    "MiniCPM": "<|tool_call_start|>\n```python\nweather.get(city='Oslo')\n```\n<|tool_call_end|>",
}
OF_RECORDINGS = tuple(
    Feed(
        words=_RECORDED,
        says=("o.jsonl:1: most outputs of m are in the format of", model, "BFCL's own runner"),
        files={"o.jsonl": json.dumps({"model": "m", "id": "simple_python_0", "result": written})},
        command="evals bfcl --category simple_python --model recorded:o.jsonl",
    )
    for model, written in _CALLS.items()
)

OF_LOGS = (
    Feed(
        words="If the header is lost, the log cannot be judged",
        says=("x/log.jsonl:1: this is not a run log: its first line is no header",),
        files={"x/log.jsonl": '{"kind": "trial"}\n'},
        command="view x/log.jsonl --no-open",
    ),
    Feed(
        words="If a report cannot be written, the others and the summary are still written",
        says=("no/r.xml", "cannot be written", "1 planned"),
        files={"no": "a file"},
        command="evals s --model lexical --report no/r.xml --report r.md",
    ),
)

OF_MEMORY = tuple(
    Feed(
        words=words,
        says=("evals/d.jsonl:1: metadata.source: ", *says),
        files={
            "evals/d.jsonl": json.dumps(
                {
                    "context": "It is said.",
                    "questions": ["What?"],
                    "answers": ["It"],
                    "metadata": {"source": source},
                }
            )
        },
        command="evals d --server plain --model lexical",
    )
    for words in ("Lines that are refused are accepted with a `metric` of your own",)
    for source, *says in (
        ("longmemeval_s*", "officially judged by a model, which is not supported"),
        ("infbench_sum_eng_shots2", "an F1 that a model judges, which is not supported"),
        ("recsys_redial_full", "recall of film ids, which is not supported"),
        ("evenqta_full", "is no source of MemoryAgentBench", "Did you mean 'eventqa'?"),
    )
)

FEEDS = (*OF_SERVERS, *OF_MODELS, *OF_VARIANTS, *OF_AGENTS, *OF_RECORDINGS, *OF_LOGS, *OF_MEMORY)
