"""Hypothesis strategies for suites as data: valid ones, and ones with mistakes."""

from __future__ import annotations

from typing import Any, get_args

from hypothesis import strategies as st

from harness.base.json_text import canonical_json
from harness.types import Credential

NAMES = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=8)
TEXTS = st.text(
    st.characters(codec="utf-8", exclude_categories=["C", "Zl", "Zp"]), max_size=20
).map("x{}".format)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=5,
)


def records(
    required: dict[str, Any], optional: dict[str, Any], filled: dict[str, Any] | None = None
) -> st.SearchStrategy[Any]:
    """Mappings with all required keys and some optional ones, which may be null if they are not
    ``filled``.
    """
    may_be_null = {key: st.none() | value for key, value in optional.items()}
    return st.fixed_dictionaries(required, optional=may_be_null | (filled or {}))


_SECONDS = st.floats(0.001, 1e9) | st.integers(1, 10**9)
_LIMITS = {
    "timeout": _SECONDS,
    "max_replies": st.integers(1, 10**6) | st.just(5.0),
    "max_calls": st.integers(0, 10**6),
    "max_tokens": st.integers(1, 10**9),
    "max_cost": st.floats(0, 1e9) | st.integers(0, 10**9),
    "tags": st.lists(NAMES, max_size=3),
    "metadata": st.dictionaries(NAMES, JSON, max_size=3),
}
_CALLS = st.lists(
    NAMES
    | records({"tool": NAMES}, {})
    | records({"tool": NAMES, "args": st.dictionaries(NAMES, TEXTS, max_size=2)}, {}),
    min_size=1,
    max_size=3,
)
_ASSERTIONS = records({"must_call": _CALLS}, {}, {"answer_contains": st.lists(NAMES)})
_CONTEXTS = ("nobody", "clerk")
_USER = st.dictionaries(NAMES, JSON, max_size=3) | st.sampled_from(_CONTEXTS)
_SCRIPTED = st.lists(
    NAMES | records({"tool": NAMES}, {"args": st.dictionaries(NAMES, JSON, max_size=2)}), max_size=2
)
_SHARED = {
    "user_context": _USER,
    "credential": st.sampled_from(get_args(Credential)),
    "setup": _SCRIPTED,
    "teardown": _SCRIPTED,
    "allow_no_tools": st.booleans(),
    "trials": st.integers(1, 1000) | st.just(3.0),
    "pass_threshold": st.floats(0.01, 1) | st.just(1),
    **_LIMITS,
}
_EXPECTED = {"expected_answer": TEXTS}
_TURN = records({"prompt": TEXTS}, {"assertions": _ASSERTIONS}, _EXPECTED)
_OPTIONAL = {"description": TEXTS, **_SHARED}
_PLAIN = records({"name": NAMES, "prompt": TEXTS, "assertions": _ASSERTIONS}, _OPTIONAL, _EXPECTED)
_TURNS = st.lists(_TURN, min_size=1, max_size=3)
_TALK = records({"name": NAMES, "turns": _TURNS, "assertions": _ASSERTIONS}, _OPTIONAL, _EXPECTED)


@st.composite
def _many(draw: st.DrawFn) -> Any:
    """Return a test with parameters, each of which stands somewhere in it."""
    names = draw(
        st.lists(st.from_regex(r"[a-z_]{1,5}", fullmatch=True), min_size=1, max_size=3, unique=True)
    )
    test = draw(_PLAIN)
    scalars = st.none() | st.booleans() | st.integers() | TEXTS
    if draw(st.booleans()):
        values = st.lists(scalars, min_size=1, max_size=3, unique_by=canonical_json)
        test["matrix"] = {name: draw(values) for name in names}
    else:
        row = st.fixed_dictionaries(dict.fromkeys(names, scalars))
        test["parameters"] = draw(st.lists(row, min_size=1, max_size=4, unique_by=canonical_json))
    test["prompt"] += " and ".join(f"${{{{ {name} }}}}" for name in names)
    test["setup"] = [{"tool": "look", "args": {name: f"${{{{{name}}}}}" for name in names}}]
    return test


_TEST = _PLAIN | _TALK | _many()
_VARIABLES = st.dictionaries(NAMES, TEXTS, max_size=2)
_IDENTITY = (
    st.sampled_from(["meta", "bearer", {}, {"via": "meta"}])
    | records({"via": st.just("env"), "json_variable": NAMES}, {"variables": _VARIABLES})
    | st.builds(lambda name, value: {"via": "header", "headers": {name: value}}, NAMES, TEXTS)
    | records(
        {"via": st.just("bearer")},
        {
            "claims": st.dictionaries(
                st.sampled_from(["role", "realm.roles", "https://a.b/c"]), JSON, max_size=2
            ),
            "scope": NAMES,
            "audience": NAMES,
            "issuer_port": st.integers(1, 65_535),
            "algorithm": st.sampled_from(["RS256", "ES256", "EdDSA"]),
        },
    )
    | records({"via": st.just("bearer"), "token_command": st.just("idp token 'for me'")}, {})
)
_SERVER = records(
    {"command": NAMES},
    {
        "args": st.lists(TEXTS, max_size=3),
        "env": _VARIABLES,
        "cwd": NAMES,
        "protocol": st.sampled_from(["auto", "legacy", "2026-07-28"]),
        "identity": _IDENTITY,
        "isolation": st.sampled_from(["identity", "case"]),
        "start_timeout": _SECONDS,
        "call_timeout": _SECONDS,
        "read_only": st.booleans(),
        "block": st.lists(NAMES, max_size=2),
    },
)
SUITES = records(
    {
        "suite": NAMES,
        "tests": st.lists(_TEST, min_size=1, max_size=3, unique_by=lambda test: test["name"]),
    },
    {
        "allow_writes": st.booleans() | st.lists(NAMES, max_size=2),
        "mxcp": st.sampled_from([1, "1", "1.0", "1.0.0", 1.0]),
        "description": TEXTS,
        "model": NAMES,
        "judge_model": NAMES,
        "system_prompt": TEXTS,
        "server": NAMES | _SERVER,
        "tags": st.lists(NAMES, max_size=3),
        "timeout": _SECONDS,
        "defaults": records(
            {}, {"assertions": _ASSERTIONS, **{k: v for k, v in _SHARED.items() if k != "timeout"}}
        ),
    },
).map(lambda suite: {**suite, "contexts": {"nobody": None, "clerk": {"role": "clerk"}}})
"""Suites that are valid for `tests.suites.vocabulary.PlainVocabulary`."""


@st.composite
def spoilt_suites(draw: st.DrawFn) -> Any:
    """Return a valid suite of which a few parts are replaced by any JSON, removed or added to."""
    suite = draw(SUITES)
    for _ in range(draw(st.integers(1, 3))):
        parts = [part for part in containers(suite) if part]
        if not parts:
            break
        part = draw(st.sampled_from(parts))
        step = draw(
            st.sampled_from(sorted(part) if isinstance(part, dict) else list(range(len(part))))
        )
        change = draw(st.sampled_from(["replace", "remove", "add"]))
        if change == "remove":
            del part[step]
        elif change == "add" and isinstance(part, dict):
            part[draw(NAMES)] = draw(JSON)
        else:
            part[step] = draw(JSON)
    return suite


def containers(value: Any) -> list[Any]:
    """Return every mapping and list in ``value``, itself included."""
    if not isinstance(value, dict | list):
        return []
    inner = value.values() if isinstance(value, dict) else value
    return [value, *(found for part in inner for found in containers(part))]
