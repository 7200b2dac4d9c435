// fetch: requests to the hosts that the user allows. The gateway makes them, each as a call of a tool. So is each
// redirect that is followed: rules and records see all of them.

const HTTP_SERVER = "http";
const HTTP_METHODS = ["get", "head", "post", "put", "patch", "delete"];
const REDIRECTS = [301, 302, 303, 307, 308];
const REDIRECTS_MAX = 5;
// What a request may tell another host than the one that it was meant for.
const HARMLESS_HEADERS = ["accept", "accept-language", "content-type", "user-agent"];
const NO_HOSTS = "programs have no network, because no hosts are allowed: call a tool of a server instead, or tell the user, who can set allowed_hosts under [network] in their configuration";

const hostsAreAllowed = () => catalogue.servers().includes(HTTP_SERVER);

class Headers {
  #values = new Map();

  constructor(given) {
    const entries = typeof given?.[Symbol.iterator] === "function" ? given : Object.entries(given ?? {});
    for (const [name, value] of entries) this.append(name, value);
  }
  append(name, value) {
    const before = this.get(name);
    this.set(name, before === null ? value : `${before}, ${value}`);
  }
  set(name, value) {
    this.#values.set(`${name}`.toLowerCase(), `${value}`);
  }
  get(name) {
    return this.#values.get(`${name}`.toLowerCase()) ?? null;
  }
  has(name) {
    return this.#values.has(`${name}`.toLowerCase());
  }
  delete(name) {
    this.#values.delete(`${name}`.toLowerCase());
  }
  forEach(callback, self) {
    for (const [name, value] of this.#values) callback.call(self, value, name, this);
  }
  entries() {
    return this.#values.entries();
  }
  keys() {
    return this.#values.keys();
  }
  values() {
    return this.#values.values();
  }
  [Symbol.iterator]() {
    return this.#values.entries();
  }
  toJSON() {
    return Object.fromEntries(this.#values);
  }
  [INSPECT_CUSTOM]() {
    return `Headers ${inspect(this.toJSON())}`;
  }
}

class Response {
  #text;
  #bytes;

  constructor(body = "", { status = 200, statusText = "", headers, url = "", redirected = false } = {}) {
    if (typeof body === "string") this.#text = body;
    else if (body !== null) this.#bytes = bytesOf(body);
    this.status = status;
    this.statusText = statusText;
    this.ok = status >= 200 && status < 300;
    this.headers = new Headers(headers);
    this.url = url;
    this.redirected = redirected;
    this.type = "basic";
    this.bodyUsed = false;
  }
  async text() {
    this.bodyUsed = true;
    return this.#text ?? new TextDecoder().decode(this.#bytes ?? new Uint8Array(0));
  }
  async json() {
    return JSON.parse(await this.text());
  }
  async bytes() {
    this.bodyUsed = true;
    return new Uint8Array(this.#bytes ?? new TextEncoder().encode(this.#text ?? ""));
  }
  async arrayBuffer() {
    return (await this.bytes()).buffer;
  }
  clone() {
    return new Response(this.#text ?? this.#bytes ?? null, this);
  }
  [INSPECT_CUSTOM]() {
    return `Response ${inspect({ status: this.status, ok: this.ok, url: this.url })}`;
  }
}

class Request {
  constructor(resource, init = {}) {
    const before = resource instanceof Request ? resource : {};
    const given = { ...before, ...init };
    this.url = resource instanceof Request ? resource.url : `${resource?.url ?? resource}`;
    this.method = `${given.method ?? "GET"}`.toUpperCase();
    this.headers = new Headers(given.headers);
    this.body = given.body ?? null;
    this.redirect = given.redirect ?? "follow";
    this.signal = given.signal ?? null;
  }
}

/** What the gateway is asked for. A body is text or bytes; a form says that it is one. */
function webArguments({ url, headers, body }) {
  const args = { url };
  if (typeof body === "string") args.body = body;
  else if (body instanceof URLSearchParams) {
    args.body = `${body}`;
    if (!headers.has("content-type")) headers.set("content-type", "application/x-www-form-urlencoded;charset=UTF-8");
  } else if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) args.body_base64 = Buffer.from(bytesOf(body)).toString("base64");
  else if (body !== null) throw new TypeError(`the body of fetch must be text, bytes or URLSearchParams, not ${typeName(body)}; for JSON write JSON.stringify(...)`);
  if (args.body !== undefined && typeof body === "string" && !headers.has("content-type")) headers.set("content-type", "text/plain;charset=UTF-8");
  const sent = headers.toJSON();
  if (keysOf(sent).length) args.headers = sent;
  return args;
}

/** The request that a redirect leads to: no credential goes along to another host. */
function onward({ method, args }, { status, url: from }, location) {
  const url = new URL(location, from);
  const next = { ...args, url: url.href };
  let headers = Object.entries(next.headers ?? {});
  if ((status === 303 && method !== "head") || (status <= 302 && method === "post")) {
    method = "get";
    delete next.body;
    delete next.body_base64;
    headers = headers.filter(([name]) => name !== "content-type");
  }
  if (url.origin !== new URL(from).origin) headers = headers.filter(([name]) => HARMLESS_HEADERS.includes(name));
  if (headers.length) next.headers = Object.fromEntries(headers);
  else delete next.headers;
  return { method, args: next };
}

/** Gives up waiting when the signal says so. */
function unlessAborted(promise, signal) {
  if (signal === null) return promise;
  return new PromiseType((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    promise.then(resolve, reject);
  });
}

async function fetch(resource, init) {
  const request = new Request(resource, init);
  const { signal, redirect } = request;
  if (!hostsAreAllowed()) throw new TypeError(`fetch isn't available: ${NO_HOSTS}`);
  signal?.throwIfAborted();
  const method = request.method.toLowerCase();
  if (!HTTP_METHODS.includes(method)) throw new TypeError(`the method of fetch must be one of ${HTTP_METHODS.join(", ")}, not ${cut(request.method, 40)}`);
  let sent = { method, args: webArguments(request) };
  for (let followed = 0; ; followed++) {
    const answer = await unlessAborted(callTool(`${HTTP_SERVER}.${sent.method}`, sent.args, "fetch(...)"), signal);
    // Held in a dry run: there is no answer, but words in its place.
    if (typeof answer?.status !== "number") return new Response(JSON.stringify(answer), { status: 0, url: sent.args.url });
    const location = REDIRECTS.includes(answer.status) ? answer.headers?.location : undefined;
    if (location === undefined || redirect === "manual") {
      const body = answer.base64 === undefined ? answer.text ?? "" : Buffer.from(answer.base64, "base64");
      return new Response(body, { ...answer, redirected: followed > 0 });
    }
    if (redirect === "error") throw new TypeError(`fetch was redirected by ${answer.url}`);
    if (followed === REDIRECTS_MAX) throw new TypeError(`fetch was redirected more than ${REDIRECTS_MAX} times`);
    sent = onward(sent, answer, location);
  }
}
