// An issuer with one key on a free port of this machine. Prints its address and a token that it signed for alice, good for
// an hour and for the audience that is its argument.

import { generateKeyPairSync, sign } from "node:crypto";
import { createServer } from "node:http";

const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const key = { ...publicKey.export({ format: "jwk" }), kid: "only", alg: "ES256", use: "sig" };

const server = createServer((request, response) => {
  const documents = { "/.well-known/oauth-authorization-server": { issuer, jwks_uri: `${issuer}/keys` }, "/keys": { keys: [key] } };
  const document = documents[request.url];
  response.writeHead(document ? 200 : 404, { "content-type": "application/json" }).end(JSON.stringify(document ?? {}));
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const issuer = `http://127.0.0.1:${server.address().port}`;

const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
const now = Math.floor(Date.now() / 1000);
const claims = { iss: issuer, sub: "alice", aud: process.argv[2], iat: now, exp: now + 3600 };
const said = `${part({ alg: "ES256", typ: "at+jwt", kid: "only" })}.${part(claims)}`;
const signature = sign("sha256", Buffer.from(said), { key: privateKey, dsaEncoding: "ieee-p1363" }).toString("base64url");
console.log(JSON.stringify({ issuer, token: `${said}.${signature}` }));
