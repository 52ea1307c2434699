"""Workflows: stages over agents and functions, with one typed state that survives a pause.

```python
from placet.workflow import AgentStage, Loop, Parallel, Sequence, Workflow
```
"""

from placet.workflow.stages import AgentStage, FunctionStage, Loop, Parallel, Sequence, WhenExhausted, WhenStopped
from placet.workflow.workflow import Workflow

__all__ = [
    "AgentStage",
    "FunctionStage",
    "Loop",
    "Parallel",
    "Sequence",
    "WhenExhausted",
    "WhenStopped",
    "Workflow",
]
