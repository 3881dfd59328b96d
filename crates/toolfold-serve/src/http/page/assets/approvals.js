// Approvals: definitions that are new or have changed, and wait for a person. Only there where any wait.

import { html, nothing } from "./lit-html.js";
import { change } from "./api.js";
import { badge, changed, clean, command, count, empty, heading, link, number, problem, say } from "./parts.js";

let failed;
let busy = false;
let decided = () => {};
/** What to do once something was decided. */
export const onDecided = (then) => { decided = then; };

export const title = () => "Approvals";

export function render(_, { held, waiting }) {
  if (held.length === 0) return html`${heading("Approvals")}${empty("Nothing waits.", "New and changed definitions appear here where they are held back.")}`;
  return html`${heading("Approvals", html`<span class="muted">${count(waiting, "definition")} held back</span>`)}
    <p>Agents do not get these as they are now until somebody has read what changed.</p>
    ${failed ? problem(failed) : nothing}
    <ul class="cards">${held.map((it) => html`<li>${card(it)}</li>`)}</ul>
    ${waiting > held.length ? html`<p class="muted">The first ${number(held.length)} of ${number(waiting)}; <code>toolfold approve</code> lists all.</p>` : nothing}`;
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
    ${it.findings?.length ? html`<ul class="plain findings">${it.findings.map(finding)}</ul>` : nothing}
    ${it.diff ? html`<pre class="foreign wrap diff" tabindex="0" role="region" aria-label="What changed in ${id}">${lines(it.diff)}</pre>` : nothing}
    ${it.diff_cut ? html`<p class="muted">${count(it.diff_cut, "byte")} more; the command below shows all of it.</p>` : nothing}
    ${command(`toolfold approve ${id}`)}</article>`;
}

const finding = (it) => html`<li class="row">${badge(clean(it.rule), it.severity === "hard" ? "bad" : "busy")}
  <span class="foreign">${clean(it.reason)}</span> <span class="muted foreign">${clean(it.place)}</span></li>`;

const SIGN = /^\s*([+-]) /;
const sign = (text) => SIGN.exec(text)?.[1];

/** Lines with their signs; where one was put in place of another, the words that differ stand out. */
function lines(diff) {
  const all = String(diff).replace(/\n$/, "").split("\n");
  return all.map((text, at) => {
    const is = sign(text);
    if (!is) return `${clean(text)}\n`;
    // A single line out and a single line in, side by side.
    const other = is === "-" ? all[at + 1] : all[at - 1];
    const beyond = is === "-" ? [all[at - 1], all[at + 2]] : [all[at - 2], all[at + 1]];
    const isPair = sign(other ?? "") === (is === "-" ? "+" : "-") && !beyond.some((it) => sign(it ?? ""));
    const shown = isPair ? marked(text, other) : clean(text);
    return is === "+" ? html`<ins>${shown}\n</ins>` : html`<del>${shown}\n</del>`;
  });
}

/** The words of a line that are not in the other, between those that are. */
function marked(text, other) {
  const mine = text.replace(SIGN, "").split(/(?<=\s)/);
  const theirs = other.replace(SIGN, "").split(/(?<=\s)/);
  const most = Math.min(mine.length, theirs.length);
  let first = 0;
  while (first < most && mine[first] === theirs[first]) first += 1;
  let last = 0;
  while (last < most - first && mine.at(-1 - last) === theirs.at(-1 - last)) last += 1;
  const part = (from, to) => clean(mine.slice(from, to).join(""));
  const middle = part(first, mine.length - last);
  return html`${SIGN.exec(text)[0]}${part(0, first)}${middle ? html`<mark>${middle}</mark>` : nothing}${part(mine.length - last)}`;
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
