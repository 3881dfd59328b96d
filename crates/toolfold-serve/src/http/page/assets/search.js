// Search: the very text that an agent gets, and beside it why.

import { html, nothing } from "./lit-html.js";
import { post } from "./api.js";
import { Asked, badge, bar, changed, clean, count, empty, entryLink, heading, link, number, problem, say, took, waiting } from "./parts.js";

const PATIENCE = 180;
const found = new Asked();
let query;

export const title = (route) => (route.settings.query ? `${clean(route.settings.query)} · Search` : "Search");

export function enter({ settings }) {
  if (settings.query === query) return;
  query = settings.query;
  if (!query) {
    found.clear();
    return changed();
  }
  found.load(async (signal) => {
    const answer = await post("explain", { query }, signal);
    say(`${count(answer.hits.filter((hit) => hit.shown).length, "hit")} in an answer of ${number(answer.tokens)} tokens`);
    return answer;
  });
}

let typed;
export const leave = () => clearTimeout(typed);

export function render({ settings }) {
  const go = (event) => {
    const { value } = event.target;
    clearTimeout(typed);
    // In place: every letter would be a step back otherwise.
    typed = setTimeout(() => location.replace(link("search", "", { query: value.trim() })), PATIENCE);
  };
  return html`${heading("Search")}
    <form role="search" aria-label="As an agent" @submit=${(event) => event.preventDefault()}>
      <label for="query">What should the tool do?</label>
      <input id="query" type="search" autocomplete="off" placeholder="rename a branch, what time is it in Tokyo, …" maxlength="400"
        .value=${settings.query ?? ""} @input=${go}></form>
    ${!settings.query ? empty("An agent's view.", "Type what you would ask for. You see the answer an agent gets, word for word, and why each line is where it is.")
      : found.error ? problem(found.error) : found.value ? answer(found.value) : waiting()}`;
}

function answer({ text, tokens, milliseconds, precise, doubtful, hits }) {
  return html`<div class="columns answer" ?data-old=${found.busy}>
    <section aria-labelledby="text"><h2 id="text">The answer <span class="cost">${number(tokens)} tokens · ${took(milliseconds)}</span></h2>
      <pre class="foreign wrap" tabindex="0" role="region" aria-label="The answer as text">${text}</pre></section>
    <section aria-labelledby="why"><h2 id="why">Why <span class="cost">${precise ? "words, meaning, encoder" : "words and meaning"}</span></h2>
      ${doubtful ? html`<p class="notice">${hits.length === 0 ? "Nothing here comes near." : "No close match: the best hit is a guess, and the agent is told so."}</p>` : nothing}
      <ol class="rows hits">${hits.map(hit)}</ol></section></div>`;
}

function hit(it) {
  return html`<li><div class="row"><a class="id foreign grow" href=${entryLink(it.tool_id)}>${clean(it.tool_id)}</a>
      ${it.shown ? badge("in the answer", "good") : nothing}</div>
    <p class="summary foreign">${it.summary}</p>
    <div class="row share">${bar(it.confidence)}<span>${it.confidence < 0.01 ? "under 1" : Math.round(it.confidence * 100)} % sure</span></div>
    <details><summary>Reasons</summary>
      <dl class="facts">${reasons(it).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
      ${it.terms.length > 0 ? html`<p>Words it shares: ${it.terms.map((term, at) => html`${at > 0 ? ", " : ""}<span class="foreign strong">${term.term}</span>
        <span class="muted">(${term.fields.join(", ")})</span>`)}</p>` : html`<p class="muted">It shares no word with the question.</p>`}
    </details></li>`;
}

function reasons(it) {
  const part = (name, value) => (value === null || value === undefined ? [] : [[name, value]]);
  const two = (value) => (typeof value === "number" ? value.toFixed(2) : value);
  return [
    ...(it.named ? [["Named", "the question names it"]] : []),
    ...part("Words", two(it.words)), ...part("Meaning", two(it.meaning)), ...part("Encoder", two(it.encoder)),
    ...part("Word by word", two(it.near)), ...(it.deed ? [["Deed", `${it.deed > 0 ? "+" : ""}${two(it.deed)}`]] : []),
    ...part("Fits the part", it.part), ...(it.copies > 0 ? [["Much like it", count(it.copies, "other")]] : []),
  ];
}
