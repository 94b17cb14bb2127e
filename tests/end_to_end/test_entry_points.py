"""A package that brings a suite, a check, a model, a reader and a report, as an installer leaves it
behind.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.harness_process import Project, plain_server

QUERY_SERVER = Path(__file__).parent / "policies" / "query_server.py"

ACME = f"""
from dataclasses import dataclass
from typing import ClassVar

from harness.base import line_field
from harness.judging.checks.kind import CheckKind
from harness.reports.writers import Writer
from harness.sessions import IdentityDelivery, RequestAdditions
from harness.types import Case, Check, CheckResult, Reply, Suite


class Greeting:
    name = "greeting"
    server = {plain_server(protocol="legacy")!r}

    def cases(self):
        return [{{"id": "hello", "input": "Say hello.", "assertions": {{"says_please": True}}}}]

    def check(self, case, run):
        return run.answer.startswith("Awk!")


class SaysPlease(CheckKind):
    schema = {{"const": True}}

    def parse(self, value):
        return (((), {{}}),)

    async def evaluate(self, check, evidence):
        said = "please" in evidence.transcript.answer
        verdict = "passed" if said else "failed"
        return CheckResult(kind="says_please", label="says_please", verdict=verdict)


SAYS_PLEASE = SaysPlease()


class Parrot:
    def __init__(self, spec):
        self.id = spec.model_id

    async def answer(self, conversation, tools, system):
        return Reply(text=f"Awk! {{conversation[-1].text}} {{self.id}}, please.")

    async def aclose(self):
        pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Cookie(IdentityDelivery):
    cookie: str = ""

    fields: ClassVar = {{"cookie": line_field("via cookie: the name of the cookie.")}}
    needs_http: ClassVar = True

    def find_problems(self, keys):
        if not self.cookie:
            yield None, "identity via cookie names no cookie.", "Add 'cookie:'."

    async def build_additions(self, user_context):
        return RequestAdditions({{"Cookie": f"{{self.cookie}}={{user_context['role']}}"}})


def write(report, log, stream):
    stream.write(f"{{report.suite_name}}: {{report.counts.passed}} of {{report.counts.planned}}\\n")


TALLY = Writer(write=write, file_name="tally.txt", media_type="text/plain")


def read_lines(path, vocabulary):
    checks = tuple(check for _, check in vocabulary.parse("says_please", True))
    lines = [line for line in path.read_text().split("\\n") if line]
    cases = [Case(name=line, prompt=line, checks=checks) for line in lines]
    return Suite(name=path.stem, cases=tuple(cases), server="plain")
"""

ENTRY_POINTS = """
[harness.python_suites]
acme-greeting = acme:Greeting
[harness.checks]
says_please = acme:SAYS_PLEASE
[harness.identity]
cookie = acme:Cookie
[harness.models]
acme = acme:Parrot
[harness.reports]
tally = acme:TALLY
[harness.suites]
lines = acme:read_lines
"""


@pytest.fixture
def installed(project: Project, tmp_path: Path) -> Project:
    site = tmp_path / "site"
    info = site / "acme-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "acme.py").write_text(ACME)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    project.env["PYTHONPATH"] = str(site)
    project.configure(servers={"plain": plain_server(protocol="legacy")})
    return project


@pytest.mark.slow
def test_a_package_brings_a_suite_a_check_a_model_and_a_report(installed: Project) -> None:
    finished = installed.run(
        "evals", "acme-greeting", "--model", "acme:polly", "--report", "tally:out/tally.txt"
    )
    assert finished.code == 0, finished.stdout + finished.stderr
    assert (installed.folder / "out" / "tally.txt").read_text() == "greeting: 1 of 1\n"
    transcript = installed.log().read_transcript(installed.log().results[0].key)
    assert transcript is not None
    assert transcript.answer == "Awk! Say hello. polly, please."


@pytest.mark.slow
def test_a_package_brings_a_format_of_suites_and_its_checks_are_known_in_yaml(
    installed: Project,
) -> None:
    installed.suite(
        "polite",
        [{"name": "a", "prompt": "Hi", "assertions": {"says_please": True}}],
        server="plain",
    )
    (installed.folder / "evals" / "polly.lines").write_text("One.\nTwo.\n")
    finished = installed.run("evals", "--model", "acme:polly")
    assert finished.code == 0, finished.stdout + finished.stderr
    assert sorted(run.case.name for run in installed.log().results) == ["One.", "Two.", "a"]


@pytest.mark.slow
def test_a_suite_of_a_package_is_offered_to_those_who_mistype_it(installed: Project) -> None:
    finished = installed.run("evals", "acme-greting")
    assert finished.code == 3
    assert "Did you mean 'acme-greeting'?" in finished.stderr


@pytest.mark.slow
def test_a_package_that_cannot_be_imported_is_told_in_words(installed: Project) -> None:
    (installed.folder / "site" / "acme.py").write_text("raise RuntimeError('half installed')\n")
    for arguments in (("evals", "acme-greeting"), ("evals", "internal", "--model", "acme:polly")):
        finished = installed.run(*arguments)
        assert finished.code == 3, finished.stdout
        assert "half installed" in finished.stderr
        assert "Traceback" not in finished.stderr


@pytest.mark.slow
def test_a_way_to_send_an_identity_of_a_package_is_treated_as_a_built_in_one(
    installed: Project,
) -> None:
    server = {
        "command": sys.executable,
        "args": [str(QUERY_SERVER), "{port}", "http", "cookie"],
        "transport": "http",
        "identity": {"via": "cookie", "cookie": "role"},
    }
    installed.configure(servers={"people": server})
    record = {
        "name": "record",
        "prompt": "Get the person P-1007.",
        "tool": {"tool": "get_person", "args": {"person_id": "P-1007"}},
        "expect": {"admin": "allowed", "clerk": "filtered", "anonymous": "denied"},
    }
    identities = {role: {"role": role} for role in ("admin", "clerk")}
    installed.suite(
        "people",
        [record],
        server="people",
        identities=identities,
        defaults={"as": [*identities, "anonymous"]},
    )
    finished = installed.run("evals", "people")
    assert finished.code == 0, finished.stdout + finished.stderr
    described = installed.log().header.servers["people"]["identity"]
    assert described == {"via": "cookie", "cookie": "role"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("identity", "words"),
    [
        ({"via": "cookie"}, "identity via cookie names no cookie"),
        ({"via": "cookie", "cookie": "a", "headers": {"X": "y"}}, "no effect on identity via coo"),
        ({"via": "cookie", "cookie": ["a"]}, "cookie: expected text, found a list"),
        ({"via": "cooky", "cookie": "a"}, "Did you mean 'cookie'?"),
    ],
)
def test_mistakes_in_it_are_told_with_their_line(
    installed: Project, identity: dict[str, Any], words: str
) -> None:
    server = {"url": "http://127.0.0.1:1/mcp", "identity": identity}
    installed.configure(servers={"people": server})
    finished = installed.run("evals", "internal")
    assert finished.code == 3
    assert words in finished.stderr
    assert "harness.yml:" in finished.stderr
