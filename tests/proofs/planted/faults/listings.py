"""What is shown before any call, or beside the tools, has no policy or the wrong one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import mcp_types as types

from tests.proofs.planted.calls import TOOLS, Call
from tests.proofs.planted.clinic import Clinic


class HiddenToolWorks(Clinic):
    """A tool that is not in the list works when it is called: reading."""

    def check(self, call: Call) -> None:
        if call.tool != "export_records":
            super().check(call)


class HiddenToolShown(Clinic):
    """A tool that is for directors only is in everybody's list."""

    def tools(self, who: Mapping[str, Any]) -> list[types.Tool]:
        return list(TOOLS.values())


class _Described(Clinic):
    """Changes the description of a tool."""

    def tools(self, who: Mapping[str, Any]) -> list[types.Tool]:
        return [
            self.change_tool(tool.model_copy(deep=True)) if tool.name == "find_patients" else tool
            for tool in super().tools(who)
        ]

    def change_tool(self, tool: types.Tool) -> types.Tool:
        """Return the tool as it is shown."""
        raise NotImplementedError


class DescriptionExample(_Described):
    """The description of a tool has a real patient as its example."""

    def change_tool(self, tool: types.Tool) -> types.Tool:
        record = self.data.patients["P-1001"]
        tool.description = (
            f"{tool.description} For example {record['email']}: {record['diagnosis']}."
        )
        return tool


class SchemaExample(_Described):
    """The schema of an argument has real addresses as examples."""

    def change_tool(self, tool: types.Tool) -> types.Tool:
        mails = [record["email"] for record in self.data.patients.values()]
        tool.input_schema["properties"]["email"]["examples"] = mails
        return tool


class SchemaEnum(_Described):
    """The schema of an argument lists the names of all patients, protected ones too."""

    def change_tool(self, tool: types.Tool) -> types.Tool:
        names = [record["name"] for record in self.data.patients.values()]
        tool.input_schema["properties"]["name"]["anyOf"] = [{"enum": names}, {"type": "string"}]
        return tool


class SchemaDefault(_Described):
    """The default of an argument is a real card number."""

    def change_tool(self, tool: types.Tool) -> types.Tool:
        tool.input_schema["properties"]["email"]["default"] = self.data.patients["P-1001"]["card"]
        return tool


class ToolMeta(_Described):
    """`_meta` of a tool holds the last record as a preview."""

    def change_tool(self, tool: types.Tool) -> types.Tool:
        tool.meta = {"preview": dict(self.data.patients["P-1001"])}
        return tool


class ToolTitle(_Described):
    """The title of a tool names a patient's address."""

    def change_tool(self, tool: types.Tool) -> types.Tool:
        tool.title = f"Search, e.g. {self.data.patients['P-1002']['email']}"
        return tool


class ToolOutputSchema(_Described):
    """The schema of the results has real records as examples."""

    def change_tool(self, tool: types.Tool) -> types.Tool:
        tool.output_schema = {"type": "object", "examples": [dict(self.data.patients["P-1001"])]}
        return tool


class Instructions(Clinic):
    """The instructions of the server name a patient's card and address."""

    def instructions(self) -> str:
        record = self.data.patients["P-1001"]
        return f"{super().instructions()} Test with {record['email']}, card {record['card']}."


class ResourceUnfiltered(Clinic):
    """A record that is read as a resource is not filtered."""

    def read(self, uri: str, call: Call) -> str:
        told = super().read(uri, call)
        record = self.data.patients.get(uri.rpartition("/")[2])
        return json.dumps(dict(record)) if record else told


class ResourceUnchecked(Clinic):
    """A record that is not in the list of resources can be read by its address."""

    def read(self, uri: str, call: Call) -> str:
        record = self.data.patients.get(uri.rpartition("/")[2])
        return json.dumps(dict(record)) if record else super().read(uri, call)


class ResourceForNobody(Clinic):
    """Resources ask nobody who they are: whoever comes reads all but the protected ones."""

    def read(self, uri: str, call: Call) -> str:
        call.who = {"role": "director"}
        return super().read(uri, call)


class ResourceListed(Clinic):
    """The list of resources names all patients, and says what they have."""

    def resources(self, call: Call) -> list[types.Resource]:
        return [
            types.Resource(
                name=record["name"],
                uri=f"clinic://patients/{patient_id}",
                description=record["diagnosis"],
            )
            for patient_id, record in self.data.patients.items()
        ]


class ResourceTitles(Clinic):
    """The titles of resources are email addresses."""

    def resources(self, call: Call) -> list[types.Resource]:
        shown = super().resources(call)
        for resource in shown:
            record = self.data.patients.get(str(resource.uri).rpartition("/")[2])
            resource.title = record["email"] if record else None
        return shown


class ResourceTraversal(Clinic):
    """An address with `..` leads from a patient to an employee."""

    def read(self, uri: str, call: Call) -> str:
        if ".." in uri and uri.rpartition("/")[2] in self.data.staff:
            return json.dumps(dict(self.data.staff[uri.rpartition("/")[2]]))
        return super().read(uri, call)


class PromptText(Clinic):
    """The text of a prompt holds the records of all wards."""

    def prompt(self, name: str, call: Call) -> str:
        return "Summarise:\n" + json.dumps([dict(r) for r in self.data.patients.values()])


class PromptDescription(Clinic):
    """The description of a prompt quotes a patient's notes."""

    def prompts(self, call: Call) -> list[types.Prompt]:
        words = self.data.patients["P-1001"]["notes"]
        return [
            types.Prompt(name="handover", description=f"What the next shift must know: {words}")
        ]


class PromptArgument(Clinic):
    """A prompt about a patient quotes their record, whoever asks."""

    def prompts(self, call: Call) -> list[types.Prompt]:
        wanted = types.PromptArgument(name="patient_id", required=True)
        letter = types.Prompt(name="letter", description="A letter home.", arguments=[wanted])
        return [*super().prompts(call), letter]

    def prompt(self, name: str, call: Call) -> str:
        record = self.data.patients.get(str(call.args.get("patient_id")))
        if name == "letter" and record:
            return f"Write to {record['email']} about {record['diagnosis']}: {record['notes']}"
        return super().prompt(name, call)


class Completions(Clinic):
    """Completions of a patient's id offer email addresses to everybody."""

    def completions(self, given: str, call: Call) -> list[str]:
        return [record["email"] for record in self.data.patients.values()]


class OldTool(Clinic):
    """An older version of a tool is still there, in the list, without the policy."""

    def tools(self, who: Mapping[str, Any]) -> list[types.Tool]:
        old = TOOLS["get_patient"].model_copy(update={"name": "get_patient_v1"})
        return [*super().tools(who), old]

    def answer(self, call: Call) -> types.CallToolResult:
        if call.tool != "get_patient_v1":
            return super().answer(call)
        record = self.data.patients.get(str(call.args.get("patient_id")))
        return self.told(call, dict(record)) if record else self.failed(call, "Patient not found")


class OldToolUnlisted(Clinic):
    """An older version of a tool is still there, in nobody's list."""

    def answer(self, call: Call) -> types.CallToolResult:
        if call.tool != "get_patient_v1":
            return super().answer(call)
        record = self.data.patients.get(str(call.args.get("patient_id")))
        return self.told(call, dict(record)) if record else self.failed(call, "Patient not found")


class RefusalNamesHidden(Clinic):
    """The refusal of an unknown tool lists all tools, and whom to ask, with address and salary."""

    def failed(self, call: Call, why: str) -> types.CallToolResult:
        if not why.startswith("Unknown tool"):
            return super().failed(call, why)
        boss = self.data.staff["S-01"]
        return super().failed(call, f"{why}; ask {boss['name']} ({boss['home']}, {boss['salary']})")
