"""tau2's customers, and each other's orders: `python -m bench.tau2`. See docs/proofs.md."""
