"""What a server can say of its tools: few bytes that mean no end of work, and many that mean nothing."""

import json
import pathlib
import threading

from world import MEGABYTE, Toolfold, attempt, check, folder, server, wait

GOOD = server("good")


def told(tools):
    """A server of these tools, which are more than fit into a configuration."""
    path = folder() + "/tools.json"
    pathlib.Path(path).write_text(json.dumps(tools))
    return server("bad", tools_file=path)


def is_found(it, session, tool):
    return tool in it.ask(session, "tools/call", {"name": "find_tools", "arguments": {"tool": tool, "detail": "name"}})


def definition(schema, name="odd", **more):
    return {"name": name, "description": "Does odd things", "inputSchema": {"type": "object", **schema}, **more}


def multiplied(width, levels, required):
    """Members of members, each level by reference: width to the power of levels."""
    names = [f"m{number}" for number in range(width)]

    def level(number):
        members = {name: {"$ref": f"#/$defs/l{number + 1}"} for name in names}
        return {"type": "object", "properties": members, "required": names if required else []}

    steps = {f"l{number}": level(number) for number in range(1, levels)}
    return {**level(0), "$defs": {**steps, f"l{levels}": {"type": "string"}}}


def referring(count):
    """Parameters that are all the same large thing."""
    large = {"type": "string", "description": "long " * 100_000}
    return {"properties": {f"m{number}": {"$ref": "#/$defs/large"} for number in range(count)}, "$defs": {"large": large}}


READ = {
    "members of members, required": multiplied(40, 7, True),
    "members of members, optional": multiplied(40, 7, False),
    "lists of itself": {"properties": {"m0": {"type": "array", "minItems": 20, "items": {"$ref": "#"}}}, "required": ["m0"]},
    "allOf of itself": {"allOf": [{"$ref": "#"}] * 200, "properties": {"m0": {"allOf": [{"$ref": "#"}] * 200}}, "required": ["m0"]},
    "10,000 parameters": {"properties": {f"parameter_{number}": {"type": "string"} for number in range(10_000)}},
    "a large thing that 500 parameters refer to": referring(500),
    "names with dots": {"properties": {".".join(["a"] * length): {"$ref": "#"} for length in range(1, 120)}},
}


@attempt("definitions", "small ones that are no end of work to read, at every level and on every surface")
def read():
    # One after the other at one Toolfold: each is a tool of its own.
    tools = [definition(schema, f"odd{number}") for number, schema in enumerate(READ.values())]
    with Toolfold(GOOD + told(tools)) as it:
        session = it.session()
        it.serves(session)
        wait(lambda: is_found(it, session, "bad.odd0"), 20, "its tools are not there:")
        path = ".".join(["a"] * 200) + ".b"
        for number, what in enumerate(READ):
            tool = f"bad.odd{number}"

            def ask():
                for more in ({"detail": "signature"}, {}, {"detail": "full"}, {"parameter": ["m0", "m0.m1.m2", path]}):
                    said = it.ask(session, "tools/call", {"name": "find_tools", "arguments": {"tool": tool, **more}}, 20)
                    check(len(said) < 60_000, f"{what}, {more}: {len(said)} bytes")
                it.ask(session, "tools/call", {"name": "find_tools", "arguments": {"query": "odd things"}}, 20)
                it.http("POST", "/v1/levels", json.dumps({"tool_id": tool}), timeout=20)
                it.http("POST", "/v1/expand_tool", json.dumps({"tool_id": tool}), timeout=20)
                it.http("POST", "/v1/explain", json.dumps({"query": "odd things"}), timeout=20)

            it.quiet_during(ask)
        it.is_well(session)


@attempt("definitions", "one of 6 MB, asked for by 30 clients at once, and by 200 who hang up")
def large():
    members = {f"p{number}": {"type": "string", "description": "d" * 1000} for number in range(2_000)}
    tool = {**definition({"properties": members}), "description": "word " * MEGABYTE}
    with Toolfold(GOOD + told([tool])) as it:
        session = it.session()
        it.serves(session)
        wait(lambda: is_found(it, session, "bad.odd"), 20, "it is not there:")
        arguments = {"name": "find_tools", "arguments": {"tool": "bad.odd", "detail": "full"}}

        def ask():
            try:
                it.ask(session, "tools/call", arguments, 25)
            except OSError:
                pass

        def all_of_them():
            threads = [threading.Thread(target=ask, daemon=True) for _ in range(30)]
            [thread.start() for thread in threads]
            for path, body in (("/v1/levels", b'{"tool_id":"bad.odd"}'), ("/v1/tokens", b""), ("/v1/tools?filter=a+e+i+o+d+s+w+r&limit=1000", b"")):
                kind = "POST" if body else "GET"
                head = f"{kind} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
                for _ in range(70):
                    it.raw(head.encode() + body).close()
            [thread.join(30) for thread in threads]

        it.quiet_during(all_of_them)
        it.is_well(session)


@attempt("memory", "a list of four million ones, an answer of a million members")
def ones():
    with Toolfold(GOOD + server("bad", list_of=4_000_000) + server("worse", members=1_000_000)) as it:
        session = it.session()
        it.serves(session)
        it.quiet_during(lambda: [it.serves(session) for _ in range(5)])
        it.quiet_during(lambda: it.call(session, "worse.echo", {"text": "x"}, timeout=30))
        it.is_well(session)


@attempt("memory", "900 definitions of 4 KB that change, held, and looked at by many")
def held():
    changed = json.dumps({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
    with Toolfold(GOOD + server("bad", many=900, long=4_000, differing=True, flood=changed, seconds=20, pause=0.5)) as it:
        session = it.session()
        it.serves(session)
        total = lambda: json.loads(it.http("GET", "/v1/approvals?limit=1", timeout=20)[2]).get("total", 0)
        wait(lambda: total() > 800, 25, "nothing is held:")

        def look():
            try:
                it.http("GET", "/v1/approvals?limit=1000", timeout=25)
            except OSError:
                pass

        threads = [threading.Thread(target=look, daemon=True) for _ in range(8)]
        it.quiet_during(lambda: ([thread.start() for thread in threads], [thread.join(30) for thread in threads]))
        it.is_well(session)
