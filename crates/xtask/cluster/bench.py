"""What several replicas cost: three on the machine of one, a request that is sent on, and the memory of sessions nobody uses.

    bench.py [throughput] [forwarded] [memory]
"""

import http.client
import json
import pathlib
import shutil
import sys
import tempfile
import threading
import time

from world import STATELESS, Database, Hosts, Replica, Server, alone, until

SECONDS = 10
CLIENTS = 16
SESSIONS = 10_000


class World:
    def __init__(self, replicas):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="bench-"))
        self.folder.chmod(0o755)
        self.hosts = Hosts(ports=True)
        self.database = Database(self.folder, "127.0.0.1")
        self.server = Server("127.0.0.1")
        # A call that needs no server and no audit: what is measured is what lies between a client and an answer.
        first, rest = "toolbox = true\n", '[audit]\nmode = "off"\n'
        self.replicas = [Replica(self, n, first, rest, http="") for n in range(1, replicas + 1)]
        for replica in self.replicas:
            replica.start()
        for replica in self.replicas:
            until(replica.is_ready, 60, f"replica {replica.n}")

    def end(self):
        for replica in self.replicas:
            replica.process.kill()
            replica.process.wait()
        self.server.shutdown()
        self.server.server_close()
        self.database.stop()
        shutil.rmtree(self.folder)


class Line:
    """A connection to one replica."""

    def __init__(self, replica):
        self.line = http.client.HTTPConnection(replica.host, replica.port, timeout=60)

    def post(self, message, head):
        head = {"content-type": "application/json", "accept": "application/json, text/event-stream", **head}
        self.line.request("POST", "/mcp", json.dumps({"jsonrpc": "2.0", "id": 1, **message}), head)
        answer = self.line.getresponse()
        text = answer.read()
        if answer.status != 200 or b'"error"' in text:
            sys.exit(f"{answer.status}: {text[:300]}")
        return answer.getheader("mcp-session-id")

    def search(self):
        meta = {"io.modelcontextprotocol/protocolVersion": STATELESS, "io.modelcontextprotocol/clientCapabilities": {}}
        head = {"mcp-protocol-version": STATELESS, "mcp-method": "tools/list"}
        self.post({"method": "tools/list", "params": {"_meta": meta}}, head)

    def initialize(self):
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        return self.post({"method": "initialize", "params": hello}, {})

    def ping(self, session):
        self.post({"method": "ping"}, {"mcp-session-id": session})

    def call(self, session):
        params = {"name": "call_tool", "arguments": {"tool": "toolbox.calculate", "arguments": {"expression": "6*7"}}}
        self.post({"method": "tools/call", "params": params}, {"mcp-session-id": session})


def rate(works):
    """Requests a second of so many clients at once, each in a process of its own: one of Python is as fast as one core."""
    import multiprocessing

    counts = multiprocessing.Array("q", len(works))

    def run(n, make):
        work, end = make(), time.time() + SECONDS
        while time.time() < end:
            work()
            counts[n] += 1

    context = multiprocessing.get_context("fork")
    running = [context.Process(target=run, args=(n, make)) for n, make in enumerate(works)]
    for process in running:
        process.start()
    for process in running:
        process.join()
    return sum(counts) / SECONDS


def throughput():
    figures = {}
    for replicas in (1, 3, 1, 3):
        world = World(replicas)
        makes = [lambda replica=world.replicas[n % replicas]: Line(replica).search for n in range(CLIENTS)]
        figures[replicas] = max(figures.get(replicas, 0), rate(makes))
        world.end()
    print(f"throughput: one replica {figures[1]:.0f}/s, three {figures[3]:.0f}/s: {figures[3] / figures[1]:.2f} of it", flush=True)


def forwarded():
    world = World(2)
    one, other = (Line(replica) for replica in world.replicas)
    session = one.initialize()
    for what in ("ping", "call"):
        took = {}
        for name, line in [("direct", one), ("forwarded", other), ("direct", one), ("forwarded", other)]:
            times = []
            for _ in range(2000):
                begun = time.perf_counter()
                getattr(line, what)(session)
                times.append(time.perf_counter() - begun)
            times.sort()
            took[name] = min(took.get(name, 1), times[len(times) // 2])
        direct, sent_on = took["direct"] * 1e6, took["forwarded"] * 1e6
        print(f"a {what} in a session: {direct:.0f} µs where it is, {sent_on:.0f} µs by way of another: {sent_on / direct:.2f} times", flush=True)
    world.end()


def memory():
    world = World(3)
    resident = lambda: sum(int((pathlib.Path("/proc") / str(replica.process.pid) / "statm").read_text().split()[1]) * 4096 for replica in world.replicas)
    lines = [Line(replica) for replica in world.replicas]
    for n in range(300):
        lines[n % 3].initialize()
    before = resident()

    def begin(line):
        for _ in range(SESSIONS // 3):
            line.initialize()

    running = [threading.Thread(target=begin, args=(line,)) for line in lines]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    time.sleep(2)
    each = (resident() - before) / (SESSIONS // 3 * 3)
    world.end()
    print(f"{SESSIONS // 3 * 3} idle sessions over three replicas: {each / 1024:.1f} KB each", flush=True)


def main():
    parts = {"throughput": throughput, "forwarded": forwarded, "memory": memory}
    wanted = sys.argv[1:] or list(parts)
    alone()
    for name in wanted:
        parts[name]()


if __name__ == "__main__":
    main()
