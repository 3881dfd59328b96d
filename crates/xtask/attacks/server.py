"""A stdio server that does what a bad one could: `server.py OPTIONS`, OPTIONS as JSON.

What a reader would get wrong: it is honest unless an option says otherwise, so that the honest server of an attempt is this
one too.

tools: definitions beside the usual ones, or tools_file: a file of them, or
tools_raw: one that is passed on as it is written; resources, templates: addresses; templates_many: so many; text: what its resources say; journal: a file with
the name of each request and what was called; hang: a method that is never answered; deaf: reads nothing after its list;
line_of: a line of so many bytes after the list; flood: a line written over and over after the list, for `seconds`, with a `pause`; many: so many tools; changing: their names change with each list;
long: characters of the descriptions of those many; differing: other descriptions with each list; list_of: its tools are so
many ones; cursors: another page after each, with a cursor so long; members: its results have so many members; answers: how calls are answered, see `mixed`; late: seconds
before a list is answered; says: a text for stderr; stubborn: ends only when it is killed; child: starts a process like that; pid: a file for process ids.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time

OPTIONS = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
LOCK = threading.Lock()
ROUND = [0]


def write(line):
    with LOCK:
        sys.stdout.buffer.write(line + b"\n")
        sys.stdout.buffer.flush()


def send(message):
    write(json.dumps({"jsonrpc": "2.0", **message}).encode())


def tool(name, **properties):
    kinds = {key: {"type": kind} for key, kind in properties.items()}
    return {"name": name, "description": f"Does {name}", "inputSchema": {"type": "object", "properties": kinds}}


def text(words):
    return {"content": [{"type": "text", "text": words}]}


TOOLS = [
    tool("echo", text="string"),
    tool("sleep", seconds="number"),
    tool("large", bytes="integer"),
    tool("tell", lines="array", times="integer"),
    tool("environment"),
    tool("fail", text="string"),
] + OPTIONS.get("tools", [])
if OPTIONS.get("tools_file"):
    with open(OPTIONS["tools_file"]) as file:
        TOOLS += json.load(file)


def tools():
    if OPTIONS.get("changing") or OPTIONS.get("differing"):
        ROUND[0] += 1
    many, of_name = OPTIONS.get("many", 0), ROUND[0] if OPTIONS.get("changing") else 0
    found = [tool(f"thing_{of_name}_{number}", text="string") for number in range(many)]
    for number, one in enumerate(found if OPTIONS.get("long") else []):
        one["description"] = f"Does thing {number} of round {ROUND[0]}: " + "word " * (OPTIONS["long"] // 5)
    return TOOLS + found


def call(message):
    params = message["params"]
    name, arguments = params["name"], params.get("arguments") or {}
    token = (params.get("_meta") or {}).get("progressToken")
    note("call " + name)
    if name == "sleep":
        time.sleep(arguments.get("seconds", 1))
    if name == "large":
        return text("x" * arguments.get("bytes", 1))
    if name == "environment":
        return text(json.dumps(dict(os.environ)))
    if name == "tell":
        for _ in range(arguments.get("times", 1)):
            for line in arguments.get("lines", []):
                if isinstance(line, str):
                    write(line.encode())
                    continue
                send({**line, "params": {**line.get("params", {}), "token": token}} if "method" in line else line)
    if name == "fail":
        raise ValueError(arguments.get("text", "it failed"))
    return text(arguments.get("text", name))


def answer(message):
    method = message["method"]
    if method == "initialize":
        offers = {"tools": {"listChanged": True}, "resources": {"subscribe": True}, "logging": {}, "prompts": {}}
        return {"protocolVersion": "2025-06-18", "capabilities": offers, "serverInfo": {"name": "s", "version": "1"}}
    if method == "tools/list":
        time.sleep(OPTIONS.get("late", 0))
        if OPTIONS.get("cursors"):
            ROUND[0] += 1
            return {"tools": TOOLS if ROUND[0] == 1 else [], "nextCursor": f"{ROUND[0]}" + "c" * OPTIONS["cursors"]}
        return {"tools": tools() + [1] * OPTIONS.get("list_of", 0)}
    if method == "resources/list":
        return {"resources": [{"uri": uri, "name": uri} for uri in OPTIONS.get("resources", [])]}
    if method == "resources/templates/list":
        made = [f"note{number}://{{a}}/{{b}}" for number in range(OPTIONS.get("templates_many", 0))]
        return {"resourceTemplates": [{"uriTemplate": uri, "name": uri} for uri in OPTIONS.get("templates", []) + made]}
    if method == "resources/read":
        note("read " + message["params"]["uri"])
        return {"contents": [{"uri": message["params"]["uri"], "text": OPTIONS.get("text", "nothing")}]}
    if method == "prompts/list":
        return {"prompts": []}
    if method in ("ping", "resources/subscribe", "resources/unsubscribe", "logging/setLevel"):
        return {}
    if method == "tools/call":
        return {**call(message), **{f"k{number}": 1 for number in range(OPTIONS.get("members", 0))}}
    raise LookupError


def serve(message):
    try:
        if message["method"] == "tools/list" and OPTIONS.get("tools_raw"):
            with open(OPTIONS["tools_raw"]) as file:
                return write(f'{{"jsonrpc":"2.0","id":{json.dumps(message["id"])},"result":{{"tools":{file.read()}}}}}'.encode())
        result = answer(message)
        if message["method"] == "tools/call" and OPTIONS.get("answers"):
            return mixed(message["id"], result)
        send({"id": message["id"], "result": result})
    except LookupError:
        send({"id": message["id"], "error": {"code": -32601, "message": "no such method"}})
    except ValueError as error:
        send({"id": message["id"], "error": {"code": -32000, "message": str(error)}})


OTHERS = []


def mixed(identifier, result):
    """Answers a call in a way that would pass for the answer of another."""
    kind, nothing = OPTIONS["answers"], {"code": -1, "message": "no"}
    if kind == "swapped":
        OTHERS.append((identifier, result))
        if len(OTHERS) >= 2:
            (one, first), (other, second) = OTHERS.pop(), OTHERS.pop()
            send({"id": one, "result": first})
            send({"id": one, "result": second})
            send({"id": other, "result": second})
    if kind == "twice":
        [send({"id": identifier, "result": result}) for _ in range(3)]
    if kind == "both":
        send({"id": identifier, "result": result, "error": nothing})
    if kind == "neither":
        send({"id": identifier})
    if kind == "text id":
        send({"id": str(identifier), "result": text("mine-of-nobody")})
        send({"id": identifier, "result": result})
    if kind == "float id":
        send({"id": float(identifier) if isinstance(identifier, int) else identifier, "result": result})
    if kind == "null id":
        send({"id": None, "result": result})
        send({"id": None, "error": nothing})
    if kind == "guesses":
        [send({"id": number, "result": text("mine-of-nobody")}) for number in range(2_000, 4_000)]
        send({"id": identifier, "result": result})


def note(line):
    if OPTIONS.get("journal"):
        with open(OPTIONS["journal"], "a") as file:
            file.write(line + "\n")


def flood():
    lines = (OPTIONS["flood"].encode() + b"\n") * 100
    end = time.monotonic() + OPTIONS.get("seconds", 3)
    while time.monotonic() < end:
        write(lines[:-1])
        time.sleep(OPTIONS.get("pause", 0))


def long_line():
    write(b"[" + b"1," * (OPTIONS["line_of"] // 2) + b"1]")
    note("wrote a line")


def wait_for_ever():
    while True:
        time.sleep(60)


def started():
    if OPTIONS.get("stubborn"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    processes = [os.getpid()]
    if OPTIONS.get("child"):
        sleep = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(300)"
        processes.append(subprocess.Popen([sys.executable, "-c", sleep]).pid)
    if OPTIONS.get("pid"):
        with open(OPTIONS["pid"], "a") as file:
            file.write("".join(f"{process}\n" for process in processes))
    if OPTIONS.get("says"):
        sys.stderr.write(OPTIONS["says"])
        sys.stderr.flush()


def main():
    started()
    for line in sys.stdin.buffer:
        try:
            message = json.loads(line)
        except ValueError:
            # A number that Python does not read: as deaf as others.
            continue
        if "method" not in message:
            continue
        note(message["method"])
        if "id" not in message or message["method"] == OPTIONS.get("hang"):
            continue
        if message["method"] == "tools/call":
            threading.Thread(target=serve, args=(message,), daemon=True).start()
            continue
        serve(message)
        if message["method"] == "tools/list" and OPTIONS.get("flood"):
            threading.Thread(target=flood, daemon=True).start()
        if message["method"] == "tools/list" and OPTIONS.get("line_of"):
            threading.Thread(target=long_line, daemon=True).start()
        if message["method"] == "tools/list" and OPTIONS.get("deaf"):
            wait_for_ever()
    if OPTIONS.get("stubborn"):
        wait_for_ever()


main()
