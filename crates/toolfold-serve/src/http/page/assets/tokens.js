// Tokens: what the servers' definitions cost in every conversation, and what they cost through Toolfold.

import { html, nothing } from "./lit-html.js";
import { get } from "./api.js";
import { Asked, about, bar, clean, count, empty, entryLink, heading, link, number, problem, waiting } from "./parts.js";

const cost = new Asked();
let counted;

export const title = () => "Tokens";

export function enter(route, shared) {
  looked(route, shared);
}

export function looked(_, shared) {
  if (shared.status && shared.status.catalog !== counted) {
    counted = shared.status.catalog;
    cost.load((signal) => get("tokens", signal));
  }
}

/** A number of tokens for a family of models: exact for one, a range for the others. */
const told = (value, { low, high }) => (low === high ? number(value * low) : `${about(value * low)} – ${about(value * high)}`);

export function render({ settings }) {
  if (!cost.value) return html`${heading("Tokens")}${cost.error ? problem(cost.error) : waiting()}`;
  const { direct, menu, instructions, answer, servers, largest, families, encoding } = cost.value;
  if (direct === 0) return html`${heading("Tokens")}${empty("There is nothing to count yet.", "Tools appear when servers have said what they offer.")}`;
  const family = families.find(({ name }) => name === settings.model) ?? families[0];
  const through = menu + instructions;
  const sorted = [...servers].sort((a, b) => b.direct - a.direct);
  const pays = Math.floor((direct - through) / answer);
  return html`${heading("Tokens", picker(families, family))}
    <section aria-labelledby="both"><h2 id="both">In every conversation</h2>
      <dl class="compare">
        <div><dt>All servers directly</dt><dd>${bar(1, "heavy")}<span class="strong">${told(direct, family)}</span></dd></div>
        <div><dt>Through Toolfold</dt><dd>${bar(through / direct)}<span class="strong">${told(through, family)}</span></dd></div></dl>
      <p>${pays > 0 ? html`A search costs up to ${told(answer, family)} more, so Toolfold is the cheaper way for the first <span class="strong">${count(pays, "search", "searches")}</span> of a conversation.`
        : html`With so few tools, connecting directly costs less than one search. Toolfold does not save tokens here.`}</p>
      <p class="muted">${family.low === family.high ? html`Counted exactly, with ${encoding}.` : "A range: nine of ten servers lie within it. Counted exactly for GPT-4o and later."}
        Name, description and input schema of each tool; how a client frames them comes on top, on either way.</p></section>
    <div class="columns"><section aria-labelledby="by-server"><h2 id="by-server">By server</h2>
      <ul class="rows costs">${sorted.map((it) => html`<li><a href=${link("servers", it.server)}>${it.server}</a>
        <span class="muted">${count(it.tools, "tool")}</span>${bar(it.direct / sorted[0].direct, "heavy")}<span class="cost">${told(it.direct, family)}</span></li>`)}</ul></section>
    <section aria-labelledby="by-tool"><h2 id="by-tool">The largest tools</h2>
      <ul class="rows costs">${largest.map((it) => html`<li><a class="foreign" href=${entryLink(it.tool_id)}>${clean(it.tool_id)}</a>
        ${bar(it.direct / largest[0].direct, "heavy")}<span class="cost">${told(it.direct, family)}</span></li>`)}</ul></section></div>`;
}

function picker(families, family) {
  const go = (event) => location.replace(link("tokens", "", { model: event.target.value === families[0].name ? "" : event.target.value }));
  return html`<span class="row"><label for="model">Model</label><select id="model" @change=${go}>
    ${families.map(({ name }) => html`<option ?selected=${name === family.name}>${name}</option>`)}</select></span>${nothing}`;
}
