"""A workflow over four agents: plan, explore, review until approved, publish."""
