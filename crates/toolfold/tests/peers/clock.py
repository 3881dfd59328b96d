"""A server that a client has had for long: one tool, `time_now`, and nothing without its key.

It ends at once unless the variable API_KEY is what it was in the client's own file.
"""

import datetime
import json
import os
import sys

KEY = "hunter2hunter2"

TOOL = {
    "name": "time_now",
    "description": "Tell what time it is now.",
    "inputSchema": {"type": "object", "properties": {}},
    "annotations": {"readOnlyHint": True},
}


def answer(method, params):
    if method == "initialize":
        info = {"name": "clock", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        now = datetime.datetime.now(datetime.timezone.utc).isoformat()
        return {"content": [{"type": "text", "text": f"the clock says {now}"}]}
    return {} if method == "ping" else None


if os.environ.get("API_KEY") != KEY:
    sys.exit("clock: API_KEY is not the key")
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    result = answer(asked.get("method"), asked.get("params") or {})
    reply = {"result": result} if result is not None else {"error": {"code": -32601, "message": "there is no such method"}}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **reply}), flush=True)
