// The first TypeScript SDK, which knows the legacy era alone.
// Usage: client-v1.mjs http <url> | client-v1.mjs stdio <command> [argument ...]

import { require, run } from "./steps.mjs";

const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");
const { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js");

const [kind, target, ...args] = process.argv.slice(2);
const transport =
  kind === "http"
    ? new StreamableHTTPClientTransport(new URL(target))
    : new StdioClientTransport({ command: target, args, env: process.env });

let protocol = null;
transport.setProtocolVersion = ((set) => (version) => ((protocol = version), set?.call(transport, version)))(
  transport.setProtocolVersion,
);
const client = new Client({ name: "client-v1", version: "0" });
await client.connect(transport);
await run(client, protocol);
