"""The fictional wholesaler's products, customers and projects."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Final, Literal, TypeAlias

Category: TypeAlias = Literal[
    "electronics", "furniture", "software", "networking", "office_supplies", "accessories"
]
ProductStatus: TypeAlias = Literal["available", "discontinued"]
Segment: TypeAlias = Literal["small_business", "mid_market", "enterprise"]
Region: TypeAlias = Literal["North America", "Europe", "Asia-Pacific", "Latin America"]
ProjectStatus: TypeAlias = Literal["planned", "active", "on_hold", "completed", "cancelled"]
TaskKind: TypeAlias = Literal["call", "email", "meeting"]
TaskStatus: TypeAlias = Literal["open", "done"]

FIRST_DAY: Final = date(2024, 1, 1)
LAST_DAY: Final = date(2025, 12, 31)
"""The day on which the data stands still; what is said of "the last months" counts back from it."""

PRODUCTS: Final[Mapping[Category, tuple[tuple[str, int], ...]]] = {
    # category → product and its price in cents
    "electronics": (
        ("Lumen 27 Monitor", 32_900), ("Lumen 34 Monitor", 61_900), ("Pebble Webcam", 8_950),
        ("Pebble Headset", 12_400), ("Drift Laptop 14", 118_000), ("Drift Laptop 16", 154_500),
        ("Quill Tablet", 47_900), ("Sonar Speakerphone", 16_750),
    ),
    "furniture": (
        ("Atlas Standing Desk", 64_900), ("Atlas Desk Frame", 38_500), ("Heron Chair", 42_300),
        ("Heron Stool", 17_800), ("Birch Bookshelf", 21_500), ("Canyon Meeting Table", 98_000),
        ("Canyon Sofa", 129_000), ("Fern Divider", 18_900),
    ),
    "software": (
        ("Ledger Accounting, seat", 24_000), ("Ledger Payroll, seat", 18_000),
        ("Beacon CRM, seat", 36_000), ("Beacon Helpdesk, seat", 29_000),
        ("Vault Backup, seat", 9_600), ("Vault Passwords, seat", 4_800),
        ("Sketch Diagrams, seat", 12_000), ("Relay Chat, seat", 7_200),
    ),
    "networking": (
        ("Mesh Router 6", 22_900), ("Mesh Router 7", 34_900), ("Switchyard 8-port", 11_900),
        ("Switchyard 24-port", 32_500), ("Patch Panel 24", 6_400), ("Fiber Module SFP+", 8_800),
        ("Sentry Firewall", 74_000), ("Ceiling Access Point", 19_900),
    ),
    "office_supplies": (
        ("Copy Paper, 5 reams", 3_490), ("Toner Black", 7_950), ("Toner Colour Set", 21_900),
        ("Whiteboard 180 cm", 14_900), ("Marker Set, 12", 1_850), ("Label Printer", 11_200),
        ("Shredder P4", 16_500), ("Notebook A5, 10 pack", 3_950),
    ),
    "accessories": (
        ("USB-C Dock", 18_900), ("USB-C Cable, 2 m", 1_690), ("Laptop Sleeve", 3_290),
        ("Monitor Arm", 11_900), ("Wireless Mouse", 3_990), ("Mechanical Keyboard", 10_900),
        ("Cable Tray", 2_890), ("Privacy Filter", 5_490),
    ),
}  # fmt: skip
"""A few things in each category."""

DISCONTINUED: Final = frozenset({"Lumen 27 Monitor", "Mesh Router 6", "Fern Divider"})
"""No longer sold."""

GROWTH: Final[Mapping[Category, int]] = {
    "electronics": 10, "furniture": -30, "software": 45, "networking": 5, "office_supplies": -10,
    "accessories": 15,
}  # fmt: skip
"""How demand moves within a year, in percent."""

NAME_STARTS: Final = (
    "Alder", "Amber", "Atlas", "Bluebird", "Bramble", "Cobalt", "Copper", "Dune", "Ember", "Fjord",
    "Granite", "Harbor", "Ivory", "Juniper", "Kestrel", "Lantern", "Marble", "Nimbus", "Opal",
    "Prairie", "Quarry", "Ridge", "Saffron", "Thistle", "Umber", "Violet", "Willow", "Yarrow",
)  # fmt: skip
NAME_ENDS: Final = (
    "Architects", "Bakeries", "Biotech", "Clinics", "Dental Group", "Foods", "Freight", "Hotels",
    "Insurance", "Interiors", "Law", "Logistics", "Media", "Outfitters", "Realty", "Schools",
    "Studios", "Textiles",
)  # fmt: skip
"""A company's name is one of each."""

PROJECTS: Final = (
    # name, status, percent done, thousands of dollars
    ("Office refit Boston", "active", 65, 240), ("Helpdesk migration", "active", 40, 85),
    ("Atlas", "on_hold", 20, 130), ("Branch network upgrade", "completed", 100, 310),
    ("Laptop refresh 2025", "completed", 100, 420), ("Laptop refresh 2026", "planned", 0, 460),
    ("Payroll pilot", "cancelled", 15, 40), ("Showroom rebuild", "active", 80, 175),
    ("Backup for all sites", "active", 55, 95), ("Meeting rooms Chicago", "completed", 100, 150),
    ("Meeting rooms Denver", "active", 30, 160), ("Firewall replacement", "on_hold", 45, 110),
    ("Helpdesk training", "planned", 0, 18), ("Warehouse wireless", "active", 90, 70),
    ("Paperless invoices", "completed", 100, 55), ("Ergonomics programme", "planned", 0, 120),
    ("Customer portal", "cancelled", 35, 200), ("CRM consolidation", "active", 25, 275),
)  # fmt: skip
"""Work that was promised to customers."""

NOTES: Final = (
    "Ask about the renewal of their seats.", "Send the new price list.",
    "Follow up on the late delivery.", "Invite them to the product day.",
    "Go through the open offer.", "Ask who decides after the reorganisation.",
)  # fmt: skip
"""What follow-up tasks are about."""
