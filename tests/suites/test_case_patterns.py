import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import UsageError
from harness.suites.case_patterns import compile_pattern, list_labels

CASE = list_labels("shop", "view_customer", ["smoke", "PII data"])


@pytest.mark.parametrize(
    "pattern",
    [
        "view", "VIEW_Cust", "shop::view", "p::v", "smoke", "pii data", "view_*", "shop::*",
        "*customer", "sm?ke", "[st]moke", "view and smoke", "nothing or smoke", "not nothing",
        "not not view", "not (nothing or missing)", "nothing and missing or view",
        "view and (missing or smoke) and not slow", "(view)",
    ],
)  # fmt: skip
def test_a_pattern_picks_a_case_by_its_name_or_a_tag(pattern: str) -> None:
    assert compile_pattern(pattern)(CASE)


@pytest.mark.parametrize(
    "pattern",
    [
        "shop::customer",
        "customer*",
        "view_?",
        "moke*",
        "view and missing",
        "not view",
        "not (view)",
        "view and not smoke",
        "missing or nothing and view",
        "view smoke",
        "android",
    ],
)
def test_a_pattern_passes_over_other_cases(pattern: str) -> None:
    assert not compile_pattern(pattern)(CASE)


@pytest.mark.parametrize(
    ("pattern", "place"),
    [
        ("", "ends unexpectedly"),
        ("  ", "ends unexpectedly"),
        ("view and", "ends unexpectedly"),
        ("not", "ends unexpectedly"),
        ("(view", "ends unexpectedly"),
        ("or view", "'or' is not expected there"),
        ("view)", "')' is not expected there"),
        ("view (smoke)", "'(' is not expected there"),
        ("()", "')' is not expected there"),
        ("view and or smoke", "'or' is not expected there"),
    ],
)
def test_a_pattern_that_does_not_parse_is_refused(pattern: str, place: str) -> None:
    with pytest.raises(UsageError, match="cannot be read") as caught:
        compile_pattern(pattern)
    assert place in str(caught.value)


def test_a_pattern_of_many_parentheses_is_refused() -> None:
    with pytest.raises(UsageError, match="nests too deeply"):
        compile_pattern("(" * 10_000 + "x" + ")" * 10_000)


def test_long_patterns_are_no_trouble() -> None:
    assert compile_pattern(" or ".join(["x"] * 5000 + ["view"]))(CASE)
    assert compile_pattern("not " * 10_000 + "view")(CASE)


@pytest.mark.parametrize(
    "pattern",
    [
        "delete_*[city=Paris]",
        "delete_*[city=*]",
        "*[city=paris]",
        "delete_all[city=Paris]",
        "[dx]elete_*",
    ],
)
def test_a_glob_picks_a_case_with_parameters_by_its_brackets(pattern: str) -> None:
    picks = compile_pattern(pattern)
    assert picks(list_labels("shop", "delete_all[city=Paris]", []))
    assert not picks(list_labels("shop", "view_all[city=Oslo]", []))


@given(
    st.lists(
        st.sampled_from(["and", "or", "not", "(", ")", "a", "b*", "[", "shop"]), max_size=12
    ).map(" ".join)
)
def test_every_pattern_is_read_or_refused(pattern: str) -> None:
    try:
        picks = compile_pattern(pattern)
    except UsageError:
        return
    assert picks(CASE) in {True, False}
    assert compile_pattern(f"not ({pattern})")(CASE) is not picks(CASE)
