"""Reads suites in YAML: the MXCP format, strictly, with harness's additions.

`docs/suites.md` describes the format; `harness.suites.format_tables` lists its keys.
"""

from __future__ import annotations

from pathlib import Path

from harness.base import Document, DocumentReader, InvalidInput, Problem, Values, read_document
from harness.suites.cases import CaseReader
from harness.suites.config.server_entries import build_guard_rails, read_server
from harness.suites.faults import read_faults
from harness.suites.format_tables import SuiteLayouts, build_layouts
from harness.suites.interference import read_alterations
from harness.suites.readers import Vocabulary
from harness.suites.variants import read_variants
from harness.types import Case, Location, Suite


def read_suite(path: Path, vocabulary: Vocabulary) -> Suite:
    """Return the suite in the YAML file at ``path``.

    References such as ``${TOKEN}`` in its server stay unexpanded; the configuration expands them.

    Raises:
        InvalidInput: with every problem of the file, in the order of its lines.
    """
    document = read_document(path)
    # Before its keys are read: another tool's file would get a problem for each of them.
    _require_suite(document)
    reading = DocumentReader(document)
    suite = read_content(reading, vocabulary)
    reading.finish()
    return suite


def read_content(reading: DocumentReader, vocabulary: Vocabulary) -> Suite:
    """Return the suite in a document; its problems are in ``reading``."""
    return _read_suite(reading, build_layouts(vocabulary))


def _require_suite(document: Document) -> None:
    content = document.value
    # A file with mistakes in its YAML may have lost these keys by them.
    if isinstance(content, dict) and (document.problems or content.keys() & {"suite", "tests"}):
        return
    empty = content is None and not document.problems
    problem = Problem(
        at=Location(file=document.file),
        message="the file is empty."
        if empty
        else "this is not a suite: it has neither 'suite:' nor 'tests:'.",
        meant=(
            "A suite has a name under 'suite:' and a list under 'tests:'. Keep other files in "
            "another folder."
        ),
    )
    raise InvalidInput([*document.problems, problem])


def _read_suite(reading: DocumentReader, layout: SuiteLayouts) -> Suite:
    document = reading.document
    values = reading.read_mapping((), document.value, layout.suite, "the suite")
    name, server = values.get("suite", ""), values.get("server")
    reader = CaseReader(reading, layout, values)
    cases = _read_cases(reading, reader)
    # A trial must not find data that another trial stored.
    isolation = "case" if any(turn.ingest for case in cases for turn in case.turns) else None
    return Suite(
        name=name,
        description=values.get("description"),
        model=values.get("model"),
        server=read_server(reading, ("server",), server, name)
        if isinstance(server, dict)
        else server,
        isolation=values.get("isolation", isolation),
        guard=build_guard_rails(reading, (), values),
        system_prompt=values.get("system_prompt"),
        require_identity=values.get("require_identity", False),
        judge_model=_find_judge_model(reading, values),
        user_model=values.get("user_model"),
        cases=cases,
        variants=read_variants(reading, ("variants",), values.get("variants", {})),
        faults=read_faults(reading, ("faults",), values.get("faults", ())),
        alterations=tuple(
            read_alterations(
                reading, ("interference",), values.get("interference", []), reader.read_calls
            )
        ),
        digest=document.digest,
        at=document.locate(("suite",)),
        # With parameters, a note on a test is made again for each row.
        notes=tuple(dict.fromkeys(reading.notes)),
    )


def _find_judge_model(reading: DocumentReader, values: Values) -> str | None:
    if "judge_model" in values and "expected_answer_model" in values:
        message = "'judge_model' and 'expected_answer_model' are two names of the same setting."
        reading.add_key_problem(("judge_model",), message, "Keep one of them.")
    model: str | None = values.get("judge_model", values.get("expected_answer_model"))
    return model


def _read_cases(reading: DocumentReader, reader: CaseReader) -> tuple[Case, ...]:
    """Return all cases; report duplicate names."""
    cases: dict[str, Case] = {}
    for path, case in reader.iterate_cases():
        if first := cases.get(case.name):
            message = (
                f"test {case.name!r} is defined twice; first at line "
                f"{first.at.line if first.at else '?'}."
            )
            reading.add_problem((*path, "name"), message, "Give each test a name of its own.")
        # A test without a name has been reported, and two of them are no duplicates.
        elif case.name:
            cases[case.name] = case
    return tuple(cases.values())
