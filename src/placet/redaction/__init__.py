"""What is kept out of the audit log, reports and spans, and, where declared, of the model's sight.

Redaction errs on the side of hiding: a text is never the poorer for a secret that stayed in it.
What an approver reads before saying yes is not redacted (`placet.words.escape`).
"""
