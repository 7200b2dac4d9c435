// URLSearchParams.

const ON_CHANGE = Symbol("on change");
const REPLACE = Symbol("replace");

class URLSearchParams {
  #pairs = [];
  [ON_CHANGE] = undefined;

  constructor(init = "") {
    defineProperty(this, ON_CHANGE, { enumerable: false });
    if (init === null || typeof init !== "object") this[REPLACE](`${init}`);
    else if (typeof init[Symbol.iterator] === "function") {
      this.#pairs = [...init].map((pair) => {
        const [name, value, ...rest] = pair;
        if (value === undefined || rest.length) throw new TypeError("Each query pair must be an iterable [name, value] tuple");
        return [`${name}`, `${value}`];
      });
    } else this.#pairs = keysOf(init).map((name) => [name, `${init[name]}`]);
  }
  [REPLACE](text) {
    this.#pairs = [];
    for (const part of text.replace(/^\?/, "").split("&")) {
      if (part === "") continue;
      const at = part.indexOf("=");
      const [name, value] = at === -1 ? [part, ""] : [part.slice(0, at), part.slice(at + 1)];
      this.#pairs.push([unescapeQuery(name), unescapeQuery(value)]);
    }
  }
  #changed() {
    this[ON_CHANGE]?.(this.toString());
  }
  get size() {
    return this.#pairs.length;
  }
  append(name, value) {
    this.#pairs.push([`${name}`, `${value}`]);
    this.#changed();
  }
  delete(name, value) {
    this.#pairs = this.#pairs.filter((pair) => pair[0] !== `${name}` || (value !== undefined && pair[1] !== `${value}`));
    this.#changed();
  }
  get(name) {
    return this.#pairs.find((pair) => pair[0] === `${name}`)?.[1] ?? null;
  }
  getAll(name) {
    return this.#pairs.filter((pair) => pair[0] === `${name}`).map((pair) => pair[1]);
  }
  has(name, value) {
    return this.#pairs.some((pair) => pair[0] === `${name}` && (value === undefined || pair[1] === `${value}`));
  }
  set(name, value) {
    const first = this.#pairs.findIndex((pair) => pair[0] === `${name}`);
    if (first === -1) this.#pairs.push([`${name}`, `${value}`]);
    else {
      this.#pairs[first][1] = `${value}`;
      this.#pairs = this.#pairs.filter((pair, index) => index <= first || pair[0] !== `${name}`);
    }
    this.#changed();
  }
  sort() {
    this.#pairs.sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
    this.#changed();
  }
  forEach(callback, thisArgument) {
    for (const [name, value] of this.#pairs) callback.call(thisArgument, value, name, this);
  }
  *entries() {
    for (const [name, value] of this.#pairs) yield [name, value];
  }
  *keys() {
    for (const [name] of this.#pairs) yield name;
  }
  *values() {
    for (const [, value] of this.#pairs) yield value;
  }
  [Symbol.iterator]() {
    return this.entries();
  }
  toString() {
    return this.#pairs.map(([name, value]) => `${escapeQuery(name)}=${escapeQuery(value)}`).join("&");
  }
  [INSPECT_CUSTOM](_depth, options) {
    const shown = this.#pairs.map(([name, value]) => `${inspect(name, options)} => ${inspect(value, options)}`);
    return shown.length ? `URLSearchParams { ${shown.join(", ")} }` : "URLSearchParams {}";
  }
}
defineProperty(URLSearchParams.prototype, Symbol.toStringTag, { value: "URLSearchParams", configurable: true });

function escapeQuery(text) {
  return percentEncode(text, /[^*\-.0-9A-Z_a-z ]/gu).replaceAll(" ", "+");
}

function unescapeQuery(text) {
  const plain = text.replaceAll("+", " ");
  if (!plain.includes("%")) return plain;
  const bytes = [];
  const source = host.encode(plain.toWellFormed());
  for (let at = 0; at < source.length; at++) {
    const pair = source[at] === 0x25 ? String.fromCharCode(source[at + 1], source[at + 2]) : "";
    if (/^[0-9a-fA-F]{2}$/.test(pair)) {
      bytes.push(parseInt(pair, 16));
      at += 2;
    } else bytes.push(source[at]);
  }
  return host.decode(Uint8Array.from(bytes));
}
