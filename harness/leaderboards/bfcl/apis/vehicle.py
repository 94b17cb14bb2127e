"""The car of the leaderboard."""

# ruff: noqa: FBT001, N802, N803, N815 -- names, order and defaults are the leaderboard's

from __future__ import annotations

import random
from typing import Any

from harness.leaderboards.bfcl.apis.common import (
    Api,
    Reply,
    Scenario,
    Tables,
    add_rounded,
    refuse_request,
)

_TANK_GALLONS = 50
_MILES_PER_GALLON = 20.0
_FULL_BRAKE_N = 1000
_PARKING_BRAKE_N = 500.0
_PARKING_SLOPE = 10.0
_HEALTHY_PSI = (30, 35)
_FASTEST = 120
_SPEED_STEP = 5

_ZIP_CODES = {
    "Autumnville": "51479",
    "Crescent Hollow": "69238",
    "Maplecrest": "56108",
    "Oakendale": "47329",
    "Rivermist": "83214",
    "San Francisco": "94016",
    "Shadowridge": "71354",
    "Silverpine": "62947",
    "Stonebrook": "74532",
    "Sunset Valley": "83462",
    "Willowbend": "52013",
}

_DISTANCES = {
    frozenset(pair): float(distance)
    for *pair, distance in (
        ("08540", "94016", 1950),
        ("08540", "94704", 2550),
        ("47329", "52013", 290),
        ("47329", "62947", 1053),
        ("51479", "69238", 630),
        ("56108", "62947", 320),
        ("62947", "94016", 780),
        ("71354", "83462", 450),
        ("74532", "83214", 750),
        ("74532", "94016", 880),
        ("83214", "94016", 980),
        ("94016", "94704", 600),
    )
}
"""Zip codes of two places → their distance."""

_TYRES = (
    "frontLeftTirePressure",
    "frontRightTirePressure",
    "rearLeftTirePressure",
    "rearRightTirePressure",
)


class VehicleControlAPI(Api):
    """A car with all its settings."""

    fuelLevel: float
    batteryVoltage: float
    doorStatus: dict[str, str]
    acTemperature: float
    fanSpeed: int
    acMode: str
    humidityLevel: float
    headLightStatus: str
    parkingBrakeStatus: str
    brakePedalStatus: str
    distanceToNextVehicle: float
    cruiseStatus: str
    destination: str
    frontLeftTirePressure: float
    frontRightTirePressure: float
    rearLeftTirePressure: float
    rearRightTirePressure: float

    def __init__(self, scenario: Scenario, tables: Tables, *, long_context: bool = False) -> None:
        """Take attributes from ``scenario``, and the others from the defaults in the tables."""
        super().__init__(scenario, tables, long_context=long_context)
        self._random = random.Random(self._initial_value("random_seed"))  # noqa: S311 -- repeatable, not secret
        # For these, scenarios and the table of defaults have names of their own.
        defaults = tables["DEFAULT_STATE"]
        self.engine_state: str = scenario.get("engineState", defaults["engine_state"])
        # Counted, as upstream, whatever the scenario says.
        self.remainingUnlockedDoors = 4 - list(self.doorStatus.values()).count("locked")
        # With an underscore, as upstream, so that no check compares them.
        self._pedal_force: float = scenario.get("brakePedalForce", defaults["brakePedalForce"])
        self._parking_force = scenario.get("parkingBrakeForce", defaults["_parkingBrakeForce"])
        self._slope = scenario.get("slopeAngle", defaults["_slopeAngle"])

    def startEngine(self, ignitionMode: str) -> Reply:
        """Start the engine if the doors are locked and the brake is pressed.

        A request to stop it gets an error, but the engine stops.
        """
        if ignitionMode == "STOP":
            self.engine_state = "stopped"
        obstacle = self._find_start_obstacle()
        if obstacle is None and ignitionMode != "START":
            obstacle = "Invalid ignition mode."
        if obstacle is not None:
            return refuse_request(obstacle)
        self.engine_state = "running"
        return {
            "engineState": "running",
            "fuelLevel": self.fuelLevel,
            "batteryVoltage": self.batteryVoltage,
        }

    def fillFuelTank(self, fuelAmount: float) -> Reply:
        """Add fuel, in gallons."""
        if fuelAmount < 0:
            return refuse_request("Fuel amount cannot be negative.")
        filled = self.fuelLevel + fuelAmount
        if filled > _TANK_GALLONS:
            return refuse_request("Cannot fill gas above the tank capacity.")
        if filled < 0:
            return refuse_request("Fuel tank is empty. Min fuel level is 0 gallons.")
        self.fuelLevel = filled
        return {"fuelLevel": filled}

    def lockDoors(self, unlock: bool, door: list[str]) -> Reply:
        """Lock or unlock doors."""
        status, step = ("unlocked", 1) if unlock else ("locked", -1)
        for name in door:
            if self.doorStatus[name] != status:
                self.doorStatus[name] = status
                self.remainingUnlockedDoors += step
        return {"lockStatus": status, "remainingUnlockedDoors": self.remainingUnlockedDoors}

    def adjustClimateControl(
        self, temperature: float, unit: str = "celsius", fanSpeed: int = 50, mode: str = "auto"
    ) -> Reply:
        """Set the air conditioning; the temperature is stored in Celsius and returned as given."""
        if not 0 <= fanSpeed <= 100:  # noqa: PLR2004 -- per cent
            return refuse_request("Fan speed must be between 0 and 100.")
        self.acTemperature = (temperature - 32) * 5 / 9 if unit == "fahrenheit" else temperature
        self.fanSpeed = fanSpeed
        self.acMode = mode
        return {
            "currentACTemperature": temperature,
            "climateMode": mode,
            "humidityLevel": self.humidityLevel,
        }

    def get_outside_temperature_from_google(self) -> Reply:
        """Return a random temperature."""
        report = self._tables["LONG_WEATHER_EXTENSION"] if self.long_context else {}
        return {**report, "outsideTemperature": self._random.uniform(-10.0, 40.0)}

    def get_outside_temperature_from_weather_com(self) -> Reply:
        """Return an error: the service is down."""
        return {"error": 404}

    def setHeadlights(self, mode: str) -> Reply:
        """Turn the headlights on or off; ``auto`` means off."""
        if mode not in ["on", "off", "auto"]:
            return refuse_request("Invalid headlight mode.")
        self.headLightStatus = "on" if mode == "on" else "off"
        return {"headlightStatus": self.headLightStatus}

    def displayCarStatus(self, option: str) -> Reply:
        """Return one aspect of the car."""
        status = self._extend_reply("metadata", "CAR_STATUS_METADATA_EXTENSION")
        aspects: dict[Any, Reply] = {
            "fuel": {"fuelLevel": self.fuelLevel},
            "battery": {"batteryVoltage": self.batteryVoltage},
            "doors": {"doorStatus": self.doorStatus},
            "climate": {
                "currentACTemperature": self.acTemperature,
                "fanSpeed": self.fanSpeed,
                "climateMode": self.acMode,
                "humidityLevel": self.humidityLevel,
            },
            "headlights": {"headlightStatus": self.headLightStatus},
            "parkingBrake": {
                "parkingBrakeStatus": self.parkingBrakeStatus,
                "parkingBrakeForce": self._parking_force,
                "slopeAngle": self._slope,
            },
            "brakePedal": {
                "brakePedalStatus": self.brakePedalStatus,
                "brakePedalForce": self._pedal_force,
            },
            "engine": {"engineState": self.engine_state},
        }
        # A list, since a model may send something without a hash.
        known = option in list(aspects)
        return status | (aspects[option] if known else refuse_request("Invalid option"))

    def activateParkingBrake(self, mode: str) -> Reply:
        """Engage or release the parking brake."""
        if mode not in ["engage", "release"]:
            return refuse_request("Invalid mode")
        engaged = mode == "engage"
        self.parkingBrakeStatus = "engaged" if engaged else "released"
        self._parking_force = _PARKING_BRAKE_N if engaged else 0.0
        # As upstream, releasing the brake sets the same slope as engaging it.
        self._slope = _PARKING_SLOPE
        return {
            **self._extend_reply("parkingBrakeInstruction", "PARKING_BRAKE_INSTRUCTION"),
            "parkingBrakeStatus": self.parkingBrakeStatus,
            "_parkingBrakeForce": self._parking_force,
            "_slopeAngle": self._slope,
        }

    def pressBrakePedal(self, pedalPosition: float) -> Reply:
        """Press the brake, from 0 (not at all) to 1 (fully)."""
        if not 0 <= pedalPosition <= 1:
            return refuse_request("Pedal position must be between 0 and 1.")
        if pedalPosition == 0:
            return self.releaseBrakePedal()
        self.brakePedalStatus = "pressed"
        self._pedal_force = pedalPosition * _FULL_BRAKE_N
        return {"brakePedalStatus": "pressed", "brakePedalForce": float(self._pedal_force)}

    def releaseBrakePedal(self) -> Reply:
        """Release the brake."""
        self.brakePedalStatus = "released"
        self._pedal_force = 0.0
        return {"brakePedalStatus": "released", "brakePedalForce": 0.0}

    def setCruiseControl(self, speed: float, activate: bool, distanceToNextVehicle: float) -> Reply:
        """Turn cruise control on or off; the distance is stored even if the speed is refused."""
        distance = float(distanceToNextVehicle)
        speed = float(speed)
        if self.engine_state == "stopped":
            return refuse_request("Start the engine before activating the cruise control.")
        self.distanceToNextVehicle = distance
        if activate and (speed < 0 or speed > _FASTEST or speed % _SPEED_STEP != 0):
            return refuse_request("Invalid speed")
        self.cruiseStatus = "active" if activate else "inactive"
        return {
            "cruiseStatus": self.cruiseStatus,
            "currentSpeed": speed,
            "distanceToNextVehicle": distance,
        }

    def get_current_speed(self) -> Reply:
        """Return a random speed."""
        return {"currentSpeed": self._random.uniform(0.0, 120.0)}

    def display_log(self, messages: list[str]) -> Reply:
        """Return the messages."""
        return {"log": messages}

    def estimate_drive_feasibility_by_mileage(self, distance: float) -> Reply:
        """Say whether the fuel is enough for ``distance`` miles."""
        return {"canDrive": not self.fuelLevel * _MILES_PER_GALLON < distance}

    def liter_to_gallon(self, liter: float) -> Reply:
        """Convert litres to gallons."""
        return {"gallon": liter * 0.264172}

    def gallon_to_liter(self, gallon: float) -> Reply:
        """Convert gallons to litres."""
        return {"liter": gallon * 3.78541}

    def estimate_distance(self, cityA: str, cityB: str) -> Reply:
        """Return the distance of two places, named by zip code."""
        # A model may send anything, and a list has no hash.
        pair = frozenset(place for place in (cityA, cityB) if isinstance(place, str))
        if pair in _DISTANCES:
            reply: Reply = {"distance": _DISTANCES[pair]}
        else:
            reply = refuse_request("distance not found in database.")
        return reply | self._extend_reply("intermediaryCities", "INTERMEDIARY_CITIES")

    def get_zipcode_based_on_city(self, city: str) -> Reply:
        """Return the zip code of a city, all zeros for an unknown one."""
        return {"zipcode": _ZIP_CODES.get(city, "00000") if isinstance(city, str) else "00000"}

    def set_navigation(self, destination: str) -> Reply:
        """Set the destination."""
        self.destination = destination
        return {"status": "Navigating to " + destination}

    def check_tire_pressure(self) -> Reply:
        """Return the pressure of each tyre, and whether their mean is healthy."""
        pressures = {name: getattr(self, name) for name in _TYRES}
        least, most = _HEALTHY_PSI
        return {
            **pressures,
            "healthy_tire_pressure": least <= add_rounded(pressures.values()) / len(_TYRES) <= most,
            "car_info": self._tables["CAR_STATUS_METADATA_EXTENSION"] if self.long_context else {},
        }

    def find_nearest_tire_shop(self) -> Reply:
        """Return a fixed address."""
        return {"shopLocation": "456 Oakwood Avenue, Rivermist, 83214"}

    def _extend_reply(self, key: str, table: str) -> Reply:
        """Return ``key`` with a long text of the tables, with long context only."""
        return {key: self._tables[table]} if self.long_context else {}

    def _find_start_obstacle(self) -> str | None:
        if self.remainingUnlockedDoors > 0:
            unlocked = [name for name, status in self.doorStatus.items() if status == "unlocked"]
            return (
                "All doors must be locked before starting the engine. Here are the unlocked doors: "
                + ", ".join(unlocked)
            )
        if self.brakePedalStatus != "pressed":
            return "Brake pedal needs to be pressed when starting the engine."
        if self._pedal_force != _FULL_BRAKE_N:
            return "Must press the brake fully before starting the engine."
        # As upstream: the engine starts with an empty tank.
        return "Fuel tank is empty." if self.fuelLevel < 0 else None
