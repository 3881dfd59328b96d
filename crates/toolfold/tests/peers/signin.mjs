// A TypeScript client that is given an address and nothing else: it is told where to sign in, registers, signs in (a
// browser is played here), and goes on. Usage: signin.mjs v1|v2 <url>, then steps on stdin as for the other clients.

import { require, run } from "./steps.mjs";

const [version, target] = process.argv.slice(2);
const from = (v1, v2) => require(version === "v1" ? `@modelcontextprotocol/sdk/client/${v1}.js` : v2);
const { Client } = from("index", "@modelcontextprotocol/client");
const { StreamableHTTPClientTransport } = from("streamableHttp", "@modelcontextprotocol/client");

const redirect = "http://127.0.0.1:9/callback";

// Follows redirects with cookies until the provider sends the browser back to the client.
async function browse(url) {
  const jar = new Map();
  for (let step = 0; step < 20; step += 1) {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const reply = await fetch(url, { redirect: "manual", headers: { cookie } });
    for (const line of reply.headers.getSetCookie()) {
      const [pair] = line.split(";");
      jar.set(pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1));
    }
    const next = reply.headers.get("location");
    if (!next) throw new Error(`the provider answered ${reply.status}: ${await reply.text()}`);
    url = new URL(next, url);
    if (url.href.startsWith(redirect)) return url.searchParams;
  }
  throw new Error("the provider goes round in circles");
}

let answer = null;
const kept = {};
const authProvider = {
  redirectUrl: redirect,
  clientMetadata: {
    client_name: "signin",
    redirect_uris: [redirect],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  },
  clientInformation: () => kept.client,
  saveClientInformation: (client) => void (kept.client = client),
  tokens: () => kept.tokens,
  saveTokens: (tokens) => void (kept.tokens = tokens),
  redirectToAuthorization: async (url) => void (answer = await browse(url)),
  saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
  codeVerifier: () => kept.verifier,
  saveDiscoveryState: (state) => void (kept.discovery = state),
  discoveryState: () => kept.discovery,
};

const connect = async () => {
  const transport = new StreamableHTTPClientTransport(new URL(target), { authProvider });
  const client = new Client({ name: `signin-${version}`, version: "0" });
  try {
    await client.connect(transport);
    return client;
  } catch (error) {
    if (!answer) throw error;
    // The newer one wants to see all that came back.
    await transport.finishAuth(version === "v1" ? answer.get("code") : answer);
    answer = null;
    return null;
  }
};
const client = (await connect()) ?? (await connect());
await run(client, kept.tokens ? "signed in" : "not asked to sign in");
