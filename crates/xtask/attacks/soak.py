"""Twenty minutes of everything at once: `cargo xtask soak [--minutes 20] [--clients 200]`.

Clients of both eras call honest servers, first alone (the quiet run), then beside hostile servers, hostile clients, reloads and
kills. Memory has to stay flat and the honest have to be answered as before: p99 within three times that of the quiet run.

What a reader would get wrong: an honest call that fails because its server was just killed is not counted as slow but as
failed, and failures are said; servers are killed on purpose.
"""

import argparse
import asyncio
import json
import os
import pathlib
import random
import signal
import sys
import time

from world import FOLDER, STATELESS, Broken, Toolfold, check, server, wait

HONEST = ["alpha", "beta", "gamma"]
WORST_RATIO = 3.0
# Above what it holds after a fifth of the time: a fifth, and room for what an allocator keeps.
MOST_GROWTH, ROOM = 1.2, 30
MOST_FAILED = 0.05
# Nobody calls as fast as it can: two hundred people at work.
PAUSE = 1.0


class Client:
    """One connection that is kept open, in one of the eras."""

    def __init__(self, port, is_stateless):
        self.port, self.is_stateless, self.session, self.streams = port, is_stateless, None, None

    async def post(self, message, headers=""):
        if self.streams is None:
            self.streams = await asyncio.open_connection("127.0.0.1", self.port, limit=2**20)
        reader, writer = self.streams
        body = json.dumps(message).encode()
        session = f"Mcp-Session-Id: {self.session}\r\n" if self.session else ""
        kind = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
        head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n{kind}{session}{headers}Content-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        answer = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        fields = dict(line.split(": ", 1) for line in answer.split("\r\n")[1:] if ": " in line)
        if "content-length" in fields:
            text = await reader.readexactly(int(fields["content-length"]))
        else:
            text = b""
            while size := int((await reader.readline()).strip() or b"0", 16):
                text += (await reader.readexactly(size + 2))[:-2]
            await reader.readline()
        return fields, text

    async def greet(self):
        if self.is_stateless:
            return
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "soak", "version": "1"}}
        fields, _ = await self.post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
        self.session = fields.get("mcp-session-id")
        await self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})

    async def call(self, tool):
        params = {"name": "call_tool", "arguments": {"tool": tool, "arguments": {"text": "as ever"}}}
        headers = ""
        if self.is_stateless:
            prefix = "io.modelcontextprotocol/"
            params["_meta"] = {prefix + "protocolVersion": STATELESS, prefix + "clientCapabilities": {}}
            headers = f"MCP-Protocol-Version: {STATELESS}\r\nMcp-Method: tools/call\r\nMcp-Name: call_tool\r\n"
        _, text = await self.post({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, headers)
        return b"as ever" in text

    def close(self):
        if self.streams:
            self.streams[1].close()
        self.streams = self.session = None


class Tally:
    def __init__(self):
        self.times, self.failed = [], 0

    def at(self, part):
        ordered = sorted(self.times)
        return ordered[min(len(ordered) - 1, int(len(ordered) * part))] if ordered else float("inf")

    def shown(self):
        return f"{len(self.times)} calls, p50 {self.at(0.5) * 1000:.1f} ms, p99 {self.at(0.99) * 1000:.1f} ms, {self.failed} failed"


async def honest(port, number, tally, end):
    client = Client(port, number % 2 == 1)
    await asyncio.sleep(random.random() * PAUSE)
    while time.monotonic() < end:
        try:
            if client.streams is None:
                await client.greet()
            begun = time.monotonic()
            if await asyncio.wait_for(client.call(f"{random.choice(HONEST)}.echo"), 60):
                tally.times.append(time.monotonic() - begun)
            else:
                tally.failed += 1
        except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError, ValueError):
            tally.failed += 1
            client.close()
        await asyncio.sleep(PAUSE * (0.5 + random.random()))
    client.close()


async def hostile(port, end):
    """Bodies, batches, names and half requests, one after the other."""
    long = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "x" * 500_000, "arguments": {}}})
    bodies = [b"[" + b"1," * 500_000 + b"1]", b"[" * 200_000, long.encode(), os.urandom(100_000)]
    while time.monotonic() < end:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            body = random.choice(bodies)
            length = len(body) + random.choice([0, 0, 1_000_000])
            writer.write(f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n".encode() + body)
            await asyncio.wait_for(reader.read(1000), 2)
            writer.close()
        except (OSError, asyncio.TimeoutError):
            pass
        await asyncio.sleep(0.5)


async def disturb(it, loud, done, end):
    """Reloads the configuration every few seconds and now and then kills a server."""
    texts = [loud, loud + server("late")]
    while time.monotonic() < end:
        await asyncio.sleep(5)
        done["reloads"] += 1
        with open(it.config, "w") as file:
            file.write(texts[done["reloads"] % 2])
        found = children(it.process.pid)
        if done["reloads"] % 3 == 0 and found:
            done["kills"] += 1
            os.kill(random.choice(found), signal.SIGKILL)


def children(process):
    """The servers that it runs."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            parent = pathlib.Path(f"/proc/{name}/stat").read_text().rsplit(")", 1)[1].split()[1]
            words = pathlib.Path(f"/proc/{name}/cmdline").read_bytes()
        except OSError:
            continue
        if int(parent) == process and b"server.py" in words:
            found.append(int(name))
    return found


async def watch(it, held, end, begun):
    while time.monotonic() < end:
        held.append((time.monotonic() - begun, it.resident()))
        await asyncio.sleep(2)


async def clients(it, count, seconds, *others):
    tally = Tally()
    end = time.monotonic() + seconds
    await asyncio.gather(*[honest(it.port, number, tally, end) for number in range(count)], *[other(end) for other in others])
    return tally


def loud_servers():
    changed = json.dumps({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
    log = json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "error", "data": "x" * 200}})
    return (
        server("noisy", flood=log, seconds=10**6, pause=0.02)
        + server("changing", many=300, changing=True, flood=changed, seconds=10**6, pause=0.02)
        + server("silent", hang="initialize")
        + server("deaf", deaf=True)
    )


def main():
    parser = argparse.ArgumentParser(prog="cargo xtask soak")
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--clients", type=int, default=200)
    asked = parser.parse_args()
    quiet = "".join(server(name) for name in HONEST)
    loud = quiet + loud_servers()
    with Toolfold(quiet) as it:
        wait(lambda: json.loads(it.http("GET", "/v1/status")[2])["tools"] >= 18, 30, "the honest servers are not there:")
        before = asyncio.run(clients(it, asked.clients, min(60, asked.minutes * 15)))
        print(f"quiet: {before.shown()}, {it.resident():.0f} MB", flush=True)
        held, done, begun = [], {"reloads": 0, "kills": 0}, time.monotonic()
        with open(it.config, "w") as file:
            file.write(loud)
        after = asyncio.run(
            clients(
                it,
                asked.clients,
                asked.minutes * 60,
                lambda end: hostile(it.port, end),
                lambda end: disturb(it, loud, done, end),
                lambda end: watch(it, held, end, begun),
            )
        )
        print(f"loud:  {after.shown()}; {done['reloads']} reloads, {done['kills']} servers killed")
        report(before, after, held)


def report(before, after, held):
    step = max(1, len(held) // 20)
    for at, megabytes in held[::step]:
        print(f"  {at:6.0f} s {megabytes:6.0f} MB")
    settled = [megabytes for _, megabytes in held[len(held) // 5 :]] or [0]
    early, late = settled[: max(1, len(settled) // 4)], settled[-max(1, len(settled) // 4) :]
    grown, ratio = max(late), after.at(0.99) / before.at(0.99)
    print(f"memory: at most {max(early):.0f} MB early, {grown:.0f} MB late; p99 ×{ratio:.2f} of the quiet run")
    check(grown <= max(early) * MOST_GROWTH + ROOM, "memory is not flat")
    check(ratio <= WORST_RATIO, f"p99 of the honest is ×{ratio:.1f} of the quiet run")
    check(after.failed <= MOST_FAILED * max(1, len(after.times)), f"{after.failed} honest calls failed")


if __name__ == "__main__":
    os.makedirs(FOLDER, exist_ok=True)
    try:
        main()
    except Broken as error:
        sys.exit(f"error: {error}")
