// What the page asks Toolfold, and the token it shows at the door. The token is in the memory of this tab alone, and goes
// out as a header: never in an address, where logs and histories would keep it.

const KEPT = "toolfold-token";
let token = sessionStorage.getItem(KEPT) ?? "";

/** Why something was not done, in a sentence for a person. */
export class Refused extends Error {
  constructor(status, message, hints = []) {
    super(message);
    this.status = status;
    this.hints = hints;
  }
}

/** Asks a person for the token; set by whoever can. False where they would rather not. */
let askAtDoor = async () => false;
export const onDoor = (ask) => { askAtDoor = ask; };

export const hasToken = () => token !== "";
export function setToken(given) {
  token = given.trim();
  if (token) sessionStorage.setItem(KEPT, token);
  else sessionStorage.removeItem(KEPT);
}

/** Whether nothing can be seen here without one. */
export const isClosed = document.documentElement.dataset.token === "required";

export const get = (path, signal) => ask(path, { signal });
export const post = (path, body, signal) =>
  ask(path, { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" }, signal });

/** As `post`, for what changes something: that takes a token, wherever it is asked from. */
export async function change(path, body) {
  if (!hasToken() && !(await askAtDoor(false))) throw new Refused(401, "Nothing was changed: that takes the key.");
  return post(path, body);
}

/** Calls `heard` with each event of a stream, until it ends. */
export async function follow(path, signal, heard) {
  const answer = await send(path, { headers: { Accept: "text/event-stream" }, signal });
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const events = (rest + value).split("\n\n");
    rest = events.pop();
    for (const event of events) {
      const data = event.split("\n").filter((line) => line.startsWith("data: ")).map((line) => line.slice(6));
      if (data.length > 0) heard(JSON.parse(data.join("\n")));
    }
  }
}

async function ask(path, options) {
  const answer = await send(path, options);
  return answer.json();
}

async function send(path, options, again = true) {
  if (isClosed && !hasToken() && !(await askAtDoor(false))) throw new Refused(401, "Nothing can be seen here without the token.");
  const headers = { ...options.headers };
  if (token) headers.Authorization = `Bearer ${token}`;
  let answer;
  try {
    answer = await fetch(`/v1/${path}`, { ...options, headers, cache: "no-store", credentials: "omit" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, "Toolfold does not answer. Is it still running?");
  }
  if (answer.ok) return answer;
  if (answer.status === 401 && again) {
    setToken("");
    if (await askAtDoor(true)) return send(path, options, false);
  }
  const error = (await answer.json().catch(() => ({}))).error ?? {};
  throw new Refused(answer.status, error.message ?? `Toolfold answered with status ${answer.status}.`, error.hints);
}
