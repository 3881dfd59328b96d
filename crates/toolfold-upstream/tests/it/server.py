"""A small MCP server over stdio that misbehaves on request. Every argument is a trait; `log=FILE` writes down each
message that was received, so that a test can count what really arrived."""
import json, os, signal, subprocess, sys

traits = {a.partition("=")[0]: a.partition("=")[2] or True for a in sys.argv[1:]}
era = traits.get("era", "legacy")
tools = ["echo", "crash", "slow", "progress", "ask", "big", "grow", "pid"]
open_calls = []
starts = 0
if "starts" in traits:
    with open(traits["starts"], "a") as f:
        f.write(f"{os.getpid()}\n")
    starts = len(open(traits["starts"]).readlines())
if "stubborn" in traits:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = subprocess.Popen(["sh", "-c", "trap '' TERM; while :; do sleep 1; done"], stdin=subprocess.DEVNULL)
    with open(traits["stubborn"] + ".new", "w") as f:
        f.write(f"{os.getpid()} {child.pid}")
    os.rename(traits["stubborn"] + ".new", traits["stubborn"])
if "daemon" in traits:
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    quiet = {name: subprocess.DEVNULL for name in ("stdin", "stdout", "stderr")}
    daemon = subprocess.Popen([sys.executable, "-c", code], start_new_session=True, **quiet)
    with open(traits["daemon"] + ".new", "w") as f:
        f.write(f"{os.getpid()} {daemon.pid}")
    os.rename(traits["daemon"] + ".new", traits["daemon"])
if "fail" in traits:
    print("Error: the token " + os.environ.get("TOKEN", "") + " is not valid", file=sys.stderr, flush=True)
    sys.exit(4)


def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def answer(id, result):
    if era == "modern":
        result = {"resultType": "complete", **result}
    send({"id": id, "result": result})


def text(id, value, **more):
    answer(id, {"content": [{"type": "text", "text": value}], **more})


def call(id, params):
    name, arguments = params["name"], params.get("arguments", {})
    if name == "echo":
        text(id, json.dumps(arguments), structuredContent=params, unknownField=[1, {"x": 1.0}])
    elif name == "crash":
        print("Fatal error: out of cheese", file=sys.stderr, flush=True)
        os._exit(3)
    elif name == "slow":
        send({"method": "notifications/message", "params": {"level": "info", "data": "slow has begun"}})
    elif name == "deaf":
        text(id, "deaf from now on")
        signal.pause()
    elif name == "batch":
        print("[" + "1," * 200_000 + "1]", flush=True)
        text(id, "sent")
    elif name == "say":
        if arguments.get("first"):
            text(id, "said")
        send(arguments["message"])
        if not arguments.get("first"):
            text(id, "said")
    elif name == "progress":
        token = params["_meta"]["progressToken"]
        send({"method": "notifications/progress", "params": {"progressToken": token, "progress": 1, "note": "kept"}})
        text(id, json.dumps(token))
    elif name == "ask":
        send({"id": "q-1", "method": "elicitation/create", "params": {"message": "Colour?", "odd": 1}})
        waiting["q-1"] = id
    elif name == "flood":
        for n in range(200):
            send({"id": f"f-{n}", "method": "elicitation/create", "params": {}})
        text(id, "flooded")
    elif name == "ask on":
        send({"id": 7, "method": "elicitation/create", "params": {"call": id}})
        open_calls.append(id)
    elif name == "take back":
        send({"method": "notifications/cancelled", "params": {"requestId": 7}})
        for done in [*open_calls, id]:
            text(done, "done")
    elif name == "odd error":
        send({"id": id, "error": "boom"})
    elif name == "big":
        text(id, "x" * arguments["size"])
    elif name == "grow":
        tools.append("grown")
        for _ in range(50):
            send({"method": "notifications/tools/list_changed"})
        text(id, "grown")
    elif name == "pid":
        text(id, str(os.getpid()))
    else:
        send({"id": id, "error": {"code": -32602, "message": f"no tool {name}", "data": {"hint": "echo"}}})


def listed(id, params):
    if "many" in traits:
        return answer(id, {"tools": [{"name": f"t{n}"} for n in range(int(traits["many"]))]})
    if "cursors" in traits:
        page = int(params.get("cursor", "0").rstrip("c") or 0)
        return answer(id, {"tools": [], "nextCursor": str(page + 1) + "c" * int(traits["cursors"])})
    if "values" in traits:
        wide = lambda count: {"name": f"v{count}", "inputSchema": {"enum": [1] * count}}
        return answer(id, {"tools": [wide(int(count)) for count in traits["values"].split(",")]})
    definition = lambda name: {"name": name, "inputSchema": {"type": "object"}, "execution": {"odd": True}}
    if "paging" not in traits:
        return answer(id, {"tools": [definition(name) for name in tools]})
    page = int(params.get("cursor", "0"))
    result = {"tools": [definition(tools[page])]}
    if traits["paging"] == "endless":
        result["nextCursor"] = str((page + 1) % 3)
    elif page + 1 < len(tools):
        result["nextCursor"] = str(page + 1)
    answer(id, result)


waiting = {}
listener = None
greeted = False


def handle(message):
    global greeted, listener
    method, id, params = message.get("method"), message.get("id"), message.get("params") or {}
    if method is None:
        if id in waiting:
            text(waiting.pop(id), json.dumps(message.get("result", message.get("error"))))
        return
    if method != "initialize" and not greeted and era == "legacy":
        if "dies" in traits:
            sys.exit(1)
        if "silent" in traits:
            return
    capabilities = {"tools": {"listChanged": True}, "logging": {}, "resources": {"subscribe": True, "listChanged": True}}
    if era == "modern":
        if method == "initialize" or "io.modelcontextprotocol/protocolVersion" not in params.get("_meta", {}):
            if id is not None:
                send({"id": id, "error": {"code": -32602, "message": "missing protocol version"}})
            return
        if method == "server/discover":
            return answer(id, {"supportedVersions": ["2026-07-28"], "capabilities": capabilities, "instructions": "be kind",
                               "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "modern", "version": "1"}}})
        if method == "subscriptions/listen":
            listener = id
            mine = {"io.modelcontextprotocol/subscriptionId": id}
            send({"method": "notifications/subscriptions/acknowledged", "params": {"_meta": mine}})
            for uri in params["notifications"].get("resourceSubscriptions", []):
                send({"method": "notifications/resources/updated", "params": {"uri": uri, "_meta": mine}})
            return
    elif method == "initialize":
        greeted = True
        version = traits.get("version", params["protocolVersion"]) * int(traits.get("versions", 1))
        return answer(id, {"protocolVersion": version, "capabilities": capabilities,
                           "serverInfo": {"name": "legacy", "version": "1"}, "instructions": "be kind"})
    if method == "tools/list":
        listed(id, params)
    elif method == "resources/list":
        send({"id": id, "error": {"code": -32603, "message": "broken"}})
    elif method == "resources/templates/list":
        answer(id, {"resourceTemplates": [{"uriTemplate": "x://{y}", "name": "t"}]})
    elif method == "resources/subscribe":
        answer(id, {})
        send({"method": "notifications/resources/updated", "params": {"uri": params["uri"]}})
    elif method == "tools/call":
        call(id, params)
    elif method == "x/ask-nobody":
        waiting["q-2"] = id
        send({"id": "q-2", "method": "roots/list"})
    elif id is not None:
        answer(id, {})


if "garbage" in traits:
    print("Welcome to the server!\n{\"not\": \"a message\"}\n[]\n\n{broken", flush=True)
log = open(traits["log"], "a") if "log" in traits else None
for line in sys.stdin:
    if log:
        log.write(line)
        log.flush()
    handle(json.loads(line))
if "stubborn" in traits:
    while True:
        signal.pause()
