"""What came later and must hold as well: the page and what it asks, the audit, counters, learning, files of other programs."""

import json
import os
import pathlib
import signal
import subprocess
import threading
import time

from people import ACTS, tame
from world import BINARY, MEGABYTE, Toolfold, attempt, check, command, environment, folder, in_time, read, server, up_to, wait

GOOD = server("good")


def members(count):
    return "{" + ",".join(f'"k{number}":1' for number in range(count)) + "}"


@attempt("memory", "requests of a million members, in both eras and at every depth that is looked into")
def objects():
    with Toolfold(GOOD) as it:
        session = it.session()
        it.serves(session)
        many = members(1_000_000)
        about = '{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}'
        bodies = [
            many,
            '{"jsonrpc":"2.0","id":1,"method":"ping","params":' + many + "}",
            '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find_tools","arguments":' + many + "}}",
            '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find_tools","arguments":{"tool":[' + '"a",' * 2_000_000 + '"a"]}}}',
            '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":' + many + "}}",
            '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":' + many + "}}",
            '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":' + about[:-1] + "," + many[1:] + "}}",
        ]
        for body in bodies:
            threads = [threading.Thread(target=lambda: it.http("POST", "/mcp", body, {"Mcp-Session-Id": session}, 30), daemon=True) for _ in range(3)]
            it.quiet_during(lambda: ([thread.start() for thread in threads], [thread.join(30) for thread in threads]))
            it.is_small()
        status, _, answer = it.http("POST", "/v1/call_tool", many, timeout=30)
        check(status >= 400, f"answered {status} {answer[:100]}")
        it.is_well(session)


@attempt("the page", "100 that follow calls and do not read, and a thousand calls")
def followers():
    with Toolfold(GOOD) as it:
        session = it.session()
        it.serves(session)
        head = b"GET /v1/calls HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n"
        streams = [it.raw(head) for _ in range(100)]
        time.sleep(0.5)
        refused = sum(b" 429 " in stream.recv(200).split(b"\r\n")[0] for stream in streams)
        check(refused == 36, f"{refused} of 100 were refused")
        for _ in up_to(1_000, 4):
            it.call(session, "good.echo", {"text": "as ever"})
        it.is_well(session)
        took = it.stop()
        in_time(took is not None and took < 15, "SIGTERM waits for them")
        [stream.close() for stream in streams]


@attempt("the page", "what changes something takes the key, however it is asked for")
def key():
    with Toolfold(GOOD) as it:
        it.serves()
        host = f"http://127.0.0.1:{it.port}"
        for path, body in (("/v1/stop_server", {"server": "good"}), ("/v1/approvals", {"all": True})):
            for headers in ({}, {"Authorization": "Bearer "}, {"Authorization": "Bearer x" * 100}, {"Origin": host}, {"X-Toolfold-Key": ""}, {"Cookie": "key=x"}):
                status, _, answer = it.http("POST", path, json.dumps(body), headers)
                check(status in (401, 403), f"{path} with {headers} is answered with {status} {answer[:100]}")
        it.is_well()


@attempt("counters", "names nobody has do not fill the counters")
def counters():
    with Toolfold(GOOD) as it:
        session = it.session()
        for number in range(700):
            it.ask(session, f"made/up_{number}", {})
        for number in range(700):
            it.call(session, f"good.made_up_{number}")
        size = len(it.http("GET", "/metrics")[2])
        check(size < 300_000, f"/metrics has {size} bytes")
        it.is_well(session)


@attempt("learning", "2,000 searches of one client, each with a call, and another's searches after it")
def learning():
    with Toolfold(GOOD) as it:
        session = it.session()
        it.serves(session)
        for number in up_to(2_000, 5):
            it.ask(session, "tools/call", {"name": "find_tools", "arguments": {"query": f"echo text {number}"}})
            it.call(session, "good.echo", {"text": "x"})
        it.quiet_during(lambda: it.ask(it.session(), "tools/call", {"name": "find_tools", "arguments": {"query": "fail"}}))
        it.is_well(session)


@attempt("the audit", "a file that cannot be written: calls go on, and with strict none is made")
def unwritable():
    base = folder()
    os.makedirs(base + "/is-a-folder.db")
    for mode, served in (("on", True), ("strict", False)):
        with Toolfold(GOOD + f'[audit]\nmode = "{mode}"\npath = "{base}/is-a-folder.db"\n') as it:
            said = it.call(it.session(), "good.echo", {"text": "as ever"}, timeout=30)
            check(("as ever" in said) == served, f"{mode}: {said[:200]}")
            in_time(it.waits() < 2, "others wait for it")


@attempt("the audit", "killed while it writes, four times: the chain is whole")
def torn():
    base = folder()
    path = base + "/audit.db"
    config = GOOD + f'[audit]\nmode = "strict"\npath = "{path}"\n'
    for round in range(4):
        it = Toolfold(config)
        session = it.session()
        done = threading.Event()

        def call():
            while not done.is_set():
                try:
                    it.call(session, "good.echo", {"text": "x"}, timeout=5)
                except OSError:
                    return

        threads = [threading.Thread(target=call, daemon=True) for _ in range(4)]
        [thread.start() for thread in threads]
        time.sleep(0.4 + round / 10)
        it.process.send_signal(signal.SIGKILL)
        it.process.wait()
        done.set()
        [thread.join(10) for thread in threads]
        it.kill()
    output, errors = command("audit", "verify", config=config)
    check(b"broken" not in (output + errors).lower() and output, f"{output[-200:]!r} {errors[-200:]!r}")


@attempt("files of others", "clients' files that are noise, deep, enormous, pipes, or full of what acts on a terminal")
def foreign():
    home = folder()
    odd = {"mcpServers": {"na" + ACTS: {"command": ACTS, "args": [ACTS], "env": {"KEY" + ACTS: "s3cret-value-0123456789"}}, "x" * 100_000: {"command": "y" * 100_000}}}
    files = {
        "noise": os.urandom(200_000),
        "deep": b'{"mcpServers":' + b'{"a":' * 200_000,
        "acts": json.dumps(odd).encode(),
        "many": json.dumps({"mcpServers": {f"s{number}": {"command": "x"} for number in range(20_000)}}).encode(),
        "enormous": b'{"mcpServers":{"a":{"command":"' + b"x" * (40 * MEGABYTE) + b'"}}}',
    }
    os.makedirs(home + "/.cursor")
    path = pathlib.Path(home + "/.cursor/mcp.json")

    def run(*words):
        done = subprocess.run([BINARY, *words], cwd=home, env=environment(home), stdin=subprocess.DEVNULL, capture_output=True, timeout=30)
        return done.stdout + done.stderr

    for what, content in files.items():
        path.write_bytes(content)
        for words in (["import", "--dry-run"], ["install", "cursor", "--dry-run"], ["doctor"], ["scan", str(path)]):
            said = run(*words)
            tame(f"{words[0]}, {what}", said)
            check(len(said) < 4 * MEGABYTE, f"{words[0]}, {what}: {len(said)} bytes")
            check(b"s3cret-value" not in said, f"{words[0]} shows a secret")
            check(b"panicked" not in said, f"{words[0]}, {what}: {said[-300:]!r}")
    path.unlink()
    os.mkfifo(path)
    for words in (["import", "--dry-run"], ["install", "cursor", "--dry-run"], ["scan", str(path)]):
        check(b"panicked" not in run(*words), "a pipe in place of a file")


@attempt("stdio", "a client that never reads, one that hangs up in the middle of a call, and half a line at the end")
def pipes():
    home = folder()
    path = home + "/given.toml"
    pathlib.Path(path).write_text(GOOD)

    def start():
        words = [BINARY, "serve", "--stdio", "--config", path]
        return subprocess.Popen(words, cwd=home, env=environment(home), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def line(number, method, params):
        return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"

    hello = line(0, "initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}})
    large = line(1, "tools/call", {"name": "call_tool", "arguments": {"tool": "good.large", "arguments": {"bytes": 4 * MEGABYTE}}})
    sleeps = line(2, "tools/call", {"name": "call_tool", "arguments": {"tool": "good.sleep", "arguments": {"seconds": 60}}})
    deaf = start()
    deaf.stdin.write(hello + large * 60)
    deaf.stdin.flush()
    gone = start()
    gone.stdin.write(hello + sleeps + b'{"jsonrpc":"2.0","id":3,"meth')
    gone.stdin.close()
    try:
        time.sleep(3)
        held = int(next(line for line in read(f"/proc/{deaf.pid}/status").splitlines() if line.startswith("VmRSS")).split()[1]) / 1024
        check(held < 300, f"{held:.0f} MB are held for a client that does not read")
        # Both have calls under way that cannot end: each is given 20 s, and then told.
        deaf.send_signal(signal.SIGTERM)
        gone.wait(30)
        deaf.wait(30)
    finally:
        for process in (deaf, gone):
            if process.poll() is None:
                process.kill()
                process.wait()


@attempt("ends", "kill -9 in the first moments, twelve times: no server is left")
def early():
    pids = folder() + "/pids"
    home = folder()
    path = home + "/given.toml"
    pathlib.Path(path).write_text(server("bad", stubborn=True, child=True, pid=pids) + GOOD)
    for round in range(12):
        words = [BINARY, "serve", "--listen", "127.0.0.1:0", "--config", path]
        process = subprocess.Popen(words, cwd=home, env=environment(home), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.02 + round * 0.03)
        process.kill()
        process.wait()
    left = lambda: [process for process in read(pids).split() if pathlib.Path(f"/proc/{process}").exists()]
    check(read(pids).split(), "no server had been started before: nothing was tried")
    try:
        time.sleep(1)
        wait(lambda: not left(), 15, "a server is left behind:")
    finally:
        for process in left():
            os.kill(int(process), signal.SIGKILL)
