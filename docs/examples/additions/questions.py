# harness/suites/formats/questions.py
"""Questions in YAML, each with what its answer must contain: ``questions: {Hello?: hello}``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from harness.suites.formats import HEAD, SuiteFormat

if TYPE_CHECKING:
    from harness.suites.readers import Vocabulary
    from harness.types import Suite


def _has_questions(_path: Path, file: BinaryIO) -> bool:
    return file.read(HEAD).startswith(b"questions:")


def read_suite(path: Path, vocabulary: Vocabulary) -> Suite:
    """Return the suite in the file at ``path``."""
    from harness.base.documents.document import read_document
    from harness.base.errors import InvalidInput, InvalidValue, Problem
    from harness.types import Case, Suite

    document = read_document(path)
    cases = []
    for question, answer in document.value["questions"].items():
        at = document.locate(("questions", question))
        try:
            asked = vocabulary.parse("answer_contains", answer)
        except InvalidValue as error:
            problem = Problem(at=at, message=error.message, meant=error.meant)
            raise InvalidInput([problem]) from error
        checks = tuple(check.with_location(at) for _, check in asked)
        cases.append(Case(name=question, prompt=question, checks=checks, at=at))
    return Suite(name=path.stem, cases=tuple(cases), digest=document.digest, at=document.locate(()))


FORMAT = SuiteFormat(
    extensions=(".yml", ".yaml"),
    recognises=_has_questions,
    looks_for="'questions:' in the first line",
    reads=read_suite,
)
"""``evals/hello.yml``."""
