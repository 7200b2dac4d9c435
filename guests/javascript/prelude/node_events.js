// node:events.

class EventEmitter {
  #handlers = new Map();
  #add(name, handler, once, first = false) {
    const known = this.#handlers.get(name) ?? [];
    this.#handlers.set(name, first ? [{ handler, once }, ...known] : [...known, { handler, once }]);
    return this;
  }
  on(name, handler) {
    return this.#add(name, handler, false);
  }
  once(name, handler) {
    return this.#add(name, handler, true);
  }
  prependListener(name, handler) {
    return this.#add(name, handler, false, true);
  }
  off(name, handler) {
    const known = this.#handlers.get(name) ?? [];
    const at = known.findLastIndex((entry) => entry.handler === handler);
    if (at !== -1) this.#handlers.set(name, known.toSpliced(at, 1));
    return this;
  }
  removeAllListeners(name) {
    if (name === undefined) this.#handlers.clear();
    else this.#handlers.delete(name);
    return this;
  }
  emit(name, ...args) {
    const known = this.#handlers.get(name) ?? [];
    if (known.length === 0 && name === "error") throw args[0] instanceof ErrorType ? args[0] : new ErrorType(`Unhandled error. (${inspect(args[0])})`);
    for (const { handler, once } of known) {
      if (once) this.off(name, handler);
      handler.apply(this, args);
    }
    return known.length > 0;
  }
  listenerCount(name) {
    return this.#handlers.get(name)?.length ?? 0;
  }
  listeners(name) {
    return (this.#handlers.get(name) ?? []).map((entry) => entry.handler);
  }
  eventNames() {
    return [...this.#handlers].filter(([, known]) => known.length).map(([name]) => name);
  }
  setMaxListeners() {
    return this;
  }
  getMaxListeners() {
    return 10;
  }
  static once(emitter, name) {
    return new PromiseType((resolve, reject) => {
      emitter.once(name, (...args) => resolve(args));
      if (name !== "error") emitter.once("error", reject);
    });
  }
}
define(EventEmitter.prototype, { addListener: EventEmitter.prototype.on, removeListener: EventEmitter.prototype.off });
EventEmitter.EventEmitter = EventEmitter;
EventEmitter.default = EventEmitter;
