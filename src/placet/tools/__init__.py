"""What can be called: everything about a tool that can be worked out before it is called.

A tool is made of a function, a class or parts (`tool`, `Tool.define`), kept in a `Toolset`,
and told to a model in its provider's form (`wire_tools`). At a call, its reader turns the
model's text into validated arguments (`arguments`), its plan calls the code (`plan`), and
its shaper turns what comes back into what the model is told (`output`).

No I/O happens here, and nothing here decides whether a call may be made.
"""
