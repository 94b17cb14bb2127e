"""The shop's tools, one by one, on a shop of our own making."""

import json
from typing import Any

import pytest

from tests.servers.retail.support import HOME, Shop, variant

LATER = (
    '"cancel_reason": null, "exchange_items": null, "exchange_new_items": null, '
    '"exchange_payment_method_id": null, '
    '"exchange_price_difference": null, "return_items": null, "return_payment_method_id": null}'
)


@pytest.fixture
def shop() -> Shop:
    return Shop()


def balance(shop: Shop) -> float:
    user = json.loads(shop.good("get_user_details", user_id="zoe_ng_1"))
    return float(user["payment_methods"]["gift_card_1"]["balance"])


def test_an_order_ends_in_what_it_may_come_to_have(shop: Shop) -> None:
    assert shop.good("get_order_details", order_id="#G").endswith(LATER)


@pytest.mark.parametrize("email", ["zoe.ng@example.com", "ZOE.NG@EXAMPLE.COM"])
def test_a_user_is_found_by_email_in_any_case(shop: Shop, email: str) -> None:
    assert shop.good("find_user_id_by_email", email=email) == "zoe_ng_1"


def test_a_user_is_found_by_name_in_any_case_and_the_exact_zip(shop: Shop) -> None:
    assert (
        shop.good("find_user_id_by_name_zip", first_name="ZOE", last_name="ng", zip="10001")
        == "zoe_ng_1"
    )
    number = shop.refusal("find_user_id_by_name_zip", first_name="Zoe", last_name="Ng", zip=10001)
    assert number == "User not found"


def test_an_item_is_found_by_its_id_alone(shop: Shop) -> None:
    assert json.loads(shop.good("get_item_details", item_id="M2")) == variant(
        "M2", 12.35, color="blue"
    )


def test_products_are_listed_by_name(shop: Shop) -> None:
    assert shop.good("list_all_product_types") == '{"Apron": "P0", "Lamp": "P2", "Mug": "P1"}'


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("get_user_details", {"user_id": "x"}, "User not found"),
        ("get_order_details", {"order_id": "P"}, "Order not found"),
        ("get_order_details", {"order_id": None}, "Order not found"),
        ("get_order_details", {"order_id": ["#P"]}, "unhashable type: 'list'"),
        ("get_product_details", {"product_id": "M1"}, "Product not found"),
        ("find_user_id_by_email", {"email": "nobody@example.com"}, "User not found"),
        ("find_user_id_by_email", {"email": 5}, "'int' object has no attribute 'lower'"),
        ("get_item_details", {"item_id": "P1"}, "Item not found"),
        ("get_item_details", {"item_id": ["M1"]}, "unhashable type: 'list'"),
        (
            "modify_user_address",
            {"user_id": "zoe_ng_1", "address1": "x"},
            (
                "RetailTools.modify_user_address() missing 5 required positional arguments: "
                "'address2', 'city', 'state', 'country', and 'zip'"
            ),
        ),
        (
            "cancel_pending_order",
            {"order": "#P", "x": 1},
            "RetailTools.cancel_pending_order() got an unexpected keyword argument 'order'",
        ),
        (
            "cancel_pending_order",
            {"order_id": "#P", "reasons": "whim"},
            "RetailTools.cancel_pending_order() got an unexpected keyword argument 'reasons'",
        ),
        ("cancel_pending_order", {"order_id": "#P", "reason": "whim"}, "Invalid reason"),
        ("cancel_pending_order", {"order_id": "#P", "reason": []}, "unhashable type: 'list'"),
        (
            "cancel_pending_order",
            {"order_id": "#D", "reason": "no longer needed"},
            "Non-pending order cannot be cancelled",
        ),
        (
            "modify_pending_order_address",
            {
                "order_id": "#D",
                "address1": "",
                "address2": "",
                "city": "",
                "state": "",
                "country": "",
                "zip": "",
            },
            "Non-pending order cannot be modified",
        ),
        ("modify_user_address", {"user_id": "x", **HOME}, "User not found"),
        (
            "modify_pending_order_payment",
            {"order_id": "#D", "payment_method_id": "paypal_1"},
            "Non-pending order cannot be modified",
        ),
        (
            "modify_pending_order_payment",
            {"order_id": "#P", "payment_method_id": "none"},
            "Payment method not found",
        ),
        (
            "modify_pending_order_payment",
            {"order_id": "#P", "payment_method_id": "paypal_1"},
            "The new payment method should be different from the current one",
        ),
        (
            "modify_pending_order_payment",
            {"order_id": "#P", "payment_method_id": "gift_card_1"},
            "Insufficient gift card balance to pay for the order",
        ),
        (
            "return_delivered_order_items",
            {"order_id": "#P", "item_ids": [], "payment_method_id": "paypal_1"},
            "Non-delivered order cannot be returned",
        ),
        (
            "return_delivered_order_items",
            {"order_id": "#D", "item_ids": ["M1"], "payment_method_id": "paypal_1"},
            "Payment method should be the original payment method",
        ),
        (
            "return_delivered_order_items",
            {"order_id": "#D", "item_ids": ["M1", "M1"], "payment_method_id": "credit_card_1"},
            "Some item not found",
        ),
        (
            "return_delivered_order_items",
            {"order_id": "#D", "item_ids": None, "payment_method_id": "credit_card_1"},
            "'NoneType' object is not iterable",
        ),
    ],
)
def test_a_call_is_refused_in_these_words(
    shop: Shop, tool: str, arguments: dict[str, Any], message: str
) -> None:
    assert shop.refusal(tool, **arguments) == message


def test_a_cancelled_order_is_refunded_to_each_method(shop: Shop) -> None:
    order = json.loads(shop.good("cancel_pending_order", order_id="#G", reason="no longer needed"))
    assert (order["status"], order["cancel_reason"]) == ("cancelled", "no longer needed")
    assert order["payment_history"][1] == {
        "transaction_type": "refund",
        "amount": 10.1,
        "payment_method_id": "gift_card_1",
    }
    assert balance(shop) == 12.1


def test_an_address_is_printed_in_its_own_order_and_must_be_texts(shop: Shop) -> None:
    new = {"address1": "a", "address2": "b", "city": "c", "state": "s", "country": "d", "zip": "z"}
    printed = (
        '{"address1": "a", "address2": "b", "city": "c", "country": "d", "state": "s", "zip": "z"}'
    )
    assert printed in shop.good("modify_pending_order_address", order_id="#P", **new)
    assert printed in shop.good("modify_user_address", user_id="zoe_ng_1", **new)
    wrong = shop.refusal("modify_user_address", user_id="zoe_ng_1", **{**new, "zip": 5})
    assert wrong.startswith(
        "1 validation error for UserAddress\nzip\n  Input should be a valid string [type=string_ty"
    )


def test_another_method_pays_and_the_first_gets_its_money_back(shop: Shop) -> None:
    order = json.loads(
        shop.good("modify_pending_order_payment", order_id="#G", payment_method_id="paypal_1")
    )
    kinds = [
        (entry["transaction_type"], entry["payment_method_id"])
        for entry in order["payment_history"]
    ]
    assert kinds == [("payment", "gift_card_1"), ("payment", "paypal_1"), ("refund", "gift_card_1")]
    assert (order["status"], balance(shop)) == ("pending", 12.1)
    again = shop.refusal(
        "modify_pending_order_payment", order_id="#G", payment_method_id="credit_card_1"
    )
    assert again == "There should be exactly one payment for a pending order"


ITEMS = {
    "order_id": "#P",
    "item_ids": ["M1"],
    "new_item_ids": ["M2"],
    "payment_method_id": "paypal_1",
}


def test_other_items_cost_the_difference_unrounded(shop: Shop) -> None:
    order = json.loads(shop.good("modify_pending_order_items", **ITEMS))
    assert order["status"] == "pending (item modified)"
    assert [(one["item_id"], one["price"]) for one in order["items"]] == [
        ("M2", 12.35),
        ("M1", 10.1),
        ("L1", 30.3),
    ]
    assert order["payment_history"][1] == {
        "transaction_type": "payment",
        "amount": 12.35 - 10.1,
        "payment_method_id": "paypal_1",
    }
    assert (
        shop.refusal("modify_pending_order_items", **ITEMS)
        == "Non-pending order cannot be modified"
    )
    changed = {
        "address1": "a",
        "address2": "b",
        "city": "c",
        "state": "s",
        "country": "d",
        "zip": "z",
    }
    assert "item modified" in shop.good("modify_pending_order_address", order_id="#P", **changed)


def test_the_last_pair_gives_every_item_its_price_and_options(shop: Shop) -> None:
    both = {**ITEMS, "item_ids": ["M1", "L1"], "new_item_ids": ["M2", "L2"]}
    order = json.loads(shop.good("modify_pending_order_items", **both))
    assert [(one["item_id"], one["price"], one["options"]["color"]) for one in order["items"]] == [
        ("M2", 25.0, "white"),
        ("M1", 10.1, "red"),
        ("L2", 25.0, "white"),
    ]
    assert order["payment_history"][1]["transaction_type"] == "refund"


def test_an_item_that_is_there_twice_is_changed_twice(shop: Shop) -> None:
    twice = {**ITEMS, "item_ids": ["M1", "M1"], "new_item_ids": ["M2", "M2"]}
    order = json.loads(shop.good("modify_pending_order_items", **twice))
    assert [one["item_id"] for one in order["items"]] == ["M2", "M2", "L1"]


def test_a_pair_is_applied_to_what_the_pairs_before_have_made(shop: Shop) -> None:
    onward = {**ITEMS, "item_ids": ["M1", "L1"], "new_item_ids": ["M2", "L2"]}
    order = json.loads(
        shop.good("modify_pending_order_items", **{**onward, "payment_method_id": "gift_card_1"})
    )
    assert order["payment_history"][1]["amount"] == abs(12.35 - 10.1 + (25.0 - 30.3))
    assert balance(shop) == 5.05


def test_no_items_at_all_are_a_refund_of_nothing(shop: Shop) -> None:
    order = json.loads(
        shop.good("modify_pending_order_items", **{**ITEMS, "item_ids": [], "new_item_ids": []})
    )
    assert order["status"] == "pending (item modified)"
    assert '"amount": 0.0' in json.dumps(order["payment_history"][1])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"order_id": "#X"}, "Order not found"),
        ({"order_id": "#D"}, "Non-pending order cannot be modified"),
        ({"item_ids": ["M2"]}, "ID not found"),
        ({"item_ids": "M1"}, "ID not found"),
        ({"item_ids": ["M1"] * 3}, "ID not found"),
        ({"new_item_ids": ["M2", "M2"]}, "The number of items to be exchanged should match"),
        ({"new_item_ids": ["M1"]}, "The new item id should be different from the old item id"),
        ({"new_item_ids": ["L2"]}, "Variant not found"),
        ({"new_item_ids": ["M3"]}, "New item M3 not found or available"),
        ({"payment_method_id": "none"}, "Payment method not found"),
        (
            {"payment_method_id": "gift_card_1"},
            "Insufficient gift card balance to pay for the new item",
        ),
    ],
)
def test_other_items_are_refused_in_these_words(
    shop: Shop, change: dict[str, Any], message: str
) -> None:
    assert shop.refusal("modify_pending_order_items", **{**ITEMS, **change}) == message


EXCHANGE = {
    "order_id": "#D",
    "item_ids": ["M1", "L1"],
    "new_item_ids": ["M2", "L1"],
    "payment_method_id": "paypal_1",
}


def test_an_exchange_is_a_request_and_an_item_may_stay(shop: Shop) -> None:
    order = json.loads(shop.good("exchange_delivered_order_items", **EXCHANGE))
    assert order["status"] == "exchange requested"
    assert order["exchange_items"] == ["L1", "M1"]
    assert order["exchange_new_items"] == ["L1", "M2"]
    assert order["exchange_price_difference"] == 2.25
    assert [one["item_id"] for one in order["items"]] == ["M1", "L1"]
    assert len(order["payment_history"]) == 1


def test_an_exchange_of_nothing_differs_by_a_whole_zero(shop: Shop) -> None:
    text = shop.good(
        "exchange_delivered_order_items", **{**EXCHANGE, "item_ids": [], "new_item_ids": []}
    )
    assert '"exchange_price_difference": 0,' in text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"order_id": "#P"}, "Non-delivered order cannot be exchanged"),
        ({"item_ids": ["M2", "L1"]}, "Number of ID not found."),
        ({"new_item_ids": ["M2"]}, "The number of items to be exchanged should match."),
        ({"new_item_ids": ["M3", "L1"]}, "New item M3 not found or available"),
        ({"payment_method_id": "none"}, "Payment method not found"),
        (
            {"payment_method_id": "gift_card_1"},
            "Insufficient gift card balance to pay for the price difference",
        ),
    ],
)
def test_an_exchange_is_refused_in_these_words(
    shop: Shop, change: dict[str, Any], message: str
) -> None:
    assert shop.refusal("exchange_delivered_order_items", **{**EXCHANGE, **change}) == message


@pytest.mark.parametrize("method", ["credit_card_1", "gift_card_1"])
def test_a_return_goes_to_the_first_method_or_a_gift_card(shop: Shop, method: str) -> None:
    asked = {"order_id": "#D", "item_ids": ["M1", "L1"], "payment_method_id": method}
    order = json.loads(shop.good("return_delivered_order_items", **asked))
    assert order["status"] == "return requested"
    assert (order["return_items"], order["return_payment_method_id"]) == (["L1", "M1"], method)
    assert len(order["payment_history"]) == 1
