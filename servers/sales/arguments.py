"""The arguments of the tools: types, and descriptions for the model."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import Field

from ..common.parameters import MOST_ROWS, Day, IdForm, Text
from .catalog import (
    FIRST_DAY,
    LAST_DAY,
    Category,
    ProjectStatus,
    Region,
    Segment,
    TaskKind,
    TaskStatus,
)

_ProductId: TypeAlias = Annotated[
    str, IdForm(prefix="PRD", digits=3, thing="a product", advice="use search_products to find one")
]
_CustomerId: TypeAlias = Annotated[
    str,
    IdForm(
        prefix="CUS",
        digits=3,
        thing="a customer",
        advice="use search_customers to find one by name",
    ),
]
_ProjectId: TypeAlias = Annotated[
    str,
    IdForm(
        prefix="PRJ", digits=3, thing="a project", advice="use list_projects to find one by name"
    ),
]

MaxResults: TypeAlias = Annotated[
    int,
    Field(
        ge=1,
        le=MOST_ROWS,
        description="How many rows to list at most. Totals always cover all matches.",
    ),
]

ProductText: TypeAlias = Annotated[
    Text | None, Field(description="Part of the product's name, such as Monitor.")
]
ProductCategory: TypeAlias = Annotated[
    Category | None, Field(description="Only products of this category.")
]
MaxPrice: TypeAlias = Annotated[
    float | None,
    Field(ge=0, le=1_000_000, description="Only products up to this price, in US dollars."),
]
InStockOnly: TypeAlias = Annotated[
    bool, Field(description="Set to true to leave out what is not in stock.")
]

AnalysedProduct: TypeAlias = Annotated[
    _ProductId | None,
    Field(description="Only sales of this product, such as PRD_042. search_products finds ids."),
]
AnalysedCategory: TypeAlias = Annotated[
    Category | None, Field(description="Only sales of this product category.")
]
DateFrom: TypeAlias = Annotated[
    Day | None,
    Field(
        description=f"First day to include, YYYY-MM-DD; data begins on {FIRST_DAY}. Without it, a "
        "year before date_to."
    ),
]
DateTo: TypeAlias = Annotated[
    Day | None,
    Field(
        description=f"Last day to include, YYYY-MM-DD. Without it, the end of the data, {LAST_DAY}."
    ),
]

CustomerName: TypeAlias = Annotated[
    Text | None,
    Field(description="Name of the customer's company or a part of it, such as Harbor Foods."),
]
CustomerSegment: TypeAlias = Annotated[
    Segment | None, Field(description="Only customers of this segment.")
]
CustomerRegion: TypeAlias = Annotated[
    Region | None, Field(description="Only customers of this region.")
]
Customer: TypeAlias = Annotated[
    _CustomerId,
    Field(description="Id of the customer, such as CUS_042. search_customers finds ids."),
]
OfCustomer: TypeAlias = Annotated[
    _CustomerId | None, Field(description="Only those of this customer, such as CUS_042.")
]
Months: TypeAlias = Annotated[
    int,
    Field(
        ge=1,
        le=24,
        description="How many months without an order make a customer inactive, back from "
        f"{LAST_DAY}.",
    ),
]

StatusOfProject: TypeAlias = Annotated[
    ProjectStatus | None, Field(description="Only projects of this status.")
]
ProjectName: TypeAlias = Annotated[
    Text | None, Field(description="Name of the project or a part of it.")
]
Project: TypeAlias = Annotated[
    _ProjectId, Field(description="Id of the project, such as PRJ_042. list_projects finds ids.")
]

KindOfTask: TypeAlias = Annotated[TaskKind, Field(description="How to get in touch.")]
StatusOfTask: TypeAlias = Annotated[
    TaskStatus | None, Field(description="Only tasks of this status.")
]
DueDate: TypeAlias = Annotated[
    Day, Field(description=f"Day by which it is to be done, YYYY-MM-DD, after {LAST_DAY}.")
]
Note: TypeAlias = Annotated[
    str,
    Field(min_length=1, max_length=500, description="What the follow-up is about, in a sentence."),
]
