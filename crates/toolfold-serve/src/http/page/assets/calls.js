// Calls, as they are made. What is kept here is bounded, and what is drawn is bounded again: a thousand a minute is a list
// that moves, and nothing that grows.

import { html, nothing } from "./lit-html.js";
import { badge, changed, clean, count, empty, entryLink, heading, link, number, time, took } from "./parts.js";

const KEPT = 1000;
const SHOWN = 200;
const REDRAW = 250;

let kept = [];
let seen = { total: 0, failed: 0, missed: 0 };
let paused = null;

export const title = () => "Calls";
export const totals = () => seen;
/** The newest calls, the newest first. */
export const last = (most) => kept.slice(-most).reverse();

let waiting = false;
/** Takes in what the stream tells. After a pause of ours it begins anew, with calls that are known already. */
export function heard({ total, failed, missed, calls }) {
  if (total < seen.total) kept = [];
  const newest = kept.at(-1)?.number ?? 0;
  kept = [...kept, ...calls.filter((call) => call.number > newest)].slice(-KEPT);
  seen = { total, failed, missed: seen.missed + (newest > 0 ? missed : 0) };
  if (waiting) return;
  waiting = true;
  setTimeout(() => { waiting = false; changed(); }, REDRAW);
}

const isFailed = (call) => call.outcome !== "done" && call.outcome !== "parked";

function fits(settings) {
  const words = (settings.filter ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  return (call) => (settings.outcome !== "failed" || isFailed(call))
    && words.every((word) => `${call.tool ?? call.method} ${call.server} ${call.principal} ${call.outcome}`.toLowerCase().includes(word));
}

export function render({ settings }) {
  const all = paused ?? kept;
  const fitting = all.filter(fits(settings));
  const shown = fitting.slice(-SHOWN).reverse();
  const go = (more) => location.replace(link("calls", "", { ...settings, ...more }));
  const pause = () => { paused = paused ? null : kept; changed(); };
  return html`${heading("Calls", paused ? badge("paused", "off") : badge("live", "good"))}
    <form role="search" aria-label="Calls" class="row" @submit=${(event) => event.preventDefault()}>
      <label for="calls-filter" class="unseen">Words in tool, server, who or outcome</label>
      <input id="calls-filter" type="search" class="grow" placeholder="Tool, server, who, outcome" autocomplete="off" spellcheck="false"
        .value=${settings.filter ?? ""} @input=${(event) => go({ filter: event.target.value })}>
      <label for="calls-outcome" class="unseen">Which</label>
      <select id="calls-outcome" @change=${(event) => go({ outcome: event.target.value })}>
        <option value="" ?selected=${settings.outcome !== "failed"}>All</option>
        <option value="failed" ?selected=${settings.outcome === "failed"}>Failed</option></select>
      <button type="button" aria-pressed=${paused ? "true" : "false"} @click=${pause}>${paused ? "Go on" : "Pause"}</button>
      <button type="button" ?disabled=${fitting.length === 0} @click=${() => save(fitting)}>Save</button></form>
    <p class="muted">${count(seen.total, "call")} since the start, ${number(seen.failed)} failed. Arguments and results are not kept.${
      seen.missed > 0 ? ` ${number(seen.missed)} came too fast to be shown.` : ""}</p>
    ${shown.length === 0 ? nobody(all) : html`<ul class="rows calls">${shown.map(row)}</ul>`}
    ${fitting.length > SHOWN ? html`<p class="muted">The newest ${number(SHOWN)} of ${number(fitting.length)}.</p>` : nothing}`;
}

const nobody = (all) => (all.length > 0
  ? empty("None of the calls fits.", "Take words away, or look at all of them.")
  : empty("No calls yet.", "They appear here the moment an agent makes one."));

const OUTCOMES = { done: ["done", "good"], parked: ["asks back", "busy"], error: ["error", "bad"] };

/** One call in a line. */
export function row(call) {
  const [name, kind] = OUTCOMES[call.outcome] ?? [call.outcome.toLowerCase().replaceAll("_", " "), "bad"];
  return html`<li><span class="muted time">${time(call.at)}</span>
    ${call.tool ? html`<a class="id foreign" href=${entryLink(call.tool)}>${clean(call.tool)}</a>`
      : html`<span class="id foreign">${call.server}: ${clean(call.method)}</span>`}
    <span class="outcome">${badge(name, kind)}</span><span class="muted took">${took(call.milliseconds)}</span>
    <span class="muted who">${clean(call.principal)}</span></li>`;
}

/** One JSON object in each line. */
function save(calls) {
  const text = calls.map((call) => JSON.stringify(call)).join("\n");
  const address = URL.createObjectURL(new Blob([text, "\n"], { type: "application/x-ndjson" }));
  const anchor = Object.assign(document.createElement("a"), { href: address, download: "calls.jsonl" });
  anchor.click();
  URL.revokeObjectURL(address);
}
