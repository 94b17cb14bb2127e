"""A package that brings a suite, a check, a model, a reader and a report, as an installer leaves it
behind.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.end_to_end.harness_process import Project, plain_server

ACME = f"""
from harness.judging.checks.kind import CheckKind
from harness.reports.writers import Writer
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
