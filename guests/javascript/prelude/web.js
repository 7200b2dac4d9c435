// The rest of what programs expect of a runtime beside Node's modules: structuredClone, events, aborting,
// crypto, the clock.

function structuredClone(value, options) {
  return cloned(value, new Map());
}

function notCloneable(value) {
  const shown = typeof value === "symbol" ? String(value) : typeof value === "function" ? cut(`${value}`, 60) : "#<Promise>";
  return new DOMException(`${shown} could not be cloned.`, "DataCloneError");
}

function cloned(value, seen) {
  if (typeof value === "function" || typeof value === "symbol") throw notCloneable(value);
  if (typeof value !== "object" || value === null) return value;
  if (seen.has(value)) return seen.get(value);
  if (value instanceof PromiseType || value instanceof WeakMap || value instanceof WeakSet) throw notCloneable(value);
  const keep = (copy) => {
    seen.set(value, copy);
    return copy;
  };
  if (value instanceof Date) return keep(new Date(value.getTime()));
  if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags));
  if (isBoxed(value)) return keep(Object(value.valueOf()));
  if (value instanceof ArrayBuffer) return keep(value.slice(0));
  if (value instanceof TypedArrayType) {
    const Kind = value instanceof Buffer ? Uint8Array : value.constructor;
    return keep(new Kind(value.slice()));
  }
  if (value instanceof DataView) return keep(new DataView(value.buffer.slice(0), value.byteOffset, value.byteLength));
  if (value instanceof Map) {
    const copy = keep(new Map());
    for (const [key, member] of value) copy.set(cloned(key, seen), cloned(member, seen));
    return copy;
  }
  if (value instanceof Set) {
    const copy = keep(new Set());
    for (const member of value) copy.add(cloned(member, seen));
    return copy;
  }
  if (value instanceof ErrorType) {
    const Kind = [EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError].find((type) => value.name === type.name) ?? ErrorType;
    const copy = keep(new Kind(value.message));
    if (hasOwn(value, "cause")) copy.cause = cloned(value.cause, seen);
    return copy;
  }
  const copy = keep(isArray(value) ? new Array(value.length) : {});
  for (const key of keysOf(value)) copy[key] = cloned(value[key], seen);
  return copy;
}

class Event {
  constructor(type, options = {}) {
    const { cancelable = false, bubbles = false } = options;
    define(this, { type: `${type}`, cancelable, bubbles, defaultPrevented: false, target: null, stopped: false, timeStamp: 0 }, true);
  }
  preventDefault() {
    if (this.cancelable) this.defaultPrevented = true;
  }
  stopImmediatePropagation() {
    this.stopped = true;
  }
  stopPropagation() {}
}

class CustomEvent extends Event {
  constructor(type, options = {}) {
    super(type, options);
    this.detail = options.detail ?? null;
  }
}

class EventTarget {
  #listeners = new Map();

  addEventListener(type, listener, options) {
    if (listener === null || listener === undefined) return;
    const once = typeof options === "object" && Boolean(options?.once);
    const known = this.#listeners.get(type) ?? [];
    if (!known.some((entry) => entry.listener === listener)) this.#listeners.set(type, [...known, { listener, once }]);
  }
  removeEventListener(type, listener) {
    const known = this.#listeners.get(type) ?? [];
    this.#listeners.set(type, known.filter((entry) => entry.listener !== listener));
  }
  dispatchEvent(event) {
    event.target = event.currentTarget = this;
    const own = this[`on${event.type}`];
    if (typeof own === "function") own.call(this, event);
    for (const { listener, once } of this.#listeners.get(event.type) ?? []) {
      if (once) this.removeEventListener(event.type, listener);
      if (typeof listener === "function") listener.call(this, event);
      else listener.handleEvent(event);
      if (event.stopped) break;
    }
    return !event.defaultPrevented;
  }
}

const ABORT = Symbol("abort");

class AbortSignal extends EventTarget {
  aborted = false;
  reason = undefined;
  onabort = null;

  static abort(reason) {
    const signal = new AbortSignal();
    signal[ABORT](reason);
    return signal;
  }
  static timeout(milliseconds) {
    const signal = new AbortSignal();
    const timeout = () => signal[ABORT](new DOMException("The operation was aborted due to timeout", "TimeoutError"));
    setTimeout(timeout, milliseconds).unref();
    return signal;
  }
  static any(signals) {
    const signal = new AbortSignal();
    for (const source of signals) {
      if (source.aborted) {
        signal[ABORT](source.reason);
        break;
      }
      source.addEventListener("abort", () => signal[ABORT](source.reason), { once: true });
    }
    return signal;
  }
  throwIfAborted() {
    if (this.aborted) throw this.reason;
  }
  [ABORT](reason) {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason ?? new DOMException("This operation was aborted", "AbortError");
    this.dispatchEvent(new Event("abort"));
  }
  [INSPECT_CUSTOM]() {
    return `AbortSignal { aborted: ${this.aborted} }`;
  }
}

class AbortController {
  signal = new AbortSignal();
  abort(reason) {
    this.signal[ABORT](reason);
  }
}

const webCrypto = {
  getRandomValues(array) {
    if (!(array instanceof TypedArrayType) || array instanceof Float32Array || array instanceof Float64Array) {
      throw new DOMException("The data argument must be an integer-type TypedArray", "TypeMismatchError");
    }
    if (array.byteLength > 65536) {
      throw new DOMException(`The requested length exceeds 65,536 bytes`, "QuotaExceededError");
    }
    bytesOf(array).set(host.random(array.byteLength));
    return array;
  },
  randomUUID() {
    const bytes = host.random(16);
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    const hex = bytes.toHex();
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  },
};

// Drawn from the system in each process: the interpreter's own generator is as it was before the fork.
const RANDOM_POOL = 128;
let randomPool = null;
let randomNext = RANDOM_POOL;

const { random: poolRandom } = {
  random() {
    if (randomNext >= RANDOM_POOL) {
      const words = new Uint32Array(host.random(RANDOM_POOL * 8).buffer);
      randomPool = new Float64Array(RANDOM_POOL);
      for (let index = 0; index < RANDOM_POOL; index++) {
        randomPool[index] = ((words[2 * index] >>> 5) * 67108864 + (words[2 * index + 1] >>> 6)) / 9007199254740992;
      }
      randomNext = 0;
    }
    return randomPool[randomNext++];
  },
};

let timeOrigin = 0;
let timeOriginWall = 0;

/** Fresh clocks and randomness, in a fresh process. */
function drawAnew() {
  randomNext = RANDOM_POOL;
  timeOrigin = host.now();
  timeOriginWall = Date.now();
}

const performanceMarks = new Map();
const performanceClock = {
  now: () => host.now() - timeOrigin,
  get timeOrigin() {
    return timeOriginWall;
  },
  mark(name) {
    const mark = { name, entryType: "mark", startTime: host.now() - timeOrigin, duration: 0 };
    performanceMarks.set(name, mark);
    return mark;
  },
  measure(name, start, end) {
    const startTime = performanceMarks.get(start)?.startTime ?? 0;
    const endTime = performanceMarks.get(end)?.startTime ?? host.now() - timeOrigin;
    return { name, entryType: "measure", startTime, duration: endTime - startTime };
  },
  toJSON() {
    return { timeOrigin: timeOriginWall };
  },
};
