// The frame: which view is open, what all of them share, and who is let in.

import { html, nothing, render } from "./lit-html.js";
import { get, follow, isClosed, onDoor, setToken } from "./api.js";
import { changed, clean, link, number, onChange, say } from "./parts.js";
import * as now from "./now.js";
import * as catalog from "./catalog.js";
import * as search from "./search.js";
import * as calls from "./calls.js";
import * as servers from "./servers.js";
import * as approvals from "./approvals.js";
import * as tokens from "./tokens.js";

const VIEWS = { now, catalog, search, calls, servers, approvals, tokens };
const NAMES = { now: "Now", catalog: "Catalog", search: "Search", calls: "Calls", servers: "Servers", approvals: "Approvals", tokens: "Tokens" };
const LOOK_EVERY = 3000;
const COME_BACK = 2000;

/** What all views see. */
const shared = { status: undefined, servers: [], clients: { total: 0, clients: [] }, held: [], waiting: 0, away: undefined };
let route = read();

function read() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [view, ...what] = path.split("/");
  const settings = Object.fromEntries(new URLSearchParams(query));
  return { view: VIEWS[view] ? view : "now", what: decode(what.join("/")), settings };
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

let due = false;
onChange(() => {
  if (due) return;
  due = true;
  requestAnimationFrame(draw);
});

function draw() {
  due = false;
  const view = VIEWS[route.view];
  document.title = `${view.title(route)} · Toolfold`;
  render(top(), document.getElementById("top"));
  render(html`${shared.away ? away() : nothing}${view.render(route, shared)}`, document.getElementById("main"));
}

function top() {
  const failing = shared.servers.filter((server) => server.state === "failing").length;
  const beside = { servers: failing, approvals: shared.waiting };
  const shown = Object.keys(NAMES).filter((name) => name !== "approvals" || shared.held.length > 0);
  const item = (name) => html`<li><a href=${link(name)} aria-current=${name === route.view ? "page" : nothing}>${NAMES[name]}
    ${beside[name] ? html`<span class="count bad">${number(beside[name])}<span class="unseen"> to look at</span></span>` : nothing}</a></li>`;
  return html`<a class="name" href=${link("now")}><img src="/page/icon.svg" alt="" width="26" height="26">Toolfold</a>
    <nav aria-label="Views"><ul>${shown.map(item)}</ul></nav>
    <p class="version muted">${shared.status ? `Version ${shared.status.version}` : nothing}</p>`;
}

const away = () => html`<div class="notice bad" role="alert"><p>${clean(shared.away)}</p></div>`;

function enter() {
  const before = route;
  route = read();
  const other = before.view !== route.view || before.what !== route.what;
  if (before.view !== route.view) VIEWS[before.view].leave?.();
  VIEWS[route.view].enter?.(route, shared);
  draw();
  if (!other) return;
  // Who moves by keyboard or listens begins at the top of what is new.
  scrollTo(0, 0);
  document.querySelector("h1")?.focus({ preventScroll: true });
}

async function look() {
  if (document.hidden) return;
  try {
    const [status, all] = await Promise.all([get("status"), get("servers")]);
    Object.assign(shared, { status, servers: all.servers, away: undefined });
    const waits = status.views.includes("approvals") ? await get("approvals?limit=50") : { held: [], total: 0 };
    Object.assign(shared, { held: waits.held, waiting: waits.total });
    if (route.view === "now") shared.clients = await get("clients");
    VIEWS[route.view].looked?.(route, shared);
  } catch (error) {
    shared.away = error.message;
  }
  changed();
}

/** Looks again, and once more when what was asked for has had time to happen. */
function lookSoon() {
  look();
  setTimeout(look, 600);
}
servers.onAsked(lookSoon);
approvals.onDecided(lookSoon);

let listening = null;
async function listen() {
  if (listening || document.hidden) return;
  listening = new AbortController();
  try {
    await follow("calls", listening.signal, calls.heard);
  } catch {
    // Nobody there, or not for us: the look above says so.
  }
  listening = null;
  setTimeout(listen, COME_BACK);
}

function isSeen() {
  if (document.hidden) {
    listening?.abort();
  } else {
    look();
    listen();
  }
}

let opened = null;
onDoor((wrong) => {
  opened ??= atDoor(wrong).finally(() => { opened = null; });
  return opened;
});

function atDoor(wrong) {
  const door = document.getElementById("door");
  return new Promise((resolve) => {
    const given = (event) => {
      event.preventDefault();
      setToken(event.target.elements.token.value);
      event.target.reset();
      door.close("given");
    };
    const where = isClosed
      ? html`It is the <code>token</code> under <code>[http]</code> in the configuration.`
      : html`Looking is free on this machine; starting and stopping takes a key. <code>toolfold page</code> tells it.`;
    render(html`<form method="dialog" @submit=${given}>
      <h2 id="door-title">${isClosed ? "The token, please" : "The key, please"}</h2>
      <p>${where}</p>
      ${wrong ? html`<p class="notice bad" role="alert">That was not it.</p>` : nothing}
      <label for="token">${isClosed ? "Token" : "Key"}</label>
      <input id="token" name="token" type="password" autocomplete="off" required>
      <p class="muted">Kept in this tab until it is closed.</p>
      <p class="row"><button class="primary">Go on</button>
      <button type="button" @click=${() => door.close("")}>Not now</button></p>
    </form>`, door);
    door.addEventListener("close", () => {
      const is = door.returnValue === "given";
      door.returnValue = "";
      resolve(is);
    }, { once: true });
    door.showModal();
  });
}

document.getElementById("skip").addEventListener("click", () => document.getElementById("main").focus());
addEventListener("hashchange", enter);
document.addEventListener("visibilitychange", isSeen);
VIEWS[route.view].enter?.(route, shared);
draw();
isSeen();
setInterval(look, LOOK_EVERY);
say("");
