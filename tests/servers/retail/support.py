"""A shop of our own making, small enough to reckon with by hand."""

from typing import Any

from servers.retail.tools import RetailTools
from tests.servers.tau2_common.support import Asked


def variant(item: str, price: float, *, available: bool = True, **options: str) -> dict[str, Any]:
    return {"item_id": item, "options": options, "available": available, "price": price}


def item(
    product: str, product_id: str, item_id: str, price: float, **options: str
) -> dict[str, Any]:
    return {
        "name": product,
        "product_id": product_id,
        "item_id": item_id,
        "price": price,
        "options": options,
    }


def order(number: str, status: str, items: list[dict[str, Any]], paid_by: str) -> dict[str, Any]:
    amount = round(sum(one["price"] for one in items), 2)
    return {
        "order_id": f"#{number}",
        "user_id": "zoe_ng_1",
        "address": dict(HOME),
        "items": items,
        "status": status,
        "fulfillments": [],
        "payment_history": [
            {"transaction_type": "payment", "amount": amount, "payment_method_id": paid_by}
        ],
    }


HOME = {
    "address1": "1 Elm",
    "address2": "",
    "city": "X",
    "country": "USA",
    "state": "NY",
    "zip": "10001",
}
MUG = item("Mug", "P1", "M1", 10.1, color="red")
LAMP = item("Lamp", "P2", "L1", 30.3, color="black")

DATABASE: dict[str, dict[str, Any]] = {
    "products": {
        "P1": {
            "name": "Mug",
            "product_id": "P1",
            "variants": {
                "M1": variant("M1", 10.1, color="red"),
                "M2": variant("M2", 12.35, color="blue"),
                "M3": variant("M3", 9.99, color="gone", available=False),
            },
        },
        "P2": {
            "name": "Lamp",
            "product_id": "P2",
            "variants": {
                "L1": variant("L1", 30.3, color="black"),
                "L2": variant("L2", 25.0, color="white"),
            },
        },
        "P0": {"name": "Apron", "product_id": "P0", "variants": {}},
    },
    "users": {
        "zoe_ng_1": {
            "user_id": "zoe_ng_1",
            "name": {"first_name": "Zoe", "last_name": "Ng"},
            "address": dict(HOME),
            "email": "Zoe.Ng@example.com",
            "payment_methods": {
                "gift_card_1": {"source": "gift_card", "id": "gift_card_1", "balance": 2.0},
                "paypal_1": {"source": "paypal", "id": "paypal_1"},
                "credit_card_1": {
                    "source": "credit_card",
                    "id": "credit_card_1",
                    "brand": "visa",
                    "last_four": "1",
                },
            },
            "orders": ["#P", "#G", "#D"],
        }
    },
    "orders": {
        "#P": order("P", "pending", [MUG, MUG, LAMP], "paypal_1"),
        "#G": order("G", "pending", [MUG], "gift_card_1"),
        "#D": order("D", "delivered", [MUG, LAMP], "credit_card_1"),
    },
}


class Shop(Asked):
    """The small shop."""

    tools: RetailTools

    def __init__(self) -> None:
        super().__init__(RetailTools(DATABASE))
