"""May it happen? Pure functions from a request to a decision, one check a file, and `gate.py` to weigh them.

No check reads a clock, a store or a random number: every fact it may look at stands in
`GateRequest`, so that a decision can be explained by deciding again.
"""
