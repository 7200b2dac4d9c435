// Timers, in the order of Node: by when they are due, then by when they were set.

let timers = null;

class Timeout {
  constructor(id, repeats) {
    define(this, { id, repeats });
  }
  ref() {
    return this;
  }
  unref() {
    timers.get(this)?.unref();
    return this;
  }
  hasRef() {
    return timers.get(this)?.isLoose !== true;
  }
  refresh() {
    timers.get(this)?.setDue();
    return this;
  }
  close() {
    timers.clear(this);
    return this;
  }
  [Symbol.toPrimitive]() {
    return this.id;
  }
  [Symbol.dispose]() {
    timers.clear(this);
  }
}
class Immediate extends Timeout {}

class Timer {
  isLoose = false;
  constructor(handle, callback, args, delay, line) {
    Object.assign(this, { handle, callback, args, delay, line });
    this.setDue();
  }
  setDue() {
    this.due = host.now() + this.delay;
    timers.queue(this);
  }
  unref() {
    this.isLoose = true;
  }
}

class Timers {
  nextId = 1;
  byId = new Map();
  /** Those that wait, the next one last. What was cleared or set anew is passed over. */
  #waiting = [];

  queue(timer) {
    const waiting = this.#waiting;
    let [low, high] = [0, waiting.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (waiting[middle].due > timer.due) low = middle + 1;
      else high = middle;
    }
    waiting.splice(low, 0, { timer, due: timer.due });
  }

  set(callback, delay, args, Handle, repeats = false) {
    if (typeof callback !== "function") {
      throw new TypeError(`The "callback" argument must be of type function. Received ${typeName(callback)}`);
    }
    const milliseconds = Number(delay);
    const waits = Handle === Immediate ? 0 : milliseconds >= 1 && milliseconds <= 2 ** 31 - 1 ? Math.trunc(milliseconds) : 1;
    const handle = new Handle(this.nextId++, repeats);
    this.byId.set(handle.id, new Timer(handle, callback, args, waits, repeats ? programLine() : null));
    return handle;
  }

  get(handle) {
    return this.byId.get(handle.id);
  }

  clear(handle) {
    const id = typeof handle === "object" && handle !== null ? handle.id : Number(handle);
    this.byId.delete(id);
  }

  /** The timer that is due first, or undefined. */
  first() {
    const waiting = this.#waiting;
    for (let last = waiting.at(-1); last !== undefined; last = waiting.at(-1)) {
      if (this.byId.get(last.timer.handle.id) === last.timer && last.timer.due === last.due) return last.timer;
      waiting.pop();
    }
    return undefined;
  }

  /** Whether the program waits for one: an interval that never ends is not waited for at the end. */
  keepsRunning() {
    for (const timer of this.byId.values()) if (!timer.handle.repeats && !timer.isLoose) return true;
    return false;
  }

  run(timer) {
    this.#waiting.pop();
    if (timer.handle.repeats) timer.setDue();
    else this.byId.delete(timer.handle.id);
    timer.callback.apply(timer.handle, timer.args);
  }
}

timers = new Timers();

function setTimeout(callback, delay, ...args) {
  return timers.set(callback, delay, args, Timeout);
}
function setInterval(callback, delay, ...args) {
  return timers.set(callback, delay, args, Timeout, true);
}
function setImmediate(callback, ...args) {
  return timers.set(callback, 0, args, Immediate);
}
function clearTimeout(handle) {
  if (handle !== undefined && handle !== null) timers.clear(handle);
}
const clearInterval = { clearInterval: (handle) => clearTimeout(handle) }.clearInterval;
const clearImmediate = { clearImmediate: (handle) => clearTimeout(handle) }.clearImmediate;

/** `node:timers/promises`. */
const timersPromises = {
  setTimeout: (delay, value, options) => delayed((done) => setTimeout(done, delay, value), options),
  setImmediate: (value, options) => delayed((done) => setImmediate(done, value), options),
  async *setInterval(delay, value) {
    for (;;) yield await delayed((done) => setTimeout(done, delay, value));
  },
  scheduler: { wait: (delay) => delayed((done) => setTimeout(done, delay)), yield: () => delayed((done) => setImmediate(done)) },
};

function delayed(begin, options) {
  return new PromiseType((resolve, reject) => {
    const signal = options?.signal;
    if (signal?.aborted) return reject(signal.reason);
    const handle = begin(resolve);
    signal?.addEventListener("abort", () => {
      timers.clear(handle);
      reject(signal.reason);
    });
  });
}
