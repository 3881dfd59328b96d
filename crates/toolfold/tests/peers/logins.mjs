// What the suite's scenarios about logins need: the part of the configuration that somebody would write for such a
// server, and somebody who logs in, with a browser that says yes to everything.

import { spawn } from "node:child_process";

const scenario = (process.env.MCP_CONFORMANCE_SCENARIO ?? "").split("/");

export const isLogin = scenario[0] === "auth";
// One half of the runs logs in with the command, the other by a question to the client.
export const isAsked = isLogin && process.env.MCP_CONFORMANCE_PROTOCOL_VERSION === "2026-07-28";

// The keys of the server, from what the scenario tells.
export function keys(context) {
  const { client_id, client_secret } = context;
  const kind = {
    "client-credentials-jwt": { login: "client", private_key: context.private_key_pem },
    "client-credentials-basic": { login: "client" },
    "enterprise-managed-authorization": {
      login: "enterprise",
      identity_provider: context.idp_issuer,
      identity_client_id: context.idp_client_id,
      assertion: context.idp_id_token,
    },
    "wif-jwt-bearer": { login: "workload", assertion: context.valid_jwt },
  }[scenario[1]];
  const all = { client_id, client_secret, ...kind };
  const lines = Object.entries(all).filter(([, value]) => value !== undefined);
  const metadata = "https://conformance-test.local/client-metadata.json";
  return {
    needsPerson: isLogin && !kind,
    server: lines.map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`).join(""),
    rest: isLogin ? `[oauth]\nclient_metadata = ${JSON.stringify(metadata)}\n` : "",
  };
}

// Whether somebody is logged in after it.
export function login(config) {
  const env = { ...process.env, BROWSER: "curl -sL" };
  const child = spawn(process.env.TOOLFOLD, ["login", "suite", "--config", config], {
    env,
    stdio: ["ignore", "ignore", "inherit"],
  });
  return new Promise((resolve) => child.on("exit", (code) => resolve(code === 0)));
}
