"""Servers over HTTP that say whatever an attempt wants them to: MCP in both eras, APIs, agents, login servers.

What a reader would get wrong: they run in threads of the attempt itself, on a port of their own, and write bytes. Nothing in
between could keep them from being rude.
"""

import json
import socket
import threading

STATELESS = "2026-07-28"
OBJECT = {"type": "object"}


class Web:
    """`with Web(answer) as web:` — `answer(asked)` returns bytes, or writes to `asked.connection` what it likes and returns nothing."""

    def __init__(self, answer):
        self.answer = answer
        self.asked = []
        self.ended = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self.listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self.accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.listener.close()

    def accept(self):
        while not self.ended.is_set():
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        file = connection.makefile("rb")
        try:
            while True:
                asked = Asked.read(file, connection, self)
                if asked is None:
                    break
                self.asked.append(asked)
                said = self.answer(asked)
                if said is None:
                    break
                connection.sendall(said)
        except (OSError, ValueError):
            pass
        finally:
            connection.close()


class Asked:
    """One request."""

    def __init__(self, method, path, headers, body, connection, web):
        self.method, self.path, self.headers, self.body = method, path, headers, body
        self.connection, self.web = connection, web
        try:
            self.message = json.loads(body) if body else {}
        except ValueError:
            self.message = {}

    @staticmethod
    def read(file, connection, web):
        line = file.readline().split()
        if len(line) < 2:
            return None
        headers = {}
        while (header := file.readline().strip()):
            name, _, value = header.partition(b":")
            headers[name.decode().lower()] = value.strip().decode(errors="replace")
        body = file.read(int(headers.get("content-length", 0)))
        return Asked(line[0].decode(), line[1].decode(), headers, body, connection, web)

    def is_legacy(self):
        return self.headers.get("mcp-protocol-version") != STATELESS

    def send(self, data):
        """Writes for as long as somebody reads and the attempt lasts."""
        if self.web.ended.is_set():
            raise OSError
        self.connection.sendall(data)

    def forever(self, data, pause=0.0):
        while True:
            self.send(data)
            self.web.ended.wait(pause)


def reply(status, kind, body, *headers):
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status} x", f"Content-Type: {kind}", f"Content-Length: {len(body)}", *headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


def said(value):
    return reply(200, "application/json", value)


STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"


def mcp(call, era="legacy", tools=({"name": "odd", "description": "Does odd things", "inputSchema": OBJECT},), **answers):
    """An MCP server: `call(asked)` answers `tools/call`; `answers` are results of other methods, or functions that give bytes."""

    def answer(asked):
        message = asked.message if isinstance(asked.message, dict) else {}
        method = message.get("method", "")
        own = answers.get(method.replace("/", "_"))
        if callable(own):
            return own(asked)
        if asked.method != "POST":
            return reply(405, "text/plain", b"")
        if "id" not in message:
            return reply(202, "text/plain", b"")
        if method == "tools/call":
            return call(asked)
        server = {"name": "odd", "version": "1"}
        offers = {"tools": {"listChanged": True}, "resources": {"subscribe": True}, "prompts": {}, "completions": {}}
        stateless = {"resultType": "complete", "ttlMs": 1000, "cacheScope": "private"}
        results = {
            "initialize": {"protocolVersion": "2025-06-18", "capabilities": offers, "serverInfo": server},
            "server/discover": {**stateless, "supportedVersions": [STATELESS], "capabilities": offers, "serverInfo": server},
            "tools/list": {**stateless, "tools": list(tools)},
            "prompts/list": {**stateless, "prompts": []},
            "resources/list": {**stateless, "resources": []},
            "resources/templates/list": {**stateless, "resourceTemplates": []},
            "ping": {},
        }
        unknown = method not in results or method == ("server/discover" if era == "legacy" else "initialize")
        if own is None and unknown:
            return reply(400 if era == "legacy" else 404, "application/json", {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no such method"}})
        return said({"jsonrpc": "2.0", "id": message["id"], "result": own if own is not None else results[method]})

    return answer


def over_http(name, web, more=""):
    return f'[servers.{name}]\nurl = "{web.url}/mcp"\n{more}\n'
