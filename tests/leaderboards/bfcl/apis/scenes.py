"""Small worlds of our own to try the APIs in; none of the leaderboard's data."""

from __future__ import annotations

from typing import Any

from harness.leaderboards.bfcl.apis.common import Api, ApiCall
from harness.leaderboards.bfcl.apis.execution import execute_call, make_instance

TABLES: dict[str, dict[str, Any]] = {
    "GorillaFileSystem": {
        "FILE_CONTENT_EXTENSION": " and so on",
        "FILES_TAIL_USED": ["short.txt"],
        "POPULATE_FILE_EXTENSION": ["filler1", "filler2"],
    },
    "MessageAPI": {
        "DEFAULT_STATE": {
            "generated_ids": set(),
            "user_count": 2,
            "user_map": {"Ann": "USR001", "Ben": "USR002"},
            "inbox": [{"USR002": "Lunch at one?"}],
            "message_count": 1,
            "current_user": None,
        }
    },
    "TicketAPI": {"DEFAULT_STATE": {"ticket_queue": [], "ticket_counter": 1, "current_user": None}},
    "TradingBot": {
        "DEFAULT_STATE": {
            "orders": {
                "7": {
                    "id": 7,
                    "order_type": "Buy",
                    "symbol": "AAA",
                    "price": 9.0,
                    "status": "Completed",
                }
            },
            "account_info": {"account_id": 1, "balance": 100.0, "binding_card": 42},
            "authenticated": False,
            "market_status": "Open",
            "order_counter": 8,
            "stocks": {
                "AAA": {
                    "price": 10.0,
                    "percent_change": 2.0,
                    "volume": 1.0,
                    "MA(5)": 9.5,
                    "MA(20)": 9.0,
                },
                "BBB": {
                    "price": 20.0,
                    "percent_change": -3.0,
                    "volume": 2.0,
                    "MA(5)": 19.5,
                    "MA(20)": 19.0,
                },
            },
            "watch_list": ["AAA"],
            "transaction_history": [],
            "random_seed": 1,
        },
        "symbol_map": {"Alpha": "AAA"},
        "sector_map": {"Technology": ["AAA"]},
        "MA_5_EXTENSION": [1.0, 2.0],
        "MA_20_EXTENSION": [3.0],
        "ORDER_DETAIL_EXTENSION": {"overview": "{symbol} makes {symbol}s."},
        "WATCH_LIST_EXTENSION": ["ZZZ"],
        "TRANSACTION_HISTORY_EXTENSION": [
            {"type": "deposit", "amount": 1.0, "timestamp": "2020-01-01 00:00:00"}
        ],
        "TECHNOLOGY_EXTENSION": ["TTT"],
        "AUTOMOBILE_EXTENSION": ["CCC"],
    },
    "TravelAPI": {
        "DEFAULT_STATE": {
            "random_seed": 1,
            "credit_card_list": {},
            "booking_record": {},
            "access_token": None,
            "token_type": None,
            "token_expires_in": None,
            "token_scope": None,
            "user_first_name": None,
            "user_last_name": None,
            "budget_limit": None,
        },
        "base_costs": {("SFO", "LAX"): 100, ("LAX", "BOS"): 300},
        "exchange_rates": {("USD", "EUR"): 0.5},
        "airport_map": {"Boston": "BOS"},
        "CREDIT_CARD_EXTENSION": {"own": {"balance": 1}, "extra": {"balance": 2}},
        "BOOKING_RECORD_EXTENSION": {"b0": {"card_id": "extra", "travel_cost": 5.0}},
    },
    "TwitterAPI": {
        "DEFAULT_STATE": {
            "username": "ann",
            "password": "secret",
            "authenticated": False,
            "tweets": {
                "3": {
                    "id": 3,
                    "username": "ben",
                    "content": "Hello World",
                    "tags": ["#New"],
                    "mentions": [],
                },
            },
            "comments": {},
            "retweets": {},
            "following_list": ["ben"],
            "tweet_counter": 4,
        }
    },
    "VehicleControlAPI": {
        "DEFAULT_STATE": {
            "random_seed": 1,
            "fuelLevel": 10.0,
            "batteryVoltage": 12.0,
            "engine_state": "stopped",
            "doorStatus": dict.fromkeys(
                ("driver", "passenger", "rear_left", "rear_right"), "unlocked"
            ),
            "acTemperature": 20.0,
            "fanSpeed": 50,
            "acMode": "auto",
            "humidityLevel": 40.0,
            "headLightStatus": "off",
            "parkingBrakeStatus": "released",
            "_parkingBrakeForce": 0.0,
            "_slopeAngle": 0.0,
            "brakePedalStatus": "released",
            "brakePedalForce": 0.0,
            "distanceToNextVehicle": 50.0,
            "cruiseStatus": "inactive",
            "destination": "None",
            "frontLeftTirePressure": 32.0,
            "frontRightTirePressure": 32.0,
            "rearLeftTirePressure": 30.0,
            "rearRightTirePressure": 30.0,
        },
        "LONG_WEATHER_EXTENSION": {"yesterday": "rain"},
        "CAR_STATUS_METADATA_EXTENSION": "a car",
        "PARKING_BRAKE_INSTRUCTION": "pull",
        "INTERMEDIARY_CITIES": ["Halfway"],
    },
}
"""Tables by class, in the shape in which the package has them."""


def an_api(class_name: str, *, long_context: bool = False, **scenario: Any) -> Api:
    return make_instance(class_name, {class_name: scenario}, long_context=long_context, data=TABLES)


def text_of(api: Api, tool: str, *positional: Any, **arguments: Any) -> str:
    """Return the result of a call as a model reads it."""
    return execute_call({type(api).__name__: api}, ApiCall(tool, arguments, positional))


def tree(**contents: Any) -> dict[str, Any]:
    """Return a scenario's root: a text is a file, a dict a directory."""
    return {"home": {"type": "directory", "contents": _entries(contents)}}


def _entries(contents: dict[str, Any]) -> dict[str, Any]:
    return {
        name: {"type": "directory", "contents": _entries(value)}
        if isinstance(value, dict)
        else {"type": "file", "content": value}
        for name, value in contents.items()
    }
