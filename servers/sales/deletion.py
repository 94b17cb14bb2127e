"""The deletion of a project, which asks the user first."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name
# The SDK reads the annotations of the functions below, which name each other: they are no texts.

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from mcp.server.elicitation import ElicitationResult
from mcp.server.mcpserver import Context, Elicit, Resolve
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel, Field

from ..common.database import Row
from . import arguments as a
from . import results as r
from .database import SalesDatabase


class DeletionConsent(BaseModel):
    """What the user is asked."""

    confirm: bool = Field(title="Delete the project", description="It cannot be brought back.")


def make_deletion(
    database: SalesDatabase, find_project: Callable[[str], Row]
) -> Callable[..., Awaitable[r.ProjectDeleted]]:
    """Return the tool; ``find_project`` raises a `ToolError` for an unknown id."""

    async def ask_user(
        project_id: a.Project, context: Context[Any, Any]
    ) -> Elicit[DeletionConsent]:
        project = find_project(project_id)
        able = context.request_context.session.client_capabilities
        if able is None or able.elicitation is None:
            raise ToolError(
                f"{project_id} was not deleted: the user has to agree, and this client cannot ask"
            )
        named = f"{project_id} ({project['name']}) of {project['customer']}"
        return Elicit(f"Delete project {named} for good?", DeletionConsent)

    async def delete_project(
        project_id: a.Project,
        consent: Annotated[ElicitationResult[DeletionConsent], Resolve(ask_user)],
    ) -> r.ProjectDeleted:
        """Delete one project for good.

        The user is asked first. This cannot be undone. Use it only when the user asks to delete or
        remove a project, never to close or to look at one.
        """
        project = find_project(project_id)
        if consent.action != "accept" or not consent.data.confirm:
            raise ToolError(f"{project_id} was not deleted: the user did not agree")
        database.delete_project(project_id)
        return r.ProjectDeleted(project_id=project_id, name=project["name"], deleted=True)

    return delete_project
