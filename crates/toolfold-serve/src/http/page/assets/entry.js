// One entry, at every level that an agent can ask for, with what each costs.

import { html, nothing } from "./lit-html.js";
import { post } from "./api.js";
import { Asked, badge, clean, heading, link, number, problem, waiting } from "./parts.js";

const LEVELS = {
  name: ["Name", "in a long list"],
  summary: ["Summary", "while browsing"],
  signature: ["Signature", "in a search answer"],
  details: ["Details", "when an agent asks about it"],
  full: ["Full schema", "when it asks for everything"],
};
const shown = new Asked();

export function enter(route) {
  shown.clear();
  shown.load((signal) => post("levels", { tool_id: route.what }, signal));
}

export function render(route) {
  const back = html`<p><a href=${link("catalog")}>Catalog</a></p>`;
  const name = html`<span class="foreign">${clean(route.what)}</span>`;
  if (!shown.value) return html`${back}${heading(name)}${shown.error ? problem(shown.error) : waiting()}`;
  const it = shown.value;
  const path = it.path ? it.path.join("/") : "";
  return html`${back}${heading(name, html`${it.destructive ? badge("may destroy", "bad") : nothing}${it.read_only ? badge("only reads", "good") : nothing}`)}
    <dl class="facts"><div><dt>Server</dt><dd><a href=${link("servers", it.server)}>${it.server}</a></dd></div>
      <div><dt>Kind</dt><dd>${it.kind}</dd></div>
      ${path ? html`<div><dt>Place</dt><dd><a class="foreign" href=${link("catalog", "", { path })}>${clean(path)}</a></dd></div>` : nothing}
      <div><dt>Definition</dt><dd>${number(it.definition)} tokens</dd></div></dl>
    <h2>What an agent reads</h2>
    ${it.levels.map((level) => rung(level))}`;
}

function rung({ level, text, tokens }) {
  const [name, when] = LEVELS[level] ?? [level, ""];
  return html`<section class="rung"><h3>${name} <span class="muted">${when}</span><span class="cost">${number(tokens)} tokens</span></h3>
    <pre class="foreign" tabindex="0" role="region" aria-label=${name}>${text}</pre></section>`;
}
