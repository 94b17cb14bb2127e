"""Share prices, companies, ratios and compound interest, over a fixed sample of well-known tickers.

Names and sectors are facts. Prices and statement figures are a sample made for tests: believable,
the same at every start, and not what any market or company ever reported.
"""
