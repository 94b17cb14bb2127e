import hashlib
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from servers.tau2_common.store import Store

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
IDS = st.text(st.characters(codec="utf-8"), max_size=4)
DOCUMENTS = st.dictionaries(IDS, st.dictionaries(st.text(max_size=3), JSON, max_size=3), max_size=4)


@pytest.mark.slow
@settings(max_examples=40)
@given(st.fixed_dictionaries({"b": DOCUMENTS, "a": DOCUMENTS}))
def test_the_digest_is_that_of_the_whole_as_sorted_json(whole: dict[str, Any]) -> None:
    text = json.dumps(whole, sort_keys=True)
    assert Store(whole).digest() == hashlib.sha256(text.encode()).hexdigest()


def test_numbers_of_another_kind_are_another_state() -> None:
    assert Store({"a": {"x": {"n": 5}}}).digest() != Store({"a": {"x": {"n": 5.0}}}).digest()


def test_a_document_keeps_its_place_and_a_new_one_is_last() -> None:
    store = Store({"a": {"z": {"n": 1}, "y": {"n": 2}}}, {"a": ("n",)})
    store.put("a", "x", {"n": 3})
    store.put("a", "z", {"n": 4})
    assert [document["n"] for document in store.all("a")] == [4, 2, 3]


def test_what_is_given_out_is_a_copy() -> None:
    store = Store({"a": {"x": {"list": []}}})
    found = store.get("a", "x")
    assert found is not None
    found["list"].append(1)
    assert store.get("a", "x") == {"list": []}


def test_a_reset_undoes_everything_any_number_of_times() -> None:
    store = Store({"a": {"x": {"n": 1}}})
    untouched = store.digest()
    for _ in range(3):
        store.put("a", "x", {"n": 2})
        store.put("a", "y", {"n": 3})
        assert store.digest() != untouched
        store.reset()
        assert store.digest() == untouched
        assert store.get("a", "y") is None


@pytest.mark.parametrize("key", [None, 1, True, 1.5, "\ud800"])
def test_what_is_no_text_is_nobodys_id(key: Any) -> None:
    store = Store({"a": {"1": {"f": "1"}}}, {"a": ("f",)})
    assert store.get("a", key) is None
    assert list(store.find("a", f=key)) == ([{"f": "1"}] if key is None else [])


def test_a_list_is_looked_up_nowhere() -> None:
    with pytest.raises(TypeError, match="unhashable type: 'list'"):
        Store({"a": {}}).get("a", [])
