// A whole OpenID provider (npm `oidc-provider`) on a free port of this machine, with one user who always agrees. Prints
// its address as the first line; anybody may register with it, and tokens are JWTs for the resource they were asked for.
// DOCUMENTS: it also knows clients by the documents about them, which it reads where `/documents?at=` was told that they
// are. BRIEF: it says of each token that it is over already, so that whoever uses one has to renew it. `/granted` tells
// what was granted so far, and to whom.

import { createServer } from "node:http";

import { require } from "./steps.mjs";

const { default: Provider } = await import(require.resolve("oidc-provider"));

const server = createServer();
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const issuer = `http://127.0.0.1:${server.address().port}`;

// An address that begins with https:// is one of a machine with a name and a certificate; here it is another port.
let documents;
const granted = [];

const provider = new Provider(issuer, {
  fetch: (url, options) => fetch(new URL(new URL(url).pathname, documents), { ...options, dispatcher: undefined }),
  clients: [],
  scopes: ["openid", "offline_access", "tools"],
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  features: {
    clientIdMetadataDocument: { enabled: "DOCUMENTS" in process.env, ack: "draft-02" },
    devInteractions: { enabled: false },
    registration: { enabled: true },
    revocation: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => undefined,
      useGrantedResource: () => true,
      getResourceServerInfo: (_, resource) => ({
        scope: "tools",
        audience: resource,
        accessTokenFormat: "jwt",
        accessTokenTTL: 600,
        jwt: { sign: { alg: "RS256" } },
      }),
    },
  },
  pkce: { required: () => true },
  interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
});

// What a person would do in two forms: sign in as alice, and agree.
provider.use(async (context, next) => {
  if (!context.path.startsWith("/interaction/")) return next();
  const details = await provider.interactionDetails(context.req, context.res);
  if (details.prompt.name === "login") {
    return provider.interactionFinished(context.req, context.res, { login: { accountId: "alice" } });
  }
  const grant = new provider.Grant({ accountId: details.session.accountId, clientId: details.params.client_id });
  grant.addOIDCScope("openid offline_access tools");
  for (const resource of [details.params.resource].flat().filter(Boolean)) grant.addResourceScope(resource, "tools");
  return provider.interactionFinished(context.req, context.res, { consent: { grantId: await grant.save() } });
});

provider.on("grant.success", (context) => {
  granted.push({ grant: context.oidc.params.grant_type, client: context.oidc.client.clientId });
});

provider.use(async (context, next) => {
  if (context.path === "/granted") context.body = granted;
  else if (context.path === "/documents") context.body = { at: (documents = context.query.at) };
  else await next();
  if (context.path === "/token" && "BRIEF" in process.env && context.body.expires_in) context.body.expires_in = 0;
});

server.on("request", provider.callback());
console.log(JSON.stringify({ issuer }));
