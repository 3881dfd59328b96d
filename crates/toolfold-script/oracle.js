//# arithmetic
return [0.1 + 0.2, 2 ** 53, -7 % 3, 5 / 2 | 0, Math.hypot(3, 4), Number.EPSILON > 0, parseInt("08"), (255).toString(16)];
//# an expression alone
1 + 2 * 3
//# an arrow function alone
async () => { const r = await tools.math.add({ a: 1, b: 2 }); return r.sum; }
//# a function alone
async function main(input) { return input.who; }
//# an expression that awaits
await tools.math.add({ a: 20, b: 22 })
//# nothing
const x = 1;
//# strings
return ["a-b".split("-"), "x".padStart(3, "."), "Straße".toUpperCase(), "é".normalize("NFD").length, "abc".at(-1), "a,b;c".split(/[,;]/), "aXbX".replaceAll("X", "-")];
//# unicode
return [[..."👩‍👩‍👧"].length, "😀".codePointAt(0), "\u{1F600}".length, "ß" < "z", "a\u2028b"];
//# regexes
const m = /(?<year>\d{4})-(?<month>\d\d)/u.exec("on 2026-11-17"); return [m.groups.year, m.index, [..."a1b22".matchAll(/\d+/g)].map((x) => x[0]), "x".replace(/(x)/, "$1$1"), /\p{Lu}/u.test("É")];
//# arrays
const a = [5, 1, 4]; return [a.toSorted(), a.with(0, 9), [1, [2, [3, [4]]]].flat(Infinity), a.findLast((x) => x < 5), Object.groupBy(a, (x) => x > 3 ? "big" : "small"), Array.from({ length: 3 }, (_, n) => n * n), a.reduce((s, x) => s + x)];
//# sorting is stable
return [{ k: 1, v: "a" }, { k: 0, v: "b" }, { k: 1, v: "c" }, { k: 0, v: "d" }].sort((x, y) => x.k - y.k).map((x) => x.v).join("");
//# objects
const { a, ...rest } = { a: 1, b: 2, c: { d: 3 } }; return { rest, keys: Object.keys({ z: 1, 2: 1, a: 1 }), merged: { ...rest, b: 5 }, deep: rest.c?.d ?? 0, missing: rest.x?.y, entries: Object.entries(rest) };
//# JSON
return [JSON.stringify({ a: undefined, b: null, c: NaN, d: new Date(0), e: [undefined] }), JSON.parse('{"a":[1,2,{"b":null}]}').a[2].b, JSON.stringify("\u2028\ud800"), JSON.stringify({ a: 1, b: [1, 2] }, null, 2)];
//# maps and sets in the answer
return { map: [...new Map([["a", 1], ["b", 2]])], set: [...new Set([1, 1, 2])], union: [...new Set([1]).union(new Set([2]))] };
//# classes
class A { #n = 1; static make() { return new A(); } get n() { return this.#n; } add(x) { this.#n += x; return this; } } class B extends A { add(x) { return super.add(x * 2); } } return [A.make().add(2).n, new B().add(2).n, new B() instanceof A];
//# generators
function* fib() { let [a, b] = [0, 1]; for (;;) { yield a; [a, b] = [b, a + b]; } } const out = []; for (const x of fib()) { if (x > 50) break; out.push(x); } return out;
//# async generators
async function* pages() { for (let n = 1; n <= 3; n++) yield (await tools.math.add({ a: n, b: n })).sum; } const out = []; for await (const x of pages()) out.push(x); return out;
//# closures and hoisting
var out = []; for (let i = 0; i < 3; i++) out.push(() => i); return out.map((f) => f()).concat(typeof hoisted, hoisted()); function hoisted() { return "up"; }
//# an undeclared variable
total = 0; for (const n of [1, 2, 3]) total += n; return total;
//# labels and switches
let n = 0; outer: for (let i = 0; i < 5; i++) { for (let j = 0; j < 5; j++) { if (j === 3) continue outer; if (i === 3) break outer; n++; } } switch (n) { case 9: return "nine"; default: return n; }
//# dates in UTC
const d = new Date(Date.UTC(2026, 10, 17, 12, 30)); return [d.toISOString(), d.getUTCDay(), Date.parse("2026-11-17T00:00:00Z"), JSON.stringify(d)];
//# big integers
return [String(2n ** 64n), String(-7n / 2n), 10n > 9, String(BigInt.asUintN(8, 257n))];
//# typed arrays
const t = new Uint8Array([250, 251]); t[0] += 10; return [[...t], new Float64Array([1.5])[0], [...new Uint8Array(new Uint32Array([1]).buffer)].length];
//# exceptions
const out = []; try { null.x; } catch (e) { out.push(e instanceof TypeError); } try { throw new Error("a", { cause: "b" }); } catch (e) { out.push(e.message, e.cause); } finally { out.push("f"); } return out;
//# a tool's structured answer
return await tools.math.add({ a: 2, b: 3 });
//# a tool's text
return await tools.text.upper({ text: "hello" });
//# a tool's text that is JSON
const rows = await tools.data.rows({ count: 5 }); return rows.filter((row) => row.n % 2).map((row) => row.name);
//# a tool's text that is a number
return await call("text.upper", { text: "42" }) + 1;
//# a tool's answer of several texts
return await tools.data.lines({ count: 3 });
//# a tool's mixed answer stays whole
const r = await tools.data.picture({}); return [r.content.length, r.content[1].type, r.content[1].mimeType];
//# a tool's whole answer
return (await call("math.add", { a: 1, b: 1 }, { raw: true })).structuredContent.sum;
//# a tool's empty answer
return [await tools.data.nothing({})];
//# a tool that fails is thrown
try { await tools.fail.now({}); return "not thrown"; } catch (e) { return [e.code, e.message, e.hints, e instanceof Error]; }
//# a refusal is thrown
try { await call("no.such_tool", {}); return "not thrown"; } catch (e) { return [e.code, e.hints.length > 0]; }
//# many calls at once
const all = await Promise.all(Array.from({ length: 20 }, (_, n) => tools.math.add({ a: n, b: 1 }))); return all.map((r) => r.sum);
//# some of many fail
const all = await Promise.allSettled([tools.math.add({ a: 1, b: 1 }), tools.fail.now({}), call("no.such_tool", {})]); return all.map((r) => r.status + (r.reason?.code ?? ""));
//# the first of several
return await Promise.any([tools.fail.now({}), tools.math.add({ a: 4, b: 4 })]);
//# calls one after the other
let sum = 0; for (const n of [1, 2, 3, 4]) sum = (await tools.math.add({ a: sum, b: n })).sum; return sum;
//# input
return [input.who, input.list.length, typeof input];
//# destructuring of answers
const [{ sum: a }, { sum: b }] = await Promise.all([tools.math.add({ a: 1, b: 1 }), tools.math.add({ a: 2, b: 2 })]); return { a, b };
//# paging until the end
const out = []; let page = 0; for (;;) { const r = await tools.data.page({ page }); out.push(...r.items); if (r.next === null) break; page = r.next; } return out;
//# joining two sources
const [rows, names] = [await tools.data.rows({ count: 4 }), await tools.data.lines({ count: 4 })]; const byName = new Map(rows.map((r) => [r.name, r])); return names.split("\n").map((line, n) => ({ line, n: byName.get(`row ${n}`)?.n ?? null }));
//# counting words
const text = await tools.text.upper({ text: "the cat the dog the end" }); const counts = {}; for (const w of text.split(" ")) counts[w] = (counts[w] ?? 0) + 1; return Object.entries(counts).sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
//# order of settling
const out = []; const p = tools.math.add({ a: 1, b: 1 }).then(() => out.push("call")); Promise.resolve().then(() => out.push("job")); out.push("now"); await p; return out;
//# arguments are not changed
const args = { a: 1, b: 2 }; await tools.math.add(args); return args;
//# names by brackets
return (await tools["math"]["add"]({ a: 3, b: 3 })).sum;
//# arguments left out
return await tools.data.nothing();
//# optional chaining of calls
const f = undefined; return [f?.(), tools.math.add?.name === undefined ? 0 : 1, typeof tools.math.add];
//# an async function that returns early
async function first(list) { for (const n of list) { const { sum } = await tools.math.add({ a: n, b: 0 }); if (sum > 2) return sum; } } return [await first([1, 2, 3, 4]), await first([])];
