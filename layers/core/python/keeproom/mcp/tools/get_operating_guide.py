"""`get_operating_guide`: what the owner wants of agents, and what this one may do."""

from keeproom.mcp.answers import Answer
from keeproom.mcp.asked import Asked
from keeproom.mcp.calls import Call
from keeproom.mcp.tool import Tool
from keeproom.oauth.model import Permission
from keeproom.vault import guide
from keeproom.vault.model import ApprovalMode
from keeproom.vault.text import without_hidden

MEANING = {
    Permission.READ: "recall and list memories",
    Permission.PROPOSE: "propose memories, which wait for the owner",
    Permission.WRITE: "remember, as the approval mode says",
    Permission.FORGET: "forget memories; in review mode the owner confirms",
}


class Nothing(Asked):
    """No arguments."""


class Guide(Answer):
    """The guide is the owner's word to agents."""

    guide: str
    version: int
    approval_mode: ApprovalMode
    vault: str
    app: str
    permissions: list[Permission]
    you_may: list[str]


def _run(call: Call, _: Nothing) -> Guide:
    now = guide.guide(call.vault)
    granted = [one for one in Permission if one in call.caller.permissions]
    return Guide(
        guide=without_hidden(now.content),
        version=now.number,
        approval_mode=call.vault.memories.settings().approval_mode,
        vault=call.caller.vault,
        app=call.app,
        permissions=granted,
        you_may=[MEANING[one] for one in granted],
    )


GET_OPERATING_GUIDE = Tool(
    name="get_operating_guide",
    title="Get the operating guide",
    description=(
        "Read first, once in a conversation: how the owner wants this long-term memory to be "
        "used: when to recall, what is worth remembering and in which form, what never to save. "
        "Also tells whether saving needs approval and what you may do."
    ),
    needs=frozenset({Permission.READ}),
    takes=Nothing,
    gives=Guide,
    run=_run,
    reads_only=True,
)
