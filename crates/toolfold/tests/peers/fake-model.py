"""A model that thinks nothing: it asks for `find_tools`, then for `call_tool`, then says DONE. For clients that are to be tried
without one. It speaks Anthropic's Messages, OpenAI's Responses and Chat Completions, and Gemini's API, on loopback alone.

fake-model.py LOG [PORT]: writes one JSON object per request to LOG, with the tools that were offered, their bytes, and the
last result. Without a port it takes any, and prints it.
"""

import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

STEPS = [("find_tools", {"query": "what time is it"}), ("call_tool", {"tool": "time_now", "arguments": {}})]
USAGE = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
CHAT_USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


def step(dialect, tools, results, raw_tools):
    """What to call next: the name as the client spells it, and the arguments; or nothing."""
    result = json.dumps(results[-1]) if results else None
    line = {"dialect": dialect, "tools": sorted(tools), "bytes": len(json.dumps(raw_tools)), "results": len(results), "result": result}
    with open(sys.argv[1], "a", encoding="utf-8") as log:
        log.write(json.dumps(line) + "\n")
    if len(results) >= len(STEPS):
        return None, None
    wanted, arguments = STEPS[len(results)]
    fits = [name for name in tools if re.search(rf"(^|[^a-z]){wanted}$", name)]
    return (fits[0], arguments) if fits else (None, None)


def messages(asked):
    tools = {tool["name"] for tool in asked.get("tools", [])}
    blocks = [block for message in asked["messages"] if isinstance(message["content"], list) for block in message["content"]]
    results = [block for block in blocks if block.get("type") == "tool_result"]
    name, arguments = step("messages", tools, results, asked.get("tools", []))
    block = {"type": "tool_use", "id": f"toolu_{len(results)}", "name": name, "input": {}} if name else {"type": "text", "text": ""}
    delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)} if name else {"type": "text_delta", "text": "DONE"}
    stop = {"stop_reason": "tool_use" if name else "end_turn", "stop_sequence": None}
    message = {"id": "m", "type": "message", "role": "assistant", "model": asked.get("model"), "usage": USAGE}
    if not asked.get("stream"):
        whole = {**block, "input": arguments} if name else {"type": "text", "text": "DONE"}
        return None, {**message, **stop, "content": [whole]}
    events = [
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None, "stop_sequence": None}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]
    return events, None


def responses(asked):
    tools = set()
    for tool in asked.get("tools", []):
        inner = tool.get("tools", []) if tool.get("type") == "namespace" else []
        tools |= {f"{tool['name']}/{one['name']}" for one in inner} or {tool.get("name") or tool.get("type")}
    results = [item for item in asked.get("input", []) if isinstance(item, dict) and item.get("type") == "function_call_output"]
    name, arguments = step("responses", tools, results, asked.get("tools", []))
    if name:
        space, _, bare = name.rpartition("/")
        call = {"type": "function_call", "id": f"fc_{len(results)}", "call_id": f"call_{len(results)}", "status": "completed"}
        item = {**call, "name": bare, "arguments": json.dumps(arguments), **({"namespace": space} if space else {})}
    else:
        text = {"type": "output_text", "text": "DONE", "annotations": []}
        item = {"type": "message", "id": "msg", "role": "assistant", "status": "completed", "content": [text]}
    whole = {"id": "resp", "object": "response", "status": "completed", "output": [item], "usage": USAGE}
    events = [
        {"type": "response.created", "response": {"id": "resp"}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]
    return events, None


def chat(asked):
    offered = asked.get("tools") or []
    results = [message for message in asked["messages"] if message.get("role") == "tool"]
    name, arguments = step("chat", {tool["function"]["name"] for tool in offered}, results, offered)
    said = {"role": "assistant", "content": None if name else "DONE"}
    if name:
        call = {"name": name, "arguments": json.dumps(arguments)}
        said["tool_calls"] = [{"index": 0, "id": f"call_{len(results)}", "type": "function", "function": call}]
    end = "tool_calls" if name else "stop"
    base = {"id": "c", "created": 1, "model": "fake"}
    if not asked.get("stream"):
        choice = {"index": 0, "message": said, "finish_reason": end}
        return None, {**base, "object": "chat.completion", "choices": [choice], "usage": CHAT_USAGE}
    chunk = {**base, "object": "chat.completion.chunk"}
    first = {**chunk, "choices": [{"index": 0, "delta": said, "finish_reason": None}]}
    last = {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": end}], "usage": CHAT_USAGE}
    return [first, last, "[DONE]"], None


def gemini(asked, stream):
    offered = asked.get("tools") or []
    tools = {one["name"] for tool in offered for one in tool.get("functionDeclarations", [])}
    parts = [part for content in asked.get("contents", []) for part in content.get("parts", [])]
    name, arguments = step("gemini", tools, [part for part in parts if "functionResponse" in part], offered)
    part = {"functionCall": {"name": name, "args": arguments}} if name else {"text": "DONE"}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    whole = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "fake"}
    return ([whole], None) if stream else (None, whole)


class Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, kind, text):
        body = text.encode()
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        models = [{"id": "fake", "object": "model", "created": 0, "owned_by": "nobody"}]
        self.answer("application/json", json.dumps({"object": "list", "data": models, "models": []}))

    def do_HEAD(self):
        self.answer("application/json", "")

    def body(self):
        if self.headers.get("transfer-encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        whole = b""
        while size := int(self.rfile.readline().strip() or b"0", 16):
            whole += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return whole

    def do_POST(self):
        try:
            asked = json.loads(self.body())
        except ValueError:
            return self.answer("application/json", "{}")
        if "count_tokens" in self.path or "countTokens" in self.path:
            return self.answer("application/json", json.dumps({"input_tokens": 1, "totalTokens": 1}))
        if "/messages" in self.path:
            events, whole = messages(asked)
        elif "/responses" in self.path:
            events, whole = responses(asked)
        elif "/chat/completions" in self.path:
            events, whole = chat(asked)
        elif "enerateContent" in self.path:
            events, whole = gemini(asked, "stream" in self.path)
        else:
            events, whole = None, {}
        if events is None:
            return self.answer("application/json", json.dumps(whole))
        lines = []
        for event in events:
            named = f"event: {event['type']}\n" if isinstance(event, dict) and "type" in event else ""
            lines.append(f"{named}data: {event if isinstance(event, str) else json.dumps(event)}\n\n")
        return self.answer("text/event-stream", "".join(lines))


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2]) if len(sys.argv) > 2 else 0), Model)
    print(server.server_address[1], flush=True)
    server.serve_forever()
