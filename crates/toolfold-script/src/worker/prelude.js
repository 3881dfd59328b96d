// What a script finds in its world. Evaluated once, before the script; `say` hands one line to the process that started
// this one. A script that breaks anything in here breaks itself alone: every limit is looked after outside.
((say, limits) => {
  "use strict";
  const { parse, stringify } = JSON;
  const { MOST_PRINTED, LARGEST, AT_ONCE } = limits;
  // A plain table, which no script can reach: its own idea of a Map must not cost it its answers.
  const waiting = Object.create(null);
  const queue = [];
  let last = 0, open = 0, printed = 0, shown = 0;

  class ToolError extends Error {
    constructor({ code, message, hints, details, result }) {
      super(message);
      this.name = "ToolError";
      this.code = code;
      this.hints = hints ?? [];
      if (details !== undefined) this.details = details;
      if (result !== undefined) this.result = result;
    }
  }

  const begin = ({ what, resolve, reject }) => {
    const id = ++last;
    const line = stringify({ ask: { id, what } });
    if (line.length > LARGEST) {
      reject(new ToolError({ code: "TOO_LARGE", message: `The arguments have more than ${LARGEST} characters.`, hints: ["Give it less at a time."] }));
      return;
    }
    open += 1;
    waiting[id] = { resolve, reject };
    say(line);
  };
  const go = () => { while (open < AT_ONCE && queue.length > 0) begin(queue.shift()); };
  const ask = (what) => new Promise((resolve, reject) => { queue.push({ what, resolve, reject }); go(); });

  // Half a character cannot be said outside of JavaScript.
  const sound = (value) => String(value).toWellFormed();
  const texts = (content) => content.map((item) => item.text).join("\n");
  const isText = (item) => item !== null && typeof item === "object" && item.type === "text" && typeof item.text === "string";
  // An error is thrown; what is structured comes as it is; text is read as JSON where it is JSON; anything else stays whole.
  const unwrap = (result, whole) => {
    if (result === null || typeof result !== "object") return result;
    const content = Array.isArray(result.content) ? result.content : undefined;
    if (result.isError === true) {
      const said = content ? texts(content.filter(isText)) : "";
      throw new ToolError({ code: "TOOL_ERROR", message: said || "The tool failed and did not say why.", result });
    }
    if (whole) return result;
    if (result.structuredContent !== undefined && result.structuredContent !== null) return result.structuredContent;
    if (content === undefined || !content.every(isText)) return result;
    if (content.length === 0) return null;
    const text = texts(content);
    try { return parse(text); } catch { return text; }
  };

  const settle = (line) => {
    const answer = parse(line);
    const { resolve, reject } = waiting[answer.id] ?? {};
    if (resolve === undefined) return;
    delete waiting[answer.id];
    open -= 1;
    if (answer.thrown !== undefined) reject(new ToolError(answer.thrown));
    else resolve(answer.result !== undefined ? { result: answer.result } : { value: answer.value });
    go();
  };

  const got = ({ result, value }, whole) => result === undefined ? value : unwrap(result, whole);
  const call = async (tool, args, options) => {
    if (typeof tool !== "string") throw new TypeError("call(id, arguments): the id of a tool is a string.");
    if (args !== undefined && args !== null && (typeof args !== "object" || Array.isArray(args)))
      throw new TypeError(`The arguments of ${tool} must be an object.`);
    return got(await ask({ call: { tool: sound(tool), arguments: args ?? null } }), options?.raw === true);
  };
  const find = async (query, limit) => got(await ask({ find: { query: sound(query ?? ""), limit: Number.isInteger(limit) && limit > 0 ? limit : null } }));
  const describe = async (tool) => got(await ask({ describe: { tool: sound(tool) } }));
  const result = async (handle) => got(await ask({ result: { handle: sound(handle) } }));

  const text = (value) => {
    if (typeof value === "string") return value;
    if (value instanceof Error) return `${value.name}: ${value.message}`;
    try { return stringify(value) ?? String(value); } catch { return String(value); }
  };
  const print = (...values) => {
    const line = sound(values.map(text).join(" ")) + "\n";
    if (printed > MOST_PRINTED) return;
    printed += line.length;
    if (printed > MOST_PRINTED) say(stringify({ print: line.slice(0, MOST_PRINTED) + "\n… (no more is printed)\n" }));
    else say(stringify({ print: line }));
  };
  const show = (value) => {
    const items = Array.isArray(value?.content) ? value.content : Array.isArray(value) ? value : [value];
    for (const item of items) {
      const content = item !== null && typeof item === "object" && typeof item.type === "string" ? item : { type: "text", text: text(item) };
      const line = stringify({ show: content });
      shown += line.length;
      if (shown > LARGEST) throw new ToolError({ code: "TOO_LARGE", message: `More than ${LARGEST} characters are shown.`, hints: ["Show fewer or smaller images."] });
      say(line);
    }
  };

  // `tools.github.create_issue(…)`. Nothing here knows which tools there are: the name is asked for when it is called. A
  // symbol or `then` is the engine's own question, and no tool.
  const ofServer = (server) => new Proxy(Object.create(null), {
    get: (_, tool) => typeof tool === "symbol" || tool === "then" ? undefined : (args, options) => call(`${server}.${tool}`, args, options),
  });
  const tools = new Proxy(Object.create(null), {
    get: (_, server) => typeof server === "symbol" || server === "then" ? undefined : ofServer(server),
  });

  const console = Object.fromEntries(["log", "info", "warn", "error", "debug"].map((name) => [name, print]));
  for (const [name, value] of Object.entries({ tools, call, find, describe, result, print, show, console, ToolError }))
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });

  // The answer, as JSON: nothing for undefined, text for what JSON cannot say.
  const answer = (value) => {
    if (value === undefined) return undefined;
    if (typeof value === "bigint") return stringify(String(value));
    return stringify(value, (_, inner) => typeof inner === "bigint" ? String(inner) : inner instanceof Map ? Object.fromEntries(inner) : inner instanceof Set ? [...inner] : inner);
  };
  // A function that was written instead of a program is the program.
  const main = async (program, input) => {
    const value = await program(input);
    return answer(typeof value === "function" ? await value(input) : value);
  };
  const where = (stack) => /script:(\d+)(?::(\d+))?/.exec(String(stack ?? ""));
  const uncaught = (error) => {
    try { return said(error); } catch { return stringify({ threw: { name: "Error", message: "An exception that cannot be shown.", hints: [] } }); }
  };
  const said = (error) => {
    const isError = error !== null && typeof error === "object";
    const place = isError ? where(error.stack) : null;
    const strings = (list) => Array.isArray(list) ? list.slice(0, 10).map(sound) : [];
    const message = isError && "message" in error ? String(error.message) : text(error);
    return stringify({ threw: {
      name: sound(isError && typeof error.name === "string" ? error.name.slice(0, 100) : "Error"),
      message: sound(message.slice(0, 4000)),
      code: error instanceof ToolError && typeof error.code === "string" ? sound(error.code.slice(0, 100)) : undefined,
      hints: error instanceof ToolError ? strings(error.hints) : [],
      details: error instanceof ToolError ? error.details : undefined,
      line: place ? Number(place[1]) : undefined,
      column: place?.[2] ? Number(place[2]) : undefined,
    } });
  };
  return { settle, main, uncaught, isWaiting: () => open > 0 };
})
