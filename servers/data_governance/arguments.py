"""The arguments of the tools: types, and descriptions for the model."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

import re
from typing import Annotated, Final, TypeAlias

from pydantic import AfterValidator, Field, WithJsonSchema

from ..common.parameters import Day, IdForm, Text
from .seed import Category, Country, CustomerStatus, OrderStatus, Segment

_EMAIL: Final = r"^[^@\s]+@[^@\s]+\.[^@\s]+$"
_PHONE: Final = r"^\+?[0-9][0-9 ()./-]{6,30}$"
_PHONE_END: Final = r"^[0-9 ()+./-]{4,30}$"
_FEWEST_DIGITS: Final = 4


def _some_digits(text: str) -> str:
    if (
        re.fullmatch(_PHONE_END, text) is None
        or sum(letter.isdigit() for letter in text) < _FEWEST_DIGITS
    ):
        raise ValueError(f"give a phone number or at least its last {_FEWEST_DIGITS} digits")
    return text


_Id: TypeAlias = Annotated[
    str,
    IdForm(prefix="CUST", digits=5, thing="a customer", advice="use search_customers to find one"),
]
_Amount: TypeAlias = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]

CustomerId: TypeAlias = Annotated[
    _Id, Field(description="Id of the customer, such as CUST_00042. Case does not matter.")
]
IncludePii: TypeAlias = Annotated[
    bool,
    Field(
        description="Set to true only when the request asks for personal data (PII): email "
        "address, phone number, street address, date of birth or national id. Only administrators "
        "may read personal data.",
    ),
]
NamePart: TypeAlias = Annotated[
    Text | None, Field(description="Part of the customer's name, such as Rossi.")
]
EmailPart: TypeAlias = Annotated[
    Text | None,
    Field(description="Part of the e-mail address. Personal data: administrators only."),
]
PhoneEnd: TypeAlias = Annotated[
    Annotated[
        str, AfterValidator(_some_digits), WithJsonSchema({"type": "string", "pattern": _PHONE_END})
    ]
    | None,
    Field(
        description="Last digits of the phone number, four at least. Personal data: administrators "
        "only."
    ),
]
City: TypeAlias = Annotated[
    Text | None, Field(description="City in which the customer lives, such as Toronto.")
]
CountryFilter: TypeAlias = Annotated[
    Country | None, Field(description="Country in which the customer lives.")
]
SegmentFilter: TypeAlias = Annotated[Segment | None, Field(description="Customer segment.")]
StatusFilter: TypeAlias = Annotated[
    CustomerStatus | None, Field(description="Status of the customer's account.")
]

OrdersOf: TypeAlias = Annotated[
    _Id | None,
    Field(
        description="Only orders of this customer, such as CUST_00042. Leave out for all customers."
    ),
]
OrderStatusFilter: TypeAlias = Annotated[
    OrderStatus | None, Field(description="Only orders of this status.")
]
CategoryFilter: TypeAlias = Annotated[
    Category | None, Field(description="Only orders of this product category.")
]
DateFrom: TypeAlias = Annotated[
    Day | None,
    Field(
        description="First order date to include, YYYY-MM-DD. For a whole year such as 2024 give "
        "2024-01-01."
    ),
]
DateTo: TypeAlias = Annotated[
    Day | None,
    Field(
        description="Last order date to include, YYYY-MM-DD. For a whole year such as 2024 give "
        "2024-12-31."
    ),
]
MinAmount: TypeAlias = Annotated[
    _Amount | None, Field(description="Smallest order amount to include, in US dollars.")
]
MaxAmount: TypeAlias = Annotated[
    _Amount | None, Field(description="Largest order amount to include, in US dollars.")
]

NewEmail: TypeAlias = Annotated[
    Annotated[str, Field(pattern=_EMAIL, max_length=100)] | None,
    Field(description="New e-mail address. Personal data: administrators only."),
]
NewPhone: TypeAlias = Annotated[
    Annotated[str, Field(pattern=_PHONE)] | None,
    Field(description="New phone number. Personal data: administrators only."),
]
NewAddress: TypeAlias = Annotated[
    Text | None, Field(description="New street address. Personal data: administrators only.")
]
NewCity: TypeAlias = Annotated[Text | None, Field(description="New city.")]
NewSegment: TypeAlias = Annotated[Segment | None, Field(description="New customer segment.")]
NewStatus: TypeAlias = Annotated[
    CustomerStatus | None, Field(description="New status of the customer's account.")
]
