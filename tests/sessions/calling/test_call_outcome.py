"""What an error means: texts of real servers and of their SDKs."""

from __future__ import annotations

import anyio
import pytest
from mcp import Client
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import TextContent

from harness.sessions.call_outcome import classify_error
from harness.types import Outcome

PYDANTIC = """Error executing tool add: 2 validation errors for addArguments
a
  Input should be a valid integer, unable to parse string as an integer \
[type=int_parsing, input_value='x']
b
  Field required [type=missing, input_value={'a': 'x'}, input_type=dict]"""
PYDANTIC_EXTRA = """1 validation error for Order
colour
  Extra inputs are not permitted [type=extra_forbidden, input_value='red', input_type=str]"""
ZOD = (
    "MCP error -32602: Input validation error: Invalid arguments for tool read_file: "
    '[{"code":"invalid_type","expected":"string","path":["path"],"message":"Required"}]'
)

RESULTS: list[tuple[str, Outcome]] = [
    # refusals
    ("Access denied - path outside allowed directories: /etc/passwd not in /srv/data", "denied"),
    ("Error: Access denied - symlink target outside allowed directories: /etc/passwd", "denied"),
    ("Repository path '/etc' is outside the allowed repository '/srv/repo'", "denied"),
    ("Error executing tool get_customer: Access denied: role 'user' may not see PII", "denied"),
    ("Error executing tool delete_customer: denied by policy 'no-deletes'", "denied"),
    ("You are not authorized to call delete_user", "denied"),
    ("You aren't authorised to see this customer", "denied"),
    ("Unauthorized", "denied"),
    ("unauthorised: missing token", "denied"),
    ("403 Forbidden", "denied"),
    ("GitHub API error: Permission Denied: Resource not accessible by integration", "denied"),
    ("Role 'analyst' is not permitted to update customers", "denied"),
    ("Users are not allowed to export data", "denied"),
    ("Insufficient permissions: need customers:write", "denied"),
    ("insufficient OAuth scope", "denied"),
    ("The token lacks the repo scope", "denied"),
    ("You do not have access to this customer", "denied"),
    ("requires role 'admin'", "denied"),
    ("authorization required", "denied"),
    ("You do not have permission to access this resource", "denied"),
    ("This account doesn't have the required admin role", "denied"),
    ("This operation requires admin privileges", "denied"),
    ("Admin role required", "denied"),
    ("This request violates the data protection policy", "denied"),
    ("Blocked by policy: pii-export", "denied"),
    ("permission denied for table customers", "denied"),
    ("Error executing tool get_salary: Policy enforcement failed: salaries are for HR", "denied"),
    ("Access denied: this record does not exist for your role", "denied"),
    ("Access denied: missing required permission hr.read", "denied"),
    ("Missing required permission: hr.read", "denied"),
    ("Missing required role: admin", "denied"),
    ("missing required scope", "denied"),
    ("Missing required OAuth scopes repo, user", "denied"),
    ("Your account is missing the required admin role", "denied"),
    ("Missing required permission: settings.read", "denied"),
    ("insufficient_scope", "denied"),
    ("unauthenticated", "denied"),
    ("Authentication required", "denied"),
    # arguments
    (PYDANTIC, "invalid_arguments"),
    (PYDANTIC_EXTRA, "invalid_arguments"),
    (ZOD, "invalid_arguments"),
    ("Input validation error: 'ten' is not of type 'integer'", "invalid_arguments"),
    ("Invalid arguments for tool get_orders: limit must be positive", "invalid_arguments"),
    ("'customer_id' is a required property", "invalid_arguments"),
    ("Additional properties are not allowed ('colour' was unexpected)", "invalid_arguments"),
    ("get_orders() got an unexpected keyword argument 'colour'", "invalid_arguments"),
    ("Missing required argument: path", "invalid_arguments"),
    ("Missing required argument: role", "invalid_arguments"),
    ("missing required parameter scope", "invalid_arguments"),
    ("Missing required role parameter", "invalid_arguments"),
    ("Missing required permissions field", "invalid_arguments"),
    ("missing 1 required positional argument: 'permission'", "invalid_arguments"),
    ("Missing required key role", "invalid_arguments"),
    ("missing required param role", "invalid_arguments"),
    ("Missing required attribute scope", "invalid_arguments"),
    ("Missing required header scope", "invalid_arguments"),
    ("Missing required input: role", "invalid_arguments"),
    ("Missing required option 'role'", "invalid_arguments"),
    ("Missing required entry scope", "invalid_arguments"),
    ("Missing required 'role' setting", "invalid_arguments"),
    ("Missing required permission level argument", "invalid_arguments"),
    ("Missing required permissions array", "invalid_arguments"),
    ("missing required role: must be one of admin, user", "invalid_arguments"),
    ("Missing required right-hand side", "invalid_arguments"),
    ("Input validation error: missing required role", "invalid_arguments"),
    # the tool's own errors
    ("Output validation error: 'balance' is a required property", "tool_error"),
    ("Output validation error: '****' is not of type 'number'", "tool_error"),
    ("ENOENT: no such file or directory, open '/srv/data/nothing.txt'", "tool_error"),
    ("File not found: report.pdf", "tool_error"),
    ("Customer CUST_99999 was not found; ids look like CUST_00042", "tool_error"),
    ("Employee E999 not found", "tool_error"),
    ("This employee does not exist", "tool_error"),
    ("The report is not available", "tool_error"),
    ("EACCES: permission denied, open '/root/x'", "tool_error"),
    ("[Errno 13] Permission denied: '/root/x'", "tool_error"),
    ("[Errno 1] Operation not permitted", "tool_error"),
    ("open /root/x: permission denied", "tool_error"),
    ("Permission denied (os error 13)", "tool_error"),
    ("insurance policy 12 not found", "tool_error"),
    ("Forbidden characters in name: '/'", "tool_error"),
    (
        "The sites robots.txt specifies that autonomous fetching of this page is not allowed",
        "tool_error",
    ),
    ("Failed to fetch https://example.com - status code 500", "tool_error"),
    ("division by zero", "tool_error"),
    ("role is required", "tool_error"),
    ("This tool requires the role argument", "tool_error"),
    ("No role named 'chief' exists", "tool_error"),
    ("No access log was found", "tool_error"),
    ("Connection refused", "tool_error"),
    ("The allowed values are: open, closed", "tool_error"),
    ("Error executing tool boom", "tool_error"),
    ("", "tool_error"),
    # a tool that is listed and whose text is about some other one, or about what it was looking for
    ("Tool known failed: User 7 not found", "tool_error"),
    ("Error running tool known: customer does not exist", "tool_error"),
    ("Tool known could not answer, for the customer was not found", "tool_error"),
    ("Unsupported function 'sinus' in known", "tool_error"),
    ("No such tool in the toolbox: hammer", "tool_error"),
    ("Unknown tool: known", "unknown_tool"),
]


@pytest.mark.parametrize(("text", "outcome"), RESULTS)
def test_the_text_of_an_error_result_tells_its_outcome(text: str, outcome: Outcome) -> None:
    assert classify_error(text, tool="known", listed=True) == outcome


@pytest.mark.parametrize(
    "text",
    [
        "Unknown tool requested: 'known'",
        "Tool known not found",
        "Error: tool 'known' does not exist",
        "The tool named known is not available for you",
        "Tool not found: known",
        "No tool named known",
    ],
)
def test_a_listed_tool_is_unknown_where_the_text_says_so_of_this_very_tool(text: str) -> None:
    assert classify_error(text, tool="known", listed=True) == "unknown_tool"
    assert classify_error(text, tool="kno", listed=True) == "tool_error"


NAMES = ("known", "employee", "not_found", "list-denied", "Forbidden", "hr.permission", "tool", "a")
"""Of tools; some stand in a text of `RESULTS`, some would mean something there."""


def _raising(name: str, server: MCPServer) -> None:
    def tool(text: str) -> str:
        raise ToolError(text)

    server.add_tool(tool, name=name)


async def _told(texts: list[str]) -> dict[tuple[str, str], str]:
    """Return what a real server makes of ``texts`` when its tools raise them, by tool and text."""
    server = MCPServer("raising")
    for name in NAMES:
        _raising(name, server)
    told = {}
    async with Client(server, read_timeout_seconds=10) as client:
        for name in NAMES:
            for text in texts:
                (content,) = (await client.call_tool(name, {"text": text})).content
                assert isinstance(content, TextContent)
                told[name, text] = content.text
    return told


def test_what_a_tool_raises_means_the_same_behind_the_words_of_an_sdk_whatever_the_tool() -> None:
    of = {
        text: outcome
        for text, outcome in RESULTS
        if not text.startswith(("Error executing", "Unknown tool"))
    }
    # A text that names a tool is about that tool, where it is this one.
    about = {
        ("tool", "No such tool in the toolbox: hammer"),
        ("a", "No such tool in the toolbox: hammer"),
    }
    told = anyio.run(_told, list(of))
    assert told["known", "Unauthorized"] == "Error executing tool known: Unauthorized"
    wrong = {
        (name, form)
        for (name, text), own in told.items()
        if (name, text) not in about
        for form in (
            own,
            f"Error calling tool {name!r}: {text}",
            f"Error executing tool outer: {own}",
        )
        if classify_error(form, tool=name, listed=True) != of[text]
    }
    assert wrong == set()


@pytest.mark.parametrize("name", NAMES)
def test_a_tool_that_crashes_without_a_word_is_an_error_whatever_it_is_called(name: str) -> None:
    assert classify_error(f"Error executing tool {name}", tool=name, listed=True) == "tool_error"
    assert classify_error(f"Error calling tool {name!r}", tool=name, listed=True) == "tool_error"
    assert classify_error(f"Unknown tool: {name}", tool=name, listed=True) == "unknown_tool"


@pytest.mark.parametrize(
    ("code", "text", "listed", "outcome"),
    [
        (-32602, "Unknown tool: nope", False, "unknown_tool"),
        (-32602, "Tool nope not found", False, "unknown_tool"),
        (-32602, "MCP error -32602: Tool nope disabled", False, "unknown_tool"),
        (-32601, "Method not found", False, "unknown_tool"),
        (-32602, "Invalid params", False, "unknown_tool"),
        (-32602, "Invalid params", True, "invalid_arguments"),
        (-32602, "limit: must be positive", True, "invalid_arguments"),
        (-32603, "Tool 'nope' does not exist", False, "unknown_tool"),
        (-32602, "Access denied", False, "denied"),
        (-32001, "Unauthorized", True, "denied"),
        (-32603, "Forbidden: role user", True, "denied"),
        (-32603, "Internal error", True, "tool_error"),
        (-32603, "Internal error", False, "tool_error"),
        (0, "'NoneType' object has no attribute 'x'", True, "tool_error"),
    ],
)
def test_code_and_text_of_a_protocol_error_tell_its_outcome(
    code: int, text: str, listed: bool, outcome: Outcome
) -> None:
    assert classify_error(text, tool="nope", listed=listed, code=code) == outcome


MASKED = """Error executing tool get_balance: 1 validation error for GetBalancereturn
balance
  Input should be a valid number, unable to parse string as a number [type=float_parsing, \
input_value='****', input_type=str]
    For further information visit https://errors.pydantic.dev/2.14/v/float_parsing"""
"""What MXCP 0.12.3 says where it masks a number of its own result."""


@pytest.mark.parametrize(
    ("text", "names", "valid", "outcome"),
    [
        (MASKED, {"customer_id"}, True, "tool_error"),
        (MASKED, set(), True, "tool_error"),
        (MASKED.replace("balance\n", "rows.0.balance\n"), {"customer_id"}, True, "tool_error"),
        (MASKED.replace("balance\n", "rows.0.balance\n"), {"rows"}, True, "invalid_arguments"),
        (MASKED, {"customer_id", "balance"}, True, "invalid_arguments"),
        (MASKED, {"customer_id"}, False, "invalid_arguments"),
        (MASKED, None, True, "invalid_arguments"),
        (PYDANTIC, {"a", "b"}, True, "invalid_arguments"),
        # Which keys an object must have that the schema leaves open, nobody knows.
        (PYDANTIC, {"order"}, True, "invalid_arguments"),
        (PYDANTIC_EXTRA, {"order", "colour"}, True, "invalid_arguments"),
        ("1 validation error for int\n  Input should be a valid integer", {"n"}, True, None),
    ],
)
def test_a_validator_that_names_no_argument_speaks_of_the_servers_own_result(
    text: str, names: set[str] | None, valid: bool, outcome: Outcome | None
) -> None:
    found = classify_error(text, tool="t", listed=True, arguments_valid=valid, names=names)
    assert found == (outcome or "invalid_arguments")


def test_a_result_that_the_server_finds_invalid_is_no_fault_of_the_arguments_by_any_code() -> None:
    text = "MCP error -32602: Output validation error: Tool t has an output schema but no content"
    assert classify_error(text, tool="t", listed=True, code=-32602) == "tool_error"
    assert (
        classify_error(text, tool="t", listed=True, code=-32602, arguments_valid=False)
        == "tool_error"
    )
    refused = "Output validation error: 'Access denied' is not of type 'object'"
    assert classify_error(refused, tool="t", listed=True) == "denied"


@pytest.mark.parametrize(
    "text", ["Unknown tool: nope", "Error: unknown tool 'nope'", "Tool not found: nope"]
)
def test_an_unknown_tool_in_an_error_result_is_no_refusal(text: str) -> None:
    assert classify_error(text, tool="nope", listed=False) == "unknown_tool"


def test_an_error_after_arguments_that_break_the_schema_is_about_the_arguments() -> None:
    assert (
        classify_error("boom", tool="t", listed=True, arguments_valid=False) == "invalid_arguments"
    )
    assert classify_error("Access denied", tool="t", listed=True, arguments_valid=False) == "denied"
    for text in (
        "Missing required role: admin",
        "Missing required permission: x",
        "missing required scope",
    ):
        assert (
            classify_error(text, tool="t", listed=True, arguments_valid=False)
            == "invalid_arguments"
        )


def test_a_long_text_is_judged_by_its_beginning() -> None:
    assert classify_error("x" * 3_000 + " access denied", tool="t", listed=True) == "tool_error"
