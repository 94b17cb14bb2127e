"""Converts datasets between CSV and YAML, and suites of other tools to YAML, without loss.

The output is read again and compared before it is kept, so that a file that differs from the source
is never left behind.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import MISSING, asdict, fields, replace
from pathlib import Path
from typing import Any

from harness.base import (
    HarnessError,
    InvalidInput,
    InvalidValue,
    Problem,
    UsageError,
    canonical_json,
    format_path,
)
from harness.suites.csv_dataset import CHECK, COLUMNS, NO_LIMIT, derive_name, parse_keywords
from harness.suites.foreign.evaluation_xml import format_evaluation
from harness.suites.foreign.promptfoo_writing import format_configuration
from harness.suites.readers import Vocabulary, check_consistent, read_suite, translate_suite
from harness.types import Caller, Case, Check, GuardRails, JsonObject, Location, Repeats, Suite

_FORMATS = {".csv": "csv", ".yml": "yaml", ".yaml": "yaml", ".xml": "xml"}
# The default of the check `graded`, which rows of CSV cannot change.
_THRESHOLD = 0.7
# All but the characters that YAML allows in a text.
_ESCAPED = re.compile(
    "[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufdcf\ufdf0-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_QUOTED = re.compile(r'[",\r\n]|^\s|\s$')
# Unquoted, these would be read as null or a boolean.
_WORDS_OF_YAML = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})


def convert_suite(
    source: Path,
    target: Path,
    vocabulary: Vocabulary,
    *,
    overwrite: bool = False,
    lenient: bool = False,
) -> Suite:
    """Convert the suite in ``source`` to ``target`` (formats by extension), and return it.

    If ``lenient``, what the other format cannot express is left out, and is in the suite's notes.

    Raises:
        InvalidInput: ``source`` is not valid, or has parts that the other format cannot express.
        UsageError: there is no such conversion, ``target`` exists, or cannot be written.
    """
    kind = _FORMATS.get(target.suffix.lower())
    if kind is None or (kind == _FORMATS.get(source.suffix.lower()) != "yaml"):
        message = f"{format_path(source)} cannot be converted to {format_path(target)}"
        meant = (
            "Datasets in CSV and suites of other tools become YAML, such as harness convert "
            "prices.csv evals/prices.yml; YAML becomes .csv, .xml of mcp-builder, or "
            "…config.yaml of promptfoo."
        )
        raise UsageError(message, meant=meant)
    if target.exists() and not overwrite:
        meant = "Choose another name, or overwrite it with --force."
        raise UsageError(f"{format_path(target)} exists", meant=meant)
    suite, text = _convert(source, target, kind, vocabulary, lenient=lenient)
    # Before the target is touched: a file that differs is never left behind.
    _require_equal(suite, text, target, vocabulary)
    try:
        # With a byte order mark, Excel reads the file as UTF-8.
        encoding = "utf-8-sig" if kind == "csv" else "utf-8"
        target.write_text(text, encoding=encoding, newline="")
    except OSError as error:
        raise UsageError(f"{format_path(target)} cannot be written: {error.strerror}") from error
    return suite


def _convert(
    source: Path, target: Path, kind: str, vocabulary: Vocabulary, *, lenient: bool
) -> tuple[Suite, str]:
    """Return the suite in ``source``, and the text of ``target``."""
    if kind == "yaml" and source.suffix.lower() != ".csv":
        translation = translate_suite(source, lenient=lenient)
        name = target.stem.removesuffix("config")
        if translation is None and name != target.stem:
            suite = read_suite(source, vocabulary)
            return suite, format_configuration(suite, name, _list_keys(suite))
        if translation is None:
            message = f"{format_path(source)} is a suite in YAML already"
            raise UsageError(message, meant="Another tool's suite, or a CSV file, becomes YAML.")
        suite = check_consistent(translation.build_suite(vocabulary), vocabulary)
        return suite, format_content(translation.content)
    # The limit of a run guards against costs, and a conversion has none.
    suite = read_suite(source, vocabulary, NO_LIMIT, lenient=lenient)
    if kind == "yaml":
        return suite, format_yaml(suite)
    if kind == "csv":
        return suite, format_csv(suite, derive_name(target))
    return suite, format_evaluation(suite, derive_name(target))


def _list_keys(suite: Suite) -> list[tuple[Case | None, str]]:
    """Return the keys of a suite and its cases that only a suite of ours has."""
    same = {"name", "cases", "digest", "at", "description", "model", "notes"}
    found: list[tuple[Case | None, str]] = [
        (None, key) for key in _iterate_changed_keys(suite, apart_from=same)
    ]
    same = {"name", "prompt", "checks", "at", "test", "metadata"}
    return found + [
        (case, key) for case in suite.cases for key in _iterate_changed_keys(case, apart_from=same)
    ]


def _require_equal(suite: Suite, text: str, target: Path, vocabulary: Vocabulary) -> None:
    """Read ``text`` as if it were in ``target``, and require that it is the same suite."""
    with tempfile.TemporaryDirectory() as folder:
        # The same name, from which a dataset takes its own.
        path = Path(folder, target.name)
        try:
            path.write_text(text, encoding="utf-8", newline="")
            again = read_suite(path, vocabulary, NO_LIMIT)
        except (HarnessError, ValueError) as error:
            reason = error.problems[0].message if isinstance(error, InvalidInput) else str(error)
            message = f"{format_path(target)} could not be read again: {reason}"
            meant = "Some text in the suite cannot be written in the other format."
            raise UsageError(message, meant=meant) from error
    if _serialize_content(again) != _serialize_content(suite):
        message = f"{format_path(target)} would differ from the original, and was not written"
        raise UsageError(message)
    if _group_cases(again) != _group_cases(suite):
        meant = "Take the key `test:` out, or reword prompts so that they count as they should."
        message = (
            f"{format_path(target)} could not say which tests count as one, and was not written"
        )
        raise UsageError(message, meant=meant)


def _group_cases(suite: Suite) -> set[frozenset[str]]:
    """Return which cases count as one piece of evidence."""
    groups: dict[str, set[str]] = {}
    for case in suite.cases:
        groups.setdefault(case.repeats.test or f"{case.name}\0", set()).add(case.name)
    return {frozenset(names) for names in groups.values()}


def _serialize_content(suite: Suite) -> str:
    """Return a suite's content, without locations.

    The names of tests are left out: which cases count as one is compared apart.
    """
    cases = (replace(case, repeats=replace(case.repeats, test=None)) for case in suite.cases)
    suite = replace(suite, cases=tuple(cases), notes=())
    return canonical_json(_remove_locations({**asdict(suite), "digest": None}))


def _remove_locations(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _remove_locations(part) for key, part in value.items() if key != "at"}
    return [_remove_locations(part) for part in value] if isinstance(value, list | tuple) else value


# ── To YAML ──────────────────────────────────────────────────────────────────────────────────


def format_yaml(suite: Suite) -> str:
    """Return a suite that was read from CSV as YAML.

    Every string is written as JSON, which YAML reads unambiguously.
    """
    lines = ["mxcp: 1", f"suite: {_format_word(suite.name)}", "tests:"]
    for case in suite.cases:
        lines += _format_test(case)
    return "\n".join(lines) + "\n"


def format_content(content: JsonObject) -> str:
    """Return the content of a suite as YAML, every string as JSON."""
    return "\n".join(_iterate_lines(content, "")) + "\n"


def _iterate_lines(value: Any, indent: str) -> Iterator[str]:
    for key, part in value.items() if isinstance(value, dict) else enumerate(value):
        head = f"{indent}-" if isinstance(value, list) else f"{indent}{_format_word(str(key))}:"
        if not part or not isinstance(part, dict | list):
            yield f"{head} {_format_json(part)}"
        elif isinstance(value, list) and isinstance(part, dict):
            first, *rest = _iterate_lines(part, indent + "  ")
            yield f"{head} {first.lstrip()}"
            yield from rest
        else:
            yield head
            yield from _iterate_lines(part, indent + "  ")


def _format_test(case: Case) -> Iterator[str]:
    params = case.checks[0].params
    yield f"  - name: {_format_json(case.name)}"
    yield f"    prompt: {_format_json(case.prompt)}"
    yield "    assertions:"
    yield f"      {CHECK}:"
    yield "        expected:" + ("" if params["expected"] else " []")
    for call in params["expected"]:
        yield f"          - tool: {_format_word(call['tool'])}"
        yield f"            args: {_format_json(call['args'])}"
    yield f"        keywords: {_format_json(params['keywords'])}"


def _format_word(text: str) -> str:
    is_plain = _PLAIN.fullmatch(text) and text.lower() not in _WORDS_OF_YAML
    return text if is_plain else _format_json(text)


def _format_json(value: Any) -> str:
    r"""Return ``value`` as JSON, with ``\u`` escapes for characters that YAML does not allow."""
    return _ESCAPED.sub(
        lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False)
    )


# ── To CSV ───────────────────────────────────────────────────────────────────────────────────


def format_csv(suite: Suite, name: str) -> str:
    """Return ``suite`` as CSV, for a file of that ``name``.

    Raises:
        InvalidInput: it has parts that CSV cannot express; each is named.
    """
    problems = [*_find_suite_losses(suite, name)]
    for case in suite.cases:
        problems += _find_case_losses(case)
    if problems:
        raise InvalidInput(problems)
    rows = [COLUMNS, *(_build_row(case) for case in suite.cases)]
    return "".join(",".join(map(_format_cell, row)) + "\n" for row in rows)


def _build_row(case: Case) -> tuple[str, ...]:
    params = case.checks[0].params
    tools = [call["tool"] for call in params["expected"]]
    args = [call["args"] for call in params["expected"]]
    one = len(tools) == 1
    tool = tools[0] if one else _format_compact_json(tools)
    given = _format_compact_json(args[0] if one else args)
    return (case.name, case.prompt, tool, given, ",".join(params["keywords"]))


def _format_cell(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


def _format_compact_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _build_loss(at: Location | None, what: str, meant: str | None = None) -> Problem:
    message = f"a CSV file cannot express {what}."
    return Problem(at=at or Location(file="?"), message=message, meant=meant)


def _iterate_changed_keys(
    value: Suite | Case | Caller | Repeats | GuardRails, apart_from: AbstractSet[str] = frozenset()
) -> Iterator[str]:
    """Yield the keys of a suite whose values differ from their defaults."""
    for field in fields(value):
        usual = field.default if field.default_factory is MISSING else field.default_factory()
        own = getattr(value, field.name)
        if isinstance(own, Caller | Repeats | GuardRails):
            yield from _iterate_changed_keys(own, apart_from)
        elif field.name not in apart_from and own != usual:
            yield field.name


def _find_suite_losses(suite: Suite, name: str) -> Iterator[Problem]:
    if suite.name != name:
        meant = f"A CSV suite has its file's name: write it to {suite.name}.csv."
        yield _build_loss(suite.at, f"the name {suite.name!r} of the suite", meant)
    # By comparing with defaults: a field that is added later is not forgotten here.
    for key in _iterate_changed_keys(suite, apart_from={"name", "cases", "digest", "at"}):
        yield _build_loss(suite.at, f"the suite's {key}")


def _find_case_losses(case: Case) -> Iterator[Problem]:
    where = f"of test {case.name!r}"
    for key in _iterate_changed_keys(case, apart_from={"name", "prompt", "checks", "at", "test"}):
        yield _build_loss(case.at, f"the {key} {where}")
    graded = [check for check in case.checks if check.kind == CHECK]
    for check in case.checks:
        if check.kind != CHECK:
            yield _build_loss(check.at or case.at, f"the assertion {check.kind} {where}")
    for check in graded[1:]:
        yield _build_loss(check.at or case.at, f"a second {CHECK} {where}")
    if not graded:
        meant = "A row of a CSV file has expected tools, arguments and keywords."
        message = f"test {case.name!r} has no {CHECK}."
        yield Problem(at=case.at or Location(file="?"), message=message, meant=meant)
    for check in graded[:1]:
        yield from _find_check_losses(check, case, where)


def _is_single_keyword(text: str) -> bool:
    try:
        return parse_keywords(text) == [text]
    except InvalidValue:
        return False


def _find_check_losses(check: Check, case: Case, where: str) -> Iterator[Problem]:
    at, params = check.at or case.at, check.params
    if params["threshold"] != _THRESHOLD:
        meant = f"Every row of a CSV file passes at {_THRESHOLD} on."
        yield _build_loss(at, f"the threshold {where}", meant)
    if "model" in params:
        yield _build_loss(at, f"the judge {where}")
    if "severity" in params or check.severity != "fail":
        yield _build_loss(at, f"the severity {where}")
    meant = "Keywords are separated by commas, without spaces or such quotes around them."
    for keyword in params["keywords"]:
        if not _is_single_keyword(keyword):
            yield _build_loss(at, f"the keyword {keyword!r} {where}", meant)
