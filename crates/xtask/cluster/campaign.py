"""Three replicas on one PostgreSQL behind a real balancer, clients of both eras, and bad days.

Three logs are kept by three who do not know of each other: what clients had acknowledged, what servers received, and what the audit
has. At the end every acknowledged call must have been received, every received one be in the audit, and none have been received twice.

What a reader would get wrong: a request may fail. One that was on its way at a replica that was killed has an outcome that nobody
knows, and its client is told so. What may not happen is that it is answered and was not made, or was made twice.

    campaign.py ROUNDS [--balancer nginx|haproxy|caddy] [--seed N] [--clients N] [--only FAULT]
"""

import argparse
import http.client
import http.server
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socketserver
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
BINARY = os.environ["TOOLFOLD_ATTACK_BINARY"]
NOBODY = 65534
TOKEN = "a-token-of-the-campaign"
SECRET = "a secret that all replicas of the campaign share"
STATELESS = "2026-07-28"
BALANCER = 7430
# How long a session may be without an answer after its replica was killed, with what a busy machine adds.
LONGEST_GAP = 20
DIED = "the replica is gone"


def alone():
    """Begins again in a network of its own, so that ports and addresses are nobody else's."""
    if os.environ.get("TOOLFOLD_CAMPAIGN") == "inside":
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        return
    ways = [["unshare", "-n"], ["unshare", "-rn"]]
    for way in ways:
        if subprocess.run([*way, "true"], capture_output=True).returncode == 0:
            os.execvpe(way[0], [*way, sys.executable, "-B", *sys.argv], {**os.environ, "TOOLFOLD_CAMPAIGN": "inside"})
    sys.exit("NOT TRIED: this machine lets nobody make a network of their own (unshare --net)")


class Hosts:
    """Three hosts with addresses and links of their own, where the machine allows it; else ports of this one."""

    def __init__(self):
        self.names, self.bridge = [], False
        try:
            self.run("ip link add br0 type bridge && ip addr add 10.77.0.1/24 dev br0 && ip link set br0 up")
            for n in (1, 2, 3):
                name = f"tf{os.getpid()}-{n}"
                self.run(f"ip netns add {name}")
                self.names.append(name)
                self.run(f"ip link add v{n} type veth peer name eth0 netns {name}")
                self.run(f"ip link set v{n} master br0 up && ip -n {name} addr add 10.77.0.1{n}/24 dev eth0")
                self.run(f"ip -n {name} link set eth0 up && ip -n {name} link set lo up")
            self.bridge = True
        except subprocess.CalledProcessError as error:
            print(f"one host: {error.stderr.strip()}")
            self.end()

    def run(self, command):
        subprocess.run(command, shell=True, check=True, capture_output=True, text=True)

    def address(self, n):
        return (f"10.77.0.1{n}", 7420) if self.bridge else ("127.0.0.1", 7420 + n)

    def here(self):
        return "10.77.0.1" if self.bridge else "127.0.0.1"

    def within(self, n, words):
        return ["ip", "netns", "exec", self.names[n - 1], *words] if self.bridge else words

    def link(self, n, up):
        self.run(f"ip link set v{n} {'up' if up else 'down'}")

    def delay(self, n, milliseconds):
        self.run(f"tc qdisc replace dev v{n} root netem delay {milliseconds}ms" if milliseconds else f"tc qdisc del dev v{n} root")

    def end(self):
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)
        self.names, self.bridge = [], False


class Database:
    def __init__(self, folder, host):
        self.programs = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))[-1]
        self.data, self.host, self.process = folder / "postgres", host, None
        self.data.mkdir()
        os.chown(self.data, NOBODY, NOBODY) if os.getuid() == 0 else None
        self.program("initdb", "-D", self.data, "--auth=trust", "--username=toolfold", "--no-sync", "--locale=C", "-E", "UTF8")
        # Who comes from the other hosts.
        with open(self.data / "pg_hba.conf", "a") as rules:
            rules.write("host all all 10.77.0.0/24 trust\n")
        self.start()

    def program(self, name, *words):
        done = subprocess.run([self.programs / name, *words], capture_output=True, text=True, preexec_fn=self.nobody, cwd="/")
        if done.returncode:
            sys.exit(f"{name}: {done.stderr}")
        return done.stdout

    @staticmethod
    def nobody():
        if os.getuid() == 0:
            os.setgid(NOBODY)
            os.setuid(NOBODY)

    def start(self):
        words = [self.programs / "postgres", "-D", self.data, "-h", self.host, "-p", "5432", "-k", self.data, "-c", "max_connections=200"]
        log = open(str(self.data) + ".log", "ab")
        self.process = subprocess.Popen(words, preexec_fn=self.nobody, stdout=log, stderr=log, cwd="/")
        until(lambda: subprocess.run([self.programs / "pg_isready", "-h", self.host], capture_output=True).returncode == 0, 60, "PostgreSQL")

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait()

    def url(self):
        return f"postgres://toolfold@{self.host}:5432/postgres"


def until(true, seconds, what):
    end = time.time() + seconds
    while not true():
        if time.time() > end:
            raise TimeoutError(f"{what} did not come up in {seconds} s")
        time.sleep(0.1)


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    """An MCP server that writes down what it is called with."""

    daemon_threads, request_queue_size = True, 256

    def __init__(self, host):
        self.received, self.lock = {}, threading.Lock()
        super().__init__((host, 7500), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        pass


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer(405, None)

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        method, params = message.get("method"), message.get("params") or {}
        if "id" not in message:
            return self.answer(202, None)
        if method == "initialize":
            result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "counted", "version": "1"}}
        elif method == "tools/list":
            schema = {"type": "object", "properties": {"mark": {"type": "string"}}, "required": ["mark"]}
            result = {"tools": [{"name": "count", "description": "Count a mark.", "inputSchema": schema}]}
        elif method == "tools/call":
            mark = params["arguments"]["mark"]
            with self.server.lock:
                self.server.received[mark] = self.server.received.get(mark, 0) + 1
            result = {"content": [{"type": "text", "text": mark}]}
        else:
            return self.answer(200, {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "unknown"}})
        self.answer(200, {"jsonrpc": "2.0", "id": message["id"], "result": result})

    def answer(self, status, body):
        text = b"" if body is None else json.dumps(body).encode()
        try:
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)
        except OSError:
            pass


class Replica:
    def __init__(self, world, n):
        self.world, self.n, self.process = world, n, None
        self.host, self.port = world.hosts.address(n)
        self.home = world.folder / f"replica-{n}"
        self.home.mkdir()
        self.config = self.home / "toolfold.toml"
        self.config.write_text(f"""
store = "{world.database.url()}"
[http]
listen = "{self.host}:{self.port}"
token = "{TOKEN}"
hosts = ["127.0.0.1"]
[cluster]
advertise = "http://{self.host}:{self.port}"
secret = "{SECRET}"
[audit]
mode = "{world.audit}"
record = "arguments"
[servers.counted]
url = "http://{world.hosts.here()}:7500/mcp"
auth = "none"
""")

    def environment(self):
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("TOOLFOLD_", "XDG_"))}
        return {**kept, "HOME": str(self.home), "XDG_STATE_HOME": str(self.home), "XDG_CONFIG_HOME": str(self.home), "TOOLFOLD_KEY": "A" * 43 + "="}

    def start(self):
        words = self.world.hosts.within(self.n, [BINARY, "serve", "--config", str(self.config)])
        log = open(self.home / "log", "ab")
        self.process = subprocess.Popen(words, env=self.environment(), stdout=log, stderr=log, cwd=self.home)

    def is_ready(self):
        try:
            line = http.client.HTTPConnection(self.host, self.port, timeout=2)
            line.request("GET", "/readyz", headers={"Host": "localhost"})
            return line.getresponse().status == 200
        except OSError:
            return False

    def send(self, number):
        self.process.send_signal(number)


class Balancer:
    def __init__(self, world, kind):
        files = {"nginx": "nginx.conf", "haproxy": "haproxy.cfg", "caddy": "Caddyfile"}
        text = (ROOT / "deploy" / files[kind]).read_text()
        for n in (1, 2, 3):
            host, port = world.hosts.address(n)
            text = text.replace(f"127.0.0.1:742{n}", f"{host}:{port}")
        folder = world.folder / kind
        folder.mkdir()
        path = folder / files[kind]
        if kind == "nginx":
            text = f"daemon off; error_log {folder}/error.log; pid {folder}/pid; events {{ worker_connections 4096; }} http {{ access_log off; {text} }}"
            temporary = "".join(f" {what}_temp_path {folder}/{what};" for what in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
            text = text.replace("access_log off;", "access_log off;" + temporary)
        path.write_text(text)
        words = {
            "nginx": ["nginx", "-p", folder, "-c", path],
            "haproxy": ["haproxy", "-f", path],
            "caddy": ["caddy", "run", "--config", path, "--adapter", "caddyfile"],
        }[kind]
        log = open(folder / "log", "wb")
        self.process = subprocess.Popen(words, stdout=log, stderr=log, env={**os.environ, "HOME": str(folder)})

    def end(self):
        self.process.terminate()
        self.process.wait()


class Client(threading.Thread):
    """Calls one tool again and again, each time with a mark that nobody else uses."""

    def __init__(self, world, n, is_session):
        super().__init__(daemon=True)
        self.world, self.n, self.is_session = world, n, is_session
        self.acknowledged, self.failed, self.lost, self.gap = set(), [], 0, 0.0
        self.line = self.session = None

    def run(self):
        last = time.time()
        for count in itertools.count():
            if self.world.over.is_set():
                return
            mark = f"{'session' if self.is_session else 'stateless'}-{self.n}-{count}"
            try:
                status, text = self.call(mark)
            except (OSError, http.client.HTTPException) as error:
                self.line, status, text = None, 0, repr(error)
            if status == 200 and f'"text":"{mark}"' in text.replace('": "', '":"') and '"isError":true' not in text:
                self.acknowledged.add(mark)
                self.gap, last = max(self.gap, time.time() - last), time.time()
                continue
            if status == 404 and self.session:
                self.lost, self.session = self.lost + 1, None
            else:
                self.failed.append((time.time(), mark, status, text[:200]))
            time.sleep(0.2)

    def call(self, mark):
        arguments = {"tool": "counted.count", "arguments": {"mark": mark}}
        if not self.is_session:
            meta = {"io.modelcontextprotocol/protocolVersion": STATELESS, "io.modelcontextprotocol/clientCapabilities": {}}
            head = {"mcp-protocol-version": STATELESS, "mcp-method": "tools/call", "mcp-name": "call_tool"}
            return self.post({"method": "tools/call", "params": {"name": "call_tool", "arguments": arguments, "_meta": meta}}, head)[:2]
        if self.session is None:
            hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "campaign", "version": "1"}}
            status, text, session = self.post({"method": "initialize", "params": hello}, {})
            if session is None:
                return status, text
            self.session = session
        head = {"mcp-session-id": self.session}
        return self.post({"method": "tools/call", "params": {"name": "call_tool", "arguments": arguments}}, head)[:2]

    def post(self, message, head):
        if self.line is None:
            self.line = http.client.HTTPConnection("127.0.0.1", BALANCER, timeout=40)
        head = {"content-type": "application/json", "accept": "application/json, text/event-stream", "authorization": f"Bearer {TOKEN}", **head}
        self.line.request("POST", "/mcp", json.dumps({"jsonrpc": "2.0", "id": 1, **message}), head)
        answer = self.line.getresponse()
        return answer.status, answer.read().decode(errors="replace"), answer.getheader("mcp-session-id")


class World:
    def __init__(self, options):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="campaign-"))
        self.folder.chmod(0o755)
        self.random, self.audit, self.over = random.Random(options.seed), options.audit, threading.Event()
        self.hosts = Hosts()
        self.database = Database(self.folder, self.hosts.here())
        self.server = Server(self.hosts.here())
        self.replicas = [Replica(self, n) for n in (1, 2, 3)]
        for replica in self.replicas:
            replica.start()
        self.settle()
        self.balancer = Balancer(self, options.balancer)
        self.clients = [Client(self, n, n % 2 == 0) for n in range(options.clients)]

    def settle(self):
        """All are there and ready."""
        for replica in self.replicas:
            if replica.process.poll() is not None:
                replica.start()
        for replica in self.replicas:
            until(replica.is_ready, 90, f"replica {replica.n}")

    def faults(self):
        some = {"kill": self.kill, "freeze": self.freeze, "end": self.drain, "database restarts": self.restart, "database away": self.away}
        return {**some, "link down": self.cut, "delay": self.slow} if self.hosts.bridge else some

    def kill(self, replica):
        replica.send(signal.SIGKILL)
        replica.process.wait()

    def freeze(self, replica):
        replica.send(signal.SIGSTOP)
        time.sleep(self.random.choice([2, 14]))
        replica.send(signal.SIGCONT)

    def drain(self, replica):
        replica.send(signal.SIGTERM)
        if replica.process.wait(timeout=60) != 0:
            raise AssertionError(f"replica {replica.n} did not end well")

    def restart(self, _):
        self.database.stop()
        self.database.start()

    def away(self, _):
        self.database.stop()
        time.sleep(self.random.choice([2, 8]))
        self.database.start()

    def cut(self, replica):
        self.hosts.link(replica.n, up=False)
        time.sleep(self.random.choice([2, 14]))
        self.hosts.link(replica.n, up=True)

    def slow(self, replica):
        self.hosts.delay(replica.n, 300)
        time.sleep(3)
        self.hosts.delay(replica.n, 0)

    def audited(self):
        """What the audit of all replicas has of marks."""
        words = [BINARY, "audit", "export", "--format", "jsonl", "--config", str(self.replicas[0].config)]
        done = subprocess.run(self.hosts.within(1, words), env=self.replicas[0].environment(), capture_output=True, text=True)
        if done.returncode:
            raise AssertionError(f"the audit cannot be read: {done.stderr}")
        return set(re.findall(r'(?:session|stateless)-\d+-\d+', done.stdout))

    def end(self):
        self.over.set()
        for process in [self.balancer.process, *(replica.process for replica in self.replicas)]:
            if process.poll() is None:
                process.terminate()
        for replica in self.replicas:
            replica.process.wait()
        self.database.stop()
        self.hosts.end()


def main():
    options = argparse.ArgumentParser()
    options.add_argument("rounds", nargs="?", type=int, default=200)
    options.add_argument("--balancer", choices=["nginx", "haproxy", "caddy"], default="haproxy")
    options.add_argument("--seed", type=int, default=int(time.time()))
    options.add_argument("--clients", type=int, default=8)
    options.add_argument("--audit", choices=["on", "strict"], default="strict")
    options.add_argument("--only")
    options = options.parse_args()
    alone()
    world = World(options)
    print(f"{'hosts' if world.hosts.bridge else 'ports'}, {options.balancer}, audit {options.audit}, seed {options.seed}, {world.folder}", flush=True)
    try:
        campaign(world, options)
        findings = judge(world)
    finally:
        world.end()
    if findings:
        print("\n".join(findings))
        sys.exit(f"BROKEN: see {world.folder}")
    shutil.rmtree(world.folder)


def campaign(world, options):
    for client in world.clients:
        client.start()
    time.sleep(2)
    faults = world.faults()
    names = [options.only] if options.only else sorted(faults)
    for n in range(options.rounds):
        # Each fault once before any comes again: a short campaign has them all.
        name = names[n % len(names)] if n < len(names) else world.random.choice(names)
        replica = world.random.choice(world.replicas)
        before = sum(len(client.acknowledged) for client in world.clients)
        failures = sum(len(client.failed) for client in world.clients)
        faults[name](replica)
        time.sleep(world.random.uniform(0.5, 2))
        world.settle()
        # Everybody gets an answer again.
        counts = [len(client.acknowledged) for client in world.clients]
        until(lambda: all(len(client.acknowledged) > count for client, count in zip(world.clients, counts)), 40, f"an answer for every client after {name}")
        after = sum(len(client.acknowledged) for client in world.clients)
        failed = sum(len(client.failed) for client in world.clients) - failures
        print(f"{n + 1:4} {name:18} replica {replica.n}  {after - before:6} answered {failed:4} failed", flush=True)


def judge(world):
    world.over.set()
    for client in world.clients:
        client.join(timeout=60)
    # What was written to a file while the database was away is on its way.
    acknowledged = set().union(*(client.acknowledged for client in world.clients))
    with world.server.lock:
        received = dict(world.server.received)
    end = time.time() + 60
    while not set(received) <= (audited := world.audited()) and time.time() < end:
        time.sleep(1)
    failed = [failure for client in world.clients for failure in client.failed]
    gaps = [client.gap for client in world.clients if client.is_session]
    print(f"{len(acknowledged)} acknowledged, {len(received)} received, {len(audited)} in the audit, {len(failed)} failed, "
          f"{sum(client.lost for client in world.clients)} sessions lost, longest gap of a session {max(gaps, default=0):.1f} s")
    for status in sorted({failure[2] for failure in failed}):
        those = [failure for failure in failed if failure[2] == status]
        print(f"     {len(those):5} × {status}: {those[0][3]}")
    findings = []
    expect = lambda holds, what: None if holds else findings.append("BROKEN: " + what)
    expect(acknowledged <= set(received), f"acknowledged and never received: {sorted(acknowledged - set(received))[:5]}")
    expect(set(received) <= audited, f"received and not in the audit: {sorted(set(received) - audited)[:5]}")
    expect(not [mark for mark, times in received.items() if times > 1], f"received twice: {[m for m, t in received.items() if t > 1][:5]}")
    expect(not any(client.lost for client in world.clients), "sessions were lost")
    expect(max(gaps, default=0) < LONGEST_GAP, f"a session was without an answer for {max(gaps, default=0):.1f} s")
    return findings


if __name__ == "__main__":
    main()
