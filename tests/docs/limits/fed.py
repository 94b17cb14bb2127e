"""What is fed to the program for each sentence, and what it must answer."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from textwrap import indent

from tests.end_to_end.harness_process import PLAIN_SERVER

SUITE = "evals/s.yml"
PLAIN = f"command: {json.dumps(sys.executable)}, args: [{json.dumps(str(PLAIN_SERVER))}, good]"
AGENT = "agents:\n  ag: {type: command, command: cat}\n"
UNREACHED = "http://127.0.0.1:9/mcp"


def configure(server: str = f"{{{PLAIN}}}", more: str = "") -> str:
    return f"mxcp: 1\nservers:\n  plain: {server}\n{more}"


def suite(check: str = "must_not_call: [deny]", case: str = "", top: str = "") -> str:
    """Return a suite of one test: what it checks, and further keys of the test and the suite."""
    return (
        f"suite: s\nserver: plain\n{top}\ntests:\n  - name: a\n    prompt: hello\n"
        f"{indent(case, '    ')}\n    assertions:\n      {check}\n"
    )


@dataclass(frozen=True, kw_only=True)
class Feed:
    """An input that a sentence rules out."""

    words: str
    """Words of the sentence."""
    says: tuple[str, ...]
    """What the answer has: the place, what is wrong, what was meant."""
    files: dict[str, str | bytes] = field(default_factory=dict)
    """Files, beside or in place of a configuration and a suite that are right."""
    command: str = "evals s --model lexical"
    code: int = 3
    env: dict[str, str] = field(default_factory=dict)


def of_suite(words: str, *says: str, check: str = "", case: str = "", top: str = "") -> Feed:
    """Return the feed of a suite with a wrong part; its place begins the answer."""
    text = suite(check or "must_not_call: [deny]", case, top)
    return Feed(words=words, says=(f"{SUITE}:", *says), files={SUITE: text})


def of_server(words: str, server: str, *says: str, more: str = "", **kept: str) -> Feed:
    """Return the feed of a wrong configuration."""
    files: dict[str, str | bytes] = {"harness.yml": configure(server, more)}
    return Feed(words=words, says=says, files=files, **kept)  # type: ignore[arg-type]


def of_variant(words: str, variant: str, *says: str, **files: str) -> Feed:
    return Feed(
        words=words,
        says=("v.yml:1:12: ", *says),
        files={"v.yml": f"variants: {{x: {variant}}}\n", **files},
        command="evals s --model lexical --variant v.yml",
    )


def of_client(words: str, server: dict[str, object], *says: str) -> Feed:
    entry = {"command": sys.executable, "args": [str(PLAIN_SERVER), "good"], **server}
    return Feed(
        words=words,
        says=says,
        files={"m.json": json.dumps({"mcpServers": {"a": entry}}), "e.env": "A=1\nno variable\n"},
        command="tools --mcp-config m.json --server a",
    )


_CANNOT_FAIL = "A check that cannot fail, or cannot hold, is an error"
_CONTRADICTION = "cannot both hold"
_ARGUED = "must_call: [{tool: echo, args: {n: %s}}]"
_ENDED = "`end_state`](conversations.md"
_PARAMETERS = "An unused parameter, an unknown parameter"
_YAML = "These are errors: a key that is given twice"
_TURNS = """\
suite: s
server: plain
tests:
  - name: a
    turns:
      - prompt: hello
        assertions: {end_state: {tool: echo, args: {n: 1}, same_state_as: []}}
      - {prompt: bye, assertions: {answer_contains: [x]}}
"""
_USER = """\
suite: s
server: plain
tests:
  - {name: a, user: %s, assertions: {must_not_call: [deny]}}
"""
_MXCP = """\
mxcp: 1
suite: s
project: p
tests:
  - {name: a, prompt: hi, expected_tool: echo, assertions: {must_not_call: [deny]}}
"""
_ROW = "test_id,query,expected_tool,expected_args,expected_response_contains\n1,hi,%s,%s,x\n"
_IDENTITIES = "identities: {a: {role: a}}"

OF_CHECKS = (
    of_suite(_CANNOT_FAIL, "this list is empty", check="must_call: []"),
    of_suite(_CANNOT_FAIL, "above 0", check="graded: {expected: [{tool: echo}], threshold: 0}"),
    of_suite(
        _CANNOT_FAIL,
        "this takes every outcome",
        check="decision: {tool: echo, is: [allowed, denied, filtered, hidden, not_attempted]}",
    ),
    of_suite(_CANNOT_FAIL, "every answer matches this", check="answer_matches: '.*'"),
    of_suite(_CANNOT_FAIL, "can never match", check=_ARGUED % "{$gt: 5, $lt: 3}"),
    of_suite(_CANNOT_FAIL, _CONTRADICTION, check="must_call: [echo]\n      must_not_call: [echo]"),
    of_suite(
        _CANNOT_FAIL, _CONTRADICTION, check="must_call_in_order: [echo, echo]\n      max_calls: 1"
    ),
    of_suite(
        _CANNOT_FAIL, _CONTRADICTION, check="must_succeed: [echo]\n      must_be_denied: [echo]"
    ),
    of_suite(
        _CANNOT_FAIL,
        _CONTRADICTION,
        check="answer_contains: [Rex]\n      answer_not_contains: [rex]",
    ),
    of_suite(
        "A tool that no identity of the suite is offered",
        "offers no tool 'ech'",
        "Did you mean 'echo'?",
        check="must_call: [ech]",
    ),
    of_suite(
        "An unknown operator is an error", "$gtt", "Did you mean $gt?", check=_ARGUED % "{$gtt: 5}"
    ),
    of_suite("Other texts have no order", 'not "soon"', "$one_of", check=_ARGUED % "{$gt: soon}"),
    of_suite(
        "an unknown keyword is refused",
        '"propertees" is not a keyword',
        "Did you mean 'properties'?",
        check="answer_json: {type: object, propertees: {}}",
    ),
    of_suite(
        "an unknown keyword is refused",
        "patternProperties is not supported",
        "Use additionalProperties",
        check="answer_json: {type: object, patternProperties: {'^a': {}}}",
    ),
    of_suite(
        "One that no valid call can match is an error",
        "no argument 'm'",
        "It takes n.",
        check="must_call: [{tool: echo, args: {m: 1}}]",
    ),
)

OF_SUITES = (
    Feed(
        words="CSV cannot express",
        says=(
            "evals/d.yml:9:23: a CSV file cannot express the assertion must_not_call",
            "A row of a CSV file has expected tools, arguments and keywords",
        ),
        files={"evals/d.yml": suite()},
        command="convert evals/d.yml s.csv",
    ),
    of_suite(
        "A key without a value counts as absent",
        "checks nothing",
        "assertions:",
        check="must_call:",
    ),
    of_suite(
        "An unknown key is an error, and the message",
        "unknown key 'promt' in test 'a'",
        "Did you mean 'prompt'?",
        case="promt: x",
    ),
    of_suite("An unknown key is an error, and the message", "unknown key 'modle'", top="modle: x"),
    Feed(
        words="A test that checks nothing is an error",
        says=(f"{SUITE}:4:5: test 'a' checks nothing.", "must_call"),
        files={SUITE: "suite: s\nserver: plain\ntests:\n  - {name: a, prompt: hello}\n"},
    ),
    Feed(words=_ENDED, says=(f"{SUITE}:7:", "end_state"), files={SUITE: _TURNS}),
    of_suite(
        "lists and mappings cannot be used there",
        "the parameter 'x' is a list",
        check="must_not_call: [deny]",
        case="matrix: {x: [[1, 2]]}\ndescription: it is ${{ x }}",
    ),
    of_suite(_PARAMETERS, "'x' is not used", case="matrix: {x: [1, 2]}"),
    of_suite(
        _PARAMETERS,
        "there is no parameter 'y'",
        "Known: x.",
        case="matrix: {x: [1, 2]}\ndescription: ${{ x }} ${{ y }}",
    ),
    of_suite(
        _PARAMETERS,
        "this row lacks 'z'",
        case="parameters: [{x: a}, {z: b}]\ndescription: ${{ x }}",
    ),
    of_suite(
        _PARAMETERS,
        "the same as number 1",
        case="parameters: [{x: a}, {x: a}]\ndescription: ${{ x }}",
    ),
    of_suite(_YAML, "the key 'tags' is given twice", case="tags: [a]\ntags: [b]"),
    of_suite(_YAML, "a tag (!…) is not allowed", check="must_call: [!!python/name:os.system x]"),
    of_suite(_YAML, ".nan is not a number in JSON", check=_ARGUED % ".nan"),
    Feed(
        words=_YAML,
        says=(f"{SUITE}:", "a second document begins"),
        files={SUITE: f"{suite()}---\nsuite: t\n"},
    ),
    Feed(
        words=_YAML,
        says=(f"{SUITE}:", "not UTF-8"),
        files={SUITE: suite().encode() + b"# \xff\n"},
    ),
    Feed(
        words="A test with a simulated user but no model for the user is refused",
        says=(f"{SUITE}:4:5: test 'a' has a simulated user", "--user-model"),
        files={SUITE: _USER % "{scenario: Get the time}"},
    ),
    of_suite(
        "both in one place are an error",
        "'as' and 'user_context' both set the caller",
        case="as: [a]\nuser_context: {role: x}",
        top=_IDENTITIES,
    ),
    of_suite(
        "A tool that no test names under `tool:`",
        "no test has the tool 'ech' under 'tool:'",
        "Did you mean 'echo'?",
        case="tool: echo\nas: [a]\nexpect: {a: allowed}",
        top=f"{_IDENTITIES}\ndefaults: {{expect: {{ech: {{a: allowed}}}}}}",
    ),
    Feed(
        words="A key in the wrong place is an error that names the right one",
        says=(
            f"{SUITE}:3:1: unknown key 'project'",
            "belongs to the configuration",
            "Use assertions.must_call",
        ),
        files={SUITE: _MXCP},
    ),
    Feed(
        words="A tool that the server does not list, or an argument that the tool does not have",
        says=("evals/d.csv:2: ", "no tool 'ecko'", "Did you mean 'echo'?"),
        files={"evals/d.csv": _ROW % ("ecko", "{}")},
        command="evals d --server plain --model lexical",
    ),
    Feed(
        words="A tool that the server does not list, or an argument that the tool does not have",
        says=("evals/d.csv:2: ", "no argument 'm'"),
        files={"evals/d.csv": _ROW % ("echo", '"{""m"": 1}"')},
        command="evals d --server plain --model lexical",
    ),
)
