"""The official conformance suite and the SDK clients through nginx, HAProxy and Caddy, with the files of deploy/ as they are, in front
of three replicas. What they count must be what they count with one Toolfold and nothing in between.

    judges.py [nginx|haproxy|caddy ...]
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from world import BALANCER, BINARY, ROOT, Balancer, Database, Hosts, Replica, alone, until

TARGET = pathlib.Path(BINARY).parents[1]
PEERS = TARGET / "peers"
NODE = PEERS / "node_modules/.bin/node"
SUITE = PEERS / "node_modules/@modelcontextprotocol/conformance/dist/index.js"
SCRIPTS = ROOT / "crates/toolfold/tests/peers"
REVISIONS = {"2025-11-25": "legacy", "2026-07-28": "modern"}
FIXTURE = 7501
# One of each kind: how the client is started, and which era it comes to speak.
CLIENTS = {
    "TypeScript SDK 1": [NODE, SCRIPTS / "client-v1.mjs"],
    "TypeScript SDK 2, legacy": [NODE, SCRIPTS / "client-v2.mjs", "legacy"],
    "TypeScript SDK 2": [NODE, SCRIPTS / "client-v2.mjs", "auto"],
    "Python SDK, legacy": [PEERS / "venv/bin/python", SCRIPTS / "client.py", "legacy"],
    "Python SDK": [PEERS / "venv/bin/python", SCRIPTS / "client.py", "auto"],
}


class World:
    def __init__(self, era):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="judges-"))
        self.folder.chmod(0o755)
        # On ports: the files of deploy/ name them.
        self.hosts = Hosts(ports=True)
        self.database = Database(self.folder, "127.0.0.1")
        words = [TARGET / "debug/conformance-server", "--port", str(FIXTURE)]
        self.fixture = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        rest = f'[servers.fixture]\nurl = "http://127.0.0.1:{FIXTURE}/mcp"\nprefix = false\nera = "{era}"\n'
        self.replicas = [Replica(self, n, 'surface = "direct"\n', rest, http="") for n in (1, 2, 3)]
        # The same alone: no cluster, a store of its own.
        self.alone = Replica(self, 4, 'surface = "direct"\n', rest, http="", cluster=False)
        for replica in [*self.replicas, self.alone]:
            replica.start()
        for replica in [*self.replicas, self.alone]:
            until(replica.is_ready, 60, f"replica {replica.n}")

    def end(self):
        for process in [*(replica.process for replica in [*self.replicas, self.alone]), self.fixture]:
            process.terminate()
            process.wait()
        self.database.stop()


def conformance(url, revision):
    """Checks passed and failed, by scenario."""
    words = [NODE, SUITE, "server", "--url", url, "--requirements", revision]
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=tempfile.gettempdir())
    found = re.findall(r"^[✓✗] *(\S+): (\d+) passed, (\d+) failed", done.stdout, re.MULTILINE)
    return {name: (int(passed), int(failed)) for name, passed, failed in found}


def client(words, url):
    """What an SDK client sees: the names of the tools, and whether a call of one is answered."""
    steps = [{"list": {}}, {"call": "test_simple_text", "arguments": {}}, {"call": "no_such_tool", "arguments": {}}]
    lines = "".join(json.dumps(step) + "\n" for step in steps)
    done = subprocess.run([*words, "http", url], input=lines, capture_output=True, text=True, env={**os.environ, "PEERS": str(PEERS)})
    if done.returncode:
        return f"failed: {done.stderr.strip().splitlines()[-1:]}"
    return done.stdout


def judge(era, revision, balancers):
    findings = []
    expect = lambda holds, what: None if holds else findings.append(f"BROKEN: {revision}, {what}")
    count = lambda run: f"{sum(passed for passed, _ in run.values())} passed, {sum(failed for _, failed in run.values())} failed, {len(run)} scenarios"
    alone = {}
    # A world for each: the suite has the server behind change its lists, and who changes them all the time is heard ever later.
    for kind in [None, *balancers]:
        world = World(era)
        try:
            url = f"http://127.0.0.1:{world.alone.port}/mcp"
            if kind is None:
                alone = conformance(url, revision)
                clients = {name: client(words, url) for name, words in CLIENTS.items()}
                print(f"{revision}  alone    {count(alone)}", flush=True)
                expect(alone, "the suite says nothing")
                expect(all(not said.startswith("failed") for said in clients.values()), f"clients fail alone: {clients}")
                continue
            balancer = Balancer(world, kind)
            try:
                place = f"http://127.0.0.1:{BALANCER}/mcp"
                until(lambda: answers(BALANCER), 30, kind)
                through = conformance(place, revision)
                same = {name: sees_the_same(words, url, place) for name, words in CLIENTS.items()}
                print(f"{revision}  {kind:8} {count(through)}; {sum(same.values())} of {len(same)} clients see the same", flush=True)
                differ = {name: (alone.get(name), through.get(name)) for name in {*alone, *through} if alone.get(name) != through.get(name)}
                expect(not differ, f"{kind}: other counts than alone: {differ}")
                expect(all(same.values()), f"{kind}: clients see something else: {[name for name, is_same in same.items() if not is_same]}")
            finally:
                balancer.end()
        finally:
            world.end()
        if not findings:
            shutil.rmtree(world.folder)
    return findings


def sees_the_same(words, url, place):
    """At the same moment: a run of the suite leaves the server behind with other tools, of which all hear in their own time."""
    end = time.time() + 10
    while (is_same := client(words, url) == client(words, place)) is False and time.time() < end:
        time.sleep(0.5)
    return is_same


def answers(port):
    import http.client

    try:
        line = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
        line.request("GET", "/readyz")
        return line.getresponse().status == 200
    except OSError:
        return False


def main():
    balancers = sys.argv[1:] or ["nginx", "haproxy", "caddy"]
    alone()
    findings = [finding for revision, era in REVISIONS.items() for finding in judge(era, revision, balancers)]
    if findings:
        sys.exit("\n".join(findings))


if __name__ == "__main__":
    main()
