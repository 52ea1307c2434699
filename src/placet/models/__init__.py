"""Ask a model: a client for each provider, a server of one's own, and models for tests and evaluations.

What leaves and enters a model is a `placet.ports.ModelRequest` and a `ModelAnswer`, whichever API
is spoken; `placet.models.open.open_model` makes a client from an id as `"anthropic:NAME"`.
"""
