// Catalog: places on one side, what is in them on the other, a hundred at a time; and one entry by itself.

import { html, nothing } from "./lit-html.js";
import { get } from "./api.js";
import { Asked, clean, count, empty, entryLink, heading, link, number, problem, waiting } from "./parts.js";
import * as entry from "./entry.js";

const PAGE = 100;
const PATIENCE = 200;
const tree = new Asked();
const list = new Asked();
let catalog;
let kinds = {};

export const title = (route) => (route.what ? clean(route.what) : "Catalog");

export function enter(route, shared) {
  if (route.what) return entry.enter(route);
  looked(route, shared);
  load(route);
}

/** Places are read again when there is another catalog. */
export function looked(route, shared) {
  if (!shared.status || shared.status.catalog === catalog) return;
  catalog = shared.status.catalog;
  tree.load((signal) => get("tree", signal));
  get("stats").then((stats) => { kinds = stats.kinds; }, () => {});
  if (!route.what) load(route);
}

function load({ settings }) {
  const page = Math.max(1, Number(settings.page) || 1);
  const asked = { path: settings.path ?? "", filter: settings.filter ?? "", limit: PAGE, offset: (page - 1) * PAGE };
  if (settings.kind) asked.kind = settings.kind;
  list.load((signal) => get(`tools?${new URLSearchParams(asked)}`, signal));
}

export const leave = () => clearTimeout(typed);

export function render(route) {
  if (route.what) return entry.render(route);
  const { settings } = route;
  return html`${heading("Catalog")}
    <div class="beside">
      <nav aria-label="Places"><details class="places" ?open=${matchMedia("(min-width: 56rem)").matches}>
        <summary>Places</summary>${places(settings)}</details></nav>
      <section aria-label="Entries">${filter(settings)}
        ${list.error ? problem(list.error) : list.value ? entries(settings, list.value) : waiting()}</section>
    </div>`;
}

function places(settings) {
  if (!tree.value) return tree.error ? problem(tree.error) : waiting();
  const open = settings.path ?? "";
  const at = (node) => {
    const path = node.path.join("/");
    const isOpen = open === path || open.startsWith(`${path}/`);
    return html`<li><a class="place" href=${link("catalog", "", { ...settings, path, page: "" })} aria-current=${open === path ? "true" : nothing}>
      <span class="foreign">${clean(node.name)}</span><span class="muted">${number(node.entries)}</span></a>
      ${isOpen && node.nodes.length > 0 ? html`<ul>${node.nodes.map(at)}</ul>` : nothing}</li>`;
  };
  return html`<ul class="tree"><li><a class="place" href=${link("catalog", "", { ...settings, path: "", page: "" })}
    aria-current=${open === "" ? "true" : nothing}><span>Everything</span></a></li>${tree.value.nodes.map(at)}</ul>`;
}

let typed;
function filter(settings) {
  const go = (more) => { location.hash = link("catalog", "", { ...settings, page: "", ...more }); };
  const later = (event) => {
    const { value } = event.target;
    clearTimeout(typed);
    typed = setTimeout(() => go({ filter: value.trim() }), PATIENCE);
  };
  const all = Object.keys(kinds);
  return html`<form role="search" aria-label="Entries" class="row" @submit=${(event) => event.preventDefault()}>
    <label for="filter" class="unseen">Words in the name or description</label>
    <input id="filter" type="search" class="grow" placeholder="Words in the name or description" autocomplete="off" spellcheck="false"
      .value=${settings.filter ?? ""} @input=${later}>
    ${all.length > 1 ? html`<label for="kind" class="unseen">Kind</label><select id="kind" @change=${(event) => go({ kind: event.target.value })}>
      ${all.map((kind) => html`<option value=${kind} ?selected=${kind === (settings.kind ?? "tool")}>${kind}s</option>`)}</select>` : nothing}
  </form>`;
}

function entries(settings, { total, tools }) {
  const page = Math.max(1, Number(settings.page) || 1);
  const first = (page - 1) * PAGE;
  if (total === 0) {
    return settings.filter || settings.path
      ? empty("Nothing fits.", html`Try fewer words, or look at <a href=${link("catalog")}>everything</a>. What an agent would find is under <a href=${link("search", "", { query: settings.filter })}>Search</a>.`)
      : empty("There are no tools yet.", html`They appear when servers have said what they offer: see <a href=${link("servers")}>Servers</a>.`);
  }
  return html`<p class="muted" role="status">${count(total, settings.kind ?? "tool")}${settings.path ? html` in <span class="foreign">${clean(settings.path)}</span>` : nothing}${
    total > PAGE ? `, ${number(first + 1)} to ${number(first + tools.length)}` : ""}</p>
    <ul class="rows">${tools.map((tool) => html`<li><a class="entry" href=${entryLink(tool.tool_id)}>
      <span class="id foreign">${clean(tool.tool_id)}</span><span class="summary foreign">${clean(tool.summary)}</span></a></li>`)}</ul>
    ${total > PAGE ? pages(settings, page, Math.ceil(total / PAGE)) : nothing}`;
}

function pages(settings, page, last) {
  const to = (wanted, name) => wanted < 1 || wanted > last || wanted === page
    ? html`<span class="button off" aria-hidden="true">${name}</span>`
    : html`<a class="button" href=${link("catalog", "", { ...settings, page: wanted === 1 ? "" : wanted })}>${name}</a>`;
  return html`<nav aria-label="Pages" class="row pages">${to(1, "First")}${to(page - 1, "Previous")}
    <span>${number(page)} of ${number(last)}</span>${to(page + 1, "Next")}${to(last, "Last")}</nav>`;
}
