"""The shapes of the newsroom's tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import mcp_types as types

_TEXT: Final = {"type": "string"}
_STORY: Final = {"type": "string", "description": "Id of a story, such as S-101."}
_PERSON: Final = {"type": "string", "description": "Id of a contributor, such as P-12."}
_DAY: Final = {"type": "string", "description": "A day, such as 2026-05-01."}
_READS: Final = types.ToolAnnotations(read_only_hint=True)
_WRITES: Final = types.ToolAnnotations(read_only_hint=False, destructive_hint=False)


def _tool(
    name: str,
    description: str,
    needed: Mapping[str, Any],
    optional: Mapping[str, Any] | None = None,
    annotations: types.ToolAnnotations = _READS,
) -> types.Tool:
    return types.Tool(
        name=name,
        description=description,
        input_schema={
            "type": "object",
            "properties": {**needed, **(optional or {})},
            "required": list(needed),
            "additionalProperties": False,
        },
        annotations=annotations,
    )


TOOLS: Final[Mapping[str, types.Tool]] = {
    tool.name: tool
    for tool in (
        _tool(
            "get_story",
            "Get a story; chosen fields of it (title, author.name ...), a revision, or its text "
            "as of a day.",
            {"story_id": _STORY},
            {
                "fields": {"type": "string", "description": "Names separated by commas."},
                "revision": {"type": "integer", "description": "1 is the first."},
                "as_of": _DAY,
            },
        ),
        _tool(
            "get_stories",
            "Get several stories by their ids.",
            {"story_ids": {"type": "array", "items": _TEXT}},
        ),
        _tool(
            "list_stories",
            "List stories of a state and a desk, sorted by a field.",
            {},
            {"state": _TEXT, "desk": _TEXT, "sort": _TEXT},
        ),
        _tool("search_stories", "Find stories by a word.", {"query": _TEXT}),
        _tool("recent_searches", "List what you searched for last.", {}),
        _tool("story_digest", "Sum up a story in one sentence.", {"story_id": _STORY}),
        _tool(
            "count_stories",
            "Count stories, grouped by a field such as state.",
            {},
            {"group_by": _TEXT},
        ),
        _tool("list_revisions", "List when a story was saved.", {"story_id": _STORY}),
        _tool("related_stories", "List other stories of the same desk.", {"story_id": _STORY}),
        _tool("open_link", "Open the link of a shared story, such as L-81.", {"link": _TEXT}),
        _tool("suggest_titles", "Suggest titles that begin so.", {"start": _TEXT}),
        _tool("export_stories", "Export stories of a desk, or all, as CSV.", {}, {"desk": _TEXT}),
        _tool("embargo_calendar", "List which stories are held back until when.", {}),
        _tool(
            "get_contributor",
            "Get a contributor, or chosen fields.",
            {"contributor_id": _PERSON},
            {"fields": {"type": "string", "description": "Names separated by commas."}},
        ),
        _tool("list_contributors", "List contributors.", {}),
        _tool("find_contributor", "Find who signs with an alias.", {"alias": _TEXT}),
        _tool("search_volumes", "Search the volumes before 1950.", {"query": _TEXT}),
        _tool(
            "open_sealed",
            "Say since when a story is sealed.",
            {"story_id": _STORY, "code": {"type": "string", "description": "Its code."}},
        ),
        _tool(
            "create_story",
            "Create a draft, with the text of another story if a template is given.",
            {"title": _TEXT},
            {"desk": _TEXT, "template": _STORY},
            _WRITES,
        ),
        _tool(
            "update_story", "Retitle a story.", {"story_id": _STORY, "title": _TEXT}, None, _WRITES
        ),
        _tool(
            "move_story",
            "Move a story to a desk.",
            {"story_id": _STORY, "desk": _TEXT},
            None,
            _WRITES,
        ),
        _tool("copy_story", "Copy a story.", {"story_id": _STORY}, None, _WRITES),
        _tool(
            "comment_story",
            "Comment on a story.",
            {"story_id": _STORY, "text": _TEXT},
            None,
            _WRITES,
        ),
        _tool(
            "share_story",
            "Share a story with a contributor.",
            {"story_id": _STORY, "contributor_id": _PERSON},
            None,
            _WRITES,
        ),
    )
}
"""By name."""
