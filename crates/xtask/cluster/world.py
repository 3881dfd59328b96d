"""What the scripts beside this one have in common: three replicas on one PostgreSQL, behind a real balancer, with a server of
ours behind them. In networks of their own where the machine allows it, else on ports.
"""

import http.client
import http.server
import json
import os
import pathlib
import signal
import socketserver
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
BINARY = os.environ["TOOLFOLD_ATTACK_BINARY"]
NOBODY = 65534
TOKEN = "a-token-of-the-campaign"
SECRET = "a secret that all replicas of the campaign share"
STATELESS = "2026-07-28"
BALANCER = 7430


def alone():
    """Begins again in a network of its own, so that ports and addresses are nobody else's."""
    if os.environ.get("TOOLFOLD_CAMPAIGN") == "inside":
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        return
    ways = [["unshare", "-n"], ["unshare", "-rn"]]
    for way in ways:
        if subprocess.run([*way, "true"], capture_output=True).returncode == 0:
            os.execvpe(way[0], [*way, sys.executable, "-B", *sys.argv], {**os.environ, "TOOLFOLD_CAMPAIGN": "inside"})
    # Then the ports and the addresses are this machine's, and what needs a link of its own is left out.
    print("NO NETWORK OF ITS OWN: this machine lets nobody make one (unshare --net), so links are neither cut nor slowed", flush=True)


class Hosts:
    """Three hosts with addresses and links of their own, where the machine allows it; else ports of this one."""

    def __init__(self, ports=False):
        self.names, self.bridge, self.slow = [], False, {}
        if ports or os.environ.get("TOOLFOLD_CAMPAIGN") != "inside":
            return
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
        """Each way; 0 for a link as it was."""
        if n in self.slow:
            process = self.slow.pop(n)
            process.kill()
            process.wait()
            self.run(f"ip link del s{n} && ip link set v{n} master br0")
        if milliseconds:
            # Between the host's link and the others there is now a process. This machine itself answers nobody on either of its ends.
            self.run(f"ip link add s{n} type veth peer name t{n} && ip link set v{n} nomaster && ip link set s{n} up && ip link set t{n} master br0 up")
            self.run(f"for end in v{n} s{n}; do echo 8 > /proc/sys/net/ipv4/conf/$end/arp_ignore; done")
            words = [sys.executable, "-B", pathlib.Path(__file__).with_name("link.py"), f"v{n}", f"s{n}", str(milliseconds)]
            self.slow[n] = subprocess.Popen(words, stdout=subprocess.PIPE)
            if self.slow[n].stdout.readline() != b"ready\n":
                raise AssertionError("a link cannot be made slow here")

    def end(self):
        for process in self.slow.values():
            process.kill()
            process.wait()
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
    """One of them. `first` is the beginning of its configuration, before any table; `rest` comes after those that all have."""

    def __init__(self, world, n, first="", rest="", http=f'token = "{TOKEN}"', cluster=True):
        self.world, self.n, self.process = world, n, None
        self.host, self.port = world.hosts.address(n)
        self.home = world.folder / f"replica-{n}"
        self.home.mkdir()
        self.config = self.home / "toolfold.toml"
        place = f"http://{self.host}:{self.port}"
        shared = f'[cluster]\nadvertise = "{place}"\nsecret = "{SECRET}"\n' if cluster else ""
        store = f'store = "{world.database.url()}"\n' if cluster else ""
        listen = f'[http]\nlisten = "{self.host}:{self.port}"\nhosts = ["127.0.0.1"]\n{http}\n'
        self.config.write_text(f"{first}\n{store}{listen}{shared}{rest}")

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
