"""Two tools that allow a defect of every kind."""

from __future__ import annotations

from harness.types import Tool

SEARCH = Tool(
    name="search_orders",
    description="List the newest orders of one customer. For one order use get_order instead.",
    input_schema={
        "type": "object",
        "properties": {
            "customer": {
                "type": "string",
                "description": "Id of the customer, such as CUST_0042.",
                "examples": ["CUST_0042"],
            },
            "status": {
                "anyOf": [{"type": "string", "enum": ["open", "shipped"]}, {"type": "null"}],
                "default": None,
                "description": "State of the order.",
            },
            "date_from": {"type": "string", "description": "First day, YYYY-MM-DD."},
            "date_to": {"type": "string", "description": "Last day, YYYY-MM-DD."},
            "max_age": {"type": "integer", "description": "Age at most, in days.", "default": 30},
        },
        "required": ["customer"],
    },
)
GET = Tool(
    name="get_order",
    description="Show one order with its items. For the orders of a customer use search_orders.",
    input_schema={
        "type": "object",
        "properties": {"order_id": {"type": "string", "description": "Id of the order."}},
        "required": ["order_id"],
    },
)
EXPORT = Tool(name="export_orders", description="Write all orders to a file.", input_schema={})
TOOLS = (SEARCH, GET, EXPORT)
