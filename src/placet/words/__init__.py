"""What a person reads: the language, templates, visible escapes, and the message catalogue.

The model reads English; a person reads English, Brazilian Portuguese or Romanian. Values
that stand in such texts are data: they are escaped, and never read as a format.
"""
