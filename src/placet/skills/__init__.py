"""Skills: tools that live in folders of their own and prove themselves.

A skill is a folder: `SKILL.md` (a valid Agent Skill, for people and agents), `tool.toml` (what
placet decides by), `handler.py` and modules beside it (its code), `schema.json` (what the model is
told), `tests/` and `README.md`. All skills of a folder are registered from one `index.toml`,
and a lock file pins what each tells the model: what has drifted does not load.
"""
