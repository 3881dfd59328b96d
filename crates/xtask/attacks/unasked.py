"""What nobody asked for: streams that never stop talking, questions and cursors that weigh more than what they are about."""

import json
import threading
import time

from web import STREAM, Web, mcp, over_http, said
from world import MEGABYTE, Toolfold, attempt, check, server

GOOD = server("good")


@attempt("floods", "four servers over HTTP whose streams never stop talking")
def talkers():
    note = json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}})
    blob = f"id: 1\ndata: {note}\n\n".encode() * 2_000

    def unasked(asked):
        if asked.method == "GET":
            asked.send(STREAM)
            asked.forever(blob)

    def call(asked):
        return said({"jsonrpc": "2.0", "id": asked.message["id"], "result": {"content": []}})

    with Web(mcp(call, **{"": unasked})) as web:
        with Toolfold(GOOD + "".join(over_http(f"talker{number}", web) for number in range(4))) as it:
            session = it.session()
            it.serves(session)
            it.quiet_during(lambda: [it.serves(session) or time.sleep(0.2) for _ in range(15)])
            check(sum(asked.method == "GET" for asked in web.asked) >= 4, "nobody listened")
            it.is_well(session)


@attempt("memory", "66 questions with ids of 5 MB, and a list with a cursor of 4 MB on every page")
def heavy():
    with Toolfold(GOOD + server("bad") + server("worse", cursors=4 * MEGABYTE)) as it:
        session = it.session({"elicitation": {}})
        it.serves(session)
        question = {"id": "i" * 5 * MEGABYTE, "method": "elicitation/create", "params": {}}
        arguments = {"lines": [question], "times": 66}
        asks = threading.Thread(target=lambda: it.call(session, "bad.tell", arguments, timeout=40), daemon=True)
        it.quiet_during(lambda: (asks.start(), asks.join(20)))
        it.is_well(session)
