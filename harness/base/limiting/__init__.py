"""How many requests are under way at one model or server, and when the next one may be sent.

Whoever limits requests says what is limited (`limiter.LimitedTarget`) and gets a limiter for it
(`limiter.LIMITER_OF`), under which `retries.retry_request` sends each request.
"""
