"""A withheld value stands in another frame, or another part of one, than the policy looks at."""

from __future__ import annotations

import base64
import json
from typing import Any

import mcp_types as types

from tests.proofs.planted.calls import Call
from tests.proofs.planted.clinic import Clinic, text


class _Beside(Clinic):
    """Adds a block with what is withheld."""

    def told(self, call: Call, shown: dict[str, Any]) -> types.CallToolResult:
        told = super().told(call, shown)
        if lost := self.withheld(call):
            self.add(told, lost)
        return told

    def add(self, told: types.CallToolResult, lost: dict[str, Any]) -> None:
        """Add what is withheld to the result."""
        raise NotImplementedError


class StructureUnfiltered(Clinic):
    """The structured result is the whole record; only the text is filtered."""

    def told(self, call: Call, shown: dict[str, Any]) -> types.CallToolResult:
        return types.CallToolResult(
            content=[text(shown)], structured_content={**shown, **self.withheld(call)}
        )


class TextUnfiltered(Clinic):
    """The text is the whole record; only the structured result is filtered."""

    def told(self, call: Call, shown: dict[str, Any]) -> types.CallToolResult:
        return types.CallToolResult(
            content=[text({**shown, **self.withheld(call)})], structured_content=shown
        )


class SecondBlock(_Beside):
    """A second block of text holds the record as the database gave it."""

    def add(self, told: types.CallToolResult, lost: dict[str, Any]) -> None:
        told.content.append(text({"row": list(lost.values())}))


class EmbeddedText(_Beside):
    """The result embeds a document with the whole record."""

    def add(self, told: types.CallToolResult, lost: dict[str, Any]) -> None:
        body = "\n".join(f"{name}: {value}" for name, value in lost.items())
        document = types.TextResourceContents(uri="clinic://file", text=body)
        told.content.append(types.EmbeddedResource(resource=document))


class EmbeddedBlob(_Beside):
    """The result embeds a binary file with the whole record."""

    def add(self, told: types.CallToolResult, lost: dict[str, Any]) -> None:
        blob = base64.b64encode(b"%PDF-1.4\x00\x01" + json.dumps(lost).encode()).decode()
        document = types.BlobResourceContents(uri="clinic://pdf", blob=blob)
        told.content.append(types.EmbeddedResource(resource=document))


class PictureText(_Beside):
    """A picture in the result carries the record in a text chunk."""

    def add(self, told: types.CallToolResult, lost: dict[str, Any]) -> None:
        chunk = b"\x89PNG\r\n\x1a\n\x00\x00\x00\x40tEXtComment\x00" + repr(lost).encode()
        picture = types.ImageContent(data=base64.b64encode(chunk).decode(), mime_type="image/png")
        told.content.append(picture)


class ResultMeta(_Beside):
    """`_meta` of the result holds the record, for a user interface to draw."""

    def add(self, told: types.CallToolResult, lost: dict[str, Any]) -> None:
        told.meta = {"ui/state": {"record": lost}}


class BlockMeta(_Beside):
    """`_meta` of a block of text holds the record."""

    def add(self, told: types.CallToolResult, lost: dict[str, Any]) -> None:
        told.content[0].meta = {"origin": json.dumps(lost)}


class LinkAddress(_Beside):
    """The address of a link in the result holds a withheld value."""

    def add(self, told: types.CallToolResult, lost: dict[str, Any]) -> None:
        value = str(lost.get("email") or lost.get("card") or lost.get("iban")).replace(" ", "%20")
        told.content.append(
            types.ResourceLink(name="portal", uri=f"https://portal.example.org/?q={value}")
        )


class LinkTitle(_Beside):
    """The description of a link in the result holds a withheld value."""

    def add(self, told: types.CallToolResult, lost: dict[str, Any]) -> None:
        words = ", ".join(str(value) for value in lost.values())
        told.content.append(
            types.ResourceLink(name="file", uri="clinic://file", description=f"File of {words}")
        )


class NamesOfFields(_Beside):
    """The result has an index whose keys are withheld values."""

    def add(self, told: types.CallToolResult, lost: dict[str, Any]) -> None:
        assert isinstance(told.structured_content, dict)
        told.structured_content["index"] = {str(value): True for value in lost.values()}


class RefusalQuotes(Clinic):
    """A refusal quotes the record that it refuses."""

    def refused(self, call: Call, why: str) -> types.CallToolResult:
        return super().refused(call, f"{why}: {json.dumps(self.truth(call))}")


class NotFoundQuotes(Clinic):
    """*Not found* says whose record it is that the caller must not find."""

    def failed(self, call: Call, why: str) -> types.CallToolResult:
        record = self.data.patients.get(str(call.args.get("patient_id")))
        if record is None:
            return super().failed(call, why)
        return super().failed(call, f"{why} ({record['name']}, {record['email']})")


class RefusalStructure(Clinic):
    """The structured part of a refusal holds the record."""

    def refused(self, call: Call, why: str) -> types.CallToolResult:
        refused = super().refused(call, why)
        refused.structured_content = {"error": "forbidden", "resource": self.truth(call)}
        return refused


class RefusalMeta(Clinic):
    """`_meta` of a refusal holds the record, for the audit."""

    def refused(self, call: Call, why: str) -> types.CallToolResult:
        refused = super().refused(call, why)
        refused.meta = {"audit": {"attempted": self.truth(call)}}
        return refused


class StackTrace(Clinic):
    """A refusal is a stack trace with local variables."""

    def refused(self, call: Call, why: str) -> types.CallToolResult:
        trace = (
            f'File "clinic.py", line 88, in check\n  record = {self.truth(call)!r}\nDenied: {why}'
        )
        return super().refused(call, trace)


class LogMessage(Clinic):
    """A log message to the client holds the query's result."""

    def messages(self, call: Call) -> list[tuple[str, str]]:
        return [("log", f"SELECT * FROM patients -> {self.withheld(call)}")]


class ProgressMessage(Clinic):
    """A message of progress names whose record is being read, by email."""

    def messages(self, call: Call) -> list[tuple[str, str]]:
        return [("progress", f"reading {self.withheld(call)}")]


class ErrorStream(Clinic):
    """The server's stderr holds whole records: an operator's leak."""

    def stderr(self, call: Call) -> str:
        return f"{call.tool} -> {self.truth(call)}\n"


class CommaSeparated(Clinic):
    """Lists are told as comma-separated text too, with all columns."""

    def told(self, call: Call, shown: dict[str, Any]) -> types.CallToolResult:
        told = super().told(call, shown)
        if call.tool == "find_patients":
            ids = [patient["patient_id"] for patient in shown["patients"]]
            rows = [self.data.patients[patient_id] for patient_id in ids]
            lines = [",".join(str(value) for value in row.values()) for row in rows]
            told.content.append(types.TextContent(text="\n".join(lines)))
        return told


class HiddenComment(Clinic):
    """The text of a result ends in a comment with what was cut out."""

    def told(self, call: Call, shown: dict[str, Any]) -> types.CallToolResult:
        lost = " ".join(f"{name}={value}" for name, value in self.withheld(call).items())
        block = types.TextContent(text=f"{json.dumps(shown)}\n<!-- removed: {lost} -->")
        return types.CallToolResult(content=[block], structured_content=shown)


class NestedPatient(Clinic):
    """Each invoice carries the whole record of its patient."""

    def told(self, call: Call, shown: dict[str, Any]) -> types.CallToolResult:
        if call.tool == "list_invoices":
            for invoice in shown["invoices"]:
                invoice["patient"] = dict(self.data.patients[invoice["patient_id"]])
        return super().told(call, shown)


class AuditTrail(Clinic):
    """A record carries its history, with the old and new values of every field."""

    def fields(self, kind: str, record: Any, call: Call) -> dict[str, Any]:
        shown = super().fields(kind, record, call)
        if kind == "patient":
            shown["history"] = [
                {"field": name, "old": None, "new": value} for name, value in record.items()
            ]
        return shown
