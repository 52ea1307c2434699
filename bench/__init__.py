"""What the gate costs, as ratios to the floor and to peers, measured side by side in one run."""
