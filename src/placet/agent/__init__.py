"""What next? `next_action(run)`, the ways in which a run goes on, and the parsing of what models and files say.

Pure: nothing here waits, reads a clock or draws a random number.
"""
