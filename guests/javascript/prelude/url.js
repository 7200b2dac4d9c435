// URL, by the living standard as far as programs use it: special schemes, relative references, IPv6 in
// brackets, percent-encoding. Names outside of ASCII are lower-cased and percent-encoded, not punycoded.

const SPECIAL_PORTS = { "http:": "80", "https:": "443", "ws:": "80", "wss:": "443", "ftp:": "21", "file:": "" };
const URL_PARTS = /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?([^?#]*)(\?[^#]*)?(#.*)?$/s;

function invalidURL(input) {
  const error = new TypeError("Invalid URL");
  error.code = "ERR_INVALID_URL";
  define(error, { input });
  return error;
}

function percentEncode(text, pattern) {
  return text.toWellFormed().replace(pattern, (character) => {
    return Array.from(host.encode(character), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("");
  });
}

const IN_PATH = /[^\x21\x24-\x3b\x3d\x40-\x5f\x61-\x7a\x7c\x7e\x25]/gu;
const IN_QUERY = /[^\x21\x24-\x26\x28-\x3b\x3d\x3f-\x7e\x25]/gu;
const IN_FRAGMENT = /[^\x21\x23-\x3b\x3d\x3f-\x5f\x61-\x7e\x25]/gu;
const IN_USER = /[^\x21\x24-\x2e\x30-\x39\x41-\x5a\x5f\x61-\x7a\x7e\x25]/gu;

class URL {
  #parts;
  #params;

  constructor(input, base) {
    const text = `${input}`.replace(/^[\x00-\x20]+|[\x00-\x20]+$/g, "").replace(/[\t\n\r]/g, "");
    this.#parts = parseURL(text, base === undefined ? undefined : new URL(base).#parts, `${input}`);
  }
  static canParse(input, base) {
    return URL.parse(input, base) !== null;
  }
  static parse(input, base) {
    try {
      return new URL(input, base);
    } catch {
      return null;
    }
  }

  get href() {
    const { protocol, username, password, hostname, port, pathname, search, hash } = this.#parts;
    const user = username || password ? `${username}${password ? `:${password}` : ""}@` : "";
    const place = hostname === null ? (pathname.startsWith("//") ? "/." : "") : `//${user}${hostname}${port ? `:${port}` : ""}`;
    return `${protocol}${place}${pathname}${search}${hash}`;
  }
  set href(value) {
    this.#parts = parseURL(`${value}`, undefined, value);
    this.#params?.[REPLACE](this.#parts.search);
  }
  get origin() {
    const { protocol } = this.#parts;
    return hasOwn(SPECIAL_PORTS, protocol) && protocol !== "file:" ? `${protocol}//${this.host}` : "null";
  }
  get protocol() {
    return this.#parts.protocol;
  }
  set protocol(value) {
    const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):?/.exec(`${value}`)?.[1].toLowerCase();
    if (scheme !== undefined && hasOwn(SPECIAL_PORTS, `${scheme}:`) === hasOwn(SPECIAL_PORTS, this.protocol)) {
      this.#parts.protocol = `${scheme}:`;
      if (this.#parts.port === SPECIAL_PORTS[`${scheme}:`]) this.#parts.port = "";
    }
  }
  get username() {
    return this.#parts.username;
  }
  set username(value) {
    this.#parts.username = percentEncode(`${value}`, IN_USER);
  }
  get password() {
    return this.#parts.password;
  }
  set password(value) {
    this.#parts.password = percentEncode(`${value}`, IN_USER);
  }
  get host() {
    const { hostname, port } = this.#parts;
    return `${hostname ?? ""}${port ? `:${port}` : ""}`;
  }
  set host(value) {
    const found = /^(\[[^\]]*\]|[^:/?#]*)(?::(\d*))?/.exec(`${value}`);
    this.hostname = found[1];
    if (found[2]) this.port = found[2];
  }
  get hostname() {
    return this.#parts.hostname ?? "";
  }
  set hostname(value) {
    if (`${value}` !== "") this.#parts.hostname = parseHost(`${value}`, hasOwn(SPECIAL_PORTS, this.protocol), value);
  }
  get port() {
    return this.#parts.port;
  }
  set port(value) {
    const port = `${value}` === "" ? "" : `${parseInt(value, 10)}`;
    if (port !== "NaN" && Number(port) <= 65535) this.#parts.port = port === SPECIAL_PORTS[this.protocol] ? "" : port;
  }
  get pathname() {
    return this.#parts.pathname;
  }
  set pathname(value) {
    const text = `${value}`;
    this.#parts.pathname = normalPath(text.startsWith("/") ? text : `/${text}`, hasOwn(SPECIAL_PORTS, this.protocol));
  }
  get search() {
    return this.#parts.search === "?" ? "" : this.#parts.search;
  }
  set search(value) {
    const text = `${value}`.replace(/^\?/, "");
    this.#parts.search = text === "" ? "" : `?${percentEncode(text, IN_QUERY)}`;
    this.#params?.[REPLACE](this.#parts.search);
  }
  get searchParams() {
    if (this.#params === undefined) {
      this.#params = new URLSearchParams(this.#parts.search);
      this.#params[ON_CHANGE] = (text) => {
        this.#parts.search = text === "" ? "" : `?${text}`;
      };
    }
    return this.#params;
  }
  get hash() {
    return this.#parts.hash === "#" ? "" : this.#parts.hash;
  }
  set hash(value) {
    const text = `${value}`.replace(/^#/, "");
    this.#parts.hash = text === "" ? "" : `#${percentEncode(text, IN_FRAGMENT)}`;
  }
  toString() {
    return this.href;
  }
  toJSON() {
    return this.href;
  }
  [INSPECT_CUSTOM](_depth, options) {
    const names = ["href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "searchParams", "hash"];
    const shown = {};
    for (const name of names) shown[name] = this[name];
    return `URL ${inspect(shown, options)}`;
  }
}
for (const name of ["href", "origin", "protocol", "host", "hostname", "port", "pathname", "search", "searchParams", "hash", "toString", "toJSON"]) {
  defineProperty(URL.prototype, name, { enumerable: true });
}
defineProperty(URL.prototype, Symbol.toStringTag, { value: "URL", configurable: true });

function parseURL(text, base, input) {
  const found = URL_PARTS.exec(text);
  let [, scheme, rest, search = "", hash = ""] = found;
  const protocol = scheme === undefined ? base?.protocol : `${scheme.toLowerCase()}:`;
  if (protocol === undefined) throw invalidURL(input);
  const isSpecial = hasOwn(SPECIAL_PORTS, protocol);
  if (isSpecial) rest = rest.replaceAll("\\", "/");
  const parts = { protocol, username: "", password: "", hostname: null, port: "", pathname: "", search: "", hash: "" };
  parts.hash = hash && `#${percentEncode(hash.slice(1), IN_FRAGMENT)}`;
  parts.search = search && `?${percentEncode(search.slice(1), IN_QUERY)}`;
  const isRelative = scheme === undefined || (isSpecial && base?.protocol === protocol && !rest.startsWith("//") && protocol !== "file:");
  if (isRelative && base !== undefined && !rest.startsWith("//")) return relativeTo(parts, rest, base, search, isSpecial);
  if (isSpecial && protocol !== "file:" && !rest.startsWith("//")) rest = `//${rest.replace(/^\/+/, "")}`;
  if (isSpecial && protocol !== "file:") rest = rest.replace(/^\/{2,}/, "//");
  if (!rest.startsWith("//")) {
    parts.pathname = rest.startsWith("/") || isSpecial ? normalPath(rest || "/", isSpecial) : percentEncode(rest, /[^\x20-\x7e]/gu);
    if (protocol === "file:") parts.hostname = "";
    return parts;
  }
  const slash = rest.indexOf("/", 2);
  const authority = slash === -1 ? rest.slice(2) : rest.slice(2, slash);
  parts.pathname = slash === -1 ? (isSpecial ? "/" : "") : normalPath(rest.slice(slash), isSpecial);
  return withAuthority(parts, authority, isSpecial, input);
}

function withAuthority(parts, authority, isSpecial, input) {
  const at = authority.lastIndexOf("@");
  if (at !== -1) {
    const [user, ...password] = authority.slice(0, at).split(":");
    parts.username = percentEncode(user, IN_USER);
    parts.password = percentEncode(password.join(":"), IN_USER);
  }
  const place = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/.exec(authority.slice(at + 1));
  if (place === null) throw invalidURL(input);
  if (place[1] === "" && isSpecial && parts.protocol !== "file:") throw invalidURL(input);
  parts.hostname = parseHost(place[1], isSpecial, input);
  if (parts.protocol === "file:" && parts.hostname === "localhost") parts.hostname = "";
  if (place[2]) {
    if (Number(place[2]) > 65535) throw invalidURL(input);
    parts.port = `${Number(place[2])}` === SPECIAL_PORTS[parts.protocol] ? "" : `${Number(place[2])}`;
  }
  return parts;
}

function relativeTo(parts, rest, base, search, isSpecial) {
  for (const name of ["username", "password", "hostname", "port"]) parts[name] = base[name];
  if (rest === "") {
    parts.pathname = base.pathname;
    if (search === "") parts.search = base.search;
  } else if (rest.startsWith("/")) {
    parts.pathname = normalPath(rest, isSpecial);
  } else {
    parts.pathname = normalPath(base.pathname.slice(0, base.pathname.lastIndexOf("/") + 1) + rest, isSpecial);
  }
  return parts;
}

function parseHost(name, isSpecial, input) {
  if (name.startsWith("[")) return name.toLowerCase();
  if (!isSpecial) return percentEncode(name, /[^\x21-\x7e]/gu);
  let plain;
  try {
    plain = decodeURIComponent(name).toLowerCase();
  } catch {
    throw invalidURL(input);
  }
  if (/[\x00-\x20#%/:<>?@[\\\]^|\x7f]/.test(plain)) throw invalidURL(input);
  return /^[\x21-\x7e]*$/.test(plain) ? plain : percentEncode(plain, /[^\x21-\x7e]/gu);
}

function normalPath(path, isSpecial) {
  const parts = (isSpecial ? path.replaceAll("\\", "/") : path).split("/").slice(1);
  const kept = [];
  parts.forEach((part, index) => {
    const plain = part.replace(/%2e/gi, ".");
    const isLast = index === parts.length - 1;
    if (plain === "..") {
      kept.pop();
      if (isLast) kept.push("");
    } else if (plain === ".") {
      if (isLast) kept.push("");
    } else {
      kept.push(percentEncode(part, IN_PATH));
    }
  });
  return `/${kept.join("/")}`;
}
