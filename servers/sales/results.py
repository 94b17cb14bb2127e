"""What the tools return: the output schemas, field by field."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypeAlias

from pydantic import Field

# `typing.TypedDict` is one that pydantic cannot read before Python 3.12.
from typing_extensions import TypedDict

from ..common.toolkit import closed
from .catalog import Category, ProductStatus, ProjectStatus, Region, Segment, TaskKind, TaskStatus
from .churn import Level

Count: TypeAlias = Annotated[int, Field(ge=0)]
Dollars: TypeAlias = Annotated[float, Field(description="US dollars.")]
Day: TypeAlias = Annotated[str, Field(description="YYYY-MM-DD.")]
Trend: TypeAlias = Literal["rising", "stable", "falling"]
Matches: TypeAlias = Annotated[
    int, Field(ge=0, description="All that match, also those not shown.")
]


@closed
class Product(TypedDict):
    """A product."""

    product_id: str
    name: str
    category: Category
    price: Dollars
    stock: Annotated[Count, Field(description="Units in stock.")]
    status: ProductStatus


@closed
class ProductPage(TypedDict):
    """Products that match a search."""

    total_matches: Matches
    products: list[Product]


@closed
class MonthOfSales(TypedDict):
    """What was sold in a month."""

    month: Annotated[str, Field(description="YYYY-MM.")]
    revenue: Dollars
    units_sold: Count


@closed
class BestSeller(TypedDict):
    """What one product brought."""

    product_id: str
    name: str
    revenue: Dollars
    units_sold: Count


@closed
class PreviousPeriod(TypedDict):
    """The stretch of the same length just before."""

    date_from: Day
    date_to: Day
    revenue: Dollars


@closed
class SalesAnalysis(TypedDict):
    """Sales of a period, and where they go."""

    product: NotRequired[str]
    category: NotRequired[Category]
    date_from: Day
    date_to: Day
    currency: Literal["USD"]
    revenue: Dollars
    units_sold: Count
    orders: Count
    customers: Annotated[Count, Field(description="Different customers that bought.")]
    average_order_value: Dollars
    previous_period: NotRequired[PreviousPeriod]
    change_percent: Annotated[
        float | None,
        Field(
            description="Revenue against the previous period; null if there is none to compare "
            "with."
        ),
    ]
    trend_within_period: Annotated[
        Trend,
        Field(
            description="Second half of the period against its first: more than 5 % up, down, or "
            "neither."
        ),
    ]
    monthly: Annotated[list[MonthOfSales], Field(description="Months with sales, oldest first.")]
    best_sellers: Annotated[list[BestSeller], Field(description="By revenue, five at most.")]


@closed
class CustomerSummary(TypedDict):
    """A customer and what they bought so far."""

    customer_id: str
    name: str
    segment: Segment
    region: Region
    account_owner: str
    customer_since: Day
    orders: Count
    last_order_date: Day
    revenue: Annotated[float, Field(description="US dollars over all years.")]


@closed
class CustomerPage(TypedDict):
    """Customers that match a search."""

    total_matches: Matches
    customers: list[CustomerSummary]


@closed
class InactiveCustomer(TypedDict):
    """A customer who has stopped ordering."""

    customer_id: str
    name: str
    segment: Segment
    account_owner: str
    last_order_date: Day
    days_inactive: Count
    revenue: Annotated[float, Field(description="US dollars over all years.")]


@closed
class InactiveCustomers(TypedDict):
    """Customers who have stopped ordering."""

    as_of: Day
    no_order_since: Annotated[
        str, Field(description="YYYY-MM-DD; none of them ordered on this day or later.")
    ]
    total_matches: Matches
    customers: Annotated[
        list[InactiveCustomer], Field(description="Those who used to buy most first.")
    ]


@closed
class ChurnRisk(TypedDict):
    """How likely a customer is to leave, and why."""

    customer_id: str
    name: str
    as_of: Day
    risk_level: Level
    risk_score: Annotated[
        int, Field(ge=0, le=100, description="From 0 (loyal) to 100 (as good as gone).")
    ]
    last_order_date: Day
    days_since_last_order: Count
    usual_days_between_orders: float
    orders_last_half_year: Count
    orders_half_year_before: Count
    revenue_last_half_year: Dollars
    revenue_half_year_before: Dollars
    account_owner: str


@closed
class Project(TypedDict):
    """A project for a customer."""

    project_id: str
    name: str
    customer_id: str
    customer: str
    status: ProjectStatus
    owner: str
    start_date: Day
    due_date: Day
    percent_done: Annotated[int, Field(ge=0, le=100)]
    budget: Dollars
    overdue: Annotated[
        bool,
        Field(description="Due before the end of the data and neither completed nor cancelled."),
    ]


@closed
class ProjectPage(TypedDict):
    """Projects that match."""

    total_matches: Matches
    projects: list[Project]


@closed
class ProjectDeleted(TypedDict):
    """What is gone."""

    project_id: str
    name: str
    deleted: Literal[True]


@closed
class Task(TypedDict):
    """Something to do for a customer."""

    task_id: str
    customer_id: str
    customer: str
    kind: TaskKind
    due_date: Day
    note: str
    status: TaskStatus


@closed
class Tasks(TypedDict):
    """Things to do for customers."""

    total_matches: Matches
    tasks: Annotated[list[Task], Field(description="By due date.")]
