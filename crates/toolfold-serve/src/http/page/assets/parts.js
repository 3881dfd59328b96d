// What several views use: text of strangers, numbers, small pieces of the page, and addresses within it.

import { html, nothing } from "./lit-html.js";

let redraw = () => {};
/** Set by whoever draws the page. */
export const onChange = (draw) => { redraw = draw; };
/** Something to be seen is different. */
export const changed = () => redraw();

// Controls, marks of direction and what cannot be seen. Joiners and selectors between visible signs are how emoji and some
// scripts are written, and stay.
const ACTS = /[\p{Cc}\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\ufffb\u{e0000}-\u{e0fff}]/gu;
/** A name or line that a server wrote: what would act or hide is written out. */
export const clean = (text) => String(text ?? "").replace(ACTS, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);

const whole = new Intl.NumberFormat("en");
const short = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
export const number = (value) => whole.format(value);
export const about = (value) => (value < 10_000 ? whole.format(Math.round(value)) : short.format(value));
export const count = (value, one, many = `${one}s`) => `${number(value)} ${value === 1 ? one : many}`;
const clock = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
export const time = (milliseconds) => clock.format(new Date(milliseconds));
export const took = (milliseconds) =>
  milliseconds >= 1000 ? `${(milliseconds / 1000).toFixed(1)} s` : `${milliseconds < 10 ? milliseconds.toFixed(1) : Math.round(milliseconds)} ms`;

/** An address within the page: a view, what of it, and settings of which empty ones are left out. */
export function link(view, what = "", settings = {}) {
  const wanted = Object.entries(settings).filter(([, value]) => value !== "" && value !== undefined && value !== null);
  const query = new URLSearchParams(wanted.map(([key, value]) => [key, String(value)])).toString();
  return `#/${view}${what ? `/${encodeURIComponent(what)}` : ""}${query ? `?${query}` : ""}`;
}
export const entryLink = (id) => link("catalog", id);

/** A length as a picture; the number stands beside it. */
export const bar = (share, kind = "") => html`<svg class="bar ${kind}" viewBox="0 0 100 6" preserveAspectRatio="none"
  aria-hidden="true"><rect class="track" width="100" height="6"></rect><rect width=${Math.max(0, Math.min(1, share)) * 100} height="6"></rect></svg>`;

const STATES = {
  ready: ["ready", "good"], known: ["asleep", "calm"], starting: ["starting", "busy"],
  configured: ["not started yet", "calm"], failing: ["failing", "bad"], "needs login": ["needs a login", "bad"], stopped: ["stopped", "off"],
};
export const stateName = (state) => (STATES[state] ?? [state])[0];
export const stateKind = (state) => (STATES[state] ?? ["", "calm"])[1];
export const badge = (text, kind) => html`<span class="badge ${kind}">${text}</span>`;

export const heading = (title, beside = nothing) => html`<div class="heading"><h1 tabindex="-1">${title}</h1>${beside}</div>`;
export const empty = (title, more) => html`<div class="empty"><p class="strong">${title}</p><p>${more}</p></div>`;
export const waiting = () => html`<p class="waiting" role="status">One moment…</p>`;
export const problem = (error) => html`<div class="notice bad" role="alert"><p>${clean(error.message)}</p>
  ${(error.hints ?? []).map((hint) => html`<p class="muted">${clean(hint)}</p>`)}</div>`;

/** A command to type, with a button that copies it. */
export const command = (text) => html`<div class="command"><code>${text}</code>
  <button type="button" class="small" aria-label="Copy ${text}" @click=${(event) => copy(event.currentTarget, text)}>Copy</button></div>`;

async function copy(button, text) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not allowed";
  }
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
}

/** Says something to who listens rather than looks. */
export function say(text) {
  document.getElementById("said").textContent = text;
}

/** What is asked for last is shown; answers to earlier questions are not. */
export class Asked {
  value; error; busy = false;
  #current = null;

  async load(ask) {
    this.#current?.abort();
    const current = (this.#current = new AbortController());
    this.busy = true;
    changed();
    try {
      const value = await ask(current.signal);
      if (current === this.#current) [this.value, this.error] = [value, undefined];
    } catch (error) {
      if (current === this.#current && error.name !== "AbortError") this.error = error;
    }
    if (current === this.#current) {
      this.busy = false;
      changed();
    }
  }

  clear() {
    this.#current?.abort();
    [this.#current, this.value, this.error, this.busy] = [null, undefined, undefined, false];
  }
}
