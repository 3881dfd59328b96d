"""What a client can do: bodies, batches, names, handles, half a request."""

import json
import threading
import time

from world import MEGABYTE, Toolfold, attempt, check, in_time, journal, read, server, up_to, wait

GOOD = server("good")


@attempt("batches", "16 MB of [1,1,…] without a session")
def ones():
    with Toolfold(GOOD) as it:
        body = b"[" + b"1," * (8 * MEGABYTE) + b"1]"
        status, _, answer = it.quiet_during(lambda: it.http("POST", "/mcp", body, timeout=60))
        check(status != 200 or b"error" in answer, f"answered {status} {answer[:80]}")
        check(len(answer) < MEGABYTE, f"the answer has {len(answer)} bytes")
        it.is_well()


@attempt("batches", "10,000 requests in one body")
def many():
    with Toolfold(GOOD) as it:
        session = it.session()
        body = json.dumps([{"jsonrpc": "2.0", "id": number, "method": "ping"} for number in range(10_000)])
        answer = it.quiet_during(lambda: it.http("POST", "/mcp", body, {"Mcp-Session-Id": session}, 60))[2]
        check(len(answer) < 100_000, f"the answer has {len(answer)} bytes")
        it.is_well()


@attempt("batches", "brackets a million deep")
def deep():
    with Toolfold(GOOD) as it:
        session = it.session()
        for body in (b"[" * 1_000_000, b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":' + b'{"a":' * 200_000):
            status, _, answer = it.http("POST", "/mcp", body, {"Mcp-Session-Id": session}, 60)
            check(status >= 400 or b"error" in answer, f"answered {status}")
        it.is_well()


@attempt("slow clients", "300 connections that say nothing or half a head")
def silent():
    it = Toolfold(GOOD)
    with it:
        lines = [it.raw(data) for data in (b"", b"POST /mcp HT", b"POST /mcp HTTP/1.1\r\nHost: x\r\nX-A: ") for _ in range(100)]
        it.is_well()
        took = it.stop()
        in_time(took is not None and took < 15, "SIGTERM waits for them")
        [line.close() for line in lines]


@attempt("slow clients", "50 bodies that never come")
def dripping():
    it = Toolfold(GOOD)
    with it:
        head = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 10000000\r\n\r\n"
        lines = [it.raw(head + b'{"jsonrpc"') for _ in range(50)]
        it.is_well()
        took = it.stop()
        in_time(took is not None and took < 15, "SIGTERM waits for them")
        [line.close() for line in lines]


@attempt("slow clients", "40 clients that ask for 4 MB each and do not read")
def unread():
    with Toolfold(GOOD + server("talker")) as it:
        session = it.session()
        arguments = {"tool": "talker.large", "arguments": {"bytes": 4 * MEGABYTE}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "call_tool", "arguments": arguments}}
        body = json.dumps(message).encode()
        head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMcp-Session-Id: {session}\r\nContent-Length: {len(body)}\r\n\r\n"
        lines = [it.raw(head.encode() + body) for _ in range(40)]
        time.sleep(2)
        held = it.resident()
        check(held < 450, f"{held:.0f} MB are held for clients that do not read")
        [line.close() for line in lines]
        wait(lambda: it.resident() < 300, 10, "memory does not come back:")
        it.is_well()


@attempt("memory", "60 sessions with 2 MB of capabilities each")
def capabilities():
    with Toolfold(GOOD) as it:
        large = {"experimental": {"x": "y" * (2 * MEGABYTE)}}
        for _ in range(60):
            it.session(large, timeout=30)
        it.is_well()


@attempt("memory", "4,500 sessions; the one that is used stays")
def sessions():
    with Toolfold(GOOD) as it:
        mine = it.session()
        it.serves(mine)
        said = []
        caller = threading.Thread(target=lambda: said.append(it.call(mine, "good.sleep", {"seconds": 8}, timeout=60)))
        caller.start()
        body = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}})
        for _ in up_to(4_500, 12):
            it.http("POST", "/mcp", body, timeout=20)
        caller.join(60)
        check(said and "sleep" in said[0], f"its call is answered with {str(said)[:200]}")
        it.is_small()


@attempt("memory", "hundreds of subscriptions to addresses of 10 KB, and to ones of 2 KB")
def subscriptions():
    with Toolfold(server("good", resources=["note://a"], templates=["note://{x}"])) as it:
        session = it.session()
        wait(lambda: "note://a" in it.ask(session, "resources/list", {}), 10, "it is not listed:")
        for number in up_to(200, 3):
            said = it.ask(session, "resources/subscribe", {"uri": f"note://{number}" + "x" * 10_000})
            check("error" in said, f"an address of 10 KB is taken: {said[:200]}")
        taken = refused = 0
        for number in up_to(600, 12):
            said = it.ask(session, "resources/subscribe", {"uri": f"note://{number}" + "x" * 1_900})
            refused += "error" in said
            taken += "error" not in said
        check(0 < taken < 600 and refused > 0, f"{taken} subscriptions are taken, {refused} refused")
        it.is_well()


@attempt("long names", "a name of 5 MB, in both eras")
def name():
    with Toolfold(server("good", many=2_000)) as it:
        session = it.session()
        long = "x.y_" * (5 * MEGABYTE // 4)
        it.quiet_during(lambda: it.call(session, long, timeout=30))
        it.quiet_during(lambda: it.ask(session, "tools/call", {"name": long, "arguments": {}}, timeout=30))
        it.quiet_during(lambda: it.stateless("tools/call", {"name": long, "arguments": {}}, timeout=30))
        it.is_well()


@attempt("long names", "queries, paths, cursors and limits of any length and kind")
def query():
    with Toolfold(server("good", many=2_000)) as it:
        session = it.session()
        odd = [
            {"query": "delete " * 300_000},
            {"query": "\u0301" * 500_000},
            {"path": ["x"] * 100_000},
            {"path": ["x" * MEGABYTE]},
            {"cursor": "A" * MEGABYTE},
            {"query": "thing", "limit": 10**18},
            {"query": "thing", "limit": -1, "cursor": "////"},
            {"tool": ["good.echo"] * 50_000},
            {"tool": "good.echo", "parameter": "p" * MEGABYTE},
        ]
        for arguments in odd:
            params = {"name": "find_tools", "arguments": arguments}
            said = it.quiet_during(lambda: it.ask(session, "tools/call", params, timeout=30))
            check(len(said) < MEGABYTE, f"{list(arguments)}: the answer has {len(said)} bytes")
        it.is_well()


@attempt("notifications", "a call sent as a notification, of a tool that is forbidden and of one that is not")
def forbidden():
    wrote = journal()
    with Toolfold(server("good", journal=wrote) + 'forbid = ["echo"]\n') as it:
        session = it.session()
        it.call(session, "good.sleep", {"seconds": 0})
        for params in ({"name": "good.echo", "arguments": {}}, {"name": "call_tool", "arguments": {"tool": "good.echo", "arguments": {}}}):
            for message in ({"jsonrpc": "2.0", "method": "tools/call", "params": params}, {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params}):
                it.post(message, {"Mcp-Session-Id": session})
        it.call(session, "good.sleep", {"seconds": 0})
        check("call echo" not in read(wrote), "a forbidden tool was called")


@attempt("impersonation", "another's session, and a made-up one")
def handles():
    with Toolfold(GOOD) as it:
        for session in ("0" * 32, "../..", "%00", "x" * 7_000):
            status, _, answer = it.post({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, {"Mcp-Session-Id": session})
            check(status >= 400, f"session {session[:20]} is answered with {status} {answer[:80]}")
        it.is_well()


@attempt("the door", "requests of other sites, other kinds, two hosts, absolute targets")
def door():
    wrote = journal()
    with Toolfold(server("good", journal=wrote)) as it:
        session = it.session()
        it.serves(session)
        status, _, answer = it.http("POST", "/v1/call_tool", json.dumps({"tool_id": "good.large", "arguments": {"bytes": 3}}))
        check(status == 200 and b"xxx" in answer and "call large" in read(wrote), f"the same of nobody else is answered with {status} {answer[:100]}")
        body = json.dumps({"tool_id": "good.sleep", "arguments": {"seconds": 0}}).encode()

        def refused(what, data):
            line = it.raw(data)
            answer = line.recv(4096)
            line.close()
            code = int(answer.split(b" ")[1]) if answer.startswith(b"HTTP/1.1 ") else 0
            check(code == 0 or code >= 400, f"{what} is answered with {code}")

        def head(path, *lines):
            return ("\r\n".join([f"POST {path} HTTP/1.1", *lines, f"Content-Length: {len(body)}", "Connection: close"]) + "\r\n\r\n").encode() + body

        host, kind = f"Host: 127.0.0.1:{it.port}", "Content-Type: application/json"
        refused("text/plain", head("/v1/call_tool", host, "Content-Type: text/plain"))
        refused("no kind, from a page", head("/v1/call_tool", host, f"Origin: http://127.0.0.1:{it.port}"))
        refused("another site", head("/v1/call_tool", host, kind, "Origin: http://evil.example"))
        refused("another port", head("/v1/call_tool", host, kind, "Origin: http://127.0.0.1:1", "Sec-Fetch-Site: cross-site"))
        refused("another host", head("/v1/call_tool", "Host: evil.example", kind))
        refused("two hosts", head("/v1/call_tool", host, "Host: evil.example", kind))
        refused("an absolute target", head("http://evil.example/v1/call_tool", host, kind))
        check("call sleep" not in read(wrote), "one of them was done all the same")
        it.is_well(session)


@attempt("the door", "a client that takes JSON alone is served or refused before its call runs")
def json_alone():
    wrote = journal()
    with Toolfold(server("good", journal=wrote)) as it:
        session = it.session()
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "call_tool", "arguments": {"tool": "good.sleep", "arguments": {"seconds": 0}}}}
        status, _, answer = it.post(message, {"Mcp-Session-Id": session, "Accept": "application/json"})
        check((b"sleep" in answer) == ("call sleep" in read(wrote)), f"{status}, and the call ran: {answer[:100]}")
