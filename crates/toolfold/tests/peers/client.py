"""The Python SDK as a client of Toolfold: reads steps from stdin, one JSON object per line, prints what came back.

Usage: client.py <mode> http <url> | client.py <mode> stdio <command> [argument ...]
A step is {"list": {}} or {"call": name, "arguments": {...}}. `mode` is the SDK's own: legacy, auto, or a version.
A server's questions are answered: the user is called Ada, and the model says "Forty-two.".
"""

import json
import os
import sys

import anyio
import mcp_types as types
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client


def server(transport, target):
    if transport == "http":
        return target[0]
    return stdio_client(StdioServerParameters(command=target[0], args=target[1:], env=dict(os.environ)))


async def user(context, params):
    return types.ElicitResult(action="accept", content={"name": "Ada"})


async def model(context, params):
    said = types.TextContent(type="text", text="Forty-two.")
    return types.CreateMessageResult(role="assistant", model="a-model", content=said)


async def take(client, step):
    if "list" in step:
        listed = await client.list_tools()
        return {"tools": [tool.name for tool in listed.tools]}
    try:
        result = await client.call_tool(step["call"], step.get("arguments"))
    except Exception as error:
        return {"raised": str(error)}
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)


async def main(mode, transport, *target):
    answers = {"elicitation_callback": user, "sampling_callback": model}
    async with Client(server(transport, target), mode=mode, **answers) as client:
        print(json.dumps({"protocol": client.protocol_version, "instructions": client.instructions}), flush=True)
        for line in sys.stdin:
            print(json.dumps(await take(client, json.loads(line))), flush=True)


anyio.run(main, *sys.argv[1:])
