// Approvals: definitions that are new or have changed, and wait for a person. Only there where any wait.

import { html, nothing } from "./lit-html.js";
import { change } from "./api.js";
import { badge, changed, clean, command, count, empty, heading, link, problem, say } from "./parts.js";

let failed;
let busy = false;
let decided = () => {};
/** What to do once something was decided. */
export const onDecided = (then) => { decided = then; };

export const title = () => "Approvals";

export function render(_, { held }) {
  if (held.length === 0) return html`${heading("Approvals")}${empty("Nothing waits.", "New and changed definitions appear here where they are held back.")}`;
  return html`${heading("Approvals", html`<span class="muted">${count(held.length, "definition")} held back</span>`)}
    <p>Agents do not get these as they are now until somebody has read what changed.</p>
    ${failed ? problem(failed) : nothing}
    <ul class="cards">${held.map((it) => html`<li>${card(it)}</li>`)}</ul>`;
}

function card(it) {
  const id = clean(it.id);
  // Of what was read here, and of nothing that came since.
  const meant = it.fingerprint ? `${it.id}@${it.fingerprint}` : it.id;
  const button = (text, deny) => html`<button type="button" ?disabled=${busy} aria-label="${text} ${id}" @click=${() => decide(meant, deny, text)}>${text}</button>`;
  return html`<article class="card busy" aria-label=${id}>
    <div class="row"><h2 class="grow"><span class="foreign">${id}</span></h2>${it.denied ? badge("refused", "bad") : nothing}
      ${it.fingerprint ? html`${button("Approve", false)}${it.denied ? nothing : button("Refuse", true)}` : nothing}</div>
    <p class="muted">from <a href=${link("servers", it.server)}>${clean(it.server)}</a>${it.serves_old ? " · what was approved before serves meanwhile" : ""}</p>
    <p class="why foreign">${clean(it.why)}</p>
    ${it.diff ? html`<pre class="foreign wrap diff" tabindex="0" role="region" aria-label="What changed in ${id}">${String(it.diff).split("\n").map(line)}</pre>` : nothing}
    ${command(`toolfold approve ${id}`)}</article>`;
}

function line(text) {
  const shown = `${clean(text)}\n`;
  if (text.startsWith("+")) return html`<ins>${shown}</ins>`;
  return text.startsWith("-") ? html`<del>${shown}</del>` : shown;
}

async function decide(id, deny, text) {
  [failed, busy] = [undefined, true];
  changed();
  try {
    await change("approvals", { ids: [id], deny });
    say(`${text}: done.`);
  } catch (error) {
    failed = error;
  }
  busy = false;
  decided();
  changed();
}
