"""How requests reach an address: by which proxy, with which certificates, over which connections.

Every HTTP client of harness gets its connections from `harness.base.network.transports`, but for
the exporter of telemetry, which has a client of another kind and the same rules.
"""
