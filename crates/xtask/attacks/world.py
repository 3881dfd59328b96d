"""A Toolfold to attack, and clients that say what nobody else would.

What a reader would get wrong: limits of time are wide. They tell what stands still from what goes on, on a machine that is
busy with a build; how fast it is, the benchmark says.
"""

import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).parent
BINARY = os.environ["TOOLFOLD_ATTACK_BINARY"]
FOLDER = os.environ["TOOLFOLD_ATTACK_FOLDER"]
STATELESS = "2026-07-28"
MEGABYTE = 1024 * 1024
# What Toolfold may hold after anything that is done here.
MOST_MEMORY = 300
# Nobody may wait longer for others than this; a debug build on a machine that has other things to do.
PATIENCE = float(os.environ.get("TOOLFOLD_ATTACK_PATIENCE", "2"))
ATTEMPTS = []


class Broken(Exception):
    """A promise that does not hold."""


class Late(Broken):
    """Something was not there in time: the promise does not hold, or the machine had other things to do."""


def attempt(family, what):
    """Registers an attempt; it is held if it returns and broken if it raises."""

    def register(function):
        ATTEMPTS.append((family, what, function))
        return function

    return register


def check(holds, otherwise):
    if not holds:
        raise Broken(otherwise() if callable(otherwise) else otherwise)


def in_time(holds, otherwise):
    if not holds:
        raise Late(otherwise)


def server(name, **options):
    """A server of the configuration."""
    arguments = [str(HERE / "server.py"), json.dumps(options)]
    return f"[servers.{name}]\ncommand = {json.dumps(sys.executable)}\nargs = {json.dumps(arguments)}\n"


def folder():
    return tempfile.mkdtemp(dir=FOLDER)


def environment(home, extra=None):
    """Nothing of the user's own."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("TOOLFOLD_", "XDG_"))}
    own = {"HOME": home, "XDG_STATE_HOME": home + "/state", "XDG_CONFIG_HOME": home + "/config", "TOOLFOLD_STORE": home + "/store.db"}
    return {**kept, **own, **(extra or {})}


def command(*arguments, config=None, cwd=None, env=None, timeout=60):
    """Runs a command of Toolfold; what it wrote to stdout and to stderr."""
    home = folder()
    words = [BINARY, *arguments]
    if config is not None:
        path = home + "/given.toml"
        pathlib.Path(path).write_text(config)
        words += ["--config", path]
    done = subprocess.run(words, cwd=cwd or home, env=environment(home, env), stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout)
    return done.stdout, done.stderr


class Toolfold:
    """`with Toolfold(config) as it:` — stopped at the end, and if it does not stop, that is a finding."""

    def __init__(self, config="", arguments=(), env=None, cwd=None, surface=None):
        self.folder = folder()
        self.config = self.folder + "/toolfold.toml"
        pathlib.Path(self.config).write_text(config)
        self.log = self.folder + "/log"
        words = [BINARY, "serve", "--listen", "127.0.0.1:0", "--config", self.config, *arguments]
        words += ["--surface", surface] if surface else []
        self.output = open(self.log, "wb")
        self.process = subprocess.Popen(words, cwd=cwd or self.folder, env=environment(self.folder, env), stdin=subprocess.DEVNULL, stdout=self.output, stderr=self.output)
        self.port = None
        wait(self.announced, 20, "it does not start: ")

    def announced(self):
        check(self.process.poll() is None, lambda: "it ended: " + self.logged()[-500:])
        found = re.search(r"127\.0\.0\.1:(\d+)", self.logged())
        self.port = int(found.group(1)) if found else None
        return self.port

    def logged(self):
        return pathlib.Path(self.log).read_text(errors="replace")

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        try:
            took = self.stop()
            if kind is None:
                in_time(took is not None, "it does not stop within 20 s of SIGTERM")
        finally:
            self.kill()
            shutil.rmtree(self.folder, ignore_errors=True)

    def stop(self, within=20):
        """Asks it to end; how long that took, or nothing."""
        begun = time.monotonic()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(within)
            except subprocess.TimeoutExpired:
                return None
        return time.monotonic() - begun

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.output.close()

    # What it is asked.

    def http(self, method, path, body=None, headers=None, timeout=20):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        usual = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        connection.request(method, path, body=body, headers={**usual, **(headers or {})})
        answer = connection.getresponse()
        try:
            return answer.status, {key.lower(): value for key, value in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def post(self, message, headers=None, timeout=20):
        return self.http("POST", "/mcp", json.dumps(message), headers, timeout)

    def session(self, capabilities=None, timeout=20):
        who = {"name": "attack", "version": "1"}
        params = {"protocolVersion": "2025-06-18", "capabilities": capabilities or {}, "clientInfo": who}
        _, headers, _ = self.post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}, timeout=timeout)
        session = headers.get("mcp-session-id")
        if session:
            self.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, {"Mcp-Session-Id": session})
        return session

    def ask(self, session, method, params, timeout=20):
        """A request of a session: the whole text of the answer."""
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return self.post(message, {"Mcp-Session-Id": session}, timeout)[2].decode(errors="replace")

    def call(self, session, tool, arguments=None, timeout=20):
        params = {"name": "call_tool", "arguments": {"tool": tool, "arguments": arguments or {}}}
        return self.ask(session, "tools/call", params, timeout)

    def stateless(self, method, params, timeout=20, headers=None):
        prefix = "io.modelcontextprotocol/"
        params = {**params, "_meta": {prefix + "protocolVersion": STATELESS, prefix + "clientCapabilities": {}}}
        named = {"MCP-Protocol-Version": STATELESS, "Mcp-Method": method}
        if "name" in params and len(params["name"]) < 200:
            named["Mcp-Name"] = params["name"]
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return self.post(message, {**named, **(headers or {})}, timeout)[2].decode(errors="replace")

    def raw(self, data=b"", timeout=20):
        connection = socket.create_connection(("127.0.0.1", self.port), timeout)
        connection.sendall(data)
        return connection

    # What must hold.

    def waits(self):
        """How long somebody else waits now."""
        begun = time.monotonic()
        status, _, _ = self.http("GET", "/healthz", timeout=30)
        check(status == 200, f"/healthz says {status}")
        return time.monotonic() - begun

    def serves(self, session=None, tool="good.echo"):
        """An honest server is called as if nothing had happened."""
        begun = time.monotonic()
        said = self.call(session or self.session(), tool, {"text": "as ever"}, timeout=30)
        check("as ever" in said, f"an honest call is answered with {said[:200]}")
        took = time.monotonic() - begun
        in_time(took < PATIENCE + 1, f"an honest call took {took:.1f} s")

    def resident(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) / 1024

    def is_small(self):
        held = self.resident()
        check(held < MOST_MEMORY, f"{held:.0f} MB are held")

    def is_well(self, session=None):
        self.serves(session)
        self.is_small()

    def quiet_during(self, work):
        """Does something bad while somebody else asks every now and then; how long that one waited at most."""
        done, longest, worst = threading.Event(), [0.0], []

        def look():
            while not done.is_set():
                try:
                    longest[0] = max(longest[0], self.waits())
                except (OSError, Broken) as error:
                    worst.append(error)
                done.wait(0.05)

        watcher = threading.Thread(target=look, daemon=True)
        watcher.start()
        try:
            result = work()
        finally:
            done.set()
            watcher.join(40)
        check(not worst, lambda: f"nobody was answered meanwhile: {worst[0]!r}")
        in_time(longest[0] < PATIENCE, f"somebody else waited {longest[0]:.1f} s")
        return result


def up_to(count, seconds):
    """Numbers from 0 on: so many, or as many as there is time for."""
    end = time.monotonic() + seconds
    for number in range(count):
        if time.monotonic() > end:
            return
        yield number


def wait(condition, within, otherwise):
    end = time.monotonic() + within
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    raise Late(f"{otherwise} not within {within} s")


def is_running(process):
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def journal():
    return os.path.join(folder(), "journal")


def read(path):
    try:
        return pathlib.Path(path).read_text()
    except OSError:
        return ""
