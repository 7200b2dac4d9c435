// What every other part uses: builtins as they were before the program could change them, and names.

const { stringify: toJSONText, parse: fromJSONText } = JSON;
const { defineProperty, getOwnPropertyNames, getPrototypeOf, keys: keysOf, freeze } = Object;
const { isArray } = Array;
const ownKeys = Reflect.ownKeys;
const hasOwn = Object.hasOwn;
const PromiseType = Promise;
const promiseThen = Promise.prototype.then;
const { apply } = Reflect;
const ErrorType = Error;
const InternalErrorType = InternalError;
const TypedArrayType = getPrototypeOf(Uint8Array);

const PAYLOAD_CHARS_MAX = 16 * 1024 * 1024;

/** Defines what programs find, as Node does: not listed by Object.keys(globalThis). */
function define(object, members, enumerable = false) {
  for (const name of ownKeys(members)) {
    const found = Object.getOwnPropertyDescriptor(members, name);
    defineProperty(object, name, { ...found, enumerable, configurable: true });
  }
  return object;
}

/** A name without what spellings differ in: case, "_" and "-". */
function fold(name) {
  return String(name).toLowerCase().replace(/[-_]/g, "");
}

/** The one of the known names that is meant: exactly, or in another spelling. Or undefined. */
function matching(name, known) {
  if (known.includes(name)) return name;
  const folded = fold(name);
  const found = known.filter((candidate) => fold(candidate) === folded);
  return found.length === 1 ? found[0] : undefined;
}

/** The names that are nearly this one, nearest first. */
function closest(name, known, count = 1) {
  const wanted = fold(name).slice(0, 60);
  const scored = [];
  for (const candidate of known.slice(0, 2000)) {
    const folded = fold(candidate);
    const distance = editDistance(wanted, folded.slice(0, 60));
    const most = Math.max(wanted.length, folded.length) || 1;
    const score = 1 - distance / most;
    const shared = sharedStart(wanted, folded);
    const isPart = wanted.length > 3 && (folded.includes(wanted) || wanted.includes(folded) || shared >= 0.7 * wanted.length);
    if (score >= 0.6 || isPart) {
      scored.push([score, candidate]);
    }
  }
  scored.sort((one, other) => other[0] - one[0]);
  return scored.slice(0, count).map(([, candidate]) => candidate);
}

function sharedStart(one, other) {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length++;
  return length;
}

function editDistance(one, other) {
  let above = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    for (let column = 1; column <= other.length; column++) {
      const replaced = above[column - 1] + (one[row - 1] === other[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, above[column] + 1, current[column - 1] + 1));
    }
    above = current;
  }
  return above[other.length];
}

/** A tool's or server's name as an identifier of TypeScript. */
function identifier(name) {
  const cleaned = name.replace(/[^\p{ID_Continue}$]/gu, "_");
  return /^\d/.test(cleaned) ? `_${cleaned}` : cleaned;
}

/** Proxies of ours, which are shown as what they stand for. */
const ownProxies = new WeakSet();

function ownProxy(target, handler) {
  const made = new Proxy(target, handler);
  ownProxies.add(made);
  return made;
}

/** What is behind a proxy of the program, null if it was revoked; anything else as it is. */
function unwrapped(value) {
  if (ownProxies.has(value)) return value;
  let target = value;
  for (let depth = 0; depth < 100; depth++) {
    let behind;
    try {
      behind = host.proxyTarget(target);
    } catch {
      return null;
    }
    if (behind === undefined) return target;
    if (behind === null) return null;
    target = behind;
  }
  return target;
}

/** `instanceof` that a proxy of the program can't make fail. */
function isA(value, Type) {
  try {
    return value instanceof Type;
  } catch {
    return false;
  }
}

function cut(text, most) {
  return text.length <= most ? text : `${text.slice(0, most)}\u2026`;
}

function listed(names, most = 20) {
  const left = names.length - most;
  return names.slice(0, most).join(", ") + (left > 0 ? ` and ${left} more` : "");
}

function typeName(value) {
  if (value === null) return "null";
  if (isArray(value)) return "an array";
  if (typeof value !== "object") return typeof value === "undefined" ? "undefined" : `a ${typeof value}`;
  const name = value.constructor?.name;
  return name && name !== "Object" ? `a ${name}` : "an object";
}

function isBytes(value) {
  return value instanceof TypedArrayType || value instanceof ArrayBuffer || value instanceof DataView;
}

/** Bytes of whatever holds some, without a copy. */
function bytesOf(value) {
  if (value instanceof Uint8Array) return value;
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
}
