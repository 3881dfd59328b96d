// Loaded before a program that knows nothing of tokens: whatever it asks of SERVED, by whichever of node's two ways, it
// asks with TOKEN.

import { subscribe } from "node:diagnostics_channel";

const { origin, host } = new URL(process.env.SERVED);
const token = `Bearer ${process.env.TOKEN}`;

subscribe("undici:request:create", ({ request }) => {
  if (String(request.origin) === origin) request.addHeader("authorization", token);
});
subscribe("http.client.request.created", ({ request }) => {
  if (`${request.host}:${request.port ?? new URL(`http://${request.getHeader("host")}`).port}` === host) {
    request.setHeader("authorization", token);
  }
});
