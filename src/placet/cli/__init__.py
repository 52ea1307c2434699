"""The command `placet`: it parses what was typed, calls an `Agent`, and prints. No rule lives here.

A file has a command or a group of them (`placet.cli.app` lists them); what they share is the
`Door`, through which everything is asked, said and printed.
"""
