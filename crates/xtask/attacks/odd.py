"""Requests that no client would make: addresses, numbers, letters, queries, heads; and pages that are read slowly."""

import json
import pathlib
import random
import re
import threading
import time

from world import MEGABYTE, Toolfold, attempt, check, journal, read, server, wait

GOOD = server("good")


@attempt("long names", "addresses and prompts of 4 MB among 20,000 templates, in both eras")
def addresses():
    with Toolfold(server("good", resources=["note://a"]) + server("bad", templates_many=20_000)) as it:
        session = it.session()
        it.serves(session)
        wait(lambda: "note" in it.ask(session, "resources/templates/list", {}), 20, "no templates:")
        for long in ("note://" + "x/" * (2 * MEGABYTE), "\u0301" * (2 * MEGABYTE)):
            for method, params in (
                ("resources/read", {"uri": long}),
                ("prompts/get", {"name": long}),
                ("completion/complete", {"ref": {"type": "ref/resource", "uri": long}, "argument": {"name": "a", "value": "b"}}),
                ("completion/complete", {"ref": {"type": "ref/prompt", "name": long}, "argument": {"name": "a", "value": "b"}}),
                ("logging/setLevel", {"level": long}),
            ):
                said = it.quiet_during(lambda: it.ask(session, method, params, timeout=30))
                check("error" in said and len(said) < 10_000, f"{method} is answered with {len(said)} bytes: {said[:100]}")
            said = it.quiet_during(lambda: it.stateless("resources/read", {"uri": long}, 30))
            check("error" in said and len(said) < 10_000, f"answered with {said[:100]}")
        it.is_well(session)


@attempt("long names", "templates of a server that are no end of work, and somebody else's address")
def templates():
    odd = ["{" * MEGABYTE, "{a}" * 300_000, "a" * MEGABYTE + "{b}", "n{a}o{b}" * 100_000, "note://{a}/{b}/{c}" + "/{d}z" * 50_000, "}{", "{", "%%%{", "{+path*,x:999999999999}"]
    with Toolfold(server("good", resources=["note://mine"], text="as ever") + server("bad", templates=odd)) as it:
        session = it.session()
        it.serves(session)
        for uri in ("note://mine", "note://" + "a/" * 900, "n" * 1_900, "zzz"):
            said = it.quiet_during(lambda: [it.ask(session, "resources/read", {"uri": uri}, timeout=30) for _ in range(5)][-1])
            check(uri != "note://mine" or "as ever" in said, f"{uri[:20]} is answered with {said[:200]}")
        it.is_well(session)


NUMBERS = ["1e999999999", "-1e999999999", "1e-999999999", "-0", "-0.0", "9" * 400, "9" * 200_000, "0." + "1" * 200_000, "1E+308", "18446744073709551616", "-9223372036854775809", "1.7976931348623159e308"]


@attempt("numbers", "enormous ones as ids, limits, tokens, arguments, levels, and in definitions")
def numbers():
    schema = '{"type":"object","properties":{"n":{"type":"number","multipleOf":1e-300,"minimum":-1e999,"maximum":1e999999},"l":{"type":"array","minItems":1e30,"maxItems":1e400},"s":{"type":"string","minLength":0,"maxLength":99999999999999999999999999}}}'
    path = journal()
    pathlib.Path(path).write_text('[{"name":"odd","description":"Odd numbers","inputSchema":' + schema + "}]")
    with Toolfold(GOOD + server("bad", tools_raw=path) + "timeout = 2\n") as it:
        session = it.session()
        it.serves(session)
        wait(lambda: "bad.odd" in it.ask(session, "tools/call", {"name": "find_tools", "arguments": {"tool": "bad.odd", "detail": "full"}}), 20, "not there:")

        def ask(number):
            small = len(number) < 1_000
            for text in (
                f'{{"jsonrpc":"2.0","id":{number},"method":"ping"}}',
                f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"find_tools","arguments":{{"query":"echo","limit":{number}}}}}}}',
                f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"call_tool","_meta":{{"progressToken":{number}}},"arguments":{{"tool":"bad.odd","arguments":{{"n":{number},"l":[{number}],"s":"x"}}}}}}}}',
                f'{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{number}}}}}',
                f'{{"jsonrpc":{number},"id":1,"method":"ping"}}',
            ):
                status, _, answer = it.http("POST", "/mcp", text, {"Mcp-Session-Id": session}, 30)
                check(status < 500, f"{text[:80]} is answered with {status} {answer[:100]}")
                check(not small or len(answer) < 20_000, f"{text[:80]}: {len(answer)} bytes")
            status, _, answer = it.http("GET", f"/v1/tools?limit={number[:2000]}&offset={number[:2000]}")
            check(status < 500, f"/v1/tools with {number[:20]}: {status} {answer[:100]}")

        for number in NUMBERS:
            it.quiet_during(lambda: ask(number))
        it.is_well(session)


LETTERS = ["\\ud800", "\\udc00\\ud800", "\\u0000", "\\uffff", "\\ufdfa" * 20_000, "\\u0390" * 20_000, "a" + "\\u0301" * 50_000, "\\u202e", "\\ud83d\\udc68\\u200d" * 10_000, "\\u1e9e" * 20_000, "\\u0130" * 20_000, "\\uff21" * 20_000]


@attempt("letters", "half pairs, ligatures that grow, accents without end, in every text of a request")
def letters():
    with Toolfold(GOOD) as it:
        session = it.session()
        it.serves(session)
        def ask(letter):
            for body in (
                '{"jsonrpc":"2.0","id":"%s","method":"ping"}',
                '{"jsonrpc":"2.0","id":1,"method":"%s"}',
                '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"%s","arguments":{}}}',
                '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find_tools","arguments":{"query":"%s echo"}}}',
                '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find_tools","arguments":{"path":["%s"]}}}',
                '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"call_tool","arguments":{"tool":"%s"}}}',
                '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"call_tool","arguments":{"tool":"good.echo","arguments":{"text":"%s"}}}}',
                '{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"%s"}}',
                '{"jsonrpc":"2.0","id":1,"%s":1,"method":"ping"}',
            ):
                status, _, answer = it.http("POST", "/mcp", body % letter, {"Mcp-Session-Id": session}, 30)
                check(status < 500 and answer, f"{(body % letter)[:90]} is answered with {status}")
                json.loads(answer.split(b"data: ", 1)[-1].split(b"\n\n")[0])

        for letter in LETTERS:
            it.quiet_during(lambda: ask(letter))
        it.is_well(session)


@attempt("letters", "definitions with half pairs, ligatures, accents: found, shown and called as ever")
def names():
    def cut(letter, length):
        """Its beginning, and no escape in part: that would be no message at all."""
        return re.sub(r"\\(u[0-9a-f]{0,3})?$", "", letter[:length])

    tools = [f'{{"name":"t{place}_{cut(letter, 600)}","description":"{letter}","inputSchema":{{"type":"object","properties":{{"{letter}":{{"type":"string","enum":["{letter}"],"pattern":"{cut(letter, 60)}"}}}}}}}}' for place, letter in enumerate(LETTERS)]
    path = journal()
    pathlib.Path(path).write_text("[" + ",".join(tools) + "]")
    with Toolfold(GOOD + server("bad", tools_raw=path)) as it:
        session = it.session()
        it.serves(session)
        for arguments in ({"query": "t1 t2 t3"}, {"path": ["Servers", "bad"]}, {"tool": "bad.t5"}, {"query": "\u0301", "path": ["Servers", "bad"]}):
            it.quiet_during(lambda: it.ask(session, "tools/call", {"name": "find_tools", "arguments": arguments}, timeout=30))
        for path in ("/v1/tools?limit=1000", "/v1/tree", "/v1/stats", "/v1/status"):
            status, _, answer = it.http("GET", path)
            check(status == 200 and json.loads(answer), f"{path} is answered with {status}")
        it.is_well(session)


@attempt("the door", "heads and bodies that a proxy and a server could read in two ways")
def ambiguous():
    wrote = journal()
    with Toolfold(server("good", journal=wrote)) as it:
        it.serves()
        host = f"Host: 127.0.0.1:{it.port}\r\n"
        kind = "Content-Type: application/json\r\n"
        body = json.dumps({"tool_id": "good.sleep", "arguments": {"seconds": 0}})
        size = f"Content-Length: {len(body)}\r\n"
        hidden = f"POST /v1/call_tool HTTP/1.1\r\n{host}{kind}{size}\r\n{body}"
        # Each of these ends before the call, or is no request: what comes after it must not be taken for one.
        heads = {
            "both lengths": f"POST /v1/list HTTP/1.1\r\n{host}{kind}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{hidden}",
            "two lengths": f"POST /v1/list HTTP/1.1\r\n{host}{kind}Content-Length: 2\r\nContent-Length: {len(hidden) + 2}\r\n\r\n{{}}{hidden}",
            "a list of lengths": f"POST /v1/list HTTP/1.1\r\n{host}{kind}Content-Length: 2, 2\r\n\r\n{{}}{hidden}",
            "a sign": f"POST /v1/list HTTP/1.1\r\n{host}{kind}Content-Length: +2\r\n\r\n{{}}{hidden}",
            "an odd coding": f"POST /v1/list HTTP/1.1\r\n{host}{kind}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n{hidden}",
            "chunked, and then more": f"POST /v1/list HTTP/1.1\r\n{host}{kind}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n{hidden}",
            "a blank before the colon": f"POST /v1/list HTTP/1.1\r\n{host}{kind}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n{hidden}",
            "a folded line": f"POST /v1/list HTTP/1.1\r\n{host}{kind}X-A: b\r\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n{hidden}",
            "a line end of one letter": f"POST /v1/list HTTP/1.1\n{host}{kind}X: y\rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{hidden}",
            "an enormous chunk": f"POST /v1/list HTTP/1.1\r\n{host}{kind}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n{hidden}",
            "an older protocol": f"POST /v1/call_tool HTTP/0.9\r\n{hidden}",
            "a newer one": f"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n{hidden}",
            "a NUL": f"POST /v1/list\0 HTTP/1.1\r\n{host}{kind}{size}\r\n{hidden}",
        }
        for what, data in heads.items():
            before = read(wrote).count("call sleep")
            line = it.raw(data.encode(), 3)
            got = b""
            try:
                while part := line.recv(65536):
                    got += part
            except OSError:
                pass
            line.close()
            check(read(wrote).count("call sleep") == before, f"{what}: the hidden call was made: {got[:200]!r}")
        for path in ("/v1/../v1/call_tool", "//v1/call_tool", "/v1/%63all_tool", "/v1/call_tool/", "/V1/call_tool", "/v1/call_tool;x", "/mcp/../v1/call_tool", "/v1/call_tool%00", "/mcp/%2e%2e/v1/call_tool"):
            before = read(wrote).count("call sleep")
            status, _, _ = it.http("POST", path, body)
            check(status >= 400 and read(wrote).count("call sleep") == before, f"{path} is answered with {status}")
        for method in ("TRACE", "CONNECT", "OPTIONS", "PUT", "PATCH", "DELETE", "GET", "X" * 500):
            status, _, answer = it.http(method, "/v1/call_tool", body)
            check(status >= 400 or method == "OPTIONS", f"{method} is answered with {status} {answer[:80]}")
        it.is_well()


@attempt("the door", "a thousand requests in one connection at once, upgrades, and a promise of a body")
def pipelined():
    with Toolfold(GOOD) as it:
        session = it.session()
        it.serves(session)
        one = f"GET /v1/tools?limit=1000 HTTP/1.1\r\nHost: 127.0.0.1:{it.port}\r\n\r\n".encode()
        lines = [it.raw(one * 1_000) for _ in range(20)]
        upgrades = [it.raw(f"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:{it.port}\r\nConnection: Upgrade\r\nUpgrade: {kind}\r\nSec-WebSocket-Key: eA==\r\n\r\n".encode()) for kind in ("websocket", "h2c")]
        expecting = [it.raw(f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{it.port}\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 30000000\r\n\r\n".encode()) for _ in range(100)]
        it.quiet_during(lambda: time.sleep(2))
        it.is_well(session)
        for line in upgrades:
            check(b" 101 " not in line.recv(200), "it speaks something else now")
        [line.close() for line in (*lines, *upgrades, *expecting)]
        it.is_well(session)


@attempt("kept results", "handles of others, queries and patterns that are no end of work, pages beyond any end")
def kept():
    with Toolfold(GOOD) as it:
        session = it.session()
        it.serves(session)
        large = json.dumps([{"name": f"n{number}", "list": list(range(20)), "text": "a" * 40} for number in range(20_000)])
        said = it.quiet_during(lambda: it.call(session, "good.echo", {"text": large}, timeout=40))
        check(len(said) < 200_000, f"a result of {len(large)} bytes is passed on whole")
        handle = said.split("toolfold://results/")[1].split('"')[0].split("\\")[0]
        odd = [
            {"query": "[*].list[*][*][*] | [] | [] | [*].*.*.*"},
            {"query": "[" * 5_000},
            {"query": "@" + ".[@,@]" * 30},
            {"query": "map(&[@,@,@], " * 20 + "@" + ")" * 20},
            {"query": "[?" + "contains(text,'a') && " * 2_000 + "`true`]"},
            {"query": "sort_by([*], &join('', map(&to_string(@), list)))"},
            {"grep": "(a{1,1000}){1,1000}"},
            {"grep": "(.*)*" * 200 + "$"},
            {"grep": "(" * 100_000},
            {"grep": "a", "offset": 2**63, "limit": 2**63},
            {"offset": -1, "limit": -1},
            {"offset": 10**30},
        ]
        for arguments in odd:
            said = it.quiet_during(lambda: it.call(session, "results.read", {"result": handle, **arguments}, timeout=40))
            check(len(said) < 2 * MEGABYTE, f"{str(arguments)[:60]}: {len(said)} bytes")
        threads = [threading.Thread(target=lambda: it.call(session, "results.read", {"result": handle, "query": "sort_by([*], &name)"}, timeout=40), daemon=True) for _ in range(20)]
        it.quiet_during(lambda: ([thread.start() for thread in threads], [thread.join(40) for thread in threads]))
        for made_up in ("x", "", "../" * 100, handle[:-1], handle.upper(), handle + "0", "x" * MEGABYTE, "toolfold://results/" + handle + "/.."):
            said = it.call(session, "results.read", {"result": made_up}, timeout=30)
            check("n19999" not in said and "error" in said, f"{made_up[:40]!r} is answered with {said[:100]}")
        it.is_well(session)


@attempt("cancelling", "calls cancelled before, during and after, by any id, while others' are under way")
def cancelled():
    with Toolfold(GOOD) as it:
        mine, other = it.session(), it.session()
        it.serves(mine)
        said = []
        caller = threading.Thread(target=lambda: said.append(it.call(mine, "good.sleep", {"seconds": 4}, timeout=40)))
        caller.start()

        def cancel():
            for identifier in ([1, "1", 1.0, True, None, [], {}, 0, "x" * 10_000, -1] + list(range(60))):
                it.post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": identifier, "reason": "r" * 1_000}}, {"Mcp-Session-Id": other})
                it.post({"jsonrpc": "2.0", "id": identifier, "result": {}}, {"Mcp-Session-Id": other})

        it.quiet_during(cancel)
        caller.join(40)
        check(said and "sleep" in said[0], f"another's call is answered with {str(said)[:200]}")
        random.seed(5)

        def race(number):
            message = {"jsonrpc": "2.0", "id": f"c{number}", "method": "tools/call", "params": {"name": "call_tool", "arguments": {"tool": "good.sleep", "arguments": {"seconds": 0.02}}}}
            cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": f"c{number}"}}
            thread = threading.Thread(target=lambda: it.post(message, {"Mcp-Session-Id": mine}, 15), daemon=True)
            thread.start()
            time.sleep(random.random() / 20)
            it.post(cancel, {"Mcp-Session-Id": mine})
            return thread

        threads = [race(number) for number in range(40)]
        [thread.join(15) for thread in threads]
        check(not any(thread.is_alive() for thread in threads), "a call that was cancelled is held open")
        it.is_well(mine)
