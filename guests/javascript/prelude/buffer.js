// Buffer: bytes with Node's methods for text, comparing and searching.

const BUFFER_ENCODINGS = ["utf8", "utf-8", "hex", "base64", "base64url", "latin1", "binary", "ascii", "utf16le", "utf-16le", "ucs2", "ucs-2"];

function bufferEncoding(encoding) {
  const name = `${encoding ?? "utf8"}`.toLowerCase();
  if (BUFFER_ENCODINGS.includes(name)) return name;
  const error = new TypeError(`Unknown encoding: ${encoding}`);
  error.code = "ERR_UNKNOWN_ENCODING";
  throw error;
}

function encodeText(text, encoding) {
  switch (bufferEncoding(encoding)) {
    case "utf8":
    case "utf-8":
      return host.encode(text.toWellFormed());
    case "hex": {
      const even = /^(?:[0-9a-fA-F]{2})*/.exec(text)[0];
      return Uint8Array.fromHex(even);
    }
    case "base64":
    case "base64url":
      return decodeBase64(text);
    case "utf16le":
    case "utf-16le":
    case "ucs2":
    case "ucs-2":
      return new Uint8Array(Uint16Array.from(text, (character) => character.charCodeAt(0)).buffer);
    default:
      return Uint8Array.from({ length: text.length }, (_, index) => text.charCodeAt(index) & 0xff);
  }
}

function decodeBase64(text) {
  const clean = text.replace(/[^A-Za-z0-9+/\-_]/g, "").replaceAll("-", "+").replaceAll("_", "/");
  const whole = clean.length % 4 === 1 ? clean.slice(0, -1) : clean;
  return Uint8Array.fromBase64(whole);
}

function decodeBytes(bytes, encoding) {
  switch (bufferEncoding(encoding)) {
    case "utf8":
    case "utf-8":
      return host.decode(bytes);
    case "hex":
      return bytes.toHex();
    case "base64":
      return bytes.toBase64();
    case "base64url":
      return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
    case "utf16le":
    case "utf-16le":
    case "ucs2":
    case "ucs-2":
      return utf16Text(bytes);
    case "ascii":
      return latin1Text(bytes.map((byte) => byte & 0x7f));
    default:
      return latin1Text(bytes);
  }
}

class Buffer extends Uint8Array {
  static poolSize = 8192;

  static from(value, encodingOrOffset, length) {
    if (typeof value === "string") return asBuffer(encodeText(value, encodingOrOffset));
    if (value instanceof ArrayBuffer || value instanceof SharedArrayBuffer) {
      return new Buffer(value, encodingOrOffset ?? 0, length ?? value.byteLength - (encodingOrOffset ?? 0));
    }
    if (value !== null && typeof value === "object") {
      if (value.type === "Buffer" && isArray(value.data)) return asBuffer(Uint8Array.from(value.data));
      if (isArray(value) || ArrayBuffer.isView(value) || typeof value.length === "number") return asBuffer(Uint8Array.from(value));
      const primitive = value.valueOf?.();
      if (primitive !== value && primitive !== undefined) return Buffer.from(primitive, encodingOrOffset, length);
    }
    throw new TypeError(
      `The first argument must be of type string or an instance of Buffer, ArrayBuffer, or Array or an Array-like Object. Received ${typeName(value)}`,
    );
  }
  static of(...bytes) {
    return Buffer.from(bytes);
  }
  static alloc(size, fill, encoding) {
    const made = new Buffer(size);
    return fill === undefined || fill === 0 ? made : made.fill(fill, encoding);
  }
  static allocUnsafe(size) {
    return new Buffer(size);
  }
  static allocUnsafeSlow(size) {
    return new Buffer(size);
  }
  static concat(parts, length) {
    const joined = asBuffer(joinBytes(parts.map(bytesOf)));
    if (length === undefined || length === joined.length) return joined;
    const made = new Buffer(length);
    made.set(joined.subarray(0, length));
    return made;
  }
  static byteLength(value, encoding) {
    return typeof value === "string" ? encodeText(value, encoding).length : value.byteLength;
  }
  static isBuffer(value) {
    return value instanceof Buffer;
  }
  static isEncoding(encoding) {
    return BUFFER_ENCODINGS.includes(`${encoding}`.toLowerCase());
  }
  static compare(one, other) {
    const shared = Math.min(one.length, other.length);
    for (let index = 0; index < shared; index++) {
      if (one[index] !== other[index]) return one[index] < other[index] ? -1 : 1;
    }
    return Math.sign(one.length - other.length);
  }

  toString(encoding, start = 0, end = this.length) {
    return decodeBytes(plainBytes(this).subarray(start, end), encoding);
  }
  toLocaleString(encoding, start, end) {
    return this.toString(encoding, start, end);
  }
  toJSON() {
    return { type: "Buffer", data: Array.from(this) };
  }
  equals(other) {
    return Buffer.compare(this, other) === 0;
  }
  compare(other, targetStart = 0, targetEnd = other.length, start = 0, end = this.length) {
    return Buffer.compare(this.subarray(start, end), other.subarray(targetStart, targetEnd));
  }
  slice(start, end) {
    return this.subarray(start, end);
  }
  copy(target, targetStart = 0, start = 0, end = this.length) {
    const part = this.subarray(start, Math.min(end, start + target.length - targetStart));
    target.set(part, targetStart);
    return part.length;
  }
  write(text, offset = 0, length, encoding) {
    if (typeof offset === "string") return this.write(text, 0, undefined, offset);
    if (typeof length === "string") return this.write(text, offset, undefined, length);
    const bytes = encodeText(text, encoding).subarray(0, Math.min(length ?? Infinity, this.length - offset));
    this.set(bytes, offset);
    return bytes.length;
  }
  fill(value, start, end, encoding) {
    if (typeof start === "string") [start, end, encoding] = [0, this.length, start];
    if (typeof value === "number") return super.fill(value & 0xff, start, end);
    const pattern = typeof value === "string" ? encodeText(value, encoding) : bytesOf(value);
    for (let at = start ?? 0, index = 0; at < (end ?? this.length); at++, index++) {
      this[at] = pattern.length ? pattern[index % pattern.length] : 0;
    }
    return this;
  }
  indexOf(value, from = 0, encoding) {
    if (typeof value === "number") return super.indexOf(value & 0xff, from);
    const wanted = typeof value === "string" ? encodeText(value, encoding) : value;
    const start = from < 0 ? Math.max(0, this.length + from) : from;
    for (let at = start; at + wanted.length <= this.length; at++) {
      let index = 0;
      while (index < wanted.length && this[at + index] === wanted[index]) index++;
      if (index === wanted.length) return at;
    }
    return -1;
  }
  includes(value, from, encoding) {
    return this.indexOf(value, from, encoding) !== -1;
  }
  swap16() {
    for (let at = 0; at + 1 < this.length; at += 2) [this[at], this[at + 1]] = [this[at + 1], this[at]];
    return this;
  }
  [INSPECT_CUSTOM]() {
    const shown = Array.from(this.subarray(0, 50), (byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const left = this.length - 50;
    return `<Buffer ${shown}${left > 0 ? ` ... ${left} more byte${left > 1 ? "s" : ""}` : ""}>`;
  }
}

function asBuffer(bytes) {
  return new Buffer(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The same bytes without Buffer's methods. */
function plainBytes(buffer) {
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
}

/** readUInt8 and its like: Node's names for what a DataView does. */
function addNumberMethods() {
  const kinds = [
    ["UInt8", "Uint8", 1], ["Int8", "Int8", 1], ["UInt16", "Uint16", 2], ["Int16", "Int16", 2], ["UInt32", "Uint32", 4],
    ["Int32", "Int32", 4], ["Float", "Float32", 4], ["Double", "Float64", 8], ["BigUInt64", "BigUint64", 8], ["BigInt64", "BigInt64", 8],
  ];
  const view = (buffer) => new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  for (const [name, of, bytes] of kinds) {
    for (const order of bytes === 1 ? [""] : ["LE", "BE"]) {
      const methods = {
        [`read${name}${order}`](offset = 0) {
          checkOffset(this, offset, bytes);
          return view(this)[`get${of}`](offset, order === "LE");
        },
        [`write${name}${order}`](value, offset = 0) {
          checkOffset(this, offset, bytes);
          view(this)[`set${of}`](offset, value, order === "LE");
          return offset + bytes;
        },
      };
      define(Buffer.prototype, methods);
      if (name.includes("UInt")) {
        for (const does of ["read", "write"]) {
          define(Buffer.prototype, { [`${does}${name.replace("UInt", "Uint")}${order}`]: methods[`${does}${name}${order}`] });
        }
      }
    }
  }
}

function checkOffset(buffer, offset, bytes) {
  if (Number.isInteger(offset) && offset >= 0 && offset + bytes <= buffer.length) return;
  const error = new RangeError(`The value of "offset" is out of range. It must be >= 0 and <= ${buffer.length - bytes}. Received ${offset}`);
  error.code = "ERR_OUT_OF_RANGE";
  throw error;
}

addNumberMethods();
