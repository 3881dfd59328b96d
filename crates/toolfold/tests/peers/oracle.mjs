// The scripts of the oracle in Node: a world of the same names, written for this and for nothing else. One line of JSON in
// (scripts), one line out (what each returned, as JSON text, or what it threw).
import { readFileSync } from "node:fs";

class ToolError extends Error {
  constructor(code, message, hints = []) { super(message); this.code = code; this.hints = hints; }
}
const texts = (...all) => ({ content: all.map((text) => ({ type: "text", text })) });
const data = (value) => ({ ...texts(JSON.stringify(value)), structuredContent: value });
const results = {
  "math.add": ({ a, b }) => data({ sum: a + b }),
  "text.upper": ({ text }) => texts(text.toUpperCase()),
  "data.rows": ({ count }) => texts(JSON.stringify(Array.from({ length: count }, (_, n) => ({ n, name: `row ${n}` })))),
  "data.lines": ({ count }) => texts(...Array.from({ length: count }, (_, n) => `line ${n}`)),
  "data.page": ({ page }) => data({ items: [page * 2, page * 2 + 1], next: page < 3 ? page + 1 : null }),
  "data.picture": () => ({ content: [{ type: "text", text: "a picture" }, { type: "image", mimeType: "image/png", data: "aGk=" }] }),
  "data.nothing": () => texts(),
  "fail.now": () => ({ ...texts("It failed."), isError: true }),
};
async function call(id, args, options) {
  await new Promise((done) => setImmediate(done));
  if (!(id in results)) throw new ToolError("TOOL_NOT_FOUND", `There is no ${id}.`, ["math.add"]);
  const result = results[id](JSON.parse(JSON.stringify(args ?? {})));
  if (result.isError) throw new ToolError("TOOL_ERROR", result.content[0].text);
  if (options?.raw) return result;
  if (result.structuredContent !== undefined) return result.structuredContent;
  if (!result.content.every((item) => item.type === "text")) return result;
  if (result.content.length === 0) return null;
  const text = result.content.map((item) => item.text).join("\n");
  try { return JSON.parse(text); } catch { return text; }
}
const server = (name) => new Proxy({}, { get: (_, tool) => tool === "then" ? undefined : (args, options) => call(`${name}.${String(tool)}`, args, options) });
const tools = new Proxy({}, { get: (_, name) => name === "then" ? undefined : server(String(name)) });

const compile = (code) => {
  const make = (body) => (0, eval)(`(async (input, tools, call) => ${body})`);
  try { return make(`(${code.trim().replace(/;+$/, "")}\n)`); } catch { return make(`{${code}\n}`); }
};
const { scripts, input } = JSON.parse(readFileSync(0, "utf8"));
const out = [];
for (const code of scripts) {
  try {
    let value = await compile(code)(input, tools, call);
    if (typeof value === "function") { globalThis.tools = tools; globalThis.call = call; value = await value(input); }
    out.push(JSON.stringify(value) ?? null);
  } catch (error) { out.push(`threw ${error.name}: ${error.message}`); }
}
console.log(JSON.stringify(out));
