// node:crypto, as far as programs use it without secrets: randomness, and digests by SHA-256, SHA-1 and MD5.

const SHA256_K = Uint32Array.from({ length: 64 }, (_, index) => fractionBits(Math.cbrt, index));
const SHA256_START = Uint32Array.from({ length: 8 }, (_, index) => fractionBits(Math.sqrt, index));
const MD5_K = Uint32Array.from({ length: 64 }, (_, index) => Math.floor(Math.abs(Math.sin(index + 1)) * 2 ** 32));
const MD5_SHIFTS = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21];

function fractionBits(root, index) {
  let prime = 2;
  for (let found = 0; ; prime++) {
    let isPrime = true;
    for (let divisor = 2; divisor * divisor <= prime; divisor++) if (prime % divisor === 0) isPrime = false;
    if (isPrime && found++ === index) break;
  }
  return Math.floor((root(prime) % 1) * 2 ** 32);
}

function padded(bytes, isLittle) {
  const length = (((bytes.length + 8) >> 6) + 1) << 6;
  const view = new DataView(new ArrayBuffer(length));
  new Uint8Array(view.buffer).set(bytes);
  view.setUint8(bytes.length, 0x80);
  view.setUint32(isLittle ? length - 8 : length - 4, (bytes.length << 3) >>> 0, isLittle);
  view.setUint32(isLittle ? length - 4 : length - 8, Math.floor(bytes.length / 2 ** 29), isLittle);
  return view;
}

function digestBytes(words, isLittle) {
  const view = new DataView(new ArrayBuffer(words.length * 4));
  words.forEach((word, index) => view.setUint32(index * 4, word >>> 0, isLittle));
  return new Uint8Array(view.buffer);
}

const right = (word, count) => (word >>> count) | (word << (32 - count));
const left = (word, count) => (word << count) | (word >>> (32 - count));

function sha256(bytes) {
  const view = padded(bytes, false);
  const state = Array.from(SHA256_START);
  const w = new Int32Array(64);
  for (let at = 0; at < view.byteLength; at += 64) {
    for (let i = 0; i < 16; i++) w[i] = view.getInt32(at + i * 4);
    for (let i = 16; i < 64; i++) {
      const s0 = right(w[i - 15], 7) ^ right(w[i - 15], 18) ^ (w[i - 15] >>> 3);
      const s1 = right(w[i - 2], 17) ^ right(w[i - 2], 19) ^ (w[i - 2] >>> 10);
      w[i] = (w[i - 16] + s0 + w[i - 7] + s1) | 0;
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let i = 0; i < 64; i++) {
      const t1 = (h + (right(e, 6) ^ right(e, 11) ^ right(e, 25)) + ((e & f) ^ (~e & g)) + SHA256_K[i] + w[i]) | 0;
      const t2 = ((right(a, 2) ^ right(a, 13) ^ right(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((word, index) => (state[index] = (state[index] + word) | 0));
  }
  return digestBytes(state, false);
}

function sha1(bytes) {
  const view = padded(bytes, false);
  const state = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0];
  const w = new Int32Array(80);
  for (let at = 0; at < view.byteLength; at += 64) {
    for (let i = 0; i < 16; i++) w[i] = view.getInt32(at + i * 4);
    for (let i = 16; i < 80; i++) w[i] = left(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    let [a, b, c, d, e] = state;
    for (let i = 0; i < 80; i++) {
      const [mixed, k] = i < 20 ? [(b & c) | (~b & d), 0x5a827999] : i < 40 ? [b ^ c ^ d, 0x6ed9eba1] : i < 60 ? [(b & c) | (b & d) | (c & d), 0x8f1bbcdc] : [b ^ c ^ d, 0xca62c1d6];
      const next = (left(a, 5) + mixed + e + k + w[i]) | 0;
      [e, d, c, b, a] = [d, c, left(b, 30), a, next];
    }
    [a, b, c, d, e].forEach((word, index) => (state[index] = (state[index] + word) | 0));
  }
  return digestBytes(state, false);
}

function md5(bytes) {
  const view = padded(bytes, true);
  const state = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476];
  for (let at = 0; at < view.byteLength; at += 64) {
    let [a, b, c, d] = state;
    for (let i = 0; i < 64; i++) {
      const round = i >> 4;
      const mixed = round === 0 ? (b & c) | (~b & d) : round === 1 ? (d & b) | (~d & c) : round === 2 ? b ^ c ^ d : c ^ (b | ~d);
      const word = round === 0 ? i : round === 1 ? (5 * i + 1) % 16 : round === 2 ? (3 * i + 5) % 16 : (7 * i) % 16;
      const sum = (a + mixed + MD5_K[i] + view.getInt32(at + word * 4, true)) | 0;
      [a, d, c, b] = [d, c, b, (b + left(sum, MD5_SHIFTS[(round << 2) + (i & 3)])) | 0];
    }
    [a, b, c, d].forEach((word, index) => (state[index] = (state[index] + word) | 0));
  }
  return digestBytes(state, true);
}

const DIGESTS = { sha256, "sha-256": sha256, sha1, "sha-1": sha1, md5 };

class Hash {
  #parts = [];
  #digest;
  #wrap;
  constructor(algorithm, wrap = (parts) => parts) {
    this.#digest = DIGESTS[`${algorithm}`.toLowerCase()];
    this.#wrap = wrap;
    if (this.#digest === undefined) throw new ErrorType(`Digest method not supported: ${algorithm}; there are ${listed(["sha256", "sha1", "md5"])}`);
  }
  update(data, encoding) {
    this.#parts.push(typeof data === "string" ? encodeText(data, encoding) : bytesOf(data).slice());
    return this;
  }
  digest(encoding) {
    const bytes = this.#wrap(joinBytes(this.#parts), this.#digest);
    const digest = this.#wrap.length === 2 ? bytes : this.#digest(bytes);
    return encoding === undefined ? asBuffer(digest) : decodeBytes(digest, encoding);
  }
}

function hmac(algorithm, key) {
  let secret = typeof key === "string" ? host.encode(key) : bytesOf(key);
  return new Hash(algorithm, (message, digest) => {
    if (secret.length > 64) secret = digest(secret);
    const pad = (byte) => Uint8Array.from({ length: 64 }, (_, index) => (secret[index] ?? 0) ^ byte);
    return digest(joinBytes([pad(0x5c), digest(joinBytes([pad(0x36), message]))]));
  });
}

define(webCrypto, {
  subtle: {
    async digest(algorithm, data) {
      const name = `${algorithm?.name ?? algorithm}`.toLowerCase();
      if (DIGESTS[name] === undefined) throw new DOMException(`Unrecognized algorithm name: ${name}`, "NotSupportedError");
      return DIGESTS[name](bytesOf(data)).buffer;
    },
  },
});

const nodeCrypto = {
  randomUUID: webCrypto.randomUUID,
  getRandomValues: webCrypto.getRandomValues,
  webcrypto: webCrypto,
  subtle: webCrypto.subtle,
  randomBytes: (size) => asBuffer(joinBytes([host.random(size)])),
  randomInt(least, most) {
    if (most === undefined) [least, most] = [0, least];
    return least + Math.floor(poolRandom() * (most - least));
  },
  createHash: (algorithm) => new Hash(algorithm),
  createHmac: (algorithm, key) => hmac(algorithm, key),
  getHashes: () => ["md5", "sha1", "sha256"],
  timingSafeEqual: (one, other) => Buffer.compare(one, other) === 0,
};
