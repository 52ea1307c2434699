"""placet: the tool-calling gate.

The model proposes a call; your code decides, records, runs and answers.

```python
from placet import Agent, Principal, tool
```
"""

from placet.agent.definition import AgentDefinition
from placet.errors import (
    ConfigurationError,
    FatalToolError,
    ModelError,
    PlacetError,
    StoreError,
    ToolError,
)
from placet.gate.gate import STANDARD_CHECKS, Gate
from placet.gate.request import GateRequest
from placet.runtime.sinks import ConsoleSink
from placet.tools.context import Context, RuntimePort
from placet.tools.output import ToolOutput
from placet.tools.parameters import Injected, Input, Loaded, State
from placet.tools.source import ToolSource
from placet.tools.tool import Tool, tool
from placet.tools.toolset import Toolset
from placet.values.approval import Approval, Confirmation, Preview
from placet.values.call import ToolCall, ToolResult
from placet.values.decision import Allow, Deny, NeedsApproval, Reason
from placet.values.limits import Budget, RateLimit, ValueLimit
from placet.values.message import AssistantMessage, ToolMessage, Transcript, UserMessage
from placet.values.outcome import Answer, Outcome, PendingApproval, Refused, Stopped, Waiting
from placet.values.price import Price
from placet.values.principal import EVERYONE, Principal
from placet.values.tool import Effect, ToolSpec
from placet.wiring import Agent

__version__ = "0.1.0"

__all__ = [
    "EVERYONE",
    "STANDARD_CHECKS",
    "Agent",
    "AgentDefinition",
    "Allow",
    "Answer",
    "Approval",
    "AssistantMessage",
    "Budget",
    "ConfigurationError",
    "Confirmation",
    "ConsoleSink",
    "Context",
    "Deny",
    "Effect",
    "FatalToolError",
    "Gate",
    "GateRequest",
    "Injected",
    "Input",
    "Loaded",
    "ModelError",
    "NeedsApproval",
    "Outcome",
    "PendingApproval",
    "PlacetError",
    "Preview",
    "Price",
    "Principal",
    "RateLimit",
    "Reason",
    "Refused",
    "RuntimePort",
    "State",
    "Stopped",
    "StoreError",
    "Tool",
    "ToolCall",
    "ToolError",
    "ToolMessage",
    "ToolOutput",
    "ToolResult",
    "ToolSource",
    "ToolSpec",
    "Toolset",
    "Transcript",
    "UserMessage",
    "ValueLimit",
    "Waiting",
    "__version__",
    "tool",
]
