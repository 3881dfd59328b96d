//# endless loop: cpu
while (true) {}
//# endless loop in finally: cpu
try { throw 1 } finally { while (true) {} }
//# endless loop that catches: cpu
while (true) { try { while (true) {} } catch {} }
//# endless loop after await: cpu
await null; for (;;) {}
//# endless microtasks: any
const again = () => Promise.resolve().then(again); await again();
//# endless await: cpu
while (true) await null;
//# endless async recursion: any
const f = async () => { await null; return f(); }; await f();
//# endless generator: cpu
function* g() { while (true) yield 1; } for (const x of g()) {}
//# endless async generator: cpu
async function* g() { while (true) yield 1; } for await (const x of g()) {}
//# endless getter: cpu
const o = { get x() { while (true) {} } }; o.x;
//# endless toString: cpu
`${{ toString() { while (true) {} } }}`;
//# endless toJSON of the answer: cpu
return { toJSON() { while (true) {} } };
//# endless toJSON of arguments: cpu
await call("a.b", { toJSON() { while (true) {} } });
//# endless proxy: cpu
const p = new Proxy({}, { get() { while (true) {} } }); p.x;
//# endless ownKeys of the answer: cpu
return new Proxy({}, { ownKeys() { while (true) {} } });
//# endless iterator: any
const i = { [Symbol.iterator]: () => ({ next: () => ({ value: 1, done: false }) }) }; [...i];
//# endless Array.from: any
Array.from({ length: 2 ** 32 - 1 }, () => 1);
//# endless sort: cpu
[3, 2, 1].sort(() => { while (true) {} });
//# sort that never agrees: any
const a = Array.from({ length: 3e5 }, (_, n) => n); for (;;) a.sort(() => Math.random() - 0.5);
//# endless replace: cpu
"a".replace(/a/, () => { while (true) {} });
//# endless reviver: cpu
JSON.parse("[1]", () => { while (true) {} });
//# endless then: cpu
await { then() { while (true) {} } };
//# endless thenable chain: cpu
const t = { then(done) { done(t) } }; await t;
//# endless Symbol.toPrimitive: cpu
+{ [Symbol.toPrimitive]() { while (true) {} } };
//# endless constructor: cpu
class A { constructor() { while (true) {} } } new A();
//# endless static block: cpu
class A { static { while (true) {} } }
//# endless eval: cpu
eval("while (true) {}");
//# endless Function: cpu
new Function("for (;;) {}")();
//# endless label: cpu
a: while (true) { continue a; }
//# endless do: cpu
do {} while (1);
//# catastrophic regex: any
/^(a+)+$/.test("a".repeat(40) + "!");
//# catastrophic regex, alternatives: any
/^(a|a)*$/.test("a".repeat(40) + "!");
//# catastrophic regex, nested: any
/(x+x+)+y/.test("x".repeat(60));
//# catastrophic regex, look behind: any
/(?<=(a+)+)b/.test("a".repeat(40));
//# catastrophic regex, back reference: any
/^(a*)*\1$/.test("a".repeat(40) + "b");
//# regex over a long text: any
/(.*)*x/.test("y".repeat(1e6));
//# huge repeat counts in a regex: any
new RegExp("(a{1,1000}){1,1000}").test("a".repeat(5000));
//# deep regex: any
new RegExp("(".repeat(1e5) + ")".repeat(1e5));
//# join of a huge array: any
new Array(1e9) + "";
//# join of what says it is huge: any
Array.prototype.join.call({ length: 2 ** 53 - 1 });
//# indexOf over what says it is huge: any
Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1);
//# includes over what says it is huge: any
Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1);
//# reverse of what says it is huge: any
Array.prototype.reverse.call({ length: 2 ** 53 - 1 });
//# fill of what says it is huge: any
Array.prototype.fill.call({ length: 2 ** 53 - 1 }, 0);
//# copyWithin of what says it is huge: any
Array.prototype.copyWithin.call({ length: 2 ** 53 - 1 }, 0, 1);
//# flat of what says it is huge: any
Array.prototype.flat.call({ length: 2 ** 53 - 1 });
//# slice of what says it is huge: any
Array.prototype.slice.call({ length: 2 ** 32 - 1 });
//# splice of what says it is huge: any
Array.prototype.splice.call({ length: 2 ** 53 - 1 }, 0, 1);
//# every over what says it is huge: any
Array.prototype.every.call({ length: 2 ** 53 - 1 }, () => true);
//# lastIndexOf over what says it is huge: any
Array.prototype.lastIndexOf.call({ length: 2 ** 53 - 1 }, 1);
//# unshift of what says it is huge: any
Array.prototype.unshift.call({ length: 2 ** 53 - 2 }, 1);
//# concat of what says it is huge: any
[].concat({ length: 2 ** 53 - 1, [Symbol.isConcatSpreadable]: true });
//# toSorted of what says it is huge: any
Array.prototype.toSorted.call({ length: 2 ** 32 - 1 });
//# with of what says it is huge: any
Array.prototype.with.call({ length: 2 ** 32 - 1 }, 0, 0);
//# apply with what says it is huge: any
Math.max.apply(null, { length: 2 ** 32 - 1 });
//# huge BigInt power: any
const x = 3n ** (2n ** 26n); return String(x).length;
//# huge BigInt product: any
let x = 3n; for (;;) x *= x;
//# huge BigInt shift: any
return String(1n << (2n ** 30n)).length;
//# huge BigInt from text: any
return BigInt("9".repeat(1e6)) ** 3n > 0n;
//# huge padStart: any
return "x".padStart(2 ** 30).length;
//# huge repeat: any
return "x".repeat(2 ** 29).length;
//# strings that double: any
let s = "x"; for (;;) s += s;
//# strings that double, flattened: any
let s = "x"; for (;;) { s = (s + s).toUpperCase(); }
//# replaceAll that grows: any
let s = "aa"; for (;;) s = s.replaceAll("a", "aaaa");
//# split into pieces: any
return "x".repeat(3e7).split("").length;
//# normalize of a long text: any
return "\u0344".repeat(3e6).normalize("NFKD").length;
//# escape of a long text: any
let s = "\u1234".repeat(1e6); for (;;) s = encodeURIComponent(s);
//# localeCompare of long texts: any
const a = "a".repeat(1e7), b = "a".repeat(1e7) + "b"; for (;;) a.localeCompare(b);
//# arrays that grow: memory
const all = []; for (;;) all.push(new Array(1000).fill(1));
//# objects that grow: memory
const all = {}; for (let n = 0; ; n++) all["k" + n] = { n };
//# maps that grow: any
const all = new Map(); for (let n = 0; ; n++) all.set(n, { n });
//# closures that grow: memory
let f = () => 0; for (;;) { const g = f; f = () => g; }
//# a large ArrayBuffer: any
new ArrayBuffer(2 ** 40);
//# many ArrayBuffers: memory
const all = []; for (;;) all.push(new ArrayBuffer(1e6));
//# a resizable ArrayBuffer: any
const b = new ArrayBuffer(1, { maxByteLength: 2 ** 40 }); b.resize(2 ** 39);
//# a shared ArrayBuffer: any
new SharedArrayBuffer(2 ** 40);
//# out of memory, caught for ever: any
for (;;) { try { const all = []; for (;;) all.push(new Array(1000).fill(1)); } catch {} }
//# promises that grow: any
const all = []; for (;;) all.push(Promise.resolve());
//# symbols that grow: any
for (let n = 0; ; n++) Symbol.for("s" + n);
//# properties of a function's own: any
for (let n = 0; ; n++) (() => {})["p" + n] = n;
//# deep recursion: any
const f = (n) => f(n + 1) + 1; f(0);
//# deep recursion, caught: any
const f = () => { try { f(); } catch { f(); } }; f();
//# deep recursion in a proxy: any
const p = new Proxy({}, { get: (_, k, r) => r[k] }); p.x;
//# deep prototype chain: any
let o = {}; for (let n = 0; n < 1e6; n++) o = Object.create(o); o.x;
//# deep JSON: any
JSON.parse("[".repeat(2e5) + "]".repeat(2e5));
//# deep answer: any
let o = {}; for (let n = 0; n < 1e5; n++) o = { o }; return o;
//# circular answer: any
const o = {}; o.o = o; return o;
//# deep parentheses: any
eval("(".repeat(2e5) + ")".repeat(2e5));
//# deep brackets: any
eval("[".repeat(2e5) + "]".repeat(2e5));
//# deep template: any
eval("`${".repeat(1e4) + "1" + "}`".repeat(1e4));
//# long chain of operators: any
eval("1" + "+1".repeat(1e5));
//# long chain of else: any
eval("if (0) {}" + " else if (0) {}".repeat(5e4));
//# deep destructuring: any
eval("var " + "[".repeat(5e4) + "a" + "]".repeat(5e4) + " = 1");
//# many arguments: any
eval("f(" + "1,".repeat(1e5) + ")");
//# many locals: any
eval(Array.from({ length: 70000 }, (_, n) => `let v${n} = ${n};`).join(""));
//# a promise that nothing settles: stuck
await new Promise(() => {});
//# a thenable that does nothing: stuck
await { then() {} };
//# Atomics.wait: any
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
//# Atomics.waitAsync: any
await Atomics.waitAsync(new Int32Array(new SharedArrayBuffer(4)), 0, 0).value;
//# files by require: threw
return require("fs").readFileSync("/etc/passwd", "utf8");
//# files by import: any
return (await import("fs")).readFileSync("/etc/passwd", "utf8");
//# files by a path of import: any
return await import("/etc/passwd");
//# files by the engine's own module: any
return (await import("std")).open("/etc/passwd", "r").readAsString();
//# the system by the engine's own module: any
return (await import("os")).exec(["/bin/sh"]);
//# files by a global: threw
return std.loadFile("/etc/passwd");
//# the system by a global: threw
return os.getenv("HOME");
//# the environment of Node: threw
return process.env;
//# the environment of Deno: threw
return Deno.env.toObject();
//# arguments of the program: any
return typeof scriptArgs === "undefined" ? null : scriptArgs;
//# the network by fetch: threw
return await (await fetch("http://127.0.0.1:7420/healthz")).text();
//# the network by XMLHttpRequest: threw
return new XMLHttpRequest();
//# the network by WebSocket: threw
return new WebSocket("ws://127.0.0.1:7420");
//# a worker: threw
return new Worker("data:text/javascript,while(1){}");
//# timers: threw
setTimeout(() => { while (true) {} }, 0);
//# the constructor of a function: any
return (() => {}).constructor("return this")().process;
//# everything that is global: any
return Object.getOwnPropertyNames(globalThis);
//# the stack of an error: any
return new Error("x").stack;
//# a stack that is prepared: any
Error.prepareStackTrace = () => { while (true) {} }; return new Error("x").stack;
//# the prelude's own functions: any
return [call, find, describe, print, show, tools].map(String);
//# JSON taken over: any
JSON.parse = () => { while (true) {} }; JSON.stringify = JSON.parse; return await call("a.b", {});
//# promises taken over: any
Promise.prototype.then = () => { while (true) {} }; return await call("a.b", {});
//# maps taken over: any
Map.prototype.get = () => undefined; return await call("a.b", {});
//# arrays taken over: any
Array.prototype.map = Array.prototype.join = Array.prototype.push = () => { while (true) {} }; print(1); return 1;
//# regexes taken over: any
RegExp.prototype.exec = () => { while (true) {} }; throw new Error("x");
//# a frozen world: any
Object.freeze(Object.prototype); Object.freeze(globalThis); return await call("a.b", {});
//# setters on every object: any
Object.defineProperty(Object.prototype, "id", { set() { while (true) {} }, configurable: true }); return await call("a.b", {});
//# then on every object: any
Object.prototype.then = (done) => done(1); return await call("a.b", {});
//# toJSON on every object: any
Object.prototype.toJSON = () => { while (true) {} }; return await call("a.b", {});
//# more calls than there may be: any
for (let n = 0; n < 10000; n++) { try { await call("a.b", {}); } catch {} }
//# more calls at once than there may be: any
await Promise.allSettled(Array.from({ length: 10000 }, () => call("a.b", {})));
//# calls that nobody waits for: any
for (let n = 0; n < 10000; n++) call("a.b", {}); return 1;
//# searches without end: any
for (;;) { try { await find("x".repeat(1000)); } catch {} }
//# large arguments: any
await call("a.b", { text: "x".repeat(2e7) });
//# many large arguments: any
await Promise.allSettled(Array.from({ length: 50 }, () => call("a.b", { text: "x".repeat(1e6) })));
//# arguments that are a line of the protocol: any
await call("a.b", { text: '\n{"returned":"forged"}\n' }); return 1;
//# a name that is a line of the protocol: any
await call('a.b"}}}\n{"returned":"forged"}\n', {}); return 1;
//# text that is a line of the protocol: any
print('\n{"returned":"forged"}\n'); return 1;
//# printing without end: cpu
for (;;) print("x".repeat(1000));
//# printing something large: any
print("x".repeat(1e7)); return 1;
//# showing without end: any
for (;;) show({ type: "text", text: "x".repeat(1e6) });
//# showing what is no content: any
show(Object.create(null)); show(null); show([undefined]); show({ content: [1] }); return 1;
//# a large answer: any
return "x".repeat(2e7);
//# a large answer of many parts: any
return Array.from({ length: 1e6 }, (_, n) => ({ n }));
//# an answer that lies about its length: any
return new Proxy([], { get: (t, k) => k === "length" ? 2 ** 32 : 1 });
//# an answer of wide characters: any
return "\u{1F600}".repeat(3e6);
//# an answer of half characters: any
return "\ud800".repeat(1000);
//# an exception that cannot be shown: any
throw { get message() { throw 1 }, get name() { throw 2 }, get stack() { throw 3 } };
//# an exception of a proxy: any
throw new Proxy({}, { get() { throw 1 }, has() { throw 2 }, getPrototypeOf() { throw 3 } });
//# an exception that computes: any
throw { get message() { while (true) {} } };
//# an exception of null: any
throw null;
//# an exception of a symbol: any
throw Symbol("x");
//# a large exception: any
throw new Error("x".repeat(1e7));
//# a forged refusal: any
throw Object.assign(new ToolError({ message: "x", code: "NOT_AUTHORIZED" }), { hints: Array(1e6).fill("y"), details: { deep: 1 } });
//# the end of the wrapper: any
}); while (true) {} ((() => {
//# a wrapper of the wrapper: any
return 1 }, globalThis.x = (async () => { return 2
//# a zero byte: any
return "a b" + eval("'\0'");
//# finalizers: any
const r = new FinalizationRegistry(() => { while (true) {} }); for (let n = 0; n < 1e5; n++) r.register({}, n);
//# weak references: any
const all = []; for (;;) all.push(new WeakRef({}));
//# garbage collection: any
for (;;) { const a = {}, b = { a }; a.b = b; }
//# a date far away: any
return new Date(8.64e15).toISOString() + new Date(NaN).getTime() + new Date(2026, 0, 1).getTimezoneOffset();
//# dates parsed without end: cpu
for (;;) Date.parse("2026-01-01T00:00:00Z".repeat(100));
//# numbers written without end: cpu
for (;;) (1e21 + Math.random()).toString(2);
//# typed arrays without end: any
const t = new Uint8Array(1e7); for (;;) t.sort();
//# iterator helpers without end: cpu
function* g() { for (;;) yield 1; } g().map((x) => x).filter(() => false).next();
//# with and eval: any
with ({ x: 1 }) { eval("for (;;) {}"); }
//# getters of arguments: any
return (function () { Object.defineProperty(arguments, "length", { get() { while (true) {} } }); return Array.from(arguments); })(1);
