"""The second half: the same data by another road."""

from __future__ import annotations

from typing import Any

from tests.proofs.gazette.data import Row
from tests.proofs.gazette.faults.base import Step, fault
from tests.proofs.gazette.newsroom import Newsroom
from tests.proofs.gazette.policy import STORY_FIELDS, Caller


@fault("another road: resources", Step("reporter", "resource stories/S-103"), shows="{S-103.text}")
class PageOfDrafts(Newsroom):
    """The resource of a story asks for the outlet alone."""

    def story_page(self, caller: Caller, story_id: str) -> Row:
        """Forget the state."""
        found = self.archive.stories.get(story_id)
        self.require(found is not None and self.same_outlet(caller, found["outlet"]))
        assert found is not None
        return self.shown(caller, found)


@fault(
    "another road: groupings",
    Step("reporter", "list_stories", {"sort": "fee"}),
    holds=lambda said: "denied" not in said[-1],
)
class SortedByAnything(Newsroom):
    """Stories can be sorted by a field that the caller does not see."""

    def check_sort(self, caller: Caller, sort: str) -> None:
        """Refuse the code alone."""
        self.require(sort in STORY_FIELDS["chief"])


@fault(
    "another road: searches",
    Step("editor", "search_stories", {"query": "{S-102.source}"}),
    shows="{S-102.title}",
)
class SearchInSources(Newsroom):
    """A search also looks into the source, which it does not show."""

    def has(self, caller: Caller, story: Row, query: str) -> bool:
        """Look into the source."""
        found = query.casefold() in str(story["source"]).casefold()
        return super().has(caller, story, query) or bool(query and found)


@fault(
    "another road: templates",
    Step("reporter", "create_story", {"title": "x", "template": "S-103"}),
    shows="{S-103.text}",
)
class TemplateOfAnything(Newsroom):
    """A new story takes its text from any story of the outlet."""

    def template_text(self, caller: Caller, template: str) -> str:
        """Ask for the outlet alone."""
        found = self.archive.stories.get(template)
        self.require(found is not None and self.same_outlet(caller, found["outlet"]))
        assert found is not None
        return str(found["text"])


@fault(
    "another road: summaries",
    Step("reporter", "story_digest", {"story_id": "S-111"}),
    shows="{S-111.title}",
)
class DigestOfAnything(Newsroom):
    """Each story of the outlet is summed up for everybody of it."""

    def story_digest(self, caller: Caller, story_id: str) -> str:
        """Ask for the outlet alone."""
        found = self.archive.stories.get(story_id)
        self.require(found is not None and self.same_outlet(caller, found["outlet"]))
        assert found is not None
        self.require(not self.is_gone(found))
        return f"{story_id}: {found['title']}. {found['text']}."


@fault(
    "another road: groupings",
    Step("editor", "count_stories", {"group_by": "source"}),
    shows="{S-102.source}",
)
class GroupedByAnything(Newsroom):
    """Counts can be grouped by a field that the caller does not see."""

    def check_group(self, caller: Caller, group_by: str) -> None:
        """Refuse the code alone."""
        self.require(group_by in STORY_FIELDS["chief"])


@fault("another road: prompts", Step("freelancer", "prompt S-103"), shows="{S-103.text}")
class PromptOfAnything(Newsroom):
    """The prompt for a headline has the text of any story of the outlet."""

    def headline(self, caller: Caller, story_id: str) -> str:
        """Ask for the outlet alone."""
        found = self.archive.stories.get(story_id)
        self.require(found is not None and self.same_outlet(caller, found["outlet"]))
        assert found is not None
        return f"Write a headline for {self.shown(caller, found)}"


@fault(
    "another road: field lists",
    Step("reporter", "get_story", {"story_id": "S-102", "fields": "title,author.phone"}),
    shows="{P-13.phone}",
)
class DottedFields(Newsroom):
    """A dotted name among the fields reaches the whole record of the author."""

    def field(self, caller: Caller, story: Row, shown: Row, outer: str, inner: str) -> Any:
        """Look into the author's record."""
        if inner and outer == "author":
            return self.archive.people[story["author"]].get(inner)
        return super().field(caller, story, shown, outer, inner)


@fault(
    "another road: suggestions",
    Step("freelancer", "suggest_titles", {"start": ""}),
    shows="{S-103.title}",
)
class SuggestsAllTitles(Newsroom):
    """Suggestions come from the titles of all stories."""

    def suggest_titles(self, caller: Caller, start: str) -> Row:
        """Suggest from all."""
        titles = [one["title"] for one in self.every_story()]
        return {"titles": [one for one in titles if one.startswith(start)]}
