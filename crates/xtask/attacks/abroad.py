"""Servers over HTTP at their worst, in both eras: MCP, APIs, agents, login servers."""

import gzip
import json
import pathlib
import threading
import time

from web import STREAM, Web, mcp, over_http, reply, said
from world import MEGABYTE, Toolfold, attempt, check, in_time, server, wait

GOOD = server("good")
# A call of one of these has this long.
DEADLINE = "timeout = 3\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"


def result(asked, value="done", **more):
    return {"jsonrpc": "2.0", "id": asked.message["id"], "result": {"resultType": "complete", "content": [{"type": "text", "text": value}], **more}}


def event(value):
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def comments(asked):
    asked.send(STREAM)
    asked.forever(b": still here\n\n" * 200, 0.01)


def one_event(asked):
    asked.send(STREAM)
    asked.forever(b"data: " + b"x" * 60_000 + b"\n")


def one_line(asked):
    asked.send(STREAM + b"data: ")
    asked.forever(b"x" * 60_000)


def head(asked):
    asked.send(b"HTTP/1.1 200 OK\r\n")
    asked.forever(b"X-More: " + b"x" * 900 + b"\r\n")


def provisional(asked):
    asked.forever(b"HTTP/1.1 100 Continue\r\n\r\n" * 100)


def extensions(asked):
    asked.send(CHUNKED)
    asked.forever(b"1;" + b"e" * 60_000 + b"\r\n \r\n")


def trailers(asked):
    body = json.dumps(result(asked)).encode()
    asked.send(CHUNKED + f"{len(body):x}\r\n".encode() + body + b"\r\n0\r\n")
    asked.forever(b"X-Trailer: " + b"x" * 900 + b"\r\n")


def drip(asked):
    asked.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 10000000000\r\n\r\n")
    asked.forever(b" ", 0.05)


def packed(asked):
    return reply(200, "application/json", gzip.compress(b" " * (200 * MEGABYTE)), "Content-Encoding: gzip")


def notifications(asked):
    asked.send(STREAM)
    asked.forever(event({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "error", "data": "x" * 500}}) * 50)


def nested(asked):
    return reply(200, "application/json", b'{"jsonrpc":"2.0","id":' + json.dumps(asked.message["id"]).encode() + b',"result":' + b"[" * (8 * MEGABYTE))


WAYS = [comments, one_event, one_line, head, provisional, extensions, trailers, drip, packed, notifications, nested]


def rude_attempt(era):
    @attempt("abroad", f"answers that never end, in {len(WAYS)} ways, of a server of the {era} era")
    def rude():
        webs = [Web(mcp(way, era)) for way in WAYS]
        config = "".join(over_http(way.__name__, web, DEADLINE) for way, web in zip(WAYS, webs))
        try:
            with Toolfold(GOOD + config) as it:
                session = it.session()
                it.serves(session)
                outcomes = {}

                def call(way):
                    begun = time.monotonic()
                    said = it.call(session, f"{way.__name__}.odd", timeout=30)
                    outcomes[way.__name__] = (time.monotonic() - begun, said[:200])

                threads = [threading.Thread(target=call, args=(way,), daemon=True) for way in WAYS]
                it.quiet_during(lambda: ([thread.start() for thread in threads], [thread.join(30) for thread in threads]))
                late = [name for name in (way.__name__ for way in WAYS) if outcomes.get(name, (99, ""))[0] > 15]
                in_time(not late, lambda: f"no end of {late}: {[outcomes.get(name) for name in late]}")
                wait(lambda: it.resident() < 300, 10, "memory does not come back:")
                it.is_well(session)
        finally:
            [web.__exit__() for web in webs]


rude_attempt("legacy")
rude_attempt("stateless")


@attempt("abroad", "a stream that ends at once and says to come back at once")
def restless():
    def stream(asked):
        if asked.method == "GET":
            return reply(200, "text/event-stream", b"retry: 0\nid: " + b"i" * 100_000 + b"\n\n", "Connection: close")
        return answer(asked)

    answer = mcp(lambda asked: said(result(asked)))
    with Web(stream) as web, Toolfold(GOOD + over_http("odd", web)) as it:
        session = it.session()
        it.call(session, "odd.odd")
        before = len(web.asked)
        time.sleep(4)
        came = len(web.asked) - before
        check(came < 100, f"it came back {came} times in four seconds")
        it.is_well(session)


@attempt("abroad", "a question after each answer, without end, to clients of both eras")
def inquisitive():
    def call(asked):
        question = {"method": "elicitation/create", "params": {"mode": "form", "message": "and now?", "requestedSchema": {"type": "object", "properties": {}}}}
        more = {"resultType": "input_required", "inputRequests": {"q": question}, "requestState": "s" * 1000}
        return said({"jsonrpc": "2.0", "id": asked.message["id"], "result": more})

    def roots(asked):
        more = {"resultType": "input_required", "inputRequests": {f"r{n}": {"method": "roots/list", "params": {}} for n in range(5_000)}, "requestState": "s"}
        return said({"jsonrpc": "2.0", "id": asked.message["id"], "result": more})

    def silent(asked):
        # Nothing is wanted, and it is asked again at once.
        return said({"jsonrpc": "2.0", "id": asked.message["id"], "result": {"resultType": "input_required", "requestState": "s"}})

    with Web(mcp(call, "stateless")) as one, Web(mcp(roots, "stateless")) as two, Web(mcp(silent, "stateless")) as three:
        with Toolfold(GOOD + over_http("one", one, DEADLINE) + over_http("two", two, DEADLINE) + over_http("three", three, DEADLINE)) as it:
            session = it.session({"elicitation": {}, "roots": {}})
            it.serves(session)
            for name, web in (("one", one), ("two", two), ("three", three)):
                for ask in (lambda: it.call(session, f"{name}.odd", timeout=4), lambda: it.stateless("tools/call", {"name": "call_tool", "arguments": {"tool": f"{name}.odd", "arguments": {}}}, 4)):
                    before = len(web.asked)
                    try:
                        it.quiet_during(ask)
                    except TimeoutError:
                        pass
                    came = len(web.asked) - before
                    check(came < 40, f"{name} was asked {came} times for one call")
            it.is_well(it.session())


@attempt("abroad", "redirects: in circles, to this machine's services, to another port with the key")
def elsewhere():
    key = "Bearer k3y-of-the-server-0123456789"
    reached = []
    with Web(lambda asked: (reached.append(asked.headers), reply(404, "text/plain", b""))[1]) as other:
        targets = ["/mcp", "http://169.254.169.254/latest", "file:///etc/passwd", other.url + "/mcp", "//127.0.0.1:%d/x" % other.port, "http://127.0.0.1:1/", "\x01"]
        webs = [Web(lambda asked, to=to: reply(307, "text/plain", b"", f"Location: {to}")) for to in targets]
        config = "".join(over_http(f"s{number}", web, f'headers = {{ Authorization = "{key}" }}\nconnect_timeout = 3\n') for number, web in enumerate(webs))
        try:
            with Toolfold(GOOD + config) as it:
                it.serves()
                time.sleep(4)
                check(not any("authorization" in headers for headers in reached), "the key went to another port")
                busiest = max(len(web.asked) for web in webs)
                check(busiest < 60, f"{busiest} requests in a circle")
                it.is_well()
        finally:
            [web.__exit__() for web in webs]


@attempt("abroad", "a server that never knows its session, and one whose session has 60 KB and line ends")
def forgetful():
    def call(asked):
        return reply(404, "application/json", {"jsonrpc": "2.0", "id": asked.message["id"], "error": {"code": -32001, "message": "no such session"}})

    def greet(asked):
        value = {"jsonrpc": "2.0", "id": asked.message["id"], "result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}}}
        return reply(200, "application/json", value, "Mcp-Session-Id: " + "s" * 60_000)

    with Web(mcp(call, initialize=greet)) as web, Toolfold(GOOD + over_http("odd", web, DEADLINE)) as it:
        session = it.session()
        before = len(web.asked)
        said = [it.call(session, "odd.odd") for _ in range(5)]
        came = [asked.message.get("method") for asked in web.asked[before:]].count("tools/call")
        check(came <= 10, f"five calls were sent {came} times: {said[0][:200]}")
        it.is_well(session)


@attempt("abroad", "logins: a thousand challenges, metadata without end, and of places nobody may ask")
def gatekeeper():
    def answer(asked):
        if "endless" in asked.path:
            asked.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{\"resource\":\"")
            asked.forever(b"x" * 60_000)
        if "well-known" in asked.path:
            return said({"resource": asked.web.url + "/mcp", "authorization_servers": ["http://169.254.169.254/", "http://10.0.0.1/", "file:///etc/passwd", asked.web.url + "/endless"] * 500})
        challenges = [f'WWW-Authenticate: Bearer realm="{n}", resource_metadata="{asked.web.url}/endless/{n}", scope="{"s" * 100}"' for n in range(60)]
        return reply(401, "text/plain", b"", *challenges)

    with Web(answer) as web, Toolfold(GOOD + over_http("odd", web)) as it:
        session = it.session()
        it.serves(session)
        for _ in range(5):
            said_ = it.quiet_during(lambda: it.call(session, "odd.odd", timeout=30))
            check("error" in said_, f"answered {said_[:200]}")
        time.sleep(1)
        check(len(web.asked) < 200, f"{len(web.asked)} requests")
        it.is_well(session)


def bomb():
    lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x]"] + [f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
    return ("openapi: 3.1.0\ninfo: {title: x, version: '1'}\n" + "\n".join(lines) + "\npaths: {}\n").encode()


def cyclic():
    schemas = {f"s{n}": {"allOf": [{"$ref": f"#/components/schemas/s{(n + 1) % 40}"}] * 2, "properties": {"p": {"$ref": f"#/components/schemas/s{(n + 7) % 40}"}}} for n in range(40)}
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/s0"}}}}
    return json.dumps({"openapi": "3.1.0", "info": {"title": "x", "version": "1"}, "paths": {"/a": {"post": {"operationId": "a", "requestBody": body}}}, "components": {"schemas": schemas}}).encode()


def numerous():
    paths = {f"/p{n}/{{id}}": {"get": {"operationId": f"op{n}", "summary": "word " * 30, "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}]}} for n in range(3_000)}
    return json.dumps({"openapi": "3.0.0", "info": {"title": "x", "version": "1"}, "paths": paths}).encode()


def deep():
    return b'{"openapi":"3.1.0","info":{"title":"x","version":"1"},"paths":{},"x":' + b"[" * 2_000_000


def heavy():
    return b'{"openapi":"3.1.0","paths":{"/a":{"get":{}}},"x":[' + b'{"a":1},' * 700_000 + b"1]}"


@attempt("APIs", "documents that double, go round, nest, weigh, count three thousand operations, or never end")
def documents():
    kinds = {"bomb": bomb(), "cyclic": cyclic(), "numerous": numerous(), "deep": deep(), "heavy": heavy(), "empty": b"", "noise": bytes(range(256)) * 1000}

    def answer(asked):
        kind = asked.path.strip("/")
        if kind == "endless":
            asked.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{\"openapi\":\"")
            asked.forever(b"x" * 60_000)
        return reply(200, "application/json", kinds[kind])

    with Web(answer) as web:
        config = "".join(f'[servers.{kind}]\nopenapi = "{web.url}/{kind}"\nbase_url = "{web.url}"\n' for kind in [*kinds, "endless"])
        with Toolfold(GOOD) as it:
            session = it.session()
            it.serves(session)
            pathlib.Path(it.config).write_text(GOOD + config)
            it.quiet_during(lambda: [it.serves(session) or time.sleep(0.5) for _ in range(12)])
            wait(lambda: it.resident() < 300, 15, "memory does not come back:")
            it.is_well(session)


@attempt("APIs", "arguments that would be another path, another header, another host")
def smuggled():
    document = {
        "openapi": "3.1.0",
        "info": {"title": "x", "version": "1"},
        "paths": {
            "/items/{id}": {
                "get": {
                    "operationId": "item",
                    "parameters": [
                        {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}},
                        {"name": "X-One", "in": "header", "schema": {"type": "string"}},
                        {"name": "q", "in": "query", "schema": {"type": "string"}},
                        {"name": "c", "in": "cookie", "schema": {"type": "string"}},
                    ],
                }
            }
        },
    }
    seen = []

    def answer(asked):
        if asked.path == "/document":
            return said(document)
        seen.append((asked.method, asked.path, asked.headers))
        return said({"ok": True})

    odd = ["..", ".", "", "../../admin", "a/../../admin", "%2e%2e", "..%2fadmin", "x?y=1", "x#y", "x\r\nX-Two: 1", "//evil.example/", "\\..\\admin", "\u2025/admin", "\x00", "@evil.example"]
    with Web(answer) as web, Toolfold(GOOD + f'[servers.api]\nopenapi = "{web.url}/document"\nbase_url = "{web.url}/v1"\nheaders = {{ X-Key = "k3y-0123456789" }}\n') as it:
        session = it.session()
        for value in odd:
            for arguments in ({"id": value}, {"id": "a", "X-One": value}, {"id": "a", "q": value}, {"id": "a", "c": value}):
                it.call(session, "api.item", arguments)
        check(seen, "nothing was asked at all")
        for method, path, headers in seen:
            plain = path.split("?")[0]
            check(method == "GET" and plain.startswith("/v1/items/") and plain.count("/") == 3 and plain.rsplit("/", 1)[1].replace("%2E", ".") not in ("", ".", ".."), f"asked for {path!r}")
            check(set(headers) <= {"host", "accept", "user-agent", "x-one", "x-key", "cookie", "content-length", "accept-encoding"}, f"headers {sorted(headers)} for {path!r}")
            check(path.count("?") <= 1 and path.count("&") == 0, f"asked for {path!r}")
        it.is_well(session)


@attempt("agents", "cards without end or for elsewhere, tasks that never end or ask for ever")
def agents():
    def card(url):
        return {"name": "a", "description": "An agent", "version": "1", "url": url, "protocolVersion": "0.3.0", "preferredTransport": "JSONRPC", "capabilities": {"streaming": False}, "defaultInputModes": ["text"], "defaultOutputModes": ["text"], "skills": [{"id": "s", "name": "s", "description": "d" * 500, "tags": []}] * 300}

    def task(asked, state):
        value = {"id": "t", "contextId": "c", "kind": "task", "status": {"state": state, "message": {"role": "agent", "messageId": "m", "kind": "message", "parts": [{"kind": "text", "text": "and?"}]}}}
        return said({"jsonrpc": "2.0", "id": asked.message.get("id"), "result": value})

    def agent(state, url=None):
        def answer(asked):
            if asked.method == "GET":
                return said(card(url or asked.web.url + "/a2a"))
            return task(asked, state)

        return answer

    def endless(asked):
        asked.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{\"name\":\"")
        asked.forever(b"x" * 60_000)

    beside = Web(lambda asked: task(asked, "completed"))
    kinds = {"working": agent("working"), "asking": agent("input-required"), "odd": agent("\x1b[31m"), "away": agent("completed", "http://169.254.169.254/"), "beside": agent("completed", beside.url + "/a2a"), "file": agent("completed", "file:///etc/passwd"), "endless": endless}
    webs = {name: Web(answer) for name, answer in kinds.items()}
    try:
        config = "".join(f'[agents.{name}]\ncard = "{web.url}/card"\n{DEADLINE}' for name, web in webs.items())
        with Toolfold(GOOD + config) as it:
            session = it.session()
            it.serves(session)
            time.sleep(2)
            ready = {one["name"]: one["state"] for one in json.loads(it.http("GET", "/v1/status")[2])["servers"]}
            check(ready["working"] == "ready", f"an honest card is not used: {ready}")

            def call(name):
                try:
                    it.call(session, f"{name}.ask", {"message": "hello"}, timeout=20)
                except OSError:
                    pass

            threads = [threading.Thread(target=call, args=(name,), daemon=True) for name in kinds]
            it.quiet_during(lambda: ([thread.start() for thread in threads], [thread.join(20) for thread in threads]))
            busiest = max(len(web.asked) for web in webs.values())
            check(busiest < 200, f"{busiest} requests of one")
            check(not beside.asked, "a card led to another port of this machine")
            it.is_well(session)
    finally:
        [web.__exit__() for web in (*webs.values(), beside)]
