"""Those who are measured: each a program of its own, so that each can have an environment of its own.

A contestant serves measures over standard input and output: one name a line in, the CPU
microseconds of one unit out. All of them play the same script with the same tool.
"""
