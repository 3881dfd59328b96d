// A client for the conformance suite that is Toolfold: it starts Toolfold with the suite's server behind it and uses
// everything that is offered, so that the suite sees what Toolfold sends.
// Usage: through.mjs <url>, with the scenario in the variables that the suite sets.
//
// The client in front speaks stdio: over HTTP it would itself leave out tools with bad headers, and Toolfold's own
// care would not show.

import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { isAsked, isLogin, keys, login } from "./logins.mjs";
import { require } from "./steps.mjs";

const { Client } = require("@modelcontextprotocol/client");
const { StdioClientTransport } = require("@modelcontextprotocol/client/stdio");

const url = process.argv.at(-1);
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");

const folder = mkdtempSync(join(process.cwd(), "through-"));
const config = join(folder, "toolfold.toml");
const { needsPerson, server, rest } = keys(context);
writeFileSync(
  config,
  `surface = "direct"\nstore = "memory"\n[servers.suite]\nurl = ${JSON.stringify(url)}\nprefix = false\n${server}${rest}`,
);
if (needsPerson && !(await login(config))) process.exit(1);

const capabilities = isAsked ? { elicitation: { url: {} } } : {};
let asked = 0;
let { client, tools } = await connect();
// What a server that has sent everybody to another login server offers is seen after the next login.
for (let round = 0; isLogin && tools.length === 0 && round < 2; round += 1) {
  await client.close();
  if (needsPerson) await login(config);
  ({ client, tools } = await connect());
}
if (isLogin && tools.length === 0) throw new Error("nothing is offered");
const echo = tools.filter((tool) => tool.name === "json_schema_echo");
const wanted = echo.length ? echo : tools;
for (const call of context.toolCalls ?? wanted.map((tool) => ({ name: tool.name, arguments: example(tool) }))) {
  const result = await client.callTool({ name: call.name, arguments: present(call.arguments) }).catch(unknown);
  const again = result?.isError && needsPerson && !asked && (await login(config));
  const last = again ? await client.callTool({ name: call.name, arguments: present(call.arguments) }) : result;
  if (last?.isError) throw new Error(`${call.name}: ${JSON.stringify(last)}`);
}
const offers = client.getServerCapabilities();
if (offers.resources) {
  for (const { uri } of (await client.listResources()).resources) await client.readResource({ uri });
}
if (offers.prompts) {
  for (const { name } of (await client.listPrompts()).prompts) await client.getPrompt({ name });
}
await client.close();

// Toolfold anew, and what it offers.
async function connect() {
  const client = new Client(
    { name: "through", version: "0" },
    { capabilities, versionNegotiation: { mode: "auto" } },
  );
  if (isAsked) {
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      asked += 1;
      const page = await fetch(params.url);
      console.error(`asked to visit ${new URL(params.url).origin}: ${await page.text()}`);
      return { action: "accept" };
    });
  }
  const args = ["serve", "--stdio", "--config", config];
  await client.connect(new StdioClientTransport({ command: process.env.TOOLFOLD, args, env: process.env }));
  return { client, tools: (await client.listTools()).tools };
}

// Some of the suite's servers list a tool and do not serve calls.
function unknown(error) {
  if (error.code !== -32601) throw error;
}

// Arguments that fit the schema. The suite's echo wants the schema of the tool before it, as it came.
function example(tool) {
  const values = { string: "text", number: 5, integer: 5, boolean: true, array: [] };
  const properties = Object.entries(tool.inputSchema.properties ?? {});
  const required = properties.filter(([name]) => tool.inputSchema.required?.includes(name));
  const other = echo.length ? tools[0].inputSchema : "text";
  return Object.fromEntries(required.map(([name, { type }]) => [name, values[type] ?? other]));
}

// A null where the schema wants a boolean does not pass the check of the arguments: leave it out, which means the same.
function present(args) {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null));
}
