"""What things are: frozen, checked on construction, no behaviour beyond their own rules.

Nothing here waits, reads a clock, or draws a random number.
"""
