"""The server remembers something of one call that it uses for another."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

import anyio
import mcp_types as types

from tests.proofs.planted.calls import Call
from tests.proofs.planted.clinic import Clinic
from tests.proofs.planted.data import Record


class LastCallerKept(Clinic):
    """Who comes without an identity gets that of the caller before."""

    _last: Mapping[str, Any] = {}  # replaced, never changed

    def identify(self, call: Call) -> Mapping[str, Any]:
        self._last = super().identify(call) or self._last
        return self._last


class FirstCallerKept(Clinic):
    """The first identity that comes is everybody's."""

    _first: Mapping[str, Any] = {}

    def identify(self, call: Call) -> Mapping[str, Any]:
        self._first = self._first or super().identify(call)
        return self._first


class HighestKept(Clinic):
    """Once a director has come, everybody is one."""

    _seen = False

    def role(self, who: Mapping[str, Any]) -> str | None:
        role = super().role(who)
        self._seen = self._seen or role == "director"
        return "director" if self._seen and role else role


class CachedAnswers(Clinic):
    """Answers are cached by tool and arguments, whoever asks."""

    def __init__(self, seed: int = 1) -> None:
        super().__init__(seed)
        self._cache: dict[str, types.CallToolResult] = {}

    def answer(self, call: Call) -> types.CallToolResult:
        key = json.dumps([call.tool, call.args], sort_keys=True)
        if key not in self._cache:
            answer = super().answer(call)
            if answer.is_error:
                return answer
            self._cache[key] = answer
        return self._cache[key]


class CachedByRole(CachedAnswers):
    """Answers are cached by role, though they depend on the ward and the person too."""

    def answer(self, call: Call) -> types.CallToolResult:
        key = json.dumps([call.tool, call.args, self.role(self.identify(call))], sort_keys=True)
        if key not in self._cache:
            self._cache[key] = Clinic.answer(self, call)
        return self._cache[key]


class CachedList(Clinic):
    """The list of tools is cached for all, as the first caller was shown it."""

    _list: list[types.Tool] | None = None

    def tools(self, who: Mapping[str, Any]) -> list[types.Tool]:
        if self._list is None or len(super().tools(who)) > len(self._list):
            self._list = super().tools(who)
        return self._list


class RoleOfPerson(Clinic):
    """The role of a person is remembered, by their id, for as long as the server runs."""

    def __init__(self, seed: int = 1) -> None:
        super().__init__(seed)
        self._roles: dict[str, Any] = {}

    def role(self, who: Mapping[str, Any]) -> str | None:
        return super().role(
            {"role": self._roles.setdefault(str(who.get("staff_id")), who.get("role"))}
        )


class AllowedOnce(Clinic):
    """A call that one was allowed to make is allowed to all afterwards, unfiltered."""

    def __init__(self, seed: int = 1) -> None:
        super().__init__(seed)
        self._allowed: set[str] = set()

    def fields(self, kind: str, record: Record, call: Call) -> dict[str, Any]:
        shown = super().fields(kind, record, call)
        key = json.dumps([call.tool, call.args])
        if shown == record:
            self._allowed.add(key)
        return dict(record) if key in self._allowed else shown


class FifthCall(Clinic):
    """The fifth call of a kind, and all after it, is not checked any more."""

    def __init__(self, seed: int = 1) -> None:
        super().__init__(seed)
        self._calls: Counter[str] = Counter()

    def fields(self, kind: str, record: Record, call: Call) -> dict[str, Any]:
        key = json.dumps([call.tool, call.args, dict(call.who)], default=str)
        self._calls[key] += call.tool in ("get_patient", "get_staff")
        return dict(record) if self._calls[key] > 4 else super().fields(kind, record, call)


class EleventhCall(Clinic):
    """Each eleventh call of a caller is answered by another node, which has no policy."""

    def __init__(self, seed: int = 1) -> None:
        super().__init__(seed)
        self._calls: Counter[str] = Counter()

    def told(self, call: Call, shown: dict[str, Any]) -> types.CallToolResult:
        key = json.dumps(dict(call.who), default=str)
        self._calls[key] += 1
        if self._calls[key] % 11 == 0:
            shown = {**shown, **self.withheld(call)}
        return super().told(call, shown)


class SecondTry(Clinic):
    """What was refused once is let through when it is asked again at once."""

    _refused = ""

    def answer(self, call: Call) -> types.CallToolResult:
        key = json.dumps([call.tool, call.args, dict(self.identify(call))], default=str)
        if key == self._refused:
            call.who = self.identify(call)
            if truth := self.truth(call):
                return self.told(call, truth)
        answer = super().answer(call)
        self._refused = key if answer.is_error else ""
        return answer


class WarmingUp(Clinic):
    """The first three answers come before the policy is loaded."""

    _calls = 0

    def fields(self, kind: str, record: Record, call: Call) -> dict[str, Any]:
        self._calls += 1
        return dict(record) if self._calls <= 3 else super().fields(kind, record, call)


class LastPatient(Clinic):
    """A result says which record was looked at before, by whomever."""

    _before: Record | None = None

    def told(self, call: Call, shown: dict[str, Any]) -> types.CallToolResult:
        told = super().told(call, {**shown, "previous": self._before} if self._before else shown)
        self._before = shown if call.tool == "get_patient" else self._before
        return told


class SharedBuffer(Clinic):
    """The text of a result still has the end of the text before it."""

    _buffer = ""

    def told(self, call: Call, shown: dict[str, Any]) -> types.CallToolResult:
        told = json.dumps(shown)
        self._buffer = told + self._buffer[len(told) :]
        block = types.TextContent(text=self._buffer)
        return types.CallToolResult(content=[block], structured_content=shown)


class Race(Clinic):
    """The caller is kept in one place for all, and looked up after a wait."""

    _current: Mapping[str, Any] = {}
    _waited = False

    async def answer_later(self, call: Call) -> types.CallToolResult:
        self._current = super().identify(call)
        await anyio.sleep(0.002)
        return self.answer(call)

    def identify(self, call: Call) -> Mapping[str, Any]:
        return self._current if call.tool else super().identify(call)


class AfterWhoami(Clinic):
    """Who has asked `whoami` is taken for the one who asked it last."""

    _last: Mapping[str, Any] | None = None

    def identify(self, call: Call) -> Mapping[str, Any]:
        who = super().identify(call)
        if call.tool == "whoami":
            self._last = who
        return self._last if self._last is not None and who else who


class RightsAddUp(Clinic):
    """The fields that somebody may see are added to those that others may see."""

    def __init__(self, seed: int = 1) -> None:
        super().__init__(seed)
        self._seen: dict[str, set[str]] = {}

    def fields(self, kind: str, record: Record, call: Call) -> dict[str, Any]:
        shown = super().fields(kind, record, call)
        seen = self._seen.setdefault(kind, set())
        seen.update(shown)
        return {name: shown.get(name, value) for name, value in record.items() if name in seen}
