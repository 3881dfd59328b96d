"""What replicas ask of their database when nothing happens: so many of them, played by their statements, against a real PostgreSQL.

A replica beats and looks at the others every two seconds, looks at the numbers of what all share every five, and renews the lease of each
server that it alone runs every two; every thirty it says which sessions are in use and clears away what is over. Each row is then a statement that somebody has to answer, whatever else happens.

    load.py [REPLICAS ...]      (3 10 100)
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from world import BINARY, Database, Hosts, Replica, alone, until

SECONDS = 20
LEASES = 10
# The statements of crates/toolfold-store/src/cluster, each with how often a replica puts it, in seconds.
STATEMENTS = [
    (2, "UPDATE replicas SET beat_at = clock_timestamp() WHERE id = :'me' AND epoch = 1 RETURNING floor(extract(epoch FROM beat_at))::bigint;"),
    (2, "SELECT id, address, epoch, extract(epoch FROM clock_timestamp() - beat_at)::float8, draining FROM replicas ORDER BY id;"),
    (5, "SELECT topic, number FROM versions;"),
    (5, "SELECT id, address, epoch, extract(epoch FROM clock_timestamp() - beat_at)::float8, draining FROM replicas ORDER BY id;"),
    (30, "UPDATE sessions SET used_at = clock_timestamp() WHERE owner = :'me' AND id = ANY ('{}');"),
    (30, "DELETE FROM buckets WHERE filled_at < clock_timestamp() - interval '1 day';"),
    (30, "DELETE FROM sessions WHERE used_at < clock_timestamp() - interval '30 minutes';"),
]
RENEW = "UPDATE leases SET until = clock_timestamp() + make_interval(secs => 6) WHERE name = 'run/' || :n AND fence = 1;"


class World:
    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="load-"))
        self.folder.chmod(0o755)
        self.hosts = Hosts(ports=True)
        self.database = Database(self.folder, "127.0.0.1")

    def psql(self, *words):
        done = self.database.program("psql", "-h", "127.0.0.1", "-U", "toolfold", "-At", "-q", "postgres", *words)
        return done.strip()

    def tables(self):
        """As a Toolfold makes them."""
        replica = Replica(self, 1, http="")
        replica.start()
        until(replica.is_ready, 60, "a replica")
        measured = self.measured()
        replica.process.terminate()
        replica.process.wait()
        return measured

    def measured(self):
        """Statements a second of one real replica at rest."""
        import time

        time.sleep(5)
        count = lambda: int(self.psql("-c", "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = 'postgres'"))
        # The statistics come a moment later, and asking is a transaction too.
        before, began = count(), time.time()
        time.sleep(SECONDS)
        return (count() - before) / (time.time() - began)

    def beat(self, replicas):
        """Plays so many replicas at their own pace: what was done of it a second, how long a statement took, and the time of the database's processor."""
        self.psql("-c", "SET search_path = toolfold; TRUNCATE replicas, leases;"
            f"INSERT INTO replicas (id, address, epoch, beat_at, draining) SELECT lpad(n::text, 16, '0'), 'http://10.0.0.1:7421', 1, clock_timestamp(), false FROM generate_series(1, {replicas}) n;"
            f"INSERT INTO leases (name, holder, fence, until) SELECT 'run/' || n, '', 1, clock_timestamp() FROM generate_series(1, {LEASES}) n;")
        wanted = sum(replicas / every for every, _ in STATEMENTS) + LEASES / 2
        # One script for each statement, weighted by how often it comes; pgbench keeps the pace of all together.
        words = ["pgbench", "-h", "127.0.0.1", "-U", "toolfold", "-n", "-c", "8", "-j", "1", "-T", str(SECONDS), "-R", f"{wanted:.1f}", "-M", "prepared"]
        pieces = [(replicas / every, text) for every, text in STATEMENTS] + [(LEASES / 2, RENEW)]
        for n, (weight, text) in enumerate(pieces):
            path = self.folder / f"statement-{n}.sql"
            path.write_text(f"\\set who random(1, {replicas})\n\\set n random(1, {LEASES})\nSET search_path = toolfold;\n" + text.replace(":'me'", "lpad(:who::text, 16, '0')") + "\n")
            words += ["-f", f"{path}@{max(1, round(weight * 10))}"]
        before = self.processor()
        done = subprocess.run([self.database.programs / words[0], *words[1:], "postgres"], capture_output=True, text=True, cwd="/")
        if done.returncode:
            sys.exit(done.stderr)
        used = self.processor() - before
        figure = lambda name: next(line.split("=")[1].split()[0] for line in done.stdout.splitlines() if line.startswith(name))
        return wanted, float(figure("tps")), float(figure("latency average")), 100 * used / SECONDS

    def processor(self):
        """Seconds that all processes of the database have used, those that ended included."""
        ticks = 0
        for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = path.read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            parent = int(fields[1])
            if parent == self.database.process.pid:
                ticks += int(fields[11]) + int(fields[12])
            elif path.parent.name == str(self.database.process.pid):
                ticks += sum(int(field) for field in fields[11:15])
        return ticks / os.sysconf("SC_CLK_TCK")


def main():
    counts = [int(word) for word in sys.argv[1:]] or [3, 10, 100]
    alone()
    world = World()
    try:
        print(f"one real replica at rest: {world.tables():.1f} transactions a second", flush=True)
        print("replicas  statements/s wanted  done/s  latency  the database's processor")
        for replicas in counts:
            wanted, done, latency, used = world.beat(replicas)
            print(f"{replicas:8}  {wanted:19.1f}  {done:6.1f}  {latency:4.1f} ms  {used:4.1f} % of a core", flush=True)
    finally:
        world.database.stop()
    shutil.rmtree(world.folder)


if __name__ == "__main__":
    main()
