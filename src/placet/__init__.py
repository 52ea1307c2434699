"""placet: the tool-calling gate. The model proposes a call; your code decides, records, runs and answers."""
