"""The tools, as a model sees them and as they work on the database."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

from datetime import date, timedelta
from typing import Final, cast

from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool

from ..common.database import Row
from ..common.dates import months_before
from ..common.hints import ADDS, OVERWRITES, READS
from ..common.toolkit import check_range, fields_of, make_tool
from . import arguments as a
from . import results as r
from .analysis import analyze
from .catalog import FIRST_DAY, LAST_DAY
from .churn import assess
from .database import SalesDatabase
from .deletion import make_deletion

_ONE_DAY: Final = timedelta(days=1)
_ENDED: Final = ("completed", "cancelled")


def make_tools(database: SalesDatabase) -> list[Tool]:
    """Return all tools over ``database``."""
    tools = SalesTools(database)
    return [
        make_tool(tools.search_products, "Search products", READS),
        make_tool(tools.analyze_sales, "Analyse sales", READS),
        make_tool(tools.search_customers, "Search customers", READS),
        make_tool(tools.find_inactive_customers, "Inactive customers", READS),
        make_tool(tools.get_churn_risk, "Churn risk of a customer", READS),
        make_tool(tools.list_projects, "Projects", READS),
        make_tool(tools.get_project, "Project details", READS),
        make_tool(make_deletion(database, tools.find_project), "Delete a project", OVERWRITES),
        make_tool(tools.list_followup_tasks, "Follow-up tasks", READS),
        make_tool(tools.create_followup_task, "Create a follow-up task", ADDS),
    ]


class SalesTools:
    """Each public method is a tool and its docstring the tool's description.

    They are coroutines that never wait: the database is in memory, and one thread uses it.
    """

    def __init__(self, database: SalesDatabase) -> None:
        """Work on ``database``."""
        self._database = database

    async def search_products(
        self,
        category: a.ProductCategory = None,
        text: a.ProductText = None,
        max_price: a.MaxPrice = None,
        in_stock_only: a.InStockOnly = False,  # noqa: FBT002  # called by name, over the wire
        max_results: a.MaxResults = 10,
    ) -> r.ProductPage:
        """Find products by category, name or price, with their price and stock.

        Filters combine. For what was sold of them use analyze_sales.
        """
        filters = {
            "text": text,
            "category": category,
            "max_cents": None if max_price is None else round(max_price * 100),
            "in_stock_only": in_stock_only,
        }
        total, rows = self._database.search_products(filters, max_results)
        return r.ProductPage(
            total_matches=total,
            products=[cast("r.Product", fields_of(row, r.Product)) for row in rows],
        )

    async def analyze_sales(
        self,
        product_id: a.AnalysedProduct = None,
        category: a.AnalysedCategory = None,
        date_from: a.DateFrom = None,
        date_to: a.DateTo = None,
    ) -> r.SalesAnalysis:
        """Analyse the sales of a product, a category or everything over a period:

        revenue, units, orders and trend.

        Compares with the period before, and gives the months and the best sellers. Without dates it
        covers the last twelve months. Use its totals; do not add up months or products yourself.
        """
        product = None if product_id is None else self._product(product_id, category)
        first, last = _period_with_data(date_from, date_to)
        analysis = analyze(
            self._database, {"product_id": product_id, "category": category}, first, last
        )
        if product is not None:
            analysis["product"] = product["name"]
        if category is not None:
            analysis["category"] = category
        return analysis

    async def search_customers(
        self,
        name: a.CustomerName = None,
        segment: a.CustomerSegment = None,
        region: a.CustomerRegion = None,
        max_results: a.MaxResults = 10,
    ) -> r.CustomerPage:
        """Find customers by company name, segment or region,

        with their last order and total revenue.

        Use it to find the id of a customer who is only named.
        """
        filters = {"name": name, "segment": segment, "region": region}
        total, rows = self._database.search_customers(filters, max_results)
        customers = [cast("r.CustomerSummary", fields_of(row, r.CustomerSummary)) for row in rows]
        return r.CustomerPage(total_matches=total, customers=customers)

    async def find_inactive_customers(
        self,
        months: a.Months = 6,
        segment: a.CustomerSegment = None,
        max_results: a.MaxResults = 10,
    ) -> r.InactiveCustomers:
        """Find customers who have not ordered for some months, those who used to buy most first."""
        since = months_before(LAST_DAY, months) + _ONE_DAY
        total, rows = self._database.inactive_customers(str(since), segment, max_results)
        customers = [{**row, "days_inactive": _days_since(row["last_order_date"])} for row in rows]
        return r.InactiveCustomers(
            as_of=str(LAST_DAY),
            no_order_since=str(since),
            total_matches=total,
            customers=[
                cast("r.InactiveCustomer", fields_of(row, r.InactiveCustomer)) for row in customers
            ],
        )

    async def get_churn_risk(self, customer_id: a.Customer) -> r.ChurnRisk:
        """Assess how likely one customer is to leave:

        risk level and score, and the signs behind them.

        The signs are how long they have been silent, measured by their own pace, and orders and
        revenue of the last half year against the one before.
        """
        customer = self._customer(customer_id)
        orders = [
            (date.fromisoformat(row["order_date"]), row["revenue"])
            for row in self._database.orders_of(customer_id)
        ]
        risk = assess(orders, LAST_DAY)
        return r.ChurnRisk(
            customer_id=customer_id,
            name=customer["name"],
            as_of=str(LAST_DAY),
            risk_level=risk.level,
            risk_score=risk.score,
            last_order_date=customer["last_order_date"],
            days_since_last_order=risk.days_since_last_order,
            usual_days_between_orders=risk.usual_gap,
            orders_last_half_year=risk.orders[1],
            orders_half_year_before=risk.orders[0],
            revenue_last_half_year=risk.revenue[1],
            revenue_half_year_before=risk.revenue[0],
            account_owner=customer["account_owner"],
        )

    async def list_projects(
        self,
        status: a.StatusOfProject = None,
        name: a.ProjectName = None,
        customer_id: a.OfCustomer = None,
        max_results: a.MaxResults = 20,
    ) -> r.ProjectPage:
        """List projects with their status, owner, due date and progress.

        By status, name or customer.
        """
        if customer_id is not None:
            self._customer(customer_id)
        filters = {"status": status, "name": name, "customer_id": customer_id}
        total, rows = self._database.projects(filters, max_results)
        return r.ProjectPage(total_matches=total, projects=[_project(row) for row in rows])

    async def get_project(self, project_id: a.Project) -> r.Project:
        """Show one project: customer, status, owner, dates, progress and budget."""
        return _project(self.find_project(project_id))

    async def list_followup_tasks(
        self, customer_id: a.OfCustomer = None, status: a.StatusOfTask = None
    ) -> r.Tasks:
        """List follow-up tasks:

        calls, e-mails and meetings that are planned with customers or were held.
        """
        if customer_id is not None:
            self._customer(customer_id)
        tasks = [_task(row) for row in self._database.tasks(customer_id, status)]
        return r.Tasks(total_matches=len(tasks), tasks=tasks)

    async def create_followup_task(
        self,
        customer_id: a.Customer,
        due_date: a.DueDate,
        note: a.Note,
        kind: a.KindOfTask = "call",
    ) -> r.Task:
        """Create a follow-up task: a call, an e-mail or a meeting with a customer, due on a day.

        Use it only when the user asks to create, schedule or set up a follow-up. Each call creates
        one more task.
        """
        customer = self._customer(customer_id)
        if due_date <= str(LAST_DAY):
            raise ToolError(
                f"due_date is in the past: the data stands at {LAST_DAY}; give a later day"
            )
        task = {"customer_id": customer_id, "kind": kind, "due_date": due_date, "note": note}
        number = self._database.add_task(task)
        return _task({**task, "number": number, "customer": customer["name"], "status": "open"})

    def _product(self, product_id: str, category: str | None) -> Row:
        product = self._database.product(product_id)
        if product is None:
            raise ToolError(
                f"Product {product_id} was not found; use search_products to find a product by name"
            )
        if category not in (None, product["category"]):
            raise ToolError(
                f"Product {product_id} is of the category {product['category']}; leave category out"
            )
        return product

    def _customer(self, customer_id: str) -> Row:
        customer = self._database.customer(customer_id)
        if customer is None:
            raise ToolError(
                f"Customer {customer_id} was not found; use search_customers to find a customer by "
                "name"
            )
        return customer

    def find_project(self, project_id: str) -> Row:
        """Return a project.

        Raises:
            ToolError: there is none with this id.
        """
        project = self._database.project(project_id)
        if project is None:
            raise ToolError(
                f"Project {project_id} was not found; use list_projects to find a project by name"
            )
        return project


def _period_with_data(date_from: str | None, date_to: str | None) -> tuple[date, date]:
    """Return the days of a period on which there is data; models ask for the year 9999, too.

    Raises:
        ToolError: the dates are the wrong way round, or there are no such days.
    """
    asked_from = date.fromisoformat(date_from) if date_from else None
    asked_to = date.fromisoformat(date_to) if date_to else None
    check_range("date_from", asked_from, "date_to", asked_to)
    if (asked_from or FIRST_DAY) > LAST_DAY or (asked_to or LAST_DAY) < FIRST_DAY:
        raise ToolError(
            f"There is no data for this period: it begins on {FIRST_DAY} and ends on {LAST_DAY}"
        )
    last = min(asked_to or LAST_DAY, LAST_DAY)
    return max(asked_from or months_before(last, 12) + _ONE_DAY, FIRST_DAY), last


def _project(row: Row) -> r.Project:
    overdue = row["due_date"] < str(LAST_DAY) and row["status"] not in _ENDED
    return cast("r.Project", fields_of({**row, "overdue": overdue}, r.Project))


def _task(row: Row) -> r.Task:
    return cast("r.Task", fields_of({**row, "task_id": f"TSK_{row['number']:03d}"}, r.Task))


def _days_since(day: str) -> int:
    return (LAST_DAY - date.fromisoformat(day)).days
