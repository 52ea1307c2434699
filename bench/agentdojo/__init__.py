"""AgentDojo's injection cases, replayed through placet: `python -m bench.agentdojo`. See docs/proofs.md."""
