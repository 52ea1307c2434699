"""Give a model data without giving it the database.

Named queries (`placet.database.named`) are questions that somebody thought about; the sandbox
(`placet.database.sandbox`) is a room without windows for the rest. Both answer in one shape
(`placet.database.answer`). What needs the extra `postgres` is imported by the modules that use
it, never from here.
"""
