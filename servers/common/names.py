"""Names for people and streets that do not exist."""

from __future__ import annotations

from typing import Final

FIRST_NAMES: Final = (
    "Alice", "Amara", "Andre", "Anna", "Aisha", "Ben", "Bianca", "Carlos", "Chloe", "Daniel",
    "Diego", "Elena", "Emeka", "Emma", "Fatima", "Felix", "Grace", "Hana", "Hugo", "Ingrid",
    "Isaac", "Ivan", "Jasmine", "Jonas", "José", "Julia", "Kenji", "Laila", "Leo", "Lucia",
    "Marcus", "Maria", "Mei", "Nadia", "Noah", "Olga", "Omar", "Priya", "Ravi", "Renée",
    "Samuel", "Sofia", "Tariq", "Tessa", "Thomas", "Uma", "Victor", "Wanda", "Yusuf", "Zoë",
)  # fmt: skip

LAST_NAMES: Final = (
    "Abbott", "Adeyemi", "Andersson", "Bauer", "Becker", "Bennett", "Bianchi", "Carter", "Castillo",
    "Chen", "Cohen", "Costa", "Dubois", "Eriksen", "Fischer", "Fournier", "Garcia", "Goldberg",
    "Gupta", "Haddad", "Hansen", "Hoffmann", "Ibrahim", "Ito", "Jensen", "Kapoor", "Keller", "Kim",
    "Kovacs", "Larsen", "Lopez", "MacLeod", "Mensah", "Meyer", "Moreau", "Müller", "Nakamura",
    "Nguyen", "Novak", "Nuñez", "O'Brien", "Okafor", "Park", "Patel", "Pereira", "Petrov", "Quinn",
    "Ramirez", "Rossi", "Sato", "Schneider", "Silva", "Singh", "Tanaka", "Thompson", "Vargas",
    "Wagner", "Walsh", "Weber", "Zhang",
)  # fmt: skip

STREETS: Final = (
    "Alder Street", "Birch Avenue", "Canal Road", "Cedar Lane", "Chestnut Street", "Cooper Square",
    "Elm Street", "Foundry Lane", "Garden Terrace", "Harbour View", "Hillcrest Drive", ("Juniper "
        "Way"),
    "Lakeside Drive", "Linden Avenue", "Maple Avenue", "Meadow Lane", "Mill Road", "Orchard Street",
    "Quarry Hill", "River Road", "Station Road", "Sycamore Drive", "Willow Court", "Windmill Lane",
)  # fmt: skip
