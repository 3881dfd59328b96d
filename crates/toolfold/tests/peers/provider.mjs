// A whole OpenID provider (npm `oidc-provider`) on a free port of this machine, with one user who always agrees. Prints
// its address as the first line; anybody may register with it, and tokens are JWTs for the resource they were asked for.

import { createServer } from "node:http";

import { require } from "./steps.mjs";

const { default: Provider } = await import(require.resolve("oidc-provider"));

const server = createServer();
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const issuer = `http://127.0.0.1:${server.address().port}`;

const provider = new Provider(issuer, {
  clients: [],
  scopes: ["openid", "offline_access", "tools"],
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  features: {
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

server.on("request", provider.callback());
console.log(JSON.stringify({ issuer }));
