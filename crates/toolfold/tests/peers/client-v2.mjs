// The second TypeScript SDK, in either era.
// Usage: client-v2.mjs <legacy|auto> http <url> | client-v2.mjs <legacy|auto> stdio <command> [argument ...]

import { require, run } from "./steps.mjs";

const { Client, StreamableHTTPClientTransport } = require("@modelcontextprotocol/client");
const { StdioClientTransport } = require("@modelcontextprotocol/client/stdio");

const [mode, kind, target, ...args] = process.argv.slice(2);
const transport =
  kind === "http"
    ? new StreamableHTTPClientTransport(new URL(target))
    : new StdioClientTransport({ command: target, args, env: process.env });

const client = new Client({ name: "client-v2", version: "0" }, { versionNegotiation: { mode } });
await client.connect(transport);
await run(client, client.getNegotiatedProtocolVersion());
