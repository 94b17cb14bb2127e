"""The fields of a trial's record as data: what outputs choose, add up and document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, TypeAlias

from harness.reports.sections.sentences import list_server_names
from harness.reports.trial_record import TrialRecord
from harness.runlog import RunLog
from harness.suites import AXES
from harness.types import TrialResult, dataclass, known_sum

FieldKind: TypeAlias = Literal["TEXT", "INTEGER", "REAL", "BOOLEAN", "JSON"]
"""The type of a value. ``JSON`` is a list or an object; any field may be null as well."""


@dataclass(frozen=True, slots=True)
class RecordField:
    """A field of the record."""

    name: str
    """Its name in every output."""
    kind: FieldKind
    """The type of its value."""
    doc: str
    """What it says."""
    null: str
    """When it is null; empty if it never is."""

    @property
    def unit(self) -> str:
        """The unit; empty if it has none."""
        return next((unit for end, unit in _UNITS.items() if self.name.endswith(end)), "")


_UNITS = {"_s": "seconds", "_ms": "milliseconds", "_usd": "US dollars"}
_KINDS: Mapping[str, FieldKind] = {
    "str": "TEXT",
    "int": "INTEGER",
    "float": "REAL",
    "bool": "BOOLEAN",
    "list[str]": "JSON",
    "JsonObject": "JSON",
}
"""Type of a property → that of the field."""


def _list_fields() -> Iterator[RecordField]:
    """Yield every property as a field, and the axes after the model."""
    for name, value in vars(TrialRecord).items():
        if isinstance(value, property):
            doc, _, null = str(value.__doc__).rstrip(".").partition("; null if ")
            kind = value.fget.__annotations__["return"].removesuffix(" | None")
            yield RecordField(name, _KINDS[kind], f"{doc}.", null)
        if name == "model":
            for axis in AXES:
                yield RecordField(axis.name, "TEXT", axis.doc, "it has the default")


RECORD_FIELDS = tuple(_list_fields())
"""Every field."""
CONVERSATION_FIELDS = frozenset({"tools_digest", "answer"})
"""Fields that JSONL and CSV leave out: they would have to read every conversation."""
RESULT_FIELDS = tuple(it.name for it in RECORD_FIELDS if it.name not in CONVERSATION_FIELDS)
"""The names of all others."""


def find_record(
    result: TrialResult, log: RunLog, names: Iterable[str] = RESULT_FIELDS
) -> dict[str, Any]:
    """Return the fields ``names`` of the record of ``result``, whose reviews ``log`` has."""
    servers = list_server_names(log.header.suites, result.suite)
    return choose_fields(TrialRecord(result, log.reviews.get(result.key), servers=servers), names)


def choose_fields(record: TrialRecord, names: Iterable[str]) -> dict[str, Any]:
    """Return name and value of the fields ``names``."""
    return {name: record.read(name) for name in names}


def sum_fields(results: Iterable[TrialResult], names: Iterable[str]) -> dict[str, Any]:
    """Return the sum of each field; a trial in which one is unknown makes that unknown."""
    sums: dict[str, Any] = dict.fromkeys(names, 0)
    # In one pass: the results of a large run are read from the disk as they go by.
    for record in map(TrialRecord, results):
        for name, total in sums.items():
            sums[name] = known_sum(total, record.read(name))
    return sums


def axis_fields(axes: Mapping[str, str]) -> dict[str, str | None]:
    """Return the value of each axis, as every output shows it; ``None`` is the default."""
    return {axis.name: axes.get(axis.name) for axis in AXES}
