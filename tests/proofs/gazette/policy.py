"""Who may see what in the newsroom.

| role | stories | of a story | contributors |
|---|---|---|---|
| chief | of the own outlet | everything but the code | of the own outlet, everything |
| editor | of the own outlet and desks | no source | of the own outlet, no phone, no iban |
| reporter | own, and what the own outlet published | no source, no fee | the same, no email |
| freelancer | own, and what is shared with them | title, state, text | own record |

Deleted stories are nobody's. Memberships, delegations and shares end on a day, or are revoked.
Older revisions are the chief's. A locked story is changed by the chief alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tests.proofs.gazette.data import CURRENT, TODAY, Archive, Row

STORY_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "chief": (
        "story_id", "title", "desk", "outlet", "author", "state", "embargo", "text", "fee",
        "source",
    ),
    "editor": (
        "story_id", "title", "desk", "outlet", "author", "state", "embargo", "text", "fee",
    ),
    "reporter": ("story_id", "title", "desk", "outlet", "author", "state", "embargo", "text"),
    "freelancer": ("story_id", "title", "state", "text"),
}  # fmt: skip
"""What each role sees of a story."""
PERSON_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "chief": ("contributor_id", "name", "alias", "outlet", "email", "phone", "iban"),
    "editor": ("contributor_id", "name", "alias", "outlet", "email"),
    "reporter": ("contributor_id", "name", "alias", "outlet"),
    "freelancer": ("contributor_id", "name", "alias", "outlet", "email", "phone", "iban"),
}
"""What each role sees of a contributor."""


class Denied(Exception):
    """The caller may not do this; the text is the same whatever exists."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks."""

    role: str = ""
    """Empty for nobody."""
    contributor_id: str = ""
    outlet: str = ""


NOBODY: Final = Caller()


class Policy:
    """The newsroom's rules, one method each."""

    def __init__(self, archive: Archive) -> None:
        """Rule over ``archive``."""
        self.archive = archive

    def caller(self, attributes: Mapping[str, Any]) -> Caller:
        """Return who has these attributes: `NOBODY` unless all three are texts."""
        values = [attributes.get(name) for name in ("role", "contributor_id", "outlet")]
        if not all(isinstance(value, str) and value for value in values):
            return NOBODY
        role, contributor_id, outlet = map(str, values)
        person = self.archive.people.get(contributor_id)
        if role not in STORY_FIELDS or person is None or person["outlet"] != outlet:
            return NOBODY
        return Caller(role, contributor_id, outlet)

    def require(self, allowed: bool) -> None:
        """Refuse unless ``allowed``.

        Raises:
            Denied: it is not.
        """
        if not allowed:
            raise Denied("Access denied: there is no such record, or you may not use it this way")

    # Rights

    def today(self, as_of: str) -> str:
        """Return the day whose rights count: never the one that was asked for."""
        return TODAY

    def ends(self, until: str, day: str) -> bool:
        """Return whether a right had ended by a day."""
        return bool(until) and until < day

    def is_member(self, row: Row, caller: Caller, day: str) -> bool:
        """Return whether a membership gives the caller its desk on a day."""
        mine = row["contributor_id"] == caller.contributor_id
        return mine and row["since"] <= day and not self.ends(row["until"], day)

    def is_delegate(self, row: Row, caller: Caller, day: str) -> bool:
        """Return whether a delegation gives the caller its desk on a day."""
        return row["to"] == caller.contributor_id and not self.ends(row["until"], day)

    def desks(self, caller: Caller, day: str) -> set[str]:
        """Return the desks of an editor on a day."""
        members = (one for one in self.archive.members if self.is_member(one, caller, day))
        handed = (one for one in self.archive.delegated if self.is_delegate(one, caller, day))
        return {one["desk"] for one in (*members, *handed)}

    def in_desks(self, desk: str, desks: set[str]) -> bool:
        """Return whether a desk is one of the caller's."""
        return desk in desks

    def same_outlet(self, caller: Caller, outlet: str | None) -> bool:
        """Return whether a record is of the caller's outlet."""
        return outlet == caller.outlet

    def owns(self, caller: Caller, story: Row) -> bool:
        """Return whether a story is the caller's own."""
        return bool(story["author"] == caller.contributor_id)

    def is_open(self, share: Row, day: str) -> bool:
        """Return whether a share still holds."""
        return not share["revoked"] and not self.ends(share["until"], day)

    def shared_with(self, caller: Caller, story: Row, day: str) -> bool:
        """Return whether a story is shared with the caller."""
        return any(
            one["story_id"] == story["story_id"]
            and one["with"] == caller.contributor_id
            and self.is_open(one, day)
            for one in self.archive.shares
        )

    def is_published(self, story: Row) -> bool:
        """Return whether a story is out."""
        return story["state"] in ("published", "locked")

    def is_gone(self, story: Row) -> bool:
        """Return whether a story was deleted."""
        return bool(story["state"] == "deleted")

    def may_read(self, caller: Caller, story: Row, as_of: str = "") -> bool:
        """Return whether the caller may know of a story."""
        day = self.today(as_of)
        if not caller.role or self.is_gone(story):
            return False
        if caller.role == "freelancer":
            return self.owns(caller, story) or self.shared_with(caller, story, day)
        if not self.same_outlet(caller, story["outlet"]):
            return False
        if caller.role == "chief":
            return True
        if caller.role == "editor":
            return self.in_desks(story["desk"], self.desks(caller, day))
        return self.owns(caller, story) or self.is_published(story)

    def may_change(self, caller: Caller, story: Row) -> bool:
        """Return whether the caller may change a story."""
        if not self.may_read(caller, story):
            return False
        if story["state"] == "locked":
            return caller.role == "chief"
        return caller.role in ("chief", "editor") or self.owns(caller, story)

    def may_read_revision(self, caller: Caller, number: int) -> bool:
        """Return whether the caller may read a revision of a story: the current one, or any."""
        return caller.role == "chief" or number == CURRENT

    def may_know(self, caller: Caller, person: Row) -> bool:
        """Return whether the caller may know of a contributor."""
        if caller.role == "freelancer":
            return bool(person["contributor_id"] == caller.contributor_id)
        return bool(caller.role) and self.same_outlet(caller, person["outlet"])

    # What is shown

    def story_fields(self, caller: Caller) -> tuple[str, ...]:
        """Return what the caller sees of a story."""
        return STORY_FIELDS.get(caller.role, ())

    def person_fields(self, caller: Caller) -> tuple[str, ...]:
        """Return what the caller sees of a contributor."""
        return PERSON_FIELDS.get(caller.role, ())

    def shown(self, caller: Caller, story: Row) -> Row:
        """Return the part of a story that the caller sees."""
        return {name: story[name] for name in self.story_fields(caller)}

    def shown_person(self, caller: Caller, person: Row) -> Row:
        """Return the part of a contributor's record that the caller sees."""
        return {name: person[name] for name in self.person_fields(caller)}
