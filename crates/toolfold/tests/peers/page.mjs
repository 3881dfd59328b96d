// The page in a real browser: every view, with a hostile catalog behind it. Says what it saw as one JSON object, and fails
// with the first thing that is not as it should be.
//
//   node page.mjs URL KEY [FOLDER]      pictures go into the folder, if there is one

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const peers = createRequire(join(process.env.PEERS, "package.json"));
const chromium = (await import(peers.resolve("@sparticuz/chromium"))).default;
const { chromium: browsers } = peers("playwright-core");
const axe = readFileSync(peers.resolve("axe-core/axe.min.js"), "utf8");

const [base, key, pictures] = process.argv.slice(2);
const WAIT = 20_000;
const VIEWS = ["now", "catalog", "search?query=hostile%20markup", "calls", "servers", "tokens"];

// In one process, as it is meant to run elsewhere, it ends with the first tab that is closed.
const args = chromium.args.filter((argument) => !["--single-process", "--no-zygote"].includes(argument));
const browser = await browsers.launch({ executablePath: await chromium.executablePath(), args, headless: true });
const seen = { views: {} };
const isClosed = (await (await fetch(base, { headers: { Accept: "text/html" } })).text()).includes('data-token="required"');
try {
  if (isClosed) {
    await theDoor();
  } else if ((await (await fetch(`${base}/v1/approvals`)).json()).total > 0) {
    await approvals();
  } else {
    await everyView({ width: 1280, height: 900 }, "light");
    await everyView({ width: 360, height: 740 }, "dark");
    await hostileText();
    await manyTools();
    await liveCalls();
    await connectedClients();
    await keyboard();
    await startAndStop();
  }
} finally {
  await browser.close();
}
console.log(JSON.stringify(seen));

/** A tab that notices whatever should not happen. */
async function tab(viewport = { width: 1280, height: 900 }, colorScheme = "light") {
  const context = await browser.newContext({ viewport, colorScheme });
  const page = await context.newPage();
  const wrong = [];
  page.on("console", (message) => wrong.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => wrong.push(`error: ${error}`));
  page.on("request", (request) => {
    const { origin, href } = new URL(request.url());
    if (origin !== new URL(base).origin) wrong.push(`asked elsewhere: ${href}`);
    if (href.includes(key)) wrong.push("the key is in an address");
  });
  page.setDefaultTimeout(WAIT);
  const open = async (view) => {
    await page.goto(`${base}/#/${view}`);
    await page.locator("h1").waitFor();
    // What is still being asked for.
    await page.waitForFunction(() => !document.querySelector(".waiting"));
  };
  const close = async () => {
    assert.deepEqual(wrong, []);
    await context.close();
  };
  return { page, open, close };
}

async function everyView(viewport, colours) {
  const { page, open, close } = await tab(viewport, colours);
  for (const view of VIEWS) {
    await open(view);
    const name = view.split("?")[0];
    if (name === "servers" || name === "now") await page.getByText("failing").first().waitFor();
    if (name === "search") await page.getByText("in the answer").first().waitFor();
    await page.waitForTimeout(400);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= viewport.width, `${view} is ${width} px wide at ${viewport.width}`);
    assert.equal(await page.locator("h1").count(), 1, view);
    assert.deepEqual(await findings(page), [], `${view}, ${colours}`);
    if (pictures) await page.screenshot({ path: join(pictures, `${name}-${viewport.width}-${colours}.png`) });
    seen.views[`${name} ${viewport.width}`] = await page.title();
  }
  await close();
}

/** What axe finds, in short. */
async function findings(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => `${node.html.slice(0, 160)} (${node.any[0]?.message ?? ""})`).join(" | ")}`);
}

/** Whatever a server calls itself or its tools, it is read and does nothing. */
async function hostileText() {
  const { page, open, close } = await tab();
  const harmless = async (where) => {
    const made = await page.evaluate(() => ({
      ran: window.ran ?? null,
      elements: document.querySelectorAll("main script, main iframe, main img, main b, main style, main object, main a[href^='javascript']").length,
    }));
    assert.deepEqual(made, { ran: null, elements: 0 }, where);
  };
  await open("catalog?path=Servers/hostile");
  await page.getByText("<img src=x onerror=").first().waitFor();
  await harmless("the catalog");
  const names = await page.locator(".entry .id").allTextContents();
  assert.ok(names.some((name) => name.includes("\\u{202e}")), `the direction is written out: ${names}`);
  assert.ok(names.some((name) => name.includes("👩‍🚀")), `emoji stay: ${names}`);
  for (let at = 0; at < names.length; at += 1) {
    await open("catalog?path=Servers/hostile");
    await page.locator(".entry").nth(at).click();
    await page.getByText("What an agent reads").waitFor();
    await harmless(names[at]);
  }
  await open("search?query=hostile%20markup");
  await page.getByText("in the answer").first().waitFor();
  await harmless("the search");
  await open("servers/broken");
  await page.getByText("<script>window.ran").first().waitFor();
  await harmless("last words");
  await close();
}

async function manyTools() {
  const { page, open, close } = await tab();
  const begun = Date.now();
  await open("catalog");
  assert.equal(await page.getByRole("link", { name: "Approvals" }).count(), 0, "only where something waits");
  await page.locator(".entry").nth(99).waitFor();
  seen.catalogMilliseconds = Date.now() - begun;
  assert.ok((await page.locator(".entry").count()) <= 100, "a page of them at a time");
  await page.getByRole("link", { name: "Last" }).click();
  await page.getByText(/^\d+ of \d+$/).waitFor();
  await page.locator("#filter").fill("tool_4321");
  await page.waitForFunction(() => document.querySelectorAll(".entry").length === 1);
  assert.match(page.url(), /filter=tool_4321/, "what is looked at has an address");
  await page.goBack();
  await page.waitForFunction(() => document.querySelectorAll(".entry").length > 1);
  seen.tools = await page.locator("p[role=status]").first().textContent();
  assert.ok(Number(/^[\d,]+/.exec(seen.tools)[0].replaceAll(",", "")) > 50_000, seen.tools);
  await close();
}

/** Calls appear as they are made; a thousand of them leave the page at rest. */
async function liveCalls() {
  const { page, open, close } = await tab();
  await open("calls");
  await page.getByText("live", { exact: true }).waitFor();
  await call("echo");
  await page.locator(".calls li").first().waitFor();
  assert.match(await page.locator(".calls li").first().textContent(), /many\.tool_0/);
  await page.evaluate(() => {
    window.longest = 0;
    let before = performance.now();
    const look = (now) => {
      window.longest = Math.max(window.longest, now - before);
      before = now;
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
  for (let round = 0; round < 50; round += 1) await Promise.all(Array.from({ length: 20 }, () => call("burst")));
  const { total } = await (await fetch(`${base}/v1/calls`)).json();
  await page.getByText(`${new Intl.NumberFormat("en").format(total)} calls since the start`).waitFor();
  assert.ok(total > 1000, `${total}`);
  seen.longestFrame = Math.round(await page.evaluate(() => window.longest));
  assert.ok((await page.locator(".calls li").count()) <= 200);
  await page.locator("#calls-outcome").selectOption("failed");
  await page.getByText("None of the calls fits.").waitFor();
  await close();
}

async function call(text) {
  const body = JSON.stringify({ tool_id: "many.tool_0", arguments: { text } });
  const answer = await fetch(`${base}/v1/call_tool`, { method: "POST", body, headers: { "Content-Type": "application/json" } });
  assert.equal(answer.status, 200);
  await answer.text();
}

/** A client is there while it is, called what it says, and that is text. */
async function connectedClients() {
  const { page, open, close } = await tab();
  const name = "agent <img src=x onerror=window.ran=1> \u202e";
  const send = (body, headers = {}) => fetch(`${base}/mcp`, { method: "POST", body: JSON.stringify({ jsonrpc: "2.0", ...body }),
    headers: { "Content-Type": "application/json", Accept: "application/json, text/event-stream", ...headers } });
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name, version: "1.2" } };
  const session = { "Mcp-Session-Id": (await send({ id: 1, method: "initialize", params })).headers.get("mcp-session-id") };
  await (await send({ id: 2, method: "tools/call", params: { name: "find_tools", arguments: { query: "x" } } }, session)).text();
  await open("now");
  await page.locator(".clients li").first().waitFor();
  const told = (await page.locator(".clients").textContent()).replaceAll(/\s+/g, " ");
  assert.ok(told.includes("agent <img src=x onerror=window.ran=1> \\u{202e} 1.2"), told);
  assert.match(told, /http ?protocol 2025-11-25, local, compact surface, since [\d:]+, last asked [\d:]+, searched or called 1 time/);
  assert.equal(await page.locator("main img").count(), 0);
  assert.deepEqual(await findings(page), [], "connected clients");
  if (pictures) await page.screenshot({ path: join(pictures, "clients.png"), fullPage: true });
  await fetch(`${base}/mcp`, { method: "DELETE", headers: session });
  await page.waitForFunction(() => !document.querySelector(".clients")?.textContent.includes("agent"));
  await close();
}

/** Without a mouse: past the menu, along it, and to what is new. */
async function keyboard() {
  const { page, open, close } = await tab();
  await open("now");
  const focused = () => page.evaluate(() => document.activeElement.textContent.trim());
  await page.locator("body").press("Tab");
  assert.equal(await focused(), "Skip to the content");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "main");
  await page.getByRole("link", { name: "Catalog" }).focus();
  await page.keyboard.press("Tab");
  assert.equal(await focused(), "Search");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.activeElement.tagName === "H1" && document.activeElement.textContent === "Search");
  await page.keyboard.press("Tab");
  await page.keyboard.type("hostile markup");
  await page.waitForURL(/query=hostile\+markup/);
  await page.getByText("in the answer").first().waitFor();
  await close();
}

/** Where something is held: what changed, word by word and as text, why it is held, and a decision about what was read. */
async function approvals() {
  for (const [viewport, colours] of [[{ width: 360, height: 740 }, "dark"], [{ width: 1280, height: 900 }, "light"]]) {
    const { page, open, close } = await tab(viewport, colours);
    await open("now");
    await page.getByRole("link", { name: "Approvals" }).click();
    await page.getByText("toolfold approve s.report").waitFor();
    assert.equal(await page.locator("main del").textContent(), "  - Reports the weather.\n");
    assert.equal(await page.locator("main ins mark").textContent(), "weather\\u{200b} to <img src=x onerror=window.ran=1>");
    assert.equal(await page.locator("main img").count(), 0);
    await page.getByText("cannot be seen").first().waitFor();
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= viewport.width, `approvals are ${width} px wide at ${viewport.width}`);
    assert.deepEqual(await findings(page), [], `approvals, ${colours}`);
    if (pictures) await page.screenshot({ path: join(pictures, `approvals-${viewport.width}-${colours}.png`) });
    seen.views[`approvals ${viewport.width}`] = await page.title();
    if (colours === "light") await approve(page);
    await close();
  }
}

async function approve(page) {
  const sent = [];
  page.on("request", (request) => { if (request.method() === "POST") sent.push(request.postDataJSON()); });
  await page.getByRole("button", { name: "Approve s.report", exact: true }).click();
  await page.locator("#token").fill(key);
  await page.keyboard.press("Enter");
  await page.getByText("Nothing waits.").waitFor();
  assert.match(sent[0].ids[0], /^s\.report@[0-9a-f]+$/, "what was read is what is approved");
  await page.waitForFunction(() => !document.querySelector("nav a[href='#/approvals']"));
}

/** With a token there is nothing to see before it is given, and afterwards everything. */
async function theDoor() {
  const { page, close } = await tab();
  await page.goto(base);
  await page.getByText("The token, please").waitFor();
  assert.deepEqual(await findings(page), [], "the door");
  await page.locator("#token").fill(key);
  await page.keyboard.press("Enter");
  await page.getByText("Tools behind Toolfold").waitFor();
  await page.reload();
  await page.getByText("Tools behind Toolfold").waitFor();
  seen.views.closed = await page.title();
  await close();
}

/** Looking is free; changing asks for the key, once. */
async function startAndStop() {
  const { page, open, close } = await tab();
  const sent = [];
  page.on("request", (request) => { if (request.method() === "POST") sent.push(request.headers()); });
  await open("servers/many");
  await page.getByRole("button", { name: "Stop many" }).click();
  await page.getByText("The key, please").waitFor();
  assert.deepEqual(await findings(page), [], "the door");
  await page.locator("#token").fill(key);
  await page.keyboard.press("Enter");
  await page.getByText("stopped", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Start many" }).click();
  await page.getByText("ready", { exact: true }).waitFor();
  assert.ok(sent.length === 2 && sent.every((headers) => headers.authorization === `Bearer ${key}`), "asked once, sent as a header");
  assert.ok(!page.url().includes(key));
  await close();
}
