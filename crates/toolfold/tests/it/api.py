"""An API with a document, and an agent with a card, on one port, which is printed. The document is the file named."""
import json, sys
from http.server import BaseHTTPRequestHandler, HTTPServer


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/openapi.json":
            return self.answer(200, json.load(open(sys.argv[1])))
        if self.path == "/.well-known/agent-card.json":
            interface = {"url": "/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
            skill = {"id": "r", "name": "Itineraries", "description": "Plans a journey by train", "tags": ["travel"]}
            return self.answer(200, {"name": "Planner", "description": "Plans journeys.", "version": "1",
                                     "supportedInterfaces": [interface], "skills": [skill]})
        known = self.headers.get("X-Key") == "the-key-of-pets"
        self.answer(200 if known else 401, {"path": self.path, "known": known})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/rpc":
            said = body["params"]["message"]["parts"][0]["text"]
            message = {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "by train: " + said}]}
            return self.answer(200, {"jsonrpc": "2.0", "id": body["id"], "result": {"message": message}})
        self.answer(201, {"added": body})


server = HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
