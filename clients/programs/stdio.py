"""A server started as a command, reached by the official Python library.
Usage: stdio.py WISHES COMMAND..."""

import asyncio
import json
import os
import sys
from importlib.metadata import version
from typing import Any

from lines import hear, tell
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client


async def call(client: Client, tool: str, arguments: dict[str, Any]) -> None:
    result = await client.call_tool(tool, arguments)
    if result.is_error:
        tell(refused=json.dumps([block.model_dump() for block in result.content]))
    else:
        tell(result=result.structured_content)


async def main() -> None:
    wishes, command, *words = json.loads(sys.argv[1]), *sys.argv[2:]
    server = StdioServerParameters(command=command, args=words, env=dict(os.environ))
    async with Client(stdio_client(server), mode=wishes.get("mode", "auto")) as client:
        tell(version=version("mcp"), protocol=client.protocol_version)
        while heard := await asyncio.to_thread(hear):
            if heard["do"] == "tools":
                tell(tools=[tool.name for tool in (await client.list_tools()).tools])
            else:
                await call(client, heard["tool"], heard["arguments"])


asyncio.run(main())
