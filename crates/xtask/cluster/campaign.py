"""Three replicas on one PostgreSQL behind a real balancer, clients of both eras, and bad days.

Three logs are kept by three who do not know of each other: what clients had acknowledged, what servers received, and what the audit
has. At the end every acknowledged call must have been received, every received one be in the audit, and none have been received twice.

What a reader would get wrong: a request may fail. One that was on its way at a replica that was killed has an outcome that nobody
knows, and its client is told so. What may not happen is that it is answered and was not made, or was made twice.

    campaign.py ROUNDS [--seconds N] [--balancer nginx|haproxy|caddy] [--seed N] [--clients N] [--only FAULT]
"""

import argparse
import http.client
import itertools
import json
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from world import BALANCER, BINARY, STATELESS, TOKEN, Balancer, Database, Hosts, Replica, Server, alone, until

# How long a session may be without an answer after its replica was killed or told to end, with what a busy machine adds. What was on
# its way when a link went down comes when TCP tries again, up to twice as long after; a frozen replica answers when it wakes; and
# without a database a strict audit refuses: there everybody only has to be answered again in the end.
LONGEST_GAP = 20
GAPS_COUNT = ("kill", "end")


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
                now = time.time()
                if self.world.since is not None:
                    self.gap = max(self.gap, now - max(last, self.world.since))
                last = now
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
        self.random, self.over = random.Random(options.seed), threading.Event()
        # When the round began whose gaps count.
        self.since = None
        # Requests that failed and had no reason to.
        self.needless = []
        self.hosts = Hosts()
        self.database = Database(self.folder, self.hosts.here())
        self.server = Server(self.hosts.here())
        rest = f'[audit]\nmode = "{options.audit}"\nrecord = "arguments"\n[servers.counted]\nurl = "http://{self.hosts.here()}:7500/mcp"\nauth = "none"\n'
        self.replicas = [Replica(self, n, rest=rest) for n in (1, 2, 3)]
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
        if self.hosts.bridge:
            some |= {"link down": self.cut, "delay": self.slow}
        return some

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
        self.hosts.delay(replica.n, 150)
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
    options.add_argument("--seconds", type=float, default=float("inf"), help="no round begins later than this")
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
    faults, begun = world.faults(), time.time()
    names = [options.only] if options.only else sorted(faults)
    for n in range(options.rounds):
        if time.time() - begun > options.seconds:
            print(f"{n} rounds in the time there was", flush=True)
            return
        # Each fault once before any comes again: a short campaign has them all.
        name = names[n % len(names)] if n < len(names) else world.random.choice(names)
        replica = world.random.choice(world.replicas)
        before = sum(len(client.acknowledged) for client in world.clients)
        failures = sum(len(client.failed) for client in world.clients)
        world.since = time.time() if name in GAPS_COUNT else None
        faults[name](replica)
        time.sleep(world.random.uniform(0.5, 2))
        world.settle()
        # Everybody gets an answer again.
        counts = [len(client.acknowledged) for client in world.clients]
        until(lambda: all(len(client.acknowledged) > count for client, count in zip(world.clients, counts)), 40, f"an answer for every client after {name}")
        world.since = None
        after = sum(len(client.acknowledged) for client in world.clients)
        failed = sum(len(client.failed) for client in world.clients) - failures
        # Who is told to end finishes what it does; with who is killed go the requests that were there, at most one of each client; and
        # unless everything must be written down there first, nobody needs the database.
        allowed = {"end": 0, "kill": len(world.clients)} | ({"database away": 0, "database restarts": 0} if options.audit == "on" else {})
        if failed > allowed.get(name, failed):
            latest = [client.failed[-1] for client in world.clients if client.failed]
            world.needless.append(f"round {n + 1}, {name}: {failed} failed, such as {max(latest)}")
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
    expect(not world.needless, f"requests failed that had no reason to: {world.needless}")
    expect(not any(client.lost for client in world.clients), "sessions were lost")
    expect(max(gaps, default=0) < LONGEST_GAP, f"a session was without an answer for {max(gaps, default=0):.1f} s")
    return findings


if __name__ == "__main__":
    main()
