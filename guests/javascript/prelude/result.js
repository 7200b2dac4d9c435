// From any value to JSON text, within limits. What JSON has no word for becomes what a reader would expect,
// with a note wherever something is not carried over exactly.

const ITERATOR_ITEMS_MAX = 10_000;
const PART_CHARS_MAX = 2 << 20;
const RESULT_DEPTH_HARD_MAX = 200;
const TOOL_IMAGES_MAX = 8;
const TOOL_IMAGES_BYTES_MAX = 10 << 20;
const FILE_BEGINNINGS = [["89504e470d0a1a0a", "image/png"], ["ffd8ff", "image/jpeg"], ["474946383761", "image/gif"], ["474946383961", "image/gif"], ["255044462d", "application/pdf"]];

class ResultWriter {
  #open = new Map();
  #path = [];
  #images = 0;
  #imageBytes = 0;
  #size = 0;

  constructor(notes, limits) {
    this.notes = notes;
    this.depthMax = Math.min(limits.depth, RESULT_DEPTH_HARD_MAX);
    this.bytesMax = limits.bytes;
    this.mostBytes = Math.max(limits.bytes, limits.largeBytes);
    this.limitName = limits.largeBytes > limits.bytes ? "large_result_bytes" : "result_bytes";
  }

  /** JSON text of the value; undefined where it has none. */
  write(value) {
    const plain = this.plain(value, 1);
    if (plain === undefined) return undefined;
    const text = toJSONText(plain);
    if (text.length > this.mostBytes) throw this.tooLarge();
    return text;
  }

  tooLarge() {
    const size = this.mostBytes % (1 << 20) === 0 ? `${this.mostBytes >> 20} MB` : `${this.mostBytes} bytes`;
    return new ResultLimit(this.limitName, this.mostBytes, `the result is larger than ${size} as JSON (reached at ${this.where()})`);
  }

  where(steps = this.#path.length) {
    let path = "result";
    for (const step of this.#path.slice(0, Math.min(steps, 60))) path = typeof step === "number" ? `${path}[${step}]` : memberPath(path, step);
    return cut(path, 120);
  }

  count(characters) {
    this.#size += characters;
    if (this.#size > this.mostBytes) throw this.tooLarge();
  }

  plain(value, depth) {
    switch (typeof value) {
      case "string":
        this.count(value.length + 2);
        return value.isWellFormed() ? value : value.toWellFormed();
      case "number":
        this.count(1);
        if (Number.isFinite(value)) return value;
        this.notes.add("NaN and Infinity are not JSON; they are written as text");
        return `${value}`;
      case "boolean":
        this.count(4);
        return value;
      case "undefined":
        return undefined;
      case "bigint":
        this.count(1);
        return this.bigint(value);
      case "symbol":
        return String(value);
      case "function":
        this.notes.add(`${this.where()} is a function; only its name is shown`);
        return inspect(value, { depth: -1 }).split("\n")[0];
    }
    if (value === null) return null;
    return this.object(value, depth);
  }

  bigint(value) {
    const text = `${value}`;
    if (text.length > 4300) {
      this.notes.add(`${this.where()} is an integer of ${text.length} digits, so it isn't written out`);
      return `<integer of ${text.length} digits>`;
    }
    this.count(text.length);
    return JSON.rawJSON(text);
  }

  object(value, depth) {
    if (this.#open.has(value)) {
      this.notes.add(`${this.where()} refers back to ${this.where(this.#open.get(value))}; the cycle is cut`);
      return "<cycle>";
    }
    if (depth > this.depthMax) {
      throw new ResultLimit("result_depth", this.depthMax, `the result is nested deeper than ${this.depthMax} levels (at ${this.where()})`);
    }
    this.#open.set(value, this.#path.length);
    const plain = this.members(value, depth);
    this.#open.delete(value);
    return plain;
  }

  members(value, depth) {
    if (isArray(value)) return this.list(value, depth);
    const prototype = getPrototypeOf(value);
    if (prototype === Object.prototype || prototype === null) return this.record(value, depth);
    const behind = unwrapped(value);
    if (behind !== value) return behind === null ? "<revoked proxy>" : this.plain(behind, depth);
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
    if (value instanceof Map) return this.map(value, depth);
    if (value instanceof Set) return this.list([...value], depth);
    if (value instanceof ErrorType) return cut(errorTitle(value), 2000);
    if (value instanceof RegExp) return `${value}`;
    if (value instanceof PromiseType) return this.promise(value, depth);
    if (isBoxed(value)) return this.plain(value.valueOf(), depth);
    if (value instanceof Uint8Array || value instanceof ArrayBuffer || value instanceof DataView) return this.bytes(bytesOf(value), depth);
    if (value instanceof TypedArrayType) return this.list(Array.from(value), depth);
    if (value instanceof WeakMap || value instanceof WeakSet || value instanceof WeakRef) return inspect(value, { depth: -1 });
    if (typeof value.toJSON === "function") return this.plain(value.toJSON(""), depth);
    if (typeof value.next === "function" && typeof value[Symbol.iterator] === "function") return this.iterator(value, depth);
    return this.record(value, depth);
  }

  list(items, depth) {
    this.count(2 + items.length);
    const plain = new Array(items.length);
    const path = this.#path;
    path.push(0);
    for (let index = 0; index < items.length; index++) {
      path[path.length - 1] = index;
      plain[index] = this.plain(items[index], depth + 1) ?? null;
    }
    path.pop();
    return plain;
  }

  record(value, depth) {
    if (typeof value.toJSON === "function") return this.plain(value.toJSON(""), depth);
    const plain = {};
    const path = this.#path;
    path.push("");
    for (const key of keysOf(value)) {
      path[path.length - 1] = key;
      const member = this.plain(value[key], depth + 1);
      if (member === undefined) continue;
      this.count(key.length + 4);
      this.put(plain, key, member);
    }
    path.pop();
    return this.withImage(plain);
  }

  put(plain, key, member) {
    const name = key.isWellFormed() ? key : key.toWellFormed();
    if (name === "__proto__") defineProperty(plain, name, { value: member, enumerable: true, configurable: true, writable: true });
    else plain[name] = member;
  }

  map(value, depth) {
    const keys = [...value.keys()];
    if (!keys.every((key) => key === null || typeof key !== "object")) return this.list([...value], depth);
    const plain = {};
    this.#path.push("");
    for (const [key, member] of value) {
      this.#path[this.#path.length - 1] = String(key);
      const name = String(key);
      if (hasOwn(plain, name)) this.notes.add(`${this.where(this.#path.length - 1)} has two keys that are both "${cut(name, 40)}" in JSON`);
      this.count(name.length + 4);
      this.put(plain, name, this.plain(member, depth + 1) ?? null);
    }
    this.#path.pop();
    return plain;
  }

  promise(value, depth) {
    const [state, settled] = host.promise(value) ?? [0];
    unheard.delete(value);
    if (state !== 1) return "<a promise that was not awaited>";
    this.notes.add(`${this.where()} is a promise that nobody awaited; its value is shown: write await`);
    return this.plain(settled, depth);
  }

  iterator(value, depth) {
    const items = [];
    for (const item of value) {
      if (items.length >= ITERATOR_ITEMS_MAX) {
        this.notes.add(`${this.where()} is an iterator; only its first ${ITERATOR_ITEMS_MAX} items are shown`);
        break;
      }
      items.push(item);
    }
    return this.list(items, depth);
  }

  /** Bytes are text where they are UTF-8; else the gateway takes them out of the result as a file. */
  bytes(bytes, depth) {
    this.count(bytes.length);
    const text = host.decode(bytes);
    if (!text.includes("\ufffd") || isUTF8(bytes, text)) return text;
    if (depth + 1 > this.depthMax) throw new ResultLimit("result_depth", this.depthMax, `the result is nested deeper than ${this.depthMax} levels (at ${this.where()})`);
    return { $file: fileMark(bytes) };
  }

  /** An image of a tool goes along with its name, where there is room. */
  withImage(plain) {
    if (plain.type !== "image" || keysOf(plain).length !== 4 || !toolImages.has(plain.path)) return plain;
    if (this.#images >= TOOL_IMAGES_MAX) return plain;
    let bytes;
    try {
      bytes = readBytes(plain.path);
    } catch {
      return plain;
    }
    if (this.#imageBytes + bytes.length > TOOL_IMAGES_BYTES_MAX || this.#size + bytes.length * 1.4 + 200 > this.bytesMax) return plain;
    this.#images += 1;
    this.#imageBytes += bytes.length;
    this.count(Math.ceil(bytes.length * 1.34) + 200);
    return { ...plain, $file: fileMark(bytes) };
  }
}

function fileMark(bytes) {
  return { media_type: mediaType(bytes), bytes: bytes.length, base64: bytes.toBase64() };
}

function mediaType(bytes) {
  const start = bytes.slice(0, 12).toHex();
  if (start.startsWith("52494646") && start.slice(16) === "57454250") return "image/webp";
  return FILE_BEGINNINGS.find(([beginning]) => start.startsWith(beginning))?.[1] ?? "application/octet-stream";
}

/** Sends a result that is too large for the outcome, in parts. */
function handOver(text) {
  for (let at = 0; at < text.length; ) {
    let end = Math.min(at + PART_CHARS_MAX, text.length);
    const code = text.charCodeAt(end - 1);
    if (end < text.length && code >= 0xd800 && code < 0xdc00) end -= 1;
    const [ok, answer] = calls.ask("result", text.slice(at, end));
    if (!ok) throw new ResultLimit("large_result_bytes", null, errorFrom(answer, "result").message);
    at = end;
  }
}
