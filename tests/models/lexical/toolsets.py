"""Small tool lists of several domains, written the way that real servers write them."""

from __future__ import annotations

from typing import Any

from harness.types import Tool, ToolList

Schema = dict[str, Any]


def tool(
    name: str,
    description: str,
    properties: Schema | None = None,
    required: str = "",
    title: str = "",
) -> Tool:
    """Make a tool; ``required`` lists property names, separated by spaces."""
    schema: Schema = {"type": "object", "properties": properties or {}}
    if required:
        schema["required"] = required.split()
    return Tool(name=name, description=description, input_schema=schema, title=title or None)


def text(description: str = "", **more: Any) -> Schema:
    return {"type": "string", **({"description": description} if description else {}), **more}


def number(description: str = "", **more: Any) -> Schema:
    return {"type": "number", "description": description, **more}


def whole(description: str = "", **more: Any) -> Schema:
    return {"type": "integer", "description": description, **more}


def flag(description: str = "", **more: Any) -> Schema:
    return {"type": "boolean", "description": description, **more}


CUSTOMER_ID = text("Id of the customer, for example CUST_00042", pattern="^CUST_[0-9]{5}$")

GOVERNANCE = (
    tool(
        "get_customer_details",
        "Look up one customer's profile by id: name, segment, status and account dates. Personal "
        "contact data is "
        "left out unless asked for.",
        {
            "customer_id": CUSTOMER_ID,
            "include_pii": flag(
                "Also return personally identifiable information (PII): email, phone, postal "
                "address",
                default=False,
            ),
        },
        "customer_id",
        "Customer details",
    ),
    tool(
        "search_customers",
        "Find customers by part of their name, city or segment. Returns ids and names, no contact "
        "data.",
        {
            "query": text("Part of a name"),
            "segment": text("Customer segment", enum=["consumer", "small_business", "enterprise"]),
            "city": text("City of residence"),
            "limit": whole("Most customers to return", default=10, minimum=1, maximum=100),
        },
        title="Search customers",
    ),
    tool(
        "get_customer_purchase_history",
        "Summarise everything that one customer has bought: lifetime value, number of orders and "
        "spending by category.",
        {"customer_id": CUSTOMER_ID},
        "customer_id",
        "Purchase history",
    ),
    tool(
        "search_orders",
        "List orders that match filters, newest first, with the total count and the total amount.",
        {
            "customer_id": CUSTOMER_ID,
            "status": text("Order status", enum=["pending", "shipped", "delivered", "returned"]),
            "category": text("Product category, such as Electronics or Garden"),
            "start_date": text("Orders on or after this day, YYYY-MM-DD", format="date"),
            "end_date": text("Orders on or before this day, YYYY-MM-DD", format="date"),
            "min_amount": number("Smallest order amount in dollars"),
            "limit": whole("Most orders to return", default=20, minimum=1, maximum=100),
        },
        title="Search orders",
    ),
    tool(
        "update_customer",
        "Change fields of a customer record. Only the fields given are changed.",
        {
            "customer_id": CUSTOMER_ID,
            "email": text("New email address", format="email"),
            "phone": text("New phone number"),
            "segment": text("New segment", enum=["consumer", "small_business", "enterprise"]),
        },
        "customer_id",
        "Update customer",
    ),
    tool(
        "delete_customer",
        "Permanently delete a customer and all of their orders. This cannot be undone.",
        {"customer_id": CUSTOMER_ID, "reason": text("Why the customer is deleted")},
        "customer_id",
        "Delete customer",
    ),
)

TICKER = text(
    "Stock ticker symbol, e.g. AAPL (Apple), MSFT (Microsoft), GOOGL (Google), TSLA (Tesla)"
)

FINANCE = (
    tool(
        "get_stock_price",
        "Get the current stock price of a company and, optionally, its price history over a "
        "period.",
        {
            "ticker": TICKER,
            "period": text(
                "How far back the history goes", enum=["1d", "5d", "1mo", "3mo", "6mo", "1y", "2y"]
            ),
            "info": flag("Also return extra market information such as volume and market cap"),
        },
        "ticker",
    ),
    tool(
        "get_company_info",
        "Get a company's profile: sector, industry, headquarters, employees and a business "
        "summary.",
        {"ticker": TICKER},
        "ticker",
    ),
    tool(
        "calculate_financial_ratios",
        "Compute financial ratios of a company: P/E, price to book, debt to equity, return on "
        "equity and margins.",
        {"ticker": TICKER},
        "ticker",
    ),
    tool(
        "calculate_investment_returns",
        "Project the future value of an investment with compound interest and optional monthly "
        "contributions.",
        {
            "principal": number("Initial amount invested, in dollars"),
            "annual_rate": number("Yearly interest rate as a decimal, e.g. 0.07 for 7%"),
            "years": whole("Number of years"),
            "monthly_contribution": number("Amount added every month, in dollars", default=0),
        },
        "principal annual_rate years",
    ),
)

SALES = (
    tool(
        "get_top_products",
        "Rank products by revenue or by units sold.",
        {
            "limit": whole("How many products", default=10),
            "category": text("Only this product category"),
            "sort_by": text("Ranking measure", enum=["revenue", "units"]),
        },
    ),
    tool(
        "get_sales_trend",
        "Sales over time: revenue per day, week or month, to see growth or decline.",
        {
            "granularity": text(
                "Length of one step", enum=["day", "week", "month"], default="month"
            ),
            "start_date": text("First day, YYYY-MM-DD"),
            "end_date": text("Last day, YYYY-MM-DD"),
            "region": text("Sales region", enum=["north", "south", "east", "west"]),
        },
    ),
    tool(
        "find_inactive_customers",
        "List customers who have not ordered for a number of days.",
        {
            "days": whole("Days without an order", default=90),
            "limit": whole("Most customers to return"),
        },
    ),
    tool(
        "predict_churn",
        "Estimate how likely a customer is to leave, with the main reasons for the churn risk.",
        {"customer_id": text("Customer number like C-1001")},
        "customer_id",
    ),
    tool(
        "get_product",
        "Show one product: name, price, stock level and supplier.",
        {"product_id": text("Product code, e.g. P-204")},
        "product_id",
    ),
)

FILES = (
    tool(
        "read_text_file",
        "Read the complete contents of a file as text. Use head or tail to read only the first or "
        "last lines.",
        {
            "path": text(),
            "head": whole("Return only the first N lines"),
            "tail": whole("Return only the last N lines"),
        },
        "path",
    ),
    tool(
        "write_file",
        "Create a new file or completely overwrite an existing file with new content. Use with "
        "caution.",
        {"path": text(), "content": text()},
        "path content",
    ),
    tool(
        "create_directory",
        "Create a new directory or make sure that a directory exists.",
        {"path": text()},
        "path",
    ),
    tool(
        "list_directory",
        "Get a listing of all files and directories in a path, marked with [FILE] and [DIR].",
        {"path": text()},
        "path",
    ),
    tool(
        "directory_tree",
        "Get a recursive tree view of files and directories as JSON.",
        {"path": text()},
        "path",
    ),
    tool(
        "move_file",
        "Move or rename files and directories. Fails if the destination exists.",
        {"source": text(), "destination": text()},
        "source destination",
    ),
    tool(
        "search_files",
        "Recursively search for files and directories whose name matches a pattern.",
        {
            "path": text(),
            "pattern": text(),
            "excludePatterns": {"type": "array", "items": {"type": "string"}, "default": []},
        },
        "path pattern",
    ),
    tool(
        "get_file_info",
        "Retrieve metadata about a file: size, creation time, last modified time, permissions and "
        "type.",
        {"path": text()},
        "path",
    ),
    tool(
        "list_allowed_directories",
        "Returns the list of directories that this server is allowed to access.",
    ),
)

EVERYTHING = (
    tool(
        "echo",
        "Echoes back the input string",
        {"message": text("Message to echo")},
        "message",
        "Echo Tool",
    ),
    tool(
        "get-sum",
        "Returns the sum of two numbers",
        {"a": number("First number"), "b": number("Second number")},
        "a b",
        "Get Sum Tool",
    ),
    tool(
        "get-env",
        "Returns all environment variables, helpful for debugging MCP server configuration",
    ),
    tool("get-tiny-image", "Returns a tiny MCP logo image."),
    tool(
        "get-structured-content",
        "Returns structured content along with an output schema for client data validation",
        {"location": text("Choose city", enum=["New York", "Chicago", "Los Angeles"])},
        "location",
    ),
    tool(
        "trigger-long-running-operation",
        "Demonstrates a long running operation with progress updates.",
        {
            "duration": number("Duration of the operation in seconds", default=10),
            "steps": number("Number of steps in the operation", default=5),
        },
    ),
    tool(
        "get-annotated-message",
        "Demonstrates how annotations can be used to provide metadata about content.",
        {
            "messageType": text("Type of message", enum=["error", "success", "debug"]),
            "includeImage": flag("Whether to include an example image", default=False),
        },
        "messageType",
    ),
)

REPO = text("Path to the Git repository")

GIT = (
    tool("git_status", "Shows the working tree status", {"repo_path": REPO}, "repo_path"),
    tool(
        "git_diff_unstaged",
        "Shows changes in the working directory that are not yet staged",
        {"repo_path": REPO, "context_lines": whole("Lines of context", default=3)},
        "repo_path",
    ),
    tool(
        "git_diff_staged",
        "Shows changes that are staged for commit",
        {"repo_path": REPO, "context_lines": whole("Lines of context", default=3)},
        "repo_path",
    ),
    tool(
        "git_commit",
        "Records changes to the repository",
        {"repo_path": REPO, "message": text("Commit message")},
        "repo_path message",
    ),
    tool(
        "git_add",
        "Adds file contents to the staging area",
        {
            "repo_path": REPO,
            "files": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Files to stage",
            },
        },
        "repo_path files",
    ),
    tool("git_reset", "Unstages all staged changes", {"repo_path": REPO}, "repo_path"),
    tool(
        "git_log",
        "Shows the commit logs",
        {"repo_path": REPO, "max_count": whole("Maximum number of commits to show", default=10)},
        "repo_path",
    ),
    tool(
        "git_create_branch",
        "Creates a new branch from an optional base branch",
        {
            "repo_path": REPO,
            "branch_name": text("Name of the new branch"),
            "base_branch": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        },
        "repo_path branch_name",
    ),
    tool(
        "git_checkout",
        "Switches branches",
        {"repo_path": REPO, "branch_name": text("Name of the branch to check out")},
        "repo_path branch_name",
    ),
    tool(
        "git_show",
        "Shows the contents of a commit",
        {"repo_path": REPO, "revision": text("Revision to show: commit hash, branch name or tag")},
        "repo_path revision",
    ),
)

TIME = (
    tool(
        "get_current_time",
        "Get current time in a specific timezone",
        {
            "timezone": text(
                "IANA timezone name (e.g., 'America/New_York', 'Europe/London'). Use 'Etc/UTC' as "
                "local timezone if "
                "no timezone is provided by the user."
            )
        },
        "timezone",
    ),
    tool(
        "convert_time",
        "Convert time between timezones",
        {
            "source_timezone": text(
                "Source IANA timezone name (e.g., 'America/New_York', 'Europe/London')."
            ),
            "time": text("Time to convert in 24-hour format (HH:MM)"),
            "target_timezone": text(
                "Target IANA timezone name (e.g., 'Asia/Tokyo', 'America/San_Francisco')."
            ),
        },
        "source_timezone time target_timezone",
    ),
)

HR = (
    tool(
        "find_employees",
        "Search the staff directory by name, department or job title.",
        {
            "name": text("Full or partial name"),
            "department": text("Department", enum=["engineering", "sales", "finance", "people"]),
            "title": text("Job title"),
        },
    ),
    tool(
        "get_employee",
        "Get one employee's record: position, manager, start date and office.",
        {
            "employee_id": text("Employee id such as E1007"),
            "include_salary": flag("Whether to include salary and bonus", default=False),
        },
        "employee_id",
    ),
    tool(
        "get_salary_statistics",
        "Salary statistics of a department: average, median, lowest and highest pay.",
        {"department": text("Department", enum=["engineering", "sales", "finance", "people"])},
        "department",
    ),
    tool(
        "request_time_off",
        "File a vacation request for an employee.",
        {
            "employee_id": text("Employee id such as E1007"),
            "start_date": text("First day off", format="date"),
            "end_date": text("Last day off", format="date"),
        },
        "employee_id start_date end_date",
    ),
    tool(
        "terminate_employee",
        "End an employee's contract and remove all of their access. Irreversible.",
        {"employee_id": text("Employee id such as E1007")},
        "employee_id",
    ),
)

TRACKER = (
    tool(
        "list_issues",
        "List issues of a project, filtered by state, label or assignee.",
        {
            "state": text("Issue state", enum=["open", "closed", "all"], default="open"),
            "labels": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Only issues with these labels",
            },
            "assignee": text("User name of the assignee"),
            "per_page": whole("Results per page", default=30),
        },
    ),
    tool(
        "get_issue",
        "Get the description, state and comments of a single issue.",
        {"issue_number": whole("Number of the issue")},
        "issue_number",
    ),
    tool(
        "create_issue",
        "Open a new issue.",
        {
            "title": text("Short title"),
            "body": text("Longer description"),
            "labels": {
                "type": "array",
                "items": {"type": "string", "enum": ["bug", "feature", "docs"]},
            },
        },
        "title",
    ),
    tool(
        "add_comment",
        "Post a comment on an issue.",
        {"issue_number": whole("Number of the issue"), "comment": text("Text of the comment")},
        "issue_number comment",
    ),
    tool(
        "close_issue",
        "Close an issue.",
        {"issue_number": whole("Number of the issue")},
        "issue_number",
    ),
)

TOOLSETS: dict[str, ToolList] = {
    "governance": ToolList(tools=GOVERNANCE),
    "finance": ToolList(tools=FINANCE),
    "sales": ToolList(tools=SALES),
    "files": ToolList(tools=FILES),
    "everything": ToolList(tools=EVERYTHING),
    "git": ToolList(tools=GIT),
    "time": ToolList(tools=TIME),
    "hr": ToolList(tools=HR),
    "tracker": ToolList(tools=TRACKER),
}
