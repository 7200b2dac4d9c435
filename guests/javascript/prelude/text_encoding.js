// TextEncoder and TextDecoder, by the interpreter's own UTF-8.

class TextEncoder {
  get encoding() {
    return "utf-8";
  }
  encode(text = "") {
    return host.encode(`${text}`.toWellFormed());
  }
  encodeInto(text, target) {
    let read = 0;
    let written = 0;
    for (const character of `${text}`) {
      const bytes = this.encode(character);
      if (written + bytes.length > target.length) break;
      target.set(bytes, written);
      written += bytes.length;
      read += character.length;
    }
    return { read, written };
  }
}

const ENCODING_LABELS = {
  "utf-8": "utf-8",
  utf8: "utf-8",
  "unicode-1-1-utf-8": "utf-8",
  latin1: "windows-1252",
  "iso-8859-1": "windows-1252",
  ascii: "windows-1252",
  "us-ascii": "windows-1252",
  "windows-1252": "windows-1252",
  "utf-16le": "utf-16le",
  "utf-16": "utf-16le",
  ucs2: "utf-16le",
};

class TextDecoder {
  #rest = new Uint8Array(0);

  constructor(label = "utf-8", options = {}) {
    const encoding = ENCODING_LABELS[`${label}`.trim().toLowerCase()];
    if (encoding === undefined) throw new RangeError(`The "${label}" encoding is not supported`);
    define(this, { encoding, fatal: Boolean(options.fatal), ignoreBOM: Boolean(options.ignoreBOM) });
  }

  decode(input, options = {}) {
    let bytes = input === undefined ? new Uint8Array(0) : bytesOf(input);
    if (this.#rest.length > 0) bytes = joinBytes([this.#rest, bytes]);
    this.#rest = new Uint8Array(0);
    if (this.encoding === "windows-1252") return latin1Text(bytes);
    if (this.encoding === "utf-16le") return utf16Text(bytes);
    if (options.stream) {
      const complete = completeLength(bytes);
      this.#rest = bytes.slice(complete);
      bytes = bytes.subarray(0, complete);
    }
    const text = host.decode(bytes);
    if (this.fatal && text.includes("\ufffd") && !isUTF8(bytes, text)) {
      const error = new TypeError("The encoded data was not valid for encoding utf-8");
      error.code = "ERR_ENCODING_INVALID_ENCODED_DATA";
      throw error;
    }
    return !this.ignoreBOM && text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  }
}

function isUTF8(bytes, text) {
  const again = host.encode(text);
  return again.length === bytes.length && again.every((byte, index) => byte === bytes[index]);
}

/** How many bytes there are without a character that is cut at the end. */
function completeLength(bytes) {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back];
    if ((byte & 0xc0) === 0x80) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

const TEXT_CHUNK = 4096;

function codesToText(codes) {
  let text = "";
  for (let at = 0; at < codes.length; at += TEXT_CHUNK) {
    text += String.fromCharCode.apply(null, codes.subarray(at, at + TEXT_CHUNK));
  }
  return text;
}

function latin1Text(bytes) {
  return codesToText(bytes);
}

function utf16Text(bytes) {
  const even = bytes.slice(0, bytes.length & ~1);
  return codesToText(new Uint16Array(even.buffer, even.byteOffset, even.length >> 1));
}

function joinBytes(parts) {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
