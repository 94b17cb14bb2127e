"""Customers, shown to agents and administrators by the claims of a signed token."""

import os

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.server.auth import require_scopes
from fastmcp.server.auth.providers.jwt import JWTVerifier
from fastmcp.server.dependencies import get_access_token

verifier = JWTVerifier(
    jwks_uri=os.environ["HARNESS_JWKS_URL"],
    issuer=os.environ["HARNESS_ISSUER"],
    audience=os.environ["HARNESS_AUDIENCE"],
)
server = FastMCP("crm", auth=verifier)
CUSTOMERS = {
    "C-17": {
        "name": "Ines Okafor",
        "city": "Lisbon",
        "email": "ines.okafor@example.com",
        "phone": "+1-619-555-0148",
    },
    "C-18": {
        "name": "Tomas Berg",
        "city": "Oslo",
        "email": "tomas.berg@example.org",
        "phone": "+1-619-555-0171",
    },
}


@server.tool(annotations={"readOnlyHint": True})
def get_customer(customer_id: str) -> dict[str, str]:
    """Look up a customer by id, such as C-17."""
    role = get_access_token().claims.get("role")
    if role not in ["admin", "agent"]:
        raise ToolError("Access denied: customers are shown to agents and administrators only")
    record = CUSTOMERS[customer_id]
    return record if role == "admin" else {key: record[key] for key in ("name", "city")}


@server.tool(annotations={"readOnlyHint": True}, auth=require_scopes("crm:export"))
def export_customers() -> list[dict[str, str]]:
    """Return all customers at once."""
    return list(CUSTOMERS.values())
