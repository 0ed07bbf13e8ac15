"""The seven tools, one a module."""

from keeproom.mcp.tool import AnyTool
from keeproom.mcp.tools.bulk_remember import BULK_REMEMBER
from keeproom.mcp.tools.forget import FORGET
from keeproom.mcp.tools.get_operating_guide import GET_OPERATING_GUIDE
from keeproom.mcp.tools.list_memories import LIST_MEMORIES
from keeproom.mcp.tools.recall import RECALL
from keeproom.mcp.tools.remember import PROPOSE_MEMORY, REMEMBER

TOOLS: tuple[AnyTool, ...] = (
    GET_OPERATING_GUIDE,
    RECALL,
    REMEMBER,
    PROPOSE_MEMORY,
    BULK_REMEMBER,
    LIST_MEMORIES,
    FORGET,
)
