"""Sound newsrooms that look odd: a probe must find nothing in any of them."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Final

from tests.proofs.gazette.data import Row
from tests.proofs.gazette.newsroom import Newsroom
from tests.proofs.gazette.policy import Caller, Denied


class SaysWhetherItExists(Newsroom):
    """A record that does not exist is not found, and one of somebody else is refused."""

    def require(self, allowed: bool) -> None:
        """Refuse in other words."""
        if not allowed:
            raise Denied("Not found, or not yours to use: access denied")


class DropBox(Newsroom):
    """Everybody of an outlet may comment on any of its stories, and is told nothing of them."""

    def comment_story(self, caller: Caller, story_id: str, text: str) -> Row:
        """Take a comment without looking at the story."""
        found = self.archive.stories.get(story_id)
        self.require(found is not None and found["outlet"] == caller.outlet)
        self.archive.comments.append({"story_id": story_id, "text": text})
        return {"status": "taken"}


class ShuffledLists(Newsroom):
    """Lists come in another order each time, and each answer has a number of its own."""

    def list_stories(self, caller: Caller, state: str = "", desk: str = "", sort: str = "") -> Row:
        """Return stories in a random order, unless one is asked for."""
        found = super().list_stories(caller, state, desk, sort)
        rows = found["stories"]
        if not sort:
            random.shuffle(rows)
        return {"stories": rows, "request": f"r-{random.randint(10_000, 99_999)}"}


class CountedByEverybody(Newsroom):
    """Answers count how often anybody has asked, which limits nobody."""

    def search_volumes(self, caller: Caller, query: str) -> Row:
        """Search without a quota."""
        used = self.archive.used[""] = self.archive.used.get("", 0) + 1
        return {"volumes": [1931] if query else [], "searches_so_far": used}


class OpenMasthead(Newsroom):
    """A story's answer names its outlet's chief, with the address that is for everybody."""

    def get_stories(self, caller: Caller, story_ids: list[str]) -> Row:
        """Return stories and whom to write to."""
        found = super().get_stories(caller, story_ids)
        return {**found, "masthead": f"desk@{caller.outlet}.example.org"}


SOUND: Final[Mapping[str, type[Newsroom]]] = {
    "says_whether_it_exists": SaysWhetherItExists,
    "drop_box": DropBox,
    "shuffled_lists": ShuffledLists,
    "counted_by_everybody": CountedByEverybody,
    "open_masthead": OpenMasthead,
}
"""By name; the newsroom itself is sound, too."""
