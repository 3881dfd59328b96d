// Approvals: definitions that are new or have changed, and wait for a person. Only there where any wait.

import { html } from "./lit-html.js";
import { clean, command, count, empty, heading, link } from "./parts.js";

export const title = () => "Approvals";

export function render(_, { held }) {
  if (held.length === 0) return html`${heading("Approvals")}${empty("Nothing waits.", "New and changed definitions appear here where they are held back.")}`;
  return html`${heading("Approvals", html`<span class="muted">${count(held.length, "definition")} held back</span>`)}
    <p>Agents neither see nor call these until somebody has read what changed.</p>
    <ul class="cards">${held.map((it) => html`<li><article class="card busy" aria-label=${clean(it.id)}>
      <h2><span class="foreign">${clean(it.id)}</span></h2>
      <p class="muted">from <a href=${link("servers", it.server)}>${clean(it.server)}</a></p>
      <p class="why foreign">${clean(it.why)}</p>
      ${it.diff ? html`<pre class="foreign wrap diff" tabindex="0" role="region" aria-label="What changed in ${clean(it.id)}">${String(it.diff).split("\n").map(line)}</pre>` : ""}
      ${command(`toolfold approve ${clean(it.id)}`)}</article></li>`)}</ul>`;
}

function line(text) {
  const shown = `${clean(text)}\n`;
  if (text.startsWith("+")) return html`<ins>${shown}</ins>`;
  return text.startsWith("-") ? html`<del>${shown}</del>` : shown;
}
