"""The results of the tools: output schemas, field by field.

Personal fields are never required, so that a policy may take them out, and are plain text, so that
it may mask them.
"""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

from typing import Annotated, Final, Literal, NotRequired, TypeAlias

from pydantic import Field

# `typing.TypedDict` is one that pydantic cannot read before Python 3.12.
from typing_extensions import TypedDict

from ..common.toolkit import closed
from .seed import Category, Country, CustomerStatus, OrderStatus, Segment

PERSONAL_FIELDS: Final = ("email", "phone", "address", "date_of_birth", "national_id")
"""Columns of a customer that are personal data."""

Money: TypeAlias = Annotated[float, Field(description="US dollars.")]
Count: TypeAlias = Annotated[int, Field(ge=0)]
Day: TypeAlias = Annotated[str, Field(description="YYYY-MM-DD.")]


@closed
class CustomerSummary(TypedDict):
    """A customer among others."""

    customer_id: str
    name: str
    city: str
    country: Country
    segment: Segment
    status: CustomerStatus
    customer_since: Day
    email: NotRequired[
        Annotated[
            str, Field(description="Personal data; absent or masked without the right to it.")
        ]
    ]
    phone: NotRequired[
        Annotated[
            str, Field(description="Personal data; absent or masked without the right to it.")
        ]
    ]


@closed
class CustomerDetails(CustomerSummary):
    """One customer; personal data only when it was asked for."""

    address: NotRequired[Annotated[str, Field(description="Street address; personal data.")]]
    date_of_birth: NotRequired[Annotated[str, Field(description="YYYY-MM-DD; personal data.")]]
    national_id: NotRequired[
        Annotated[str, Field(description="Social security number or the like; personal data.")]
    ]


@closed
class CustomerPage(TypedDict):
    """Customers that match a search, no more than were asked for."""

    total_matches: Annotated[
        Count, Field(description="All customers that match, also those not shown.")
    ]
    customers: list[CustomerSummary]


@closed
class Item(TypedDict):
    """One line of an order."""

    product: str
    quantity: Count
    unit_price: Money


@closed
class Order(TypedDict):
    """One order with its lines."""

    order_id: str
    customer_id: str
    order_date: Day
    status: OrderStatus
    category: Category
    amount: Money
    items: list[Item]


@closed
class CategoryTotal(TypedDict):
    """What a customer spent in one category."""

    category: Category
    orders: Count
    amount: Money


@closed
class PurchaseHistory(TypedDict):
    """What a customer bought, cancelled and returned orders left out of all totals."""

    customer_id: str
    name: str
    currency: Literal["USD"]
    lifetime_value: Annotated[float, Field(description="US dollars spent over all years.")]
    order_count: Count
    average_order_value: Money
    first_order: NotRequired[Day]
    last_order: NotRequired[Day]
    top_categories: Annotated[
        list[CategoryTotal], Field(description="By money spent, highest first.")
    ]
    recent_orders: Annotated[
        list[Order], Field(description="The latest orders, of any status, newest first.")
    ]


@closed
class OrderPage(TypedDict):
    """Totals over all orders that match a search, and the latest of them."""

    currency: Literal["USD"]
    total_orders: Annotated[
        Count, Field(description="All orders that match, also those not shown.")
    ]
    total_amount: Annotated[float, Field(description="US dollars over all orders that match.")]
    orders: Annotated[
        list[Order], Field(description="The latest matching orders, newest first, at most `limit`.")
    ]


@closed
class Updated(TypedDict):
    """A customer record after a change."""

    customer_id: str
    changed: Annotated[list[str], Field(description="The fields that were set.")]


@closed
class Deleted(TypedDict):
    """What is gone."""

    customer_id: str
    deleted: Literal[True]
    orders_deleted: Count
