"""A cluster of two nodes on this machine, until its stdin is closed; it prints its address."""

from __future__ import annotations

import sys

from ray.cluster_utils import Cluster

cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
cluster.add_node(num_cpus=1)
cluster.wait_for_nodes()
sys.stdout.write(f"{cluster.address}\n")
sys.stdout.flush()
sys.stdin.read()
cluster.shutdown()  # type: ignore[no-untyped-call]
