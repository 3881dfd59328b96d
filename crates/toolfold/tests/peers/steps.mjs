// What both TypeScript clients do once they are connected: read steps from stdin, one JSON object per line, and print
// what came back. A step is {"list": {}} or {"call": name, "arguments": {...}}.

import { createRequire } from "node:module";
import { createInterface } from "node:readline";

// The SDKs are installed in another folder than this file's, where an `import` would not find them.
export const require = createRequire(`${process.env.PEERS}/`);

const print = (value) => console.log(JSON.stringify(value));

async function take(client, step) {
  if (step.list) return { tools: (await client.listTools()).tools.map((tool) => tool.name) };
  try {
    return await client.callTool({ name: step.call, arguments: step.arguments });
  } catch (error) {
    return { raised: String(error.message ?? error) };
  }
}

export async function run(client, protocol) {
  print({ protocol, instructions: client.getInstructions() });
  for await (const line of createInterface({ input: process.stdin })) print(await take(client, JSON.parse(line)));
  await client.close();
}
