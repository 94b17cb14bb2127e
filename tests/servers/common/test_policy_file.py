from pathlib import Path
from textwrap import dedent

import pytest

from servers.common.policy_file import PolicyError, load_policies
from servers.common.shapes import shape_of

TOOLS = {
    "read": shape_of(
        {"properties": {"id": {}, "include_pii": {}}},
        {
            "$defs": {
                "Row": {
                    "properties": {
                        "phone": {"type": "string"},
                        "kind": {"enum": ["a"], "type": "string"},
                    }
                }
            },
            "properties": {
                "email": {"type": "string"},
                "age": {"type": "integer"},
                "rows": {"type": "array", "items": {"$ref": "#/$defs/Row"}},
            },
            "required": ["rows"],
        },
    ),
    "remove": shape_of({"properties": {"id": {}}}, {"properties": {"done": {"type": "boolean"}}}),
}

GOOD = """
    attributes: {role: string}
    input:
      - tools: [remove]
        action: hide
        condition: user.role != 'admin'
        reason: nobody may
"""


def rule(side: str, *, tools: str = "all", action: str = "deny", condition: str = "'true'") -> str:
    return (
        f"{side}:\n  - tools: {tools}\n    action: {action}\n    condition: {condition}\n    "
        f"reason: x\n"
    )


def redact(action: str, field: str) -> str:
    return (
        f"output:\n  - tools: [read]\n    action: {action}\n    fields: [{field}]\n    "
        f"condition: 'true'\n"
    )


def load(tmp_path: Path, text: str) -> None:
    path = tmp_path / "policies.yml"
    path.write_text(dedent(text), encoding="utf-8")
    load_policies(path, TOOLS)


@pytest.mark.parametrize(
    "text",
    ["", "\n\n", "# nothing but a comment\n", rule("input")],
)
def test_an_empty_or_partial_file_is_valid(tmp_path: Path, text: str) -> None:
    load(tmp_path, text)


def test_an_alias_may_stand_for_a_list_of_fields(tmp_path: Path) -> None:
    load(
        tmp_path,
        """
        output:
          - {tools: [read], action: filter_fields, fields: &personal [email, phone],
             condition: "true"}
          - {tools: [read], action: mask_fields, fields: *personal, condition: "true"}
        """,
    )


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("input: [", 1, "not YAML"),
        ("- a\n", 1, "the policy file must be a mapping"),
        ("attributes: {}\ninputs: []\n", 2, ("unknown key of the policy file: 'inputs'; did you "
        "mean 'input'?")),
        ("input: []\n", 1, "'input' must be a list with at least one entry"),
        ("attributes: {role: text}\n", 1, "unknown type: 'text'"),
        ("attributes:\n  role: string\n  role: number\n", 3, "'role' stands twice"),
        ("input:\n  - tools: all\n    action: deny\n", 2, "a rule needs 'condition'"),
        ("input:\n  - tools: all\n    acton: deny\n", 3, ("unknown key of a rule: 'acton'; did you "
        "mean 'action'?")),
        ("input:\n  - tools: all\n    action: deny\n    condition: 'true'\n", 2, ("needs a "
        "'reason'")),
        (rule("input", action="mask_fields"), 3, "unknown action of an input rule: 'mask_fields'"),
        (rule("input", tools="[remov]"), 2, "unknown tool: 'remov'; did you mean 'remove'?"),
        (rule("input", condition="user.role = 1"), 4, "the condition is not CEL"),
        (rule("input", condition="true"), 4, "a text is expected here"),
        (rule("input", action="hide", condition="args.id == 'x'"), 4, "cannot use 'args'"),
        (rule("input", condition="result.id == 'x'"), 4, "cannot use 'result'"),
        (rule("input", condition="user.rol == 'x'"), 4, ("(declare it under 'attributes'): "
        "'user.rol'")),
        (rule("input", tools="[remove]", condition="args.pii"), 4, ("unknown argument of these "
        "tools: 'args.pii'")),
        (rule("output", action="filter_fields"), 2, "needs 'fields'"),
        (rule("output") + "    fields: [email]\n", 2, "takes no 'fields'"),
        (redact("filter_fields", "emial"), 4, ("unknown result field of these tools: 'emial'; did "
        "you mean 'email'?")),
        (redact("filter_fields", "rows"), 4, "'rows' cannot be filtered"),
        (redact("mask_fields", "age"), 4, "'age' cannot be masked"),
        (redact("mask_fields", "kind"), 4, "'kind' cannot be masked"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_file_and_line(
    tmp_path: Path, text: str, line: int, message: str
) -> None:
    with pytest.raises(PolicyError) as raised:
        load(tmp_path, text)
    assert str(raised.value).startswith(f"{tmp_path / 'policies.yml'}:{line}: ")
    assert message in str(raised.value)


def test_names_inside_text_literals_are_no_references(tmp_path: Path) -> None:
    load(tmp_path, GOOD.replace("'admin'", "'user.nobody'"))


def test_a_file_that_is_not_there_or_not_text_is_an_error_and_not_an_open_door(
    tmp_path: Path,
) -> None:
    with pytest.raises(PolicyError, match="cannot be read"):
        load_policies(tmp_path / "none.yml", TOOLS)
    (tmp_path / "binary.yml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(PolicyError, match="cannot be read"):
        load_policies(tmp_path / "binary.yml", TOOLS)
    (tmp_path / "control.yml").write_text("a: \x07", encoding="utf-8")
    with pytest.raises(PolicyError, match="not YAML"):
        load_policies(tmp_path / "control.yml", TOOLS)
    (tmp_path / "deep.yml").write_text("[" * 3_000, encoding="utf-8")
    with pytest.raises(PolicyError, match="nests too deeply"):
        load_policies(tmp_path / "deep.yml", TOOLS)
