"""Make it happen: take calls through the gate, execute them, drive runs, carry out decisions.

`placet.runtime.invoke` is the only code that executes a tool, whichever door a call came through.
"""
