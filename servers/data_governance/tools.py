"""The six tools, as a model sees them and as they work on the database."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

from typing import cast

from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool

from ..common.database import Row
from ..common.hints import OVERWRITES, READS
from ..common.parameters import RowLimit
from ..common.toolkit import check_range, fields_of, make_tool
from . import arguments as a
from . import results as r
from .database import CustomerDatabase


def make_tools(database: CustomerDatabase) -> list[Tool]:
    """Return all tools over ``database``."""
    tools = CustomerTools(database)
    return [
        make_tool(tools.get_customer_details, "Customer details", READS),
        make_tool(tools.search_customers, "Search customers", READS),
        make_tool(tools.get_customer_purchase_history, "Customer purchase history", READS),
        make_tool(tools.search_orders, "Search orders", READS),
        make_tool(tools.update_customer, "Update a customer", OVERWRITES),
        make_tool(tools.delete_customer, "Delete a customer", OVERWRITES),
    ]


class CustomerTools:
    """Each public method is a tool and its docstring the tool's description.

    They are coroutines that never wait: the database is in memory, and one thread uses it.
    """

    def __init__(self, database: CustomerDatabase) -> None:
        """Work on ``database``."""
        self._database = database

    async def get_customer_details(
        self,
        customer_id: a.CustomerId,
        include_pii: a.IncludePii = False,  # noqa: FBT002  # called by name, over the wire
    ) -> r.CustomerDetails:
        """Show one customer's record by id.

        Gives name, city, country, segment, account status and customer since when. With include_pii
        also personal data: email, phone, street address, date of birth and national id. For what
        the customer bought use get_customer_purchase_history; to find an id use search_customers.
        """
        customer = self._existing(customer_id)
        hidden = () if include_pii else r.PERSONAL_FIELDS
        return cast("r.CustomerDetails", fields_of(customer, r.CustomerDetails, without=hidden))

    async def search_customers(
        self,
        name: a.NamePart = None,
        email: a.EmailPart = None,
        phone: a.PhoneEnd = None,
        city: a.City = None,
        country: a.CountryFilter = None,
        segment: a.SegmentFilter = None,
        status: a.StatusFilter = None,
        limit: RowLimit = 10,
    ) -> r.CustomerPage:
        """Find customers whose id is not known, by name, city, country, segment or status.

        Filters combine. Returns how many customers match and lists the first of them with their
        ids.
        """
        filters = {
            "name": name,
            "email": email,
            "phone": phone,
            "city": city,
            "country": country,
            "segment": segment,
            "status": status,
        }
        total, rows = self._database.search_customers(filters, limit)
        customers = [cast("r.CustomerSummary", fields_of(row, r.CustomerSummary)) for row in rows]
        return r.CustomerPage(total_matches=total, customers=customers)

    async def get_customer_purchase_history(self, customer_id: a.CustomerId) -> r.PurchaseHistory:
        """Show what one customer bought over all years.

        Gives lifetime value (total money spent), number of orders, average order value, top
        categories by money spent, and the latest orders. Cancelled and returned orders do not count
        towards the totals. For one year or one category use search_orders.
        """
        customer = self._existing(customer_id)
        history = self._database.purchase_history(customer_id)
        result = r.PurchaseHistory(
            customer_id=customer_id,
            name=customer["name"],
            currency="USD",
            lifetime_value=history["amount"],
            order_count=history["orders"],
            average_order_value=round(history["amount"] / history["orders"], 2)
            if history["orders"]
            else 0.0,
            top_categories=[
                cast("r.CategoryTotal", fields_of(row, r.CategoryTotal))
                for row in history["categories"]
            ],
            recent_orders=[_order(row) for row in history["recent"]],
        )
        if history["orders"]:
            result |= {"first_order": history["first"], "last_order": history["last"]}
        return result

    async def search_orders(
        self,
        customer_id: a.OrdersOf = None,
        status: a.OrderStatusFilter = None,
        category: a.CategoryFilter = None,
        date_from: a.DateFrom = None,
        date_to: a.DateTo = None,
        min_amount: a.MinAmount = None,
        max_amount: a.MaxAmount = None,
        limit: RowLimit = 10,
    ) -> r.OrderPage:
        """Count and total orders by customer, status, category, period or amount.

        Filters combine. Returns the number and total amount of all matching orders, and lists the
        latest of them. Use the totals to answer how many or how much; do not fetch orders to count
        them.
        """
        if customer_id is not None:
            self._existing(customer_id)
        check_range("date_from", date_from, "date_to", date_to)
        check_range("min_amount", min_amount, "max_amount", max_amount)
        filters = {
            "customer_id": customer_id,
            "status": status,
            "category": category,
            "date_from": date_from,
            "date_to": date_to,
            "min_cents": _cents(min_amount),
            "max_cents": _cents(max_amount),
        }
        count, amount, rows = self._database.search_orders(filters, limit)
        return r.OrderPage(
            currency="USD",
            total_orders=count,
            total_amount=amount,
            orders=[_order(row) for row in rows],
        )

    async def update_customer(
        self,
        customer_id: a.CustomerId,
        email: a.NewEmail = None,
        phone: a.NewPhone = None,
        address: a.NewAddress = None,
        city: a.NewCity = None,
        segment: a.NewSegment = None,
        status: a.NewStatus = None,
    ) -> r.Updated:
        """Change fields of one customer's record, such as account status or segment.

        Overwrites what was there; fields that are not given stay. Use it only when a change was
        asked for, never to look something up.
        """
        changes = {
            "email": email,
            "phone": phone,
            "address": address,
            "city": city,
            "segment": segment,
            "status": status,
        }
        self._existing(customer_id)
        changed = [name for name, value in changes.items() if value is not None]
        if not changed:
            raise ToolError(f"Nothing to change: give at least one of {', '.join(changes)}")
        self._database.update_customer(customer_id, changes)
        return r.Updated(customer_id=customer_id, changed=changed)

    async def delete_customer(self, customer_id: a.CustomerId) -> r.Deleted:
        """Delete one customer and all their orders for good.

        This cannot be undone. Use it only when the user asks to delete, erase or remove a customer
        record, never to look something up.
        """
        self._existing(customer_id)
        orders = self._database.delete_customer(customer_id)
        return r.Deleted(customer_id=customer_id, deleted=True, orders_deleted=orders)

    def _existing(self, customer_id: str) -> Row:
        customer = self._database.customer(customer_id)
        if customer is None:
            raise ToolError(
                f"Customer {customer_id} was not found; ids look like CUST_00042; "
                "use search_customers to find a customer by name, city or segment"
            )
        return customer


def _order(row: Row) -> r.Order:
    return cast("r.Order", fields_of(row, r.Order))


def _cents(amount: float | None) -> int | None:
    return None if amount is None else round(amount * 100)
