"""`keeproom mcp`: the vault of this machine for a client that starts its servers itself."""

from keeproom import compose
from keeproom.cli.terminal import app
from keeproom.local.queue import Worker
from keeproom.settings import read_settings


@app.command()
def mcp() -> None:
    """Answer MCP over standard input and output, until the input ends."""
    # Here, because no other command speaks MCP, and it takes half a second to load.
    from keeproom.mcp.calls import PERSONAL, Served, only  # noqa: PLC0415
    from keeproom.mcp.stdio import serve  # noqa: PLC0415

    with compose.local(read_settings()) as composed:
        worker = Worker(composed.vault, prepare=composed.prepare)
        worker.start()
        try:
            serve(Served(vaults=only(composed.vault), wake=worker.wake), vault=PERSONAL)
        finally:
            worker.stop()
