// A provider that means harm (npm `oauth2-mock-server`) on a free port of this machine: it signs whatever it is told, with its own
// key. Prints its address, a token for alice that is good for the audience that is its argument, and others, each with one thing wrong.

import { require } from "./steps.mjs";

const { OAuth2Server } = await import(require.resolve("oauth2-mock-server"));

const server = new OAuth2Server();
await server.issuer.keys.generate("RS256");
await server.start(0, "127.0.0.1");
const issuer = server.issuer.url;
const audience = process.argv[2];
const now = Math.floor(Date.now() / 1000);

async function token(change) {
  server.service.once("beforeTokenSigning", (token) => {
    Object.assign(token.payload, { sub: "alice", aud: audience, scope: "tools" });
    change(token.payload, token.header);
  });
  const body = new URLSearchParams({ grant_type: "client_credentials", scope: "tools" });
  const answer = await fetch(`${issuer}/token`, { method: "POST", body });
  return (await answer.json()).access_token;
}

const wrong = {
  "another issuer": (claims) => (claims.iss = "https://evil.example"),
  "an issuer with a slash more": (claims) => (claims.iss = `${issuer}/`),
  "no issuer": (claims) => delete claims.iss,
  "another audience": (claims) => (claims.aud = "https://evil.example/mcp"),
  "an endpoint beside": (claims) => (claims.aud = `${audience}/ontology`),
  "no audience": (claims) => delete claims.aud,
  expired: (claims) => (claims.exp = now - 3600),
  "an end that is a text": (claims) => (claims.exp = "never"),
  "no end": (claims) => delete claims.exp,
  "not valid yet": (claims) => (claims.nbf = now + 3600),
  nobody: (claims) => delete claims.sub,
  "whoever runs it": (claims) => (claims.sub = "local"),
  "a name that is a list": (claims) => (claims.sub = ["alice"]),
  "a key it does not have": (_, header) => (header.kid = "another"),
  "another type": (_, header) => (header.typ = "logout+jwt"),
};
const forged = [];
for (const [what, change] of Object.entries(wrong)) forged.push([what, await token(change)]);
const good = await token(() => {});
const [head, , signature] = good.split(".");
const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
const claims = { iss: issuer, sub: "alice", aud: audience, exp: now + 3600 };
forged.push(["other claims under a good signature", `${head}.${part({ ...claims, sub: "root" })}.${signature}`]);
forged.push(["no algorithm", `${part({ alg: "none", typ: "JWT" })}.${part(claims)}.`]);
console.log(JSON.stringify({ issuer, good, forged }));
