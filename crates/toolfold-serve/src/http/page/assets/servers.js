// Servers: how they are, what they said last, and what to do about it.

import { html, nothing } from "./lit-html.js";
import { change } from "./api.js";
import { badge, changed, clean, command, count, empty, heading, link, problem, say, stateKind, stateName, waiting } from "./parts.js";

const ORDER = ["failing", "needs login", "starting", "ready", "known", "configured", "stopped"];
const failed = new Map();
const busy = new Set();
let asked = () => {};
/** What to do once something was asked of a server. */
export const onAsked = (then) => { asked = then; };

export const title = (route) => (route.what ? `${clean(route.what)} · Servers` : "Servers");

export function render(route, { servers, status, away }) {
  if (!status) return html`${heading("Servers")}${away ? nothing : waiting()}`;
  const one = servers.find((server) => server.name === route.what);
  if (route.what) {
    return html`<p><a href=${link("servers")}>Servers</a></p>${heading(clean(route.what))}
      ${one ? card(one, true) : empty("There is no such server.", "It may have been taken out of the configuration.")}`;
  }
  if (servers.length === 0) {
    return html`${heading("Servers")}${empty("No servers yet.", "Take over those that your clients have, or add one:")}
      ${command("toolfold import")}${command("toolfold add NAME -- COMMAND")}`;
  }
  const sorted = [...servers].sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state) || a.name.localeCompare(b.name));
  return html`${heading("Servers", html`<span class="muted">${count(servers.length, "server")}</span>`)}
    <ul class="cards">${sorted.map((server) => html`<li>${card(server, false)}</li>`)}</ul>`;
}

function card(server, alone) {
  const { name, state, why, said, transport, tools, protocol } = server;
  const facts = [{ stdio: "a process", http: "over HTTP" }[transport] ?? (why ? "not usable" : "built in"), protocol];
  // Among others the end is enough; who wants all of it opens the server.
  const words = alone ? said : said.slice(-4);
  const offered = tools > 0 ? html`<a href=${link("catalog", "", { path: `Servers/${name}` })}>${count(tools, "tool")}</a>` : "no tools";
  return html`<article class="card ${stateKind(state)}" aria-label=${name}>
    <div class="row">${alone ? nothing : html`<h2 class="grow"><a href=${link("servers", name)}>${name}</a></h2>`}
      ${badge(stateName(state), stateKind(state))}${alone ? html`<span class="grow"></span>` : nothing}${buttons(server)}</div>
    <p class="muted">${offered} · ${facts.filter(Boolean).map(clean).join(" · ")}</p>
    ${failed.has(name) ? problem(failed.get(name)) : nothing}
    ${why ? html`<p class="why foreign">${clean(why)}</p>${advice(server)}` : nothing}
    ${said.length > 0 ? html`<details ?open=${alone || state === "failing"}><summary>Last words</summary>
      <pre class="foreign wrap" tabindex="0" role="region" aria-label="Last words of ${name}">${words.map(clean).join("\n")}</pre></details>` : nothing}
  </article>`;
}

function advice({ name, state, transport }) {
  if (!transport) return html`<p>Its entry in the configuration cannot be used as it is.</p>${command("toolfold check")}`;
  if (state === "needs login") return html`<p>Log in where Toolfold runs; the login is used at once.</p>${command(`toolfold login ${name}`)}`;
  const what = transport === "http"
    ? "See whether its address is right, whether it can be reached from this machine, and whether it wants another header."
    : "Its command in the configuration, or what it needs from the environment, is the first thing to look at.";
  return html`<p>${what} It is tried again by itself, and now with the button; a corrected configuration is read at once.</p>${command(`toolfold logs ${name}`)}`;
}

function buttons({ name, state, transport }) {
  if (!transport) return nothing;
  const button = (text, path) => html`<button type="button" ?disabled=${busy.has(name)} aria-label="${text} ${name}"
    @click=${() => order(name, path, text)}>${text}</button>`;
  const runs = state === "ready" || state === "starting";
  return html`${runs ? nothing : button(state === "failing" ? "Try again" : "Start", "start_server")}
    ${state === "stopped" ? nothing : button("Stop", "stop_server")}`;
}

async function order(name, path, text) {
  failed.delete(name);
  busy.add(name);
  changed();
  try {
    await change(path, { server: name });
    say(`${text} ${name}: done.`);
  } catch (error) {
    failed.set(name, error);
  }
  busy.delete(name);
  asked();
  changed();
}
