from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from harness.leaderboards.bfcl.apis.common import Api, get_public_state
from tests.leaderboards.bfcl.apis.scenes import an_api, text_of

DOORS = ["driver", "passenger", "rear_left", "rear_right"]


def a_car(*, long_context: bool = False, **scenario: Any) -> Api:
    return an_api("VehicleControlAPI", long_context=long_context, **scenario)


def a_running_car() -> Api:
    car = a_car()
    text_of(car, "lockDoors", unlock=False, door=DOORS)
    text_of(car, "pressBrakePedal", pedalPosition=1)
    text_of(car, "startEngine", ignitionMode="START")
    return car


def test_the_engine_starts_behind_locked_doors_with_the_brake_fully_pressed() -> None:
    car = a_car(doorStatus=dict.fromkeys(DOORS, "locked") | {"driver": "unlocked"})
    assert text_of(car, "startEngine", ignitionMode="START") == (
        '{"error": "All doors must be locked before starting the engine. Here are the unlocked '
        'doors: driver"}'
    )
    text_of(car, "lockDoors", unlock=False, door=["driver"])
    assert "Brake pedal needs to be pressed" in text_of(car, "startEngine", ignitionMode="START")
    text_of(car, "pressBrakePedal", pedalPosition=0.9)
    assert "Must press the brake fully" in text_of(car, "startEngine", ignitionMode="START")
    text_of(car, "pressBrakePedal", pedalPosition=1.0)
    assert "Invalid ignition mode" in text_of(car, "startEngine", ignitionMode="GO")
    assert text_of(car, "startEngine", ignitionMode="START") == (
        '{"engineState": "running", "fuelLevel": 10.0, "batteryVoltage": 12.0}'
    )


def test_stopping_the_engine_is_answered_with_an_error_and_done() -> None:
    car = a_running_car()
    assert get_public_state(car)["engine_state"] == "running"
    assert text_of(car, "startEngine", ignitionMode="STOP") == '{"error": "Invalid ignition mode."}'
    assert get_public_state(car)["engine_state"] == "stopped"


def test_doors_are_counted_as_they_are_locked_and_a_locked_one_once() -> None:
    car = a_car()
    assert text_of(car, "lockDoors", unlock=False, door=["driver", "driver"]) == (
        '{"lockStatus": "locked", "remainingUnlockedDoors": 3}'
    )
    assert text_of(car, "lockDoors", unlock=True, door=DOORS) == (
        '{"lockStatus": "unlocked", "remainingUnlockedDoors": 4}'
    )
    assert text_of(car, "lockDoors", unlock=True, door=["boot"]) == "Error during execution: 'boot'"


def test_unlocked_doors_are_counted_whatever_the_scenario_says() -> None:
    car = a_car(doorStatus={"driver": "locked", "passenger": "locked"}, remainingUnlockedDoors=0)
    assert get_public_state(car)["remainingUnlockedDoors"] == 2


def test_the_tank_takes_what_fits() -> None:
    car = a_car()
    assert (
        text_of(car, "fillFuelTank", fuelAmount=-1)
        == '{"error": "Fuel amount cannot be negative."}'
    )
    assert (
        text_of(car, "fillFuelTank", fuelAmount=40.1)
        == '{"error": "Cannot fill gas above the tank capacity."}'
    )
    assert text_of(car, "fillFuelTank", fuelAmount=40) == '{"fuelLevel": 50.0}'
    assert text_of(a_car(fuelLevel=-5), "fillFuelTank", fuelAmount=1) == (
        '{"error": "Fuel tank is empty. Min fuel level is 0 gallons."}'
    )


def test_the_climate_is_kept_in_celsius_and_answered_as_asked_for() -> None:
    car = a_car()
    answer = json.loads(
        text_of(
            car, "adjustClimateControl", temperature=68, unit="fahrenheit", fanSpeed=10, mode="heat"
        )
    )
    assert answer == {"currentACTemperature": 68, "climateMode": "heat", "humidityLevel": 40.0}
    state = get_public_state(car)
    assert (state["acTemperature"], state["fanSpeed"], state["acMode"]) == (20.0, 10, "heat")
    assert text_of(car, "adjustClimateControl", temperature=1, fanSpeed=101) == (
        '{"error": "Fan speed must be between 0 and 100."}'
    )


@pytest.mark.parametrize(("mode", "status"), [("on", "on"), ("off", "off"), ("auto", "off")])
def test_automatic_headlights_are_off(mode: str, status: str) -> None:
    assert text_of(a_car(), "setHeadlights", mode=mode) == f'{{"headlightStatus": "{status}"}}'


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("fuel", {"fuelLevel": 10.0}),
        ("battery", {"batteryVoltage": 12.0}),
        ("doors", {"doorStatus": dict.fromkeys(DOORS, "unlocked")}),
        (
            "climate",
            {
                "currentACTemperature": 20.0,
                "fanSpeed": 50,
                "climateMode": "auto",
                "humidityLevel": 40.0,
            },
        ),
        ("headlights", {"headlightStatus": "off"}),
        (
            "parkingBrake",
            {"parkingBrakeStatus": "engaged", "parkingBrakeForce": 500.0, "slopeAngle": 10.0},
        ),
        ("brakePedal", {"brakePedalStatus": "pressed", "brakePedalForce": 500.0}),
        ("engine", {"engineState": "stopped"}),
        ("radio", {"error": "Invalid option"}),
    ],
)
def test_the_car_shows_one_aspect_at_a_time(option: str, expected: dict[str, Any]) -> None:
    car = a_car()
    text_of(car, "activateParkingBrake", mode="engage")
    text_of(car, "pressBrakePedal", pedalPosition=0.5)
    assert json.loads(text_of(car, "displayCarStatus", option=option)) == expected


def test_a_pedal_pressed_by_nothing_is_released() -> None:
    car = a_car()
    assert (
        text_of(car, "pressBrakePedal", pedalPosition=2)
        == '{"error": "Pedal position must be between 0 and 1."}'
    )
    text_of(car, "pressBrakePedal", pedalPosition=1)
    assert text_of(car, "pressBrakePedal", pedalPosition=0) == (
        '{"brakePedalStatus": "released", "brakePedalForce": 0.0}'
    )


def test_the_parking_brake_is_engaged_or_released() -> None:
    car = a_car()
    assert text_of(car, "activateParkingBrake", mode="pull") == '{"error": "Invalid mode"}'
    assert text_of(car, "activateParkingBrake", mode="release") == (
        '{"parkingBrakeStatus": "released", "_parkingBrakeForce": 0.0, "_slopeAngle": 10.0}'
    )


def test_cruise_control_needs_the_engine_and_a_round_speed() -> None:
    asked = {"speed": 62, "activate": True, "distanceToNextVehicle": 100}
    assert "Start the engine" in text_of(a_car(), "setCruiseControl", **asked)
    car = a_running_car()
    assert text_of(car, "setCruiseControl", **asked) == '{"error": "Invalid speed"}'
    assert get_public_state(car)["distanceToNextVehicle"] == 100.0
    assert text_of(car, "setCruiseControl", **{**asked, "speed": 65}) == (
        '{"cruiseStatus": "active", "currentSpeed": 65.0, "distanceToNextVehicle": 100.0}'
    )
    assert "inactive" in text_of(car, "setCruiseControl", **{**asked, "activate": False})


def test_what_is_random_repeats_with_the_seed() -> None:
    one, other = a_car(random_seed=5), a_car(random_seed=5)
    for tool in ("get_current_speed", "get_outside_temperature_from_google"):
        first = text_of(one, tool)
        assert first == text_of(other, tool)
        assert first != text_of(a_car(random_seed=6), tool)
    assert text_of(one, "get_outside_temperature_from_weather_com") == '{"error": 404}'


def test_distances_hold_in_both_directions() -> None:
    car = a_car()
    there, back = (
        text_of(car, "estimate_distance", cityA=a, cityB=b)
        for a, b in (("83214", "74532"), ("74532", "83214"))
    )
    assert there == back == '{"distance": 750.0}'
    assert text_of(car, "estimate_distance", cityA="83214", cityB="83214") == (
        '{"error": "distance not found in database."}'
    )
    assert text_of(car, "get_zipcode_based_on_city", city="Rivermist") == '{"zipcode": "83214"}'
    assert text_of(car, "get_zipcode_based_on_city", city="Nowhere") == '{"zipcode": "00000"}'


def test_twelve_pairs_of_places_are_connected() -> None:
    car = a_car()
    cities = [
        "Autumnville",
        "Crescent Hollow",
        "Maplecrest",
        "Oakendale",
        "Rivermist",
        "San Francisco",
    ]
    cities += ["Shadowridge", "Silverpine", "Stonebrook", "Sunset Valley", "Willowbend"]
    codes = [
        json.loads(text_of(car, "get_zipcode_based_on_city", city=city))["zipcode"]
        for city in cities
    ]
    assert (len(set(codes)), sum(map(int, codes))) == (11, 745692)
    pairs = itertools.combinations([*codes, "08540", "94704"], 2)
    answers = [
        json.loads(text_of(car, "estimate_distance", cityA=one, cityB=other))
        for one, other in pairs
    ]
    distances = [answer["distance"] for answer in answers if "distance" in answer]
    assert (len(distances), sum(distances)) == (12, 11233.0)


def test_the_fuel_is_enough_for_twenty_miles_a_gallon() -> None:
    car = a_car()
    assert (
        text_of(car, "estimate_drive_feasibility_by_mileage", distance=200) == '{"canDrive": true}'
    )
    assert (
        text_of(car, "estimate_drive_feasibility_by_mileage", distance=200.5)
        == '{"canDrive": false}'
    )
    assert text_of(car, "liter_to_gallon", liter=10) == f'{{"gallon": {10 * 0.264172}}}'
    assert text_of(car, "gallon_to_liter", gallon=10) == f'{{"liter": {10 * 3.78541}}}'


@pytest.mark.parametrize(
    ("pressure", "healthy"), [(29.0, False), (30.0, True), (35.0, True), (36.0, False)]
)
def test_tyres_are_healthy_by_their_mean(pressure: float, healthy: bool) -> None:
    car = a_car(
        frontLeftTirePressure=pressure - 2,
        frontRightTirePressure=pressure + 2,
        rearLeftTirePressure=pressure,
        rearRightTirePressure=pressure,
    )
    status = json.loads(text_of(car, "check_tire_pressure"))
    assert (status["healthy_tire_pressure"], status["car_info"]) == (healthy, {})


def test_the_car_remembers_where_to_go() -> None:
    car = a_car()
    assert (
        text_of(car, "set_navigation", destination="1 Elm St")
        == '{"status": "Navigating to 1 Elm St"}'
    )
    assert get_public_state(car)["destination"] == "1 Elm St"
    assert text_of(car, "display_log", messages=["a"]) == '{"log": ["a"]}'
    assert "Oakwood" in text_of(car, "find_nearest_tire_shop")


def test_long_context_surrounds_results() -> None:
    car = a_car(long_context=True)
    assert list(json.loads(text_of(car, "displayCarStatus", option="fuel"))) == [
        "metadata",
        "fuelLevel",
    ]
    assert "Halfway" in text_of(car, "estimate_distance", cityA="83214", cityB="74532")
    assert "Halfway" in text_of(car, "estimate_distance", cityA="?", cityB="?")
    assert (
        next(iter(json.loads(text_of(car, "activateParkingBrake", mode="engage"))))
        == "parkingBrakeInstruction"
    )
    assert list(json.loads(text_of(car, "get_outside_temperature_from_google"))) == [
        "yesterday",
        "outsideTemperature",
    ]
    assert json.loads(text_of(car, "check_tire_pressure"))["car_info"] == "a car"
