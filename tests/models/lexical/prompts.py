"""Prompts and the calls that a capable model makes first for them.

`DEVELOPED_ON` was looked at while the model was written. `HELD_OUT` was written before the first
line of it and was not run until it was finished; two of its domains (``hr``, ``tracker``) do not
occur in the other half at all.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Prompt(NamedTuple):
    """A prompt and what should come first of it."""

    domain: str
    """Key of `toolsets.TOOLSETS`."""
    text: str
    """What the user says."""
    calls: tuple[tuple[str, dict[str, Any]], ...]
    """Tool and the arguments that it must get, others may be there; none at all means: no call."""


def _ask(domain: str, text: str, *calls: tuple[str, dict[str, Any]]) -> Prompt:
    return Prompt(domain, text, calls)


TODAY = "2026-03-10"

DEVELOPED_ON = (
    _ask(
        "governance",
        "Show me the details of customer CUST_00042.",
        ("get_customer_details", {"customer_id": "CUST_00042"}),
    ),
    _ask(
        "governance",
        "Show me the full profile of cust_00017 including PII.",
        ("get_customer_details", {"customer_id": "CUST_00017", "include_pii": True}),
    ),
    _ask(
        "governance",
        "Give me the profile of CUST_00017 without any personal information.",
        ("get_customer_details", {"customer_id": "CUST_00017", "include_pii": False}),
    ),
    _ask(
        "governance",
        "What is the lifetime value of CUST_00042 and what are their top categories?",
        ("get_customer_purchase_history", {"customer_id": "CUST_00042"}),
    ),
    _ask(
        "governance",
        "Which orders over $500 were shipped last year?",
        (
            "search_orders",
            {
                "status": "shipped",
                "start_date": "2025-01-01",
                "end_date": "2025-12-31",
                "min_amount": 500,
            },
        ),
    ),
    _ask(
        "governance",
        "List the 5 latest orders of CUST_00003.",
        ("search_orders", {"customer_id": "CUST_00003", "limit": 5}),
    ),
    _ask(
        "governance",
        "Find customers in the enterprise segment.",
        ("search_customers", {"segment": "enterprise"}),
    ),
    _ask(
        "governance",
        "Find a customer called Maria Keller.",
        ("search_customers", {"query": "Maria Keller"}),
    ),
    _ask(
        "governance",
        "Delete customer CUST_00042, they asked us to.",
        ("delete_customer", {"customer_id": "CUST_00042"}),
    ),
    _ask(
        "governance",
        "Please change the email address of CUST_00009 to jo@example.org.",
        ("update_customer", {"customer_id": "CUST_00009", "email": "jo@example.org"}),
    ),
    _ask(
        "governance",
        "Show the customer CUST_00042 and also list the returned orders from 2024.",
        ("get_customer_details", {"customer_id": "CUST_00042"}),
        (
            "search_orders",
            {"status": "returned", "start_date": "2024-01-01", "end_date": "2024-12-31"},
        ),
    ),
    _ask("governance", "What is the capital of Norway?"),
    _ask("finance", "What is Apple's stock price?", ("get_stock_price", {"ticker": "AAPL"})),
    _ask(
        "finance",
        "Compare Apple and Microsoft stock prices.",
        ("get_stock_price", {"ticker": "AAPL"}),
        ("get_stock_price", {"ticker": "MSFT"}),
    ),
    _ask(
        "finance",
        "How did TSLA do over the last 6 months?",
        ("get_stock_price", {"ticker": "TSLA", "period": "6mo"}),
    ),
    _ask(
        "finance",
        "If I invest $10,000 at 7% for 10 years, what will I have?",
        ("calculate_investment_returns", {"principal": 10000, "annual_rate": 0.07, "years": 10}),
    ),
    _ask(
        "finance",
        "Show me the price-to-book and debt ratios of NVDA.",
        ("calculate_financial_ratios", {"ticker": "NVDA"}),
    ),
    _ask("finance", "What industry is Tesla in?", ("get_company_info", {"ticker": "TSLA"})),
    _ask(
        "sales",
        "What are our top 5 products by units?",
        ("get_top_products", {"limit": 5, "sort_by": "units"}),
    ),
    _ask(
        "sales",
        "Show the weekly sales trend in the north region for 2025.",
        ("get_sales_trend", {"granularity": "week", "region": "north", "start_date": "2025-01-01"}),
    ),
    _ask(
        "sales",
        "Which customers have not bought anything in the last 180 days?",
        ("find_inactive_customers", {"days": 180}),
    ),
    _ask(
        "sales", "How likely is c-1001 to leave us?", ("predict_churn", {"customer_id": "C-1001"})
    ),
    _ask(
        "files",
        "Read the file /srv/data/notes.txt",
        ("read_text_file", {"path": "/srv/data/notes.txt"}),
    ),
    _ask(
        "files",
        "Show me the first 20 lines of /var/log/app.log",
        ("read_text_file", {"path": "/var/log/app.log", "head": 20}),
    ),
    _ask("files", "What files are in /srv/data?", ("list_directory", {"path": "/srv/data"})),
    _ask(
        "files",
        'Write "hello there" into /tmp/a.txt',
        ("write_file", {"path": "/tmp/a.txt", "content": "hello there"}),
    ),
    _ask(
        "files",
        "Rename /srv/a.txt to /srv/b.txt",
        ("move_file", {"source": "/srv/a.txt", "destination": "/srv/b.txt"}),
    ),
    _ask("everything", "Echo hello world", ("echo", {"message": "hello world"})),
    _ask("everything", "What is the sum of 17 and 25?", ("get-sum", {"a": 17, "b": 25})),
    _ask("everything", "Which environment variables does the server have?", ("get-env", {})),
    _ask(
        "git",
        "What is the status of the repository at /srv/repo?",
        ("git_status", {"repo_path": "/srv/repo"}),
    ),
    _ask(
        "git",
        "Show the last 3 commits of /srv/repo",
        ("git_log", {"repo_path": "/srv/repo", "max_count": 3}),
    ),
    _ask(
        "git",
        "Create a branch named feature-x in /srv/repo",
        ("git_create_branch", {"repo_path": "/srv/repo", "branch_name": "feature-x"}),
    ),
    _ask(
        "time",
        "What time is it in Europe/Berlin now?",
        ("get_current_time", {"timezone": "Europe/Berlin"}),
    ),
    _ask(
        "time",
        "Convert 14:30 from America/New_York to Asia/Tokyo.",
        (
            "convert_time",
            {
                "source_timezone": "America/New_York",
                "time": "14:30",
                "target_timezone": "Asia/Tokyo",
            },
        ),
    ),
    _ask("time", "Tell me a joke about penguins."),
)

HELD_OUT = (
    _ask(
        "governance",
        "I need the email and phone number of customer CUST_00101.",
        ("get_customer_details", {"customer_id": "CUST_00101", "include_pii": True}),
    ),
    _ask(
        "governance",
        "How much has CUST_00077 spent with us so far?",
        ("get_customer_purchase_history", {"customer_id": "CUST_00077"}),
    ),
    _ask(
        "governance",
        "View customer CUST_00042 but do not delete anything.",
        ("get_customer_details", {"customer_id": "CUST_00042"}),
    ),
    _ask(
        "governance",
        "Show pending orders in Electronics placed this year, at most 10.",
        (
            "search_orders",
            {
                "status": "pending",
                "category": "Electronics",
                "start_date": "2026-01-01",
                "limit": 10,
            },
        ),
    ),
    _ask(
        "governance",
        "Remove the record of CUST_00500 for good.",
        ("delete_customer", {"customer_id": "CUST_00500"}),
    ),
    _ask(
        "governance",
        "What has Maria Keller bought from us?",
        ("search_customers", {"query": "Maria Keller"}),
    ),
    _ask("governance", "Write me a haiku about the sea."),
    _ask(
        "finance",
        "How has Google stock performed over the past year?",
        ("get_stock_price", {"ticker": "GOOGL", "period": "1y"}),
    ),
    _ask(
        "finance",
        "Where is Microsoft headquartered and what does it do?",
        ("get_company_info", {"ticker": "MSFT"}),
    ),
    _ask(
        "finance",
        "What's the P/E ratio of AMZN?",
        ("calculate_financial_ratios", {"ticker": "AMZN"}),
    ),
    _ask(
        "finance",
        "I put in 5000 dollars plus $200 a month at 6.5 percent for 20 years. How much is it worth "
        "in the end?",
        (
            "calculate_investment_returns",
            {"principal": 5000, "annual_rate": 0.065, "years": 20, "monthly_contribution": 200},
        ),
    ),
    _ask(
        "finance",
        "Get the current price and volume of AAPL and TSLA.",
        ("get_stock_price", {"ticker": "AAPL"}),
        ("get_stock_price", {"ticker": "TSLA"}),
    ),
    _ask("sales", "Show me product p-204.", ("get_product", {"product_id": "P-204"})),
    _ask(
        "sales",
        "How did daily revenue develop between 2025-06-01 and 2025-06-30?",
        (
            "get_sales_trend",
            {"granularity": "day", "start_date": "2025-06-01", "end_date": "2025-06-30"},
        ),
    ),
    _ask(
        "sales",
        "Which 3 products bring in the most revenue?",
        ("get_top_products", {"limit": 3, "sort_by": "revenue"}),
    ),
    _ask(
        "files", "How big is /srv/data/dump.sql?", ("get_file_info", {"path": "/srv/data/dump.sql"})
    ),
    _ask(
        "files",
        "Create a folder /srv/data/reports",
        ("create_directory", {"path": "/srv/data/reports"}),
    ),
    _ask(
        "files",
        "Search /srv/code for files matching *.py",
        ("search_files", {"path": "/srv/code", "pattern": "*.py"}),
    ),
    _ask("files", "Which directories may you access?", ("list_allowed_directories", {})),
    _ask("everything", "Add 3.5 and -2.", ("get-sum", {"a": 3.5, "b": -2})),
    _ask(
        "everything",
        "Give me an annotated message of type success with an image.",
        ("get-annotated-message", {"messageType": "success", "includeImage": True}),
    ),
    _ask(
        "everything",
        "Start a long running operation of 4 seconds in 2 steps.",
        ("trigger-long-running-operation", {"duration": 4, "steps": 2}),
    ),
    _ask(
        "git",
        'Commit the staged changes in /srv/repo with the message "Fix typo"',
        ("git_commit", {"repo_path": "/srv/repo", "message": "Fix typo"}),
    ),
    _ask(
        "git",
        "Stage the files app.py and README.md in /srv/repo",
        ("git_add", {"repo_path": "/srv/repo", "files": ["app.py", "README.md"]}),
    ),
    _ask(
        "git",
        "Switch /srv/repo to branch main",
        ("git_checkout", {"repo_path": "/srv/repo", "branch_name": "main"}),
    ),
    _ask(
        "time",
        "If it is 9am in Europe/London, what time is it in Australia/Sydney?",
        (
            "convert_time",
            {
                "source_timezone": "Europe/London",
                "time": "09:00",
                "target_timezone": "Australia/Sydney",
            },
        ),
    ),
    _ask(
        "hr", "Who works in the finance department?", ("find_employees", {"department": "finance"})
    ),
    _ask(
        "hr",
        "What does employee e1007 earn?",
        ("get_employee", {"employee_id": "E1007", "include_salary": True}),
    ),
    _ask(
        "hr",
        "What is the median pay in engineering?",
        ("get_salary_statistics", {"department": "engineering"}),
    ),
    _ask("hr", "Fire E1020.", ("terminate_employee", {"employee_id": "E1020"})),
    _ask(
        "hr",
        "Book vacation for E1044 from 2026-07-01 to 2026-07-14.",
        (
            "request_time_off",
            {"employee_id": "E1044", "start_date": "2026-07-01", "end_date": "2026-07-14"},
        ),
    ),
    _ask("hr", "Translate 'good morning' into French."),
    _ask("tracker", "Show me issue 42.", ("get_issue", {"issue_number": 42})),
    _ask(
        "tracker",
        "List closed issues labelled bug.",
        ("list_issues", {"state": "closed", "labels": ["bug"]}),
    ),
    _ask(
        "tracker",
        'Open a bug titled "Crash on start".',
        ("create_issue", {"title": "Crash on start", "labels": ["bug"]}),
    ),
    _ask(
        "tracker",
        'Comment "Fixed in 1.2" on issue #7 and then close it.',
        ("add_comment", {"issue_number": 7, "comment": "Fixed in 1.2"}),
        ("close_issue", {"issue_number": 7}),
    ),
)
