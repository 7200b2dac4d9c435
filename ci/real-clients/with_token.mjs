// Has a program send a token that it can't be told of: `node --import with_token.mjs PROGRAM`, with the token in
// SENT_TOKEN. Only SENT_TO, an origin, gets it. A program may use `fetch` or `node:http`.

import { subscribe } from "node:diagnostics_channel";

const { SENT_TO: origin, SENT_TOKEN: token } = process.env;

subscribe("undici:request:create", ({ request }) => {
  if (String(request.origin) === origin) {
    request.addHeader("authorization", `Bearer ${token}`);
  }
});

subscribe("http.client.request.created", ({ request }) => {
  if (`${request.protocol}//${request.getHeader("host")}` === origin) {
    request.setHeader("authorization", `Bearer ${token}`);
  }
});
