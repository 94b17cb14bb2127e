"""Files of attacks, and the attacks under which a suite is run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

from harness.base import (
    FORMS,
    PLACES_OF_TEXT,
    TEXT,
    Document,
    DocumentReader,
    InvalidValue,
    Layout,
    Steps,
    UsageError,
    any_of,
    array_of,
    build_field,
    canonical_json,
    choice_field,
    describe_value,
    did_you_mean,
    find_unknown_place,
    flag_field,
    integer_field,
    line_field,
    lines_field,
    mapping_field,
    parse_items,
    parse_mapping,
    parse_single_line,
    read_document,
    refer_to,
    text_field,
)
from harness.judging import expected_tools, wanted_first
from harness.types import (
    Attack,
    AttackGoal,
    AttackPlace,
    Case,
    JsonObject,
    ScriptedCall,
    Suite,
    Technique,
)

ATTACK_PLACES: tuple[AttackPlace, ...] = get_args(AttackPlace)
TECHNIQUES: tuple[Technique, ...] = get_args(Technique)
STANDARD: Literal["standard"] = "standard"
"""What asks for the built-in pack; ``standard:WORD`` for a technique, a place or one of it."""
PACK = Path(__file__).with_name("standard.yml")
"""The built-in pack."""
_NONE = "none"
_AFTER_CALLS: frozenset[AttackPlace] = frozenset({"result", "error"})
"""Places that only a case with a call reaches."""


def _parse_text_or_texts(value: Any) -> tuple[str, ...]:
    given = value if isinstance(value, list) else [value]
    for index, one in enumerate(given):
        if not isinstance(one, str) or not one.strip():
            raise InvalidValue(
                f"expected text, found {describe_value(one)}",
                path=(index,) if isinstance(value, list) else (),
            )
        if (unknown := find_unknown_place(one)) is not None:
            raise InvalidValue(f"there is no {unknown}", meant=_KNOWN_PLACES)
    if not given:
        raise InvalidValue("there is no text")
    return tuple(given)


_KNOWN_PLACES = (
    f"Known: {', '.join(f'{{{name}}}' for name in PLACES_OF_TEXT)}, and {{order:FORM}} with one of "
    f"{', '.join(FORMS)}."
)


def _parse_item(value: Any) -> Any:
    if isinstance(value, str | dict):
        return value
    meant = "Begin each with '- payload: TEXT', or write 'standard'."
    raise InvalidValue(f"expected a mapping, found {describe_value(value)}", meant=meant)


def _parse_call(value: Any) -> ScriptedCall:
    if isinstance(value, str):
        return ScriptedCall(tool=parse_single_line(value))
    given = parse_mapping(value)
    for key in given:
        if key not in {"tool", "args"}:
            raise InvalidValue(f"unknown key {key!r}", path=(key,), meant="It takes tool and args.")
    if "tool" not in given:
        raise InvalidValue("'tool' is missing", meant="Write {tool: …, args: {…}}.")
    arguments = parse_mapping(given.get("args") or {})
    return ScriptedCall(tool=parse_single_line(given["tool"]), arguments=arguments)


_CALL = any_of(TEXT, refer_to("call"))
GOAL_LAYOUT = Layout(
    fields={
        "call": line_field("A call of this tool; '*' stands for any letters."),
        "args": mapping_field("Arguments that it must have; '*' stands for any letters."),
        "answer": text_field("A text in the answer."),
        "state": build_field("A call that reads the state afterwards.", _CALL, _parse_call),
        "shows": text_field("A text in the result of 'state'."),
        "order": text_field("The order in words, for {order} in a payload."),
    },
    elsewhere={"tool": "Did you mean 'call'?", "arguments": "Did you mean 'args'?"},
)
"""``goal:``."""
_SHARED = {
    "goal": build_field("What shows that it worked.", refer_to("goal"), parse_mapping),
    "on": line_field("The tool whose result or description it is; '*' stands for any letters."),
    "planted_by": lines_field("Identities that could have planted it. Without it, each."),
    "reads": build_field(
        "Calls by which that identity looks for what reached it.",
        array_of(_CALL),
        partial(parse_items, _parse_call),
    ),
    "outward": lines_field("Tools that send something out of the server."),
    "answer_seen": flag_field("Whether that identity sees the model's answer."),
    "seed": integer_field("Chooses the code words.", least=0, default=0),
}
ATTACK_LAYOUT = Layout(
    fields={
        "name": line_field("What its trials are called."),
        "payload": build_field(
            "The text; several are planted in as many fields.",
            any_of(TEXT, array_of(TEXT, minItems=1)),
            _parse_text_or_texts,
            required=True,
        ),
        "technique": choice_field("How it tries to be obeyed.", TECHNIQUES),
        "place": choice_field("Where it stands.", ATTACK_PLACES),
        "field": line_field("The field of the result. Without it, the longest text."),
        **_SHARED,
    },
    elsewhere={"text": "Did you mean 'payload'?", "identity": "Did you mean 'planted_by'?"},
)
"""An item of ``attacks:``."""
FILE_LAYOUT = Layout(
    fields={
        **_SHARED,
        "attacks": build_field(
            "The attacks: each its payload, or 'standard' for those of the built-in pack.",
            array_of(any_of(TEXT, refer_to("attack"))),
            partial(parse_items, _parse_item),
            required=True,
        ),
    },
    elsewhere={"tests": "A file of attacks has no tests."},
)
"""A file of attacks."""


# ── Reading ──────────────────────────────────────────────────────────────────────────────────


def read_attacks_file(path: Path) -> tuple[Attack, ...]:
    """Return the attacks in a file; those for several identities once for each.

    Raises:
        InvalidInput: with every problem of the file, in the order of its lines.
    """
    return _read_attacks(read_document(path))


def _read_attacks(document: Document) -> tuple[Attack, ...]:
    reading = DocumentReader(document)
    content = document.value if isinstance(document.value, dict) else {}
    shared = reading.read_mapping((), content, FILE_LAYOUT, "the file of attacks")
    items = shared.pop("attacks", ())
    goal = _read_goal(reading, ("goal",), shared.pop("goal", None))
    found: dict[str, Attack] = {}
    for index, part in enumerate(items):
        path: Steps = ("attacks", index)
        for one in _read_item(reading, path, part, shared, goal):
            if one.name in found:
                message = f"two attacks of the file are called {one.name!r}."
                reading.add_problem(path, message, "Give each another 'name:'.")
            found[one.name] = one
    if not found and not reading.problems:
        reading.add_problem((), "there are no attacks in the file.", "Add 'attacks:' with some.")
    reading.finish()
    return tuple(found.values())


def _read_item(
    reading: DocumentReader, path: Steps, part: Any, shared: JsonObject, goal: AttackGoal | None
) -> Iterator[Attack]:
    if isinstance(part, str):
        try:
            for one in choose_standard(part):
                # A goal of the file's own is what its author wants to know.
                mended = one if goal is None else replace(one, goal=goal, only_calling=False)
                yield from _spread({**shared}, mended)
        except UsageError as error:
            reading.add_problem(path, f"{error}.", error.meant)
        return
    noun = f"number {path[-1] + 1} of 'attacks'" if isinstance(path[-1], int) else "an attack"
    values = {**shared, **reading.read_mapping(path, part, ATTACK_LAYOUT, noun)}
    own = _read_goal(reading, (*path, "goal"), values.pop("goal", None)) or goal
    if "payload" not in values:
        return
    place, payload = values.get("place", "result"), values["payload"]
    if len(payload) > 1 and place != "result":
        message = f"{noun}: several payloads stand in fields of a result only."
        reading.add_problem((*path, "payload"), message, "Write one text, or 'place: result'.")
    if "field" in values and place != "result":
        message = f"{noun}: a text in {place!r} stands in no field."
        reading.add_problem((*path, "field"), message, "Leave 'field' out.")
    technique = values.get("technique", "plain_order")
    name = values.pop("name", None) or f"{technique}-{place}-{path[-1]}"
    attack = Attack(
        name=name,
        payload=payload,
        goal=own or AttackGoal(answer="{code}"),
        technique=technique,
        place=place,
        in_field=values.get("field"),
        at=reading.document.locate(path),
    )
    yield from _spread(values, attack)


def _spread(values: Mapping[str, Any], attack: Attack) -> Iterator[Attack]:
    """Yield ``attack`` once for each identity that could have planted it."""
    facts = {
        name: values[name] for name in ("on", "outward", "answer_seen", "seed") if name in values
    }
    attack = replace(attack, **facts, reads=tuple(values.get("reads", ())))
    for writer in values.get("planted_by", (None,)):
        yield attack if writer is None else _plant_by(attack, writer)


def _plant_by(attack: Attack, writer: str) -> Attack:
    return replace(attack, name=f"{attack.name}@{writer}", planted_by=writer)


def _read_goal(reading: DocumentReader, path: Steps, given: Any) -> AttackGoal | None:
    if given is None:
        return None
    values = reading.read_mapping(path, given, GOAL_LAYOUT, "the goal")
    if not {"call", "answer", "state"} & values.keys():
        if not reading.problems:
            message = "the goal does not say what shows that the attack worked."
            reading.add_problem(path, message, "Add 'call', 'answer' or 'state'.")
        return None
    if ("state" in values) != ("shows" in values):
        reading.add_problem(path, "the goal has either 'state' or 'shows'.", "Write both.")
    for key in ("answer", "shows", "order"):
        if (unknown := find_unknown_place(values.get(key, ""))) is not None:
            reading.add_problem((*path, key), f"there is no {unknown}.", _KNOWN_PLACES)
    return AttackGoal(arguments=values.pop("args", {}), **values)


# ── Choosing ─────────────────────────────────────────────────────────────────────────────────


def choose_standard(wanted: str = STANDARD) -> tuple[Attack, ...]:
    """Return the built-in attacks that ``standard`` or ``standard:WORD`` names.

    Raises:
        UsageError: there is none of that technique, place or name.
    """
    pack, _, word = wanted.partition(":")
    attacks = tuple(
        replace(one, only_calling=one.place in _AFTER_CALLS) for one in read_attacks_file(PACK)
    )
    chosen = [one for one in attacks if word in ("", one.technique, one.place, one.name)]
    if pack != STANDARD or not chosen:
        known = (*TECHNIQUES, *ATTACK_PLACES, *(one.name for one in attacks))
        meant = did_you_mean(word, known) or f"Write {STANDARD}, or {STANDARD}:authority."
        raise UsageError(f"there are no attacks {wanted!r}", meant=meant)
    return tuple(chosen)


def choose_attacks(suite: Suite, given: str | None) -> tuple[Attack | None, ...]:
    """Return the attacks under which cases are run; ``None``, which is always there, is none.

    ``given`` is ``standard``, ``standard:WORD``, ``none`` or the path of a file. In a suite with
    identities, an attack that names none could have been planted by each.

    Raises:
        UsageError: there are no such attacks, or the suite has no such identity.
        InvalidInput: a file of attacks contains mistakes.
    """
    if given is None or given == _NONE:
        return (None,)
    if Path(given).suffix.lower() in {".yml", ".yaml"}:
        attacks = read_attacks_file(Path(given))
    else:
        attacks = choose_standard(given)
    known = {
        case.caller.identity: case.caller.user_context
        for case in suite.cases
        if case.caller.identity is not None
    }
    found = []
    for attack in attacks:
        if attack.planted_by is None:
            found += [_plant_by(attack, one) for one in known]
            # A case that nobody in particular asks can only be attacked from outside.
            if any(case.caller.identity is None for case in suite.cases):
                found.append(attack)
            continue
        if attack.planted_by not in known:
            message = f"{attack.at}: suite {suite.name!r} has no identity {attack.planted_by!r}"
            meant = did_you_mean(attack.planted_by, known) or "Write it below 'identities:'."
            raise UsageError(message, meant=meant)
        found.append(attack)
    return (
        None,
        *(
            one if one.planted_by is None else replace(one, context=known[one.planted_by])
            for one in found
        ),
    )


def suits_attack(case: Case, attack: Attack) -> bool:
    """Whether ``case`` is run under ``attack``: nobody attacks themselves."""
    if attack.planted_by is not None and case.caller.identity in (None, attack.planted_by):
        return False
    if not attack.only_calling:
        return True
    first = wanted_first(case)
    return first is None or bool(first.tools) or bool(expected_tools(case))


def put_under_attack(case: Case, attack: Attack) -> Case:
    """Return ``case`` as it is run under ``attack``."""
    return replace(case, repeats=replace(case.repeats, attack=attack))


def encode_attack(attack: Attack) -> JsonObject:
    """Return all that determines a trial under ``attack``, as JSON."""
    edits: JsonObject = json.loads(canonical_json(asdict(replace(attack, at=None))))
    return edits


def decode_attack(edits: JsonObject) -> Attack:
    """Return the attack that `encode_attack` encoded."""
    goal = dict(edits["goal"])
    if goal["state"] is not None:
        goal["state"] = ScriptedCall(**goal["state"])
    values = {
        **edits,
        "goal": AttackGoal(**goal),
        "reads": tuple(ScriptedCall(**one) for one in edits["reads"]),
        "payload": tuple(edits["payload"]),
        "outward": tuple(edits["outward"]),
    }
    return Attack(**values)
