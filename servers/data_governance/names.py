"""Where the fictional customers live and what they buy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

CITIES: Final = (
    # city, country, telephone area code
    ("Austin", "United States", "512"),
    ("Boston", "United States", "617"),
    ("Chicago", "United States", "312"),
    ("Denver", "United States", "303"),
    ("Miami", "United States", "305"),
    ("Minneapolis", "United States", "612"),
    ("New York", "United States", "212"),
    ("Portland", "United States", "503"),
    ("San Diego", "United States", "619"),
    ("Seattle", "United States", "206"),
    ("Calgary", "Canada", "403"),
    ("Montréal", "Canada", "514"),
    ("Toronto", "Canada", "416"),
    ("Vancouver", "Canada", "604"),
)

PRODUCTS: Final[Mapping[str, tuple[tuple[str, int], ...]]] = {
    # category → product and its price in cents
    "electronics": (
        ("Wireless headphones", 12_999), ("USB-C charger", 3_495), ("Smart speaker", 8_950),
        ("Mechanical keyboard", 10_425), ("Portable SSD 1 TB", 9_899), ("Webcam", 6_475),
    ),
    "books": (
        ("Field guide to birds", 2_895), ("Bread baking at home", 3_250),
        ("A short history of maps", 2_199), ("The quiet harbour", 1_599),
        ("Statistics for everyone", 4_125), ("Sketching cities", 1_875),
    ),
    "home": (
        ("Cast-iron pan", 4_599), ("Linen bedding set", 11_900), ("Desk lamp", 5_245),
        ("French press", 3_175), ("Wool blanket", 7_850), ("Storage basket", 2_225),
    ),
    "clothing": (
        ("Rain jacket", 9_450), ("Merino sweater", 8_275), ("Running socks, 3 pairs", 1_899),
        ("Canvas sneakers", 6_525), ("Leather belt", 3_799), ("Linen shirt", 5_650),
    ),
    "sports": (
        ("Yoga mat", 3_425), ("Adjustable dumbbell", 7_999), ("Climbing chalk", 1_249),
        ("Cycling gloves", 2_775), ("Camping stove", 6_150), ("Swim goggles", 1_995),
    ),
    "beauty": (
        ("Face cream", 2_645), ("Hand soap, 3 pack", 1_425), ("Beard oil", 1_835),
        ("Sunscreen SPF 50", 1_695), ("Hair dryer", 5_375), ("Perfume sampler", 3_999),
    ),
    "toys": (
        ("Wooden train set", 4_875), ("Board game: Tides", 3_649), ("Plush otter", 1_925),
        ("Building bricks, 500", 4_299), ("Kite", 2_450), ("Watercolour kit", 2_125),
    ),
    "garden": (
        ("Pruning shears", 2_985), ("Tomato seedlings", 1_150), ("Watering can", 2_375),
        ("Bird feeder", 3_045), ("Herb planter", 2_695), ("Garden hose, 20 m", 4_415),
    ),
}  # fmt: skip
"""A few plain things in each category."""
