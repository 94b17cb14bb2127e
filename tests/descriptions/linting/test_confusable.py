"""Tools that a model may take for each other are told.

Families that are plainly told apart are not.
"""

from __future__ import annotations

import pytest

from harness.descriptions.linting.findings import lint_tools
from harness.types import Tool, ToolList


def taking(tool_name: str, description: str, *required: str) -> Tool:
    properties = {name: {"type": "string"} for name in required}
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return Tool(name=tool_name, description=description, input_schema=schema)


def are_confusable(one: Tool, other: Tool) -> bool:
    third = taking("ping", "Check that the service is up.")
    return any(
        finding.rule == "confusable" for finding in lint_tools(ToolList(tools=(one, other, third)))
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (taking("get_customer", "Get a customer by id.", "customer_id"),
         taking("fetch_client", "Retrieve a client by id.", "client_id")),
        (taking("search_orders", "Search orders.", "query"),
         taking("find_orders", "Find orders.", "query")),
        (taking("delete_order", "Delete an order.", "id"),
         taking("remove_order", "Remove an order from the system.", "id")),
        (taking("read_file", "Read a file.", "path"), taking("read_text_file", "Read a file as "
        "text.", "path")),
        (taking("cache_get_many", "Get multiple values from the cache.", "keys"),
         taking("cache_get_multi", "Get multiple values from the cache (alias).", "keys")),
        (taking("get_weather", "Get the weather for a city.", "city"),
         taking("get_forecast", "Get the weather forecast for a city.", "city")),
    ],
    ids=lambda tool: tool.name,
)  # fmt: skip
def test_two_words_for_one_thing_are_confusable(one: Tool, other: Tool) -> None:
    assert are_confusable(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (taking("create_branch", "Create a new branch in a project", "project", "branch"),
         taking("create_issue", "Create a new issue in a project", "project", "title")),
        (taking("create_entities", "Create multiple new entities in the graph", "entities"),
         taking("create_relations", (
             "Create multiple new relations between entities in the graph"
         ), "relations")),
        (taking("get_comments", "Get the review comments on a pull request", "number"),
         taking("create_review", "Create a review on a pull request", "number", "body")),
        (taking("get_commit", "Get details of a specific commit", "sha"),
         taking("get_commit_diff", "Get the diff of a specific commit", "sha")),
        (taking("merge_request", "Merge a request.", "id"),
         taking("list_requests", "List all requests to merge.", "id")),
        (taking("get_label", "Get a label of a project", "id"),
         taking("get_namespace", "Get details of a namespace (label or project)", "id")),
        (taking("list_todos", "List to-do items of the user"),
         taking("mark_all_todos", "Mark all to-do items of the user as done")),
        (taking("get_incoming_moves", "Get all domains that move to your account"),
         taking("get_outgoing_moves", "Get all domains that move from your account")),
        (taking("users_get_current", "Get the current user."),
         taking("users_get_current_teams", "Get the teams of the current user.")),
        (taking("getProfileV1", "Retrieve a contact profile.", "id"),
         taking("getProfileUsageV1", "Retrieve the usage of a contact profile.", "id")),
        (taking("geocode", "Convert an address into geographic coordinates", "address"),
         taking("reverse_geocode", "Convert coordinates into an address", "latitude", "longitude")),
        (taking("get_user", "Retrieve a user", "user_id"), taking("get_users", "List all users")),
        (taking("search_repositories", "Search for GitHub repositories", "query"),
         taking("search_code", "Search for code across GitHub repositories", "q")),
        (taking("get_reviews", "Get the reviews on a pull request", "number"),
         taking("get_comments", "Get the review comments on a pull request", "number")),
        (taking("get_branch", "Get branch details (protection status).", "name"),
         taking("get_protected_branch", "Get details of a protected branch.", "name")),
        (taking("acme_update_project", "Update an existing project", "id"),
         taking("acme_update_project_update", "Update an existing project update", "id")),
        (taking("create_reply", "Create a draft to reply to the sender", "id"),
         taking("create_reply_all", "Create a draft to reply to the sender and all", "id")),
        (taking("users_list", "Get all users."),
         taking("users_get_current", "Get the current user.")),
        (taking("get_pages", "List all pages in a space.", "space"),
         taking("get_trashed_pages", "List all trashed pages in a space.", "space")),
        (taking("list_releases", "List releases in a repository", "repo"),
         taking("get_latest_release", "Get the latest release in a repository", "repo")),
        (taking("get_repositories", "Returns the repositories of a project", "project"),
         taking("get_repository", "Returns a repository of a project", "project")),
        (taking("cache_get", "Get a value from the cache.", "key"),
         taking("cache_get_many", "Get multiple values from the cache.", "keys")),
        (taking("get_refs_to", "Get all references to the address.", "address"),
         taking("get_refs_from", "Get all references from the address.", "address")),
        (taking("get_instance", "Get details of an instance by id.", "instance_id"),
         taking("get_instance_by_name", "Get details of an instance by name.", "name")),
        (taking("start_vm", "Start a virtual machine.", "id"), taking("stop_vm", "Stop a virtual "
        "machine.", "id")),
        (taking("by_id", "Get a user by id.", "user_id"),
         taking("by_email", "Get a user by email.", "email")),
        (taking("list_pods", "List pods in a namespace.", "namespace"),
         taking("list_services", "List services in a namespace.", "namespace")),
        (taking("update_block", (
            "Notion | Update a block\nError Responses:\n400: Bad request"
        ), "block_id"),
         taking("retrieve_block", (
             "Notion | Retrieve a block\nError Responses:\n400: Bad request"
         ), "block_id")),
        (taking("git_reset", "Unstages all staged changes", "repo_path"),
         taking("git_diff_unstaged", "Shows changes in the working directory that are not yet "
        "staged", "repo_path")),
    ],
    ids=lambda tool: tool.name,
)  # fmt: skip
def test_a_family_that_is_plainly_told_apart_is_not(one: Tool, other: Tool) -> None:
    assert not are_confusable(one, other)
