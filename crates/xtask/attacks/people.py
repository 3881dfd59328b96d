"""What reaches a person: terminals, logs, files, a configuration nobody chose, processes that are left."""

import json
import os
import pathlib
import signal
import threading
import time

from world import MEGABYTE, Toolfold, attempt, check, command, folder, in_time, is_running, read, server, wait

GOOD = server("good")
ACTS = "\x1b]0;title\x07\x1b[2J\x1b[31m\x9b31m\x08\x7f\u202eabc\u2066\u2028\r\n2030-01-01T00:00:00Z ERROR forged line\n"


def tame(what, written, is_result=False):
    """Nothing in it acts on a terminal, and no line of it is forged. A result may have lines: it is what was asked for."""
    text = written.decode(errors="replace") if isinstance(written, bytes) else written
    acting = [c for c in text if (ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160 or c in "\u202e\u2066\u2028"]
    # Toolfold's own colours are none: nothing here is a terminal.
    check(not acting, lambda: f"{what} has {acting[:5]!r}")
    forged = any(line.startswith("2030-01-01") for line in text.splitlines())
    check(is_result or not forged, f"{what} has a forged line")


@attempt("terminal text", "names, descriptions, results and errors that act on a terminal")
def escapes():
    tools = [
        {"name": "odd", "title": ACTS, "description": "Does odd things " + ACTS, "inputSchema": {"type": "object", "properties": {"p" + ACTS: {"type": "string", "description": ACTS}}}},
        {"name": "na" + ACTS, "description": "Named oddly", "inputSchema": {"type": "object"}},
    ]
    # Else what it says would be held, and none of it shown.
    config = server("bad", tools=tools, says=ACTS) + 'trust = "always"\n'
    arguments = json.dumps({"text": ACTS})
    shown, script = r"\u{1b}[31m", r"\u001b[31m"
    tries = {
        ("ls", "bad"): shown, ("search", "odd things"): shown, ("show", "bad.odd"): shown, ("tree", "Servers/bad"): shown, ("types",): script, ("types", "bad"): script,
        ("call", "bad.echo", arguments): shown, ("call", "bad.fail", arguments): shown, ("--json", "types"): script, ("--json", "ls", "bad"): script,
        ("status",): "bad", ("tokens",): "bad", ("scan",): "bad", ("access", "bad.odd"): "bad.odd",
    }
    for words, seen in tries.items():
        output, errors = command(*words, config=config)
        tame(words[0], output, is_result=words[0] == "call")
        tame(words[0], errors)
        check(seen.encode() in output + errors, lambda: f"{words} shows nothing of it: {(output + errors)[-300:]!r}")


@attempt("terminal text", "a log with what servers print")
def log():
    with Toolfold(GOOD + server("bad", says=ACTS)) as it:
        session = it.session()
        it.serves(session)
        it.call(session, "bad.fail", {"text": ACTS})
        it.ask(session, "tools/call", {"name": ACTS, "arguments": {}})
        tame("the log", it.logged())


@attempt("secrets", "a server that prints what it was given, in pieces")
def printed():
    secret = "s3cret-of-the-server-0123456789"
    says = f"key {secret}\nhalf {secret[:16]}\n{secret[16:]}\n"
    config = f'env = {{ KEY = "{secret}" }}\n'
    with Toolfold(server("bad", says=says) + config + GOOD, env={"TOOLFOLD_LOG": "debug"}) as it:
        session = it.session()
        it.serves(session)
        it.call(session, "bad.echo", {"text": "x"})
        status = it.http("GET", "/v1/status")[2].decode()
        check(secret not in it.logged() and secret not in status, "the secret is in the log or the status")


@attempt("secrets", "servers do not inherit what is Toolfold's own")
def inherited():
    env = {"TOOLFOLD_TOKEN": "", "TOOLFOLD_SOMETHING": "of-the-gateway", "OF_THE_USER": "passed-on"}
    with Toolfold(GOOD, env=env) as it:
        said = it.call(it.session(), "good.environment")
        check("passed-on" in said, f"it does not tell its variables: {said[:200]}")
        check("of-the-gateway" not in said, "a variable TOOLFOLD_… reached a server")


def clone():
    """A folder as it is cloned, with a configuration that runs a program."""
    base = folder()
    inner = base + "/cloned/src/deep"
    os.makedirs(inner)
    mark = base + "/mark"
    text = f'store = "memory"\n[servers.innocent]\ncommand = "/bin/sh"\nargs = ["-c", "touch {mark}"]\n'
    pathlib.Path(base + "/cloned/toolfold.toml").write_text(text)
    return inner, mark


@attempt("trust", "a configuration two folders above, that nobody chose")
def found():
    inner, mark = clone()
    for words in (["ls"], ["search", "x"], ["status"], ["tree"], ["check"]):
        command(*words, cwd=inner)
        check(not os.path.exists(mark), f"`toolfold {words[0]}` runs its program")
    # Who names it has chosen it, and then it runs.
    command("ls", "--config", str(pathlib.Path(inner, "../../toolfold.toml").resolve()), cwd=inner)
    check(os.path.exists(mark), "its program does not run where the file is named")


@attempt("toolbox", "every tool with 200 KB of every argument")
def bombs():
    with Toolfold("toolbox = true\n") as it:
        session = it.session()
        listed = json.loads(it.http("GET", "/v1/tools?server=toolbox&limit=100")[2])["tools"]
        check(len(listed) > 20, f"{len(listed)} tools")
        long = {"expression": "9^" * 100_000 + "9", "csv": ('a"' * 100 + ",") * 1000, "json": "[" * 200_000, "pattern": "(a{0,500}){0,500}", "rows": [["x" * 100] * 100] * 100, "duration": "P" + "9" * 50 + "Y"}
        names = ["text", "find", "replacement", "before", "after", "hex", "path", "number", "from", "to", "time", "zone", "schema", "delimiter", "algorithm", "case", "numbers", "value", "min", "max", "count", *long]
        bombs = {name: long.get(name, "a" * 200_000) for name in names}
        for tool in listed:
            it.quiet_during(lambda: it.call(session, tool["tool_id"], bombs, timeout=40))
        it.is_small()


AMPLIFIERS = [
    ("text_replace", {"text": "a" * 100_000, "find": "a", "replacement": "b" * 100_000}),
    ("regex_replace", {"text": "a" * 100_000, "pattern": "a", "replacement": "b" * 100_000}),
    ("regex_find", {"text": "a" * 200_000, "pattern": "(a|aa)+$|" + "(" * 200 + ")" * 200}),
    ("calculate", {"expression": "9^9^9^9^9"}),
    ("random_number", {"min": 0, "max": 1, "count": 10**12}),
    ("random_uuid", {"count": 10**12}),
    ("json_format", {"json": "[" * 50_000 + "]" * 50_000, "indent": 10**9}),
    ("text_diff", {"before": "\n".join(map(str, range(20_000))), "after": "\n".join(map(str, range(20_000, 0, -1)))}),
    ("markdown_table", {"rows": [{str(number): 1} for number in range(3_000)]}),
    ("csv_to_json", {"csv": ",".join("h" * 50 for _ in range(2_000)) + "\n" + ("," * 1_999 + "\n") * 300}),
    ("json_diff", {"before": {"a": list(range(20_000))}, "after": {"a": list(range(20_000, 0, -1))}}),
]


@attempt("toolbox", "little that becomes much: replacements, powers, counts, tables")
def amplified():
    with Toolfold("toolbox = true\n") as it:
        session = it.session()
        for name, arguments in AMPLIFIERS:
            said = it.quiet_during(lambda: it.call(session, "toolbox." + name, arguments, timeout=40))
            check(len(said) < 16 * MEGABYTE, f"{name} answers with {len(said)} bytes")
            held = it.resident()
            check(held < 300, f"{held:.0f} MB after {name}")


@attempt("toolbox", "files outside, links, pipes, devices, the configuration itself")
def paths():
    base = folder()
    pathlib.Path(base + "/outside.txt").write_text("OUTSIDE")
    inner = base + "/inner"
    os.makedirs(inner + "/sub")
    os.symlink("../outside.txt", inner + "/link")
    os.symlink("/", inner + "/root")
    os.symlink("..", inner + "/sub/up")
    os.symlink("/proc/self/environ", inner + "/environ")
    os.mkfifo(inner + "/pipe")
    tries = ["../outside.txt", base + "/outside.txt", "link", "root/etc/passwd", "sub/up/../outside.txt", "environ", "pipe", "root/dev/zero", "/proc/self/environ", "sub/../../outside.txt"]
    config = 'toolbox = true\n[servers.keyed]\ncommand = "true"\nenv = { KEY = "LITERAL-KEY" }\n'
    with Toolfold(config, cwd=inner) as it:
        session = it.session()
        os.symlink(it.config, inner + "/given.toml")
        pathlib.Path(inner + "/toolfold.toml").write_text(config)
        pathlib.Path(inner + "/sub/inside.txt").write_text("INSIDE")
        os.symlink("sub/inside.txt", inner + "/near")
        said = it.call(session, "toolbox.read_file", {"path": "sub/inside.txt"})
        check("INSIDE" in said, f"what is inside is not read: {said[:200]}")
        said = it.call(session, "toolbox.search_files", {"path": "sub", "pattern": "INS.DE"})
        check("inside.txt" in said, f"what is inside is not found: {said[:200]}")
        for path in [*tries, "given.toml"]:
            for tool in ("read_file", "search_files"):
                begun = time.monotonic()
                said = it.call(session, "toolbox." + tool, {"path": path, "pattern": "OUTSIDE|root:|PATH=|LITERAL"} if tool == "search_files" else {"path": path}, timeout=30)
                in_time(time.monotonic() - begun < 8, f"{tool} {path} hangs")
                check(not any(word in said.replace("OUTSIDE|root:|PATH=|LITERAL", "") for word in ("OUTSIDE", "root:x", "PATH=/", "LITERAL-KEY")), f"{tool} {path}: {said[:200]}")


@attempt("ends", "kill -9: no server is left, however stubborn")
def killed():
    pids = folder() + "/pids"
    for _ in range(5):
        it = Toolfold(server("bad", stubborn=True, child=True, pid=pids) + GOOD)
        wait(lambda: len(read(pids).split()) >= 2, 15, "the server does not start:")
        it.process.send_signal(signal.SIGKILL)
        it.process.wait()
        left = lambda: [process for process in read(pids).split() if is_running(process)]
        try:
            wait(lambda: not left(), 15, "a server is left behind:")
        finally:
            it.kill()
            for process in left():
                os.kill(int(process), signal.SIGKILL)
            os.remove(pids)


@attempt("ends", "SIGTERM: a call that is under way is finished, in both eras, and stubborn servers end")
def drained():
    pids = folder() + "/pids"
    it = Toolfold(GOOD + server("bad", stubborn=True, child=True, pid=pids))
    with it:
        session = it.session()
        it.serves(session)
        it.call(session, "bad.echo", {"text": "x"})
        said = []
        ask = {"name": "call_tool", "arguments": {"tool": "good.sleep", "arguments": {"seconds": 2}}}
        threads = [
            threading.Thread(target=lambda: said.append(it.ask(session, "tools/call", ask, 30))),
            threading.Thread(target=lambda: said.append(it.stateless("tools/call", ask, 30))),
        ]
        [thread.start() for thread in threads]
        time.sleep(0.7)
        took = it.stop(25)
        [thread.join(30) for thread in threads]
        in_time(took is not None, "it does not end")
        check(len(said) == 2 and all("sleep" in text for text in said), f"the calls were answered with {str(said)[:300]}")
        wait(lambda: not any(is_running(process) for process in read(pids).split()), 10, "a server is left behind:")


@attempt("ends", "a store that is a folder, noise, another's, or goes away")
def stores():
    base = folder()
    os.makedirs(base + "/is-a-folder.db")
    pathlib.Path(base + "/noise.db").write_bytes(os.urandom(100_000))
    for path in (base + "/is-a-folder.db", base + "/noise.db", "/dev/null", "/proc/none/x.db"):
        with Toolfold(GOOD, env={"TOOLFOLD_STORE": path}) as it:
            it.serves()
    gone = base + "/gone.db"
    with Toolfold(GOOD, env={"TOOLFOLD_STORE": gone}) as it:
        it.serves()
        pathlib.Path(gone).write_bytes(os.urandom(50_000))
        it.serves()
        os.remove(gone)
        it.serves()
