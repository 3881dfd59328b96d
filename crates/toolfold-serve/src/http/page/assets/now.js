// Now: whether all is well, what it saves, and how to begin.

import { html, nothing } from "./lit-html.js";
import { get } from "./api.js";
import { Asked, about, badge, clean, command, count, heading, link, number, problem, stateKind, stateName, time, waiting } from "./parts.js";
import { last, row, totals } from "./calls.js";


const cost = new Asked();
let counted;

export const title = () => "Now";

export function enter(_, shared) {
  looked(_, shared);
}

/** Counting takes a moment: only when there is another catalog. */
export function looked(_, shared) {
  if (shared.status && shared.status.catalog !== counted) {
    counted = shared.status.catalog;
    cost.load((signal) => get("tokens", signal));
  }
}

export function render(_, shared) {
  const { status, servers } = shared;
  if (!status) return html`${heading("Now")}${shared.away ? nothing : waiting()}`;
  const failing = servers.filter((server) => server.state === "failing");
  const broken = [...failing, ...servers.filter((server) => server.state === "needs login")];
  const wrong = failing.length > 0 ? count(failing.length, "server is failing", "servers are failing")
    : count(broken.length, "server needs a login", "servers need a login");
  return html`${heading("Now", broken.length === 0 ? badge("all is well", "good") : badge(wrong, "bad"))}
    ${broken.length > 0 ? html`<section aria-labelledby="broken" class="notice bad"><h2 id="broken">Needs attention</h2>
      <ul class="plain">${broken.slice(0, 5).map((server) => html`<li><a href=${link("servers", server.name)}>${server.name}</a>
        <span class="foreign">${clean(server.why)}</span></li>`)}</ul>
      ${broken.length > 5 ? html`<p><a href=${link("servers")}>All ${number(broken.length)}</a></p>` : nothing}</section>` : nothing}
    ${figures(status, servers)}
    <div class="columns">${states(servers)}${recent()}</div>
    ${connected(shared.clients)}
    ${connect()}`;
}

function figures(status, servers) {
  const { total, failed } = totals();
  const shown = cost.value ? cost.value.menu + cost.value.instructions : undefined;
  const figure = (name, value, more) => html`<div><dt>${name}</dt><dd><span class="large">${value}</span>${more}</dd></div>`;
  return html`<dl class="figures">
    ${figure("Tools behind Toolfold", number(status.tools), html`from <a href=${link("servers")}>${count(servers.length, "server")}</a>`)}
    ${figure("Tokens an agent is shown", cost.value ? number(shown) : "…", cost.value
      ? html`instead of <a href=${link("tokens")}>${about(cost.value.direct)}</a>` : cost.error ? clean(cost.error.message) : "counting…")}
    ${figure("Calls since the start", number(total), html`${failed === 0 ? "none failed" : html`<a href=${link("calls", "", { outcome: "failed" })}>${number(failed)} failed</a>`}`)}
  </dl>`;
}

function states(servers) {
  const kinds = [...Map.groupBy(servers, (server) => server.state)].sort((a, b) => b[1].length - a[1].length);
  return html`<section aria-labelledby="states"><h2 id="states">Servers</h2>
    ${servers.length === 0 ? html`<p class="muted">None yet. Take over those that your clients have:</p>${command("toolfold import")}` : nothing}
    <ul class="plain">${kinds.map(([state, all]) => html`<li class="row"><span class="tally">${number(all.length)}</span>
      ${badge(stateName(state), stateKind(state))}<span class="muted names">${all.slice(0, 8).map((server) => server.name).join(", ")}${all.length > 8 ? ", …" : ""}</span></li>`)}</ul>
  </section>`;
}

function recent() {
  const calls = last(5);
  return html`<section aria-labelledby="recent"><h2 id="recent">Last calls</h2>
    ${calls.length === 0 ? html`<p class="muted">None yet. They appear here as agents make them.</p>`
      : html`<ul class="rows calls">${calls.map(row)}</ul><p><a href=${link("calls")}>All calls</a></p>`}</section>`;
}

const SHOWN = 8;

/** A client is called what it says: text like any other of strangers. */
function connected({ total, clients }) {
  const one = (client) => html`<li class="row"><span class="strong foreign">${clean(client.client) || "without a name"}</span>
    ${badge(client.transport, "calm")}<span class="muted names">${client.era === "session" ? "" : "stateless, "}protocol ${client.protocol}, ${clean(client.principal)},
      ${client.surface} surface, since ${time(client.since)}, last asked ${time(client.seen)}, searched or called ${count(client.calls, "time")}</span></li>`;
  return html`<section aria-labelledby="clients"><h2 id="clients">Connected clients</h2>
    ${clients.length === 0 ? html`<p class="muted">None now. They appear here as soon as they ask for anything.</p>`
      : html`<ul class="plain clients">${clients.slice(0, SHOWN).map(one)}</ul>`}
    ${total > SHOWN ? html`<p class="muted">And ${number(total - SHOWN)} more.</p>` : nothing}</section>`;
}

function connect() {
  const address = `${location.origin}/mcp`;
  return html`<section aria-labelledby="connect"><h2 id="connect">Connect a client</h2>
    <p>Toolfold writes the entry into the client's own file, and takes it out again with <code>--undo</code>:</p>
    ${command("toolfold install claude-code")}
    <p>Any other client that speaks MCP over HTTP connects to this address:</p>
    ${command(address)}
    ${cost.error ? problem(cost.error) : nothing}</section>`;
}
