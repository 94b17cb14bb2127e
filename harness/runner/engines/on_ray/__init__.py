"""The engine on Ray: trials run in actors, on this machine or on a cluster.

Ray places the actors, says when one has died, and carries calls and results. What travels is sealed
(`harness.runner.engines.payloads`); secrets stand in no name, option or environment that Ray shows.
"""
