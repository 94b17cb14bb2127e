collect_ignore_glob = ["*.yml"]  # suites of servers that the proofs start: no tests of their own
