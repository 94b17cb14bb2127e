"""The companies of the sample: what they are called and what they do."""

from __future__ import annotations

from typing import Final, TypeAlias

CompanyRow: TypeAlias = tuple[str, str, str, str, str, str, int, int, str]
"""Ticker, name, sector, industry, exchange, headquarters, year founded, employees (rounded), what
it does."""

COMPANIES: Final[tuple[CompanyRow, ...]] = (
    ("AAPL", "Apple Inc.", "Technology", "Consumer electronics", "NASDAQ", "Cupertino, California",
     1976, 164_000,
     "Makes phones, computers, tablets and wearables, and sells software and services for them."),
    ("MSFT", "Microsoft Corporation", "Technology", "Software", "NASDAQ", "Redmond, Washington",
     1975, 228_000,
     "Sells operating systems, office software, cloud computing and games."),
    ("GOOGL", "Alphabet Inc.", "Communication services", "Internet", "NASDAQ", ("Mountain View, "
        "California"), 1998,
     183_000, ("Parent of Google: web search, advertising, video, a mobile operating system and "
        "cloud computing.")),
    ("AMZN", "Amazon.com, Inc.", "Consumer discretionary", "Online retail", "NASDAQ", ("Seattle, "
        "Washington"), 1994,
     1_556_000, ("Sells goods online, runs a marketplace for others, and rents out cloud "
        "computing.")),
    ("META", "Meta Platforms, Inc.", "Communication services", "Social media", "NASDAQ", ("Menlo "
        "Park, California"),
     2004, 74_000, "Runs the social networks Facebook and Instagram and the messenger WhatsApp."),
    ("NVDA", "NVIDIA Corporation", "Technology", "Semiconductors", "NASDAQ", ("Santa Clara, "
        "California"), 1993, 36_000,
     "Designs graphics processors and systems for data centres and artificial intelligence."),
    ("TSLA", "Tesla, Inc.", "Consumer discretionary", "Automobiles", "NASDAQ", "Austin, Texas",
     2003, 125_000,
     "Makes electric cars, batteries and solar equipment."),
    ("AVGO", "Broadcom Inc.", "Technology", "Semiconductors", "NASDAQ", "Palo Alto, California",
     1961, 37_000,
     "Designs chips for networks and data centres, and sells infrastructure software."),
    ("ORCL", "Oracle Corporation", "Technology", "Software", "NYSE", "Austin, Texas", 1977, 159_000,
     "Sells databases, business software and cloud computing."),
    ("CRM", "Salesforce, Inc.", "Technology", "Software", "NYSE", (
        "San Francisco, California"
    ), 1999, 76_000,
     "Sells cloud software for sales, service and marketing."),
    ("ADBE", "Adobe Inc.", "Technology", "Software", "NASDAQ", "San Jose, California", 1982, 31_000,
     "Sells software for design, documents and marketing by subscription."),
    ("AMD", "Advanced Micro Devices, Inc.", "Technology", "Semiconductors", "NASDAQ", ("Santa "
        "Clara, California"), 1969,
     28_000, "Designs processors and graphics chips for computers, consoles and data centres."),
    ("INTC", "Intel Corporation", "Technology", "Semiconductors", "NASDAQ", ("Santa Clara, "
        "California"), 1968, 109_000,
     "Designs and makes processors for computers and data centres."),
    ("IBM", (
        "International Business Machines Corporation"
    ), "Technology", "IT services", "NYSE", "Armonk, New York",
     1911, 270_000, "Sells business software, consulting and mainframe computers."),
    ("CSCO", "Cisco Systems, Inc.", "Technology", "Networking equipment", "NASDAQ", ("San Jose, "
        "California"), 1984,
     86_000, "Makes network equipment and security software."),
    ("QCOM", "QUALCOMM Incorporated", "Technology", "Semiconductors", "NASDAQ", ("San Diego, "
        "California"), 1985, 49_000,
     "Designs chips for mobile phones and licenses wireless patents."),
    ("NFLX", "Netflix, Inc.", "Communication services", "Streaming", "NASDAQ", ("Los Gatos, "
        "California"), 1997, 14_000,
     "Streams films and series to subscribers."),
    ("DIS", (
        "The Walt Disney Company"
    ), "Communication services", "Entertainment", "NYSE", "Burbank, California", 1923,
     233_000, "Runs film studios, television and streaming services, and theme parks."),
    ("JPM", "JPMorgan Chase & Co.", "Financials", "Banks", "NYSE", "New York, New York", 1799,
     317_000,
     "Takes deposits, lends, and does investment banking and asset management."),
    ("BAC", "Bank of America Corporation", "Financials", "Banks", "NYSE", ("Charlotte, North "
        "Carolina"), 1904, 213_000,
     "Serves consumers, companies and investors as a bank."),
    ("GS", "The Goldman Sachs Group, Inc.", "Financials", "Investment banking", "NYSE", ("New "
        "York, New York"), 1869,
     46_000, "Does investment banking, trading and asset management."),
    ("V", "Visa Inc.", "Financials", "Payments", "NYSE", "San Francisco, California", 1958, 32_000,
     "Runs a network for card payments."),
    ("MA", (
        "Mastercard Incorporated"
    ), "Financials", "Payments", "NYSE", "Purchase, New York", 1966, 35_000,
     "Runs a network for card payments."),
    ("BRK.B", (
        "Berkshire Hathaway Inc."
    ), "Financials", "Conglomerate", "NYSE", "Omaha, Nebraska", 1839, 392_000,
     ("Owns insurers, a railway, energy utilities and many other businesses, and holds shares of "
        "others.")),
    ("JNJ", "Johnson & Johnson", "Health care", "Pharmaceuticals", "NYSE", ("New Brunswick, New "
        "Jersey"), 1886, 138_000,
     "Makes medicines and medical devices."),
    ("PFE", "Pfizer Inc.", "Health care", "Pharmaceuticals", "NYSE", "New York, New York", 1849,
     81_000,
     "Makes medicines and vaccines."),
    ("UNH", "UnitedHealth Group Incorporated", "Health care", "Health insurance", "NYSE", ("Eden "
        "Prairie, Minnesota"),
     1977, 400_000, "Insures health costs and runs clinics and pharmacies."),
    ("LLY", "Eli Lilly and Company", "Health care", "Pharmaceuticals", "NYSE", ("Indianapolis, "
        "Indiana"), 1876, 47_000,
     "Makes medicines, above all against diabetes and obesity."),
    ("WMT", "Walmart Inc.", "Consumer staples", "Retail", "NYSE", "Bentonville, Arkansas", 1962,
     2_100_000,
     "Runs supermarkets, warehouse clubs and an online store."),
    ("COST", "Costco Wholesale Corporation", "Consumer staples", "Retail", "NASDAQ", ("Issaquah, "
        "Washington"), 1983,
     333_000, "Runs warehouse clubs for members."),
    ("KO", "The Coca-Cola Company", "Consumer staples", "Beverages", "NYSE", "Atlanta, Georgia",
     1892, 69_700,
     "Makes soft drinks and their concentrates."),
    ("PEP", "PepsiCo, Inc.", "Consumer staples", "Beverages", "NASDAQ", "Purchase, New York", 1965,
     319_000,
     "Makes soft drinks and snacks."),
    ("PG", (
        "The Procter & Gamble Company"
    ), "Consumer staples", "Household products", "NYSE", "Cincinnati, Ohio", 1837,
     109_000, "Makes household and personal care goods."),
    ("MCD", "McDonald's Corporation", "Consumer discretionary", "Restaurants", "NYSE", ("Chicago, "
        "Illinois"), 1955,
     150_000, "Runs and franchises restaurants."),
    ("NKE", "NIKE, Inc.", "Consumer discretionary", "Footwear", "NYSE", "Beaverton, Oregon", 1964,
     77_800,
     "Designs and sells sports shoes and clothing."),
    ("XOM", (
        "Exxon Mobil Corporation"
    ), "Energy", "Oil and gas", "NYSE", "Spring, Texas", 1882, 61_000,
     "Produces, refines and sells oil, gas and chemicals."),
    ("CVX", "Chevron Corporation", "Energy", "Oil and gas", "NYSE", "Houston, Texas", 1879, 45_000,
     "Produces, refines and sells oil and gas."),
    ("BA", "The Boeing Company", "Industrials", "Aerospace", "NYSE", "Arlington, Virginia", 1916,
     172_000,
     "Makes airliners, military aircraft and spacecraft."),
    ("CAT", "Caterpillar Inc.", "Industrials", "Machinery", "NYSE", "Irving, Texas", 1925, 112_900,
     "Makes machines for construction and mining, and engines."),
)  # fmt: skip
