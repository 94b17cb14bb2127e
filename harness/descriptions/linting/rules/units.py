"""A rule on numbers without a stated unit."""

from __future__ import annotations

import re
from collections.abc import Iterator

from harness.descriptions.linting.findings import Family, LintFinding, Rule
from harness.descriptions.linting.parameter_texts import read_parameter_texts
from harness.models import Param, iterate_params, read_params, split_words, word_set
from harness.runner import split_sentences
from harness.types import Tool, ToolList

_MEASURES = word_set(
    "timeout duration delay interval ttl latency period weight mass size length "
    "distance altitude speed velocity temperature volume area amount price cost budget "
    "salary fee income revenue balance payment pressure power energy memory bandwidth capacity"
)
"""Words at the end of a name that mark a number with a unit."""
_COUNTED = word_set(
    "page batch chunk sample pool group list window result queue team party class step grid "
    "font population thread stack context set deck hand"
)
"""Words before ``size`` or ``length`` that make it a count."""
_UNITS = word_set(
    "sec secs second seconds ms msec millis millisecond milliseconds us ns microseconds "
    "nanoseconds minute minutes hr hrs hour hours day days week weeks month months year years "
    "night nights gram grams kg kilo kilogram kilograms mg lb lbs pound pounds oz ounce ounces ton "
    "tons tonne tonnes mm cm km meter meters metre metres centimeter centimeters centimetre "
    "centimetres kilometer kilometers kilometre kilometres millimeter millimeters mile miles mi ft "
    "foot feet inch inches yard yards px pixel pixels pt point points em rem degree degrees deg "
    "radian radians celsius fahrenheit kelvin byte bytes kb mb gb tb kib mib gib kilobytes "
    "megabytes gigabytes bit bits mbps kbps percent percentage pct ratio fraction usd eur gbp jpy "
    "cny inr chf dollar dollars euro euros cent cents yen rupees currency unit units token tokens "
    "character characters char chars word words line lines item items row rows element elements "
    "entries records results messages frames steps count ml litre litres liter liters gallon "
    "gallons cup cups kw watt watts kwh wh joule joules calorie calories kcal volt volts amp amps "
    "pa kpa bar psi hz khz mhz ghz kph mph kmh knots sqm sqft acre acres hectare hectares basis "
    "atm atmosphere atmospheres mole moles kms newton newtons coulomb coulombs"
)
"""Words that name a unit, or that something is counted."""
_CARRIES_UNIT = frozenset(("unit", "units", "currency"))
"""Words in the name of a parameter whose value is itself a unit."""
_SIGN = re.compile(
    r"[%$€£¥°²³]|\b(?:number|count) of\b|\bhow (?:many|often)\b|\w/\w"
    r"|[(\[][a-z]{1,3}[)\]]|\bin [a-z]\b|, [a-z][.)]"  # (s), in m
    r"|\b(?:from|between)\s+-?\d",  # a scale of its own: from 0 (mute) to 100
    re.IGNORECASE,
)


def check_units(tools: ToolList) -> Iterator[LintFinding]:
    """Yield the numbers of each tool whose unit is in neither name nor text."""
    for tool in tools.tools:
        params = tuple(iterate_params(read_params(tool)))
        # Another parameter may be the unit itself.
        if any(not _CARRIES_UNIT.isdisjoint(split_words(param.name)) for _, param in params):
            continue
        if paths := tuple(
            path for path, param in params if _has_a_unit(param) and not _says_unit(param, tool)
        ):
            yield LintFinding(
                rule="number-without-unit",
                tool=tool.name,
                parameters=paths,
                problem="Nothing says the unit",
                message=f"Nothing says the unit: {', '.join(paths)}.",
            )


def _has_a_unit(param: Param) -> bool:
    if param.kind not in ("number", "integer") or param.choices:
        return False
    # A price limit and a weight value are still a price and a weight.
    name = [word for word in split_words(param.name) if word not in ("value", "limit")]
    return name[-1:] != [] and name[-1] in _MEASURES and _COUNTED.isdisjoint(name[:-1])


def _says_unit(param: Param, tool: Tool) -> bool:
    name, title = split_words(param.name), param.schema.get("title")
    if not _UNITS.isdisjoint(name):
        return True
    # Of the tool's own text, only a sentence about this parameter counts.
    told = [text for text in split_sentences(tool.description) if name[-1] in split_words(text)]
    entry = read_parameter_texts(tool.description, [param.name]).texts.get(param.name, "")
    own = [param.description, entry, title if isinstance(title, str) else ""]
    return any(
        not _UNITS.isdisjoint(split_words(text)) or _SIGN.search(text) for text in (*own, *told)
    )


FAMILY = Family(
    check=check_units,
    rules={
        "number-without-unit": Rule(
            severity="note",
            why="5000 may be five seconds or more than an hour: a model assumes the usual unit.",
            instead='Say it in the name ("timeout_seconds") or in the description ("in seconds", '
            '"in euros").',
        )
    },
)
"""The rule on units."""
