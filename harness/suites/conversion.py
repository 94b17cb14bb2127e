"""Converts datasets between CSV and YAML without loss.

The output is read again and compared before it is kept, so that a file that differs from the source
is never left behind.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import MISSING, asdict, fields
from pathlib import Path
from typing import Any

from harness.base import (
    HarnessError,
    InvalidInput,
    InvalidValue,
    Problem,
    UsageError,
    canonical_json,
    shown,
)
from harness.suites.csv_dataset import CHECK, COLUMNS, NO_LIMIT, keywords, name_of
from harness.suites.readers import Vocabulary, reader
from harness.types import (
    Caller,
    Case,
    Check,
    GuardRails,
    Location,
    Repeats,
    Suite,
)

_YAML = frozenset({".yml", ".yaml"})
_CSV = ".csv"
_THRESHOLD = 0.7
_ESCAPED = re.compile(
    "[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufdcf\ufdf0-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_QUOTED = re.compile(r'[",\r\n]|^\s|\s$')
_WORDS_OF_YAML = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})


def convert(
    source: Path, target: Path, vocabulary: Vocabulary, *, overwrite: bool = False
) -> Suite:
    """Convert the suite in ``source`` to ``target`` (formats by extension), and return it.

    Raises:
        InvalidInput: ``source`` is not valid, or has parts that the other format cannot express.
        UsageError: the two are not one CSV and one YAML file, ``target`` exists, or cannot be
            written.
    """
    kinds = (source.suffix.lower(), target.suffix.lower())
    if not (kinds[0] == _CSV and kinds[1] in _YAML) and not (
        kinds[0] in _YAML and kinds[1] == _CSV
    ):
        meant = "For example: harness convert prices.csv evals/prices.yml"
        raise UsageError(
            "one of the two files must end in .csv, the other in .yml or .yaml", meant=meant
        )
    if target.exists() and not overwrite:
        raise UsageError(
            f"{shown(target)} exists", meant="Choose another name, or overwrite it with --force."
        )
    suite = _read(source, vocabulary)
    text = to_yaml(suite) if kinds[0] == _CSV else to_csv(suite, name_of(target))
    _require_equal(suite, text, target, vocabulary)
    try:
        # With a byte order mark, Excel reads the file as UTF-8.
        encoding = "utf-8-sig" if kinds[1] == _CSV else "utf-8"
        target.write_text(text, encoding=encoding, newline="")
    except OSError as error:
        raise UsageError(f"{shown(target)} cannot be written: {error.strerror}") from error
    return suite


def _read(path: Path, vocabulary: Vocabulary) -> Suite:
    return reader(NO_LIMIT)(path, vocabulary)


def _require_equal(suite: Suite, text: str, target: Path, vocabulary: Vocabulary) -> None:
    """Read ``text`` as if it were in ``target``, and require that it is the same suite."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, target.name)
        try:
            path.write_text(text, encoding="utf-8", newline="")
            again = _read(path, vocabulary)
        except (HarnessError, ValueError) as error:
            reason = error.problems[0].message if isinstance(error, InvalidInput) else str(error)
            message = f"{shown(target)} could not be read again: {reason}"
            raise UsageError(
                message, meant="Some text in the suite cannot be written in the other format."
            ) from error
    if _essence(again) != _essence(suite):
        raise UsageError(f"{shown(target)} would differ from the original, and was not written")


def _essence(suite: Suite) -> str:
    """Return a suite's content, without locations."""
    return canonical_json(_without_places({**asdict(suite), "digest": None}))


def _without_places(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_places(part) for key, part in value.items() if key != "at"}
    return [_without_places(part) for part in value] if isinstance(value, list | tuple) else value


# ── To YAML ──────────────────────────────────────────────────────────────────────────────────


def to_yaml(suite: Suite) -> str:
    """Return a suite that was read from CSV as YAML.

    Every string is written as JSON, which YAML reads unambiguously.
    """
    lines = ["mxcp: 1", f"suite: {_word(suite.name)}", "tests:"]
    for case in suite.cases:
        lines += _test(case)
    return "\n".join(lines) + "\n"


def _test(case: Case) -> Iterator[str]:
    params = case.checks[0].params
    yield f"  - name: {_json(case.name)}"
    yield f"    prompt: {_json(case.prompt)}"
    yield "    assertions:"
    yield f"      {CHECK}:"
    yield "        expected:" + ("" if params["expected"] else " []")
    for call in params["expected"]:
        yield f"          - tool: {_word(call['tool'])}"
        yield f"            args: {_json(call['args'])}"
    yield f"        keywords: {_json(params['keywords'])}"


def _word(text: str) -> str:
    return text if _PLAIN.fullmatch(text) and text.lower() not in _WORDS_OF_YAML else _json(text)


def _json(value: Any) -> str:
    r"""Return ``value`` as JSON, with ``\u`` escapes for characters that YAML does not allow."""
    return _ESCAPED.sub(
        lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False)
    )


# ── To CSV ───────────────────────────────────────────────────────────────────────────────────


def to_csv(suite: Suite, name: str) -> str:
    """Return ``suite`` as CSV, for a file of that ``name``.

    Raises:
        InvalidInput: it has parts that CSV cannot express; each is named.
    """
    problems = [
        *_lost_of_suite(suite, name),
        *(lost for case in suite.cases for lost in _lost_of_case(case)),
    ]
    if problems:
        raise InvalidInput(problems)
    rows = [COLUMNS, *(_row(case) for case in suite.cases)]
    return "".join(",".join(map(_cell, row)) + "\n" for row in rows)


def _row(case: Case) -> tuple[str, ...]:
    params = case.checks[0].params
    tools = [call["tool"] for call in params["expected"]]
    args = [call["args"] for call in params["expected"]]
    one = len(tools) == 1
    return (
        case.name,
        case.prompt,
        tools[0] if one else _compact(tools),
        _compact(args[0] if one else args),
        ",".join(params["keywords"]),
    )


def _cell(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _lost(at: Location | None, what: str, meant: str | None = None) -> Problem:
    return Problem(
        at=at or Location(file="?"), message=f"a CSV file cannot express {what}.", meant=meant
    )


def _set(
    value: Suite | Case | Caller | Repeats | GuardRails, apart_from: AbstractSet[str] = frozenset()
) -> Iterator[str]:
    """Yield the keys of a suite whose values differ from their defaults."""
    for field in fields(value):
        usual = field.default if field.default_factory is MISSING else field.default_factory()
        own = getattr(value, field.name)
        if isinstance(own, Caller | Repeats | GuardRails):
            yield from _set(own)
        elif field.name not in apart_from and own != usual:
            yield field.name


def _lost_of_suite(suite: Suite, name: str) -> Iterator[Problem]:
    if suite.name != name:
        meant = f"A CSV suite has its file's name: write it to {suite.name}.csv."
        yield _lost(suite.at, f"the name {suite.name!r} of the suite", meant)
    for key in _set(suite, apart_from={"name", "cases", "digest", "at"}):
        yield _lost(suite.at, f"the suite's {key}")


def _lost_of_case(case: Case) -> Iterator[Problem]:
    where = f"of test {case.name!r}"
    for key in _set(case, apart_from={"name", "prompt", "checks", "at"}):
        yield _lost(case.at, f"the {key} {where}")
    graded = [check for check in case.checks if check.kind == CHECK]
    for check in case.checks:
        if check.kind != CHECK:
            yield _lost(check.at or case.at, f"the assertion {check.kind} {where}")
    for check in graded[1:]:
        yield _lost(check.at or case.at, f"a second {CHECK} {where}")
    if not graded:
        meant = "A row of a CSV file has expected tools, arguments and keywords."
        yield Problem(
            at=case.at or Location(file="?"),
            message=f"test {case.name!r} has no {CHECK}.",
            meant=meant,
        )
    for check in graded[:1]:
        yield from _lost_of_check(check, case, where)


def _is_one_keyword(text: str) -> bool:
    try:
        return keywords(text) == [text]
    except InvalidValue:
        return False


def _lost_of_check(check: Check, case: Case, where: str) -> Iterator[Problem]:
    at, params = check.at or case.at, check.params
    if params["threshold"] != _THRESHOLD:
        yield _lost(
            at, f"the threshold {where}", f"Every row of a CSV file passes at {_THRESHOLD} on."
        )
    if "model" in params:
        yield _lost(at, f"the judge {where}")
    if "severity" in params or check.severity != "fail":
        yield _lost(at, f"the severity {where}")
    for keyword in params["keywords"]:
        if not _is_one_keyword(keyword):
            yield _lost(
                at,
                f"the keyword {keyword!r} {where}",
                "Keywords are separated by commas, without spaces or such quotes around them.",
            )
