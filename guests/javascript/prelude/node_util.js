// node:util, and comparing values in depth for it and for node:assert.

function isDeepEqual(one, other, isStrict, seen = new Map()) {
  if (Object.is(one, other)) return true;
  if (!isStrict && (typeof one !== "object" || one === null || typeof other !== "object" || other === null)) {
    return one == other || (Number.isNaN(one) && Number.isNaN(other));
  }
  if (typeof one !== "object" || one === null || typeof other !== "object" || other === null) return false;
  if (isStrict && getPrototypeOf(one) !== getPrototypeOf(other)) return false;
  if (isArray(one) !== isArray(other)) return false;
  if (seen.get(one) === other) return true;
  seen.set(one, other);
  return areMembersEqual(one, other, isStrict, seen);
}

function areMembersEqual(one, other, isStrict, seen) {
  if (one instanceof Date || other instanceof Date) {
    return one instanceof Date && other instanceof Date && Object.is(one.getTime(), other.getTime());
  }
  if (one instanceof RegExp && (!(other instanceof RegExp) || `${one}` !== `${other}`)) return false;
  if (one instanceof ErrorType && (one.message !== other.message || one.name !== other.name)) return false;
  if (isBoxed(one) && !Object.is(one.valueOf(), other.valueOf?.())) return false;
  if (one instanceof Map || other instanceof Map) {
    if (!(one instanceof Map && other instanceof Map) || one.size !== other.size) return false;
    for (const [key, value] of one) {
      const found = other.has(key) ? key : [...other.keys()].find((candidate) => isDeepEqual(key, candidate, isStrict, new Map(seen)));
      if (found === undefined && !other.has(found)) return false;
      if (!isDeepEqual(value, other.get(found), isStrict, seen)) return false;
    }
  } else if (one instanceof Set || other instanceof Set) {
    if (!(one instanceof Set && other instanceof Set) || one.size !== other.size) return false;
    for (const member of one) {
      if (!other.has(member) && ![...other].some((candidate) => isDeepEqual(member, candidate, isStrict, new Map(seen)))) return false;
    }
  } else if (isArray(one) && one.length !== other.length) return false;
  const keys = keysOf(one);
  if (keys.length !== keysOf(other).length) return false;
  return keys.every((key) => hasOwn(other, key) && isDeepEqual(one[key], other[key], isStrict, seen));
}

function promisify(original) {
  if (typeof original[promisify.custom] === "function") return original[promisify.custom];
  return function promisified(...args) {
    return new PromiseType((resolve, reject) => {
      original.call(this, ...args, (error, value) => (error ? reject(error) : resolve(value)));
    });
  };
}
promisify.custom = Symbol.for("nodejs.util.promisify.custom");
setTimeout[promisify.custom] = (delay, value) => timersPromises.setTimeout(delay, value);

const is = (Type) => (value) => value instanceof Type;
const nodeUtil = {
  inspect,
  format,
  formatWithOptions: (options, ...values) => formatWith(options, values),
  isDeepStrictEqual: (one, other) => isDeepEqual(one, other, true),
  promisify,
  callbackify: (original) => (...args) => {
    const callback = args.pop();
    original(...args).then((value) => callback(null, value), callback);
  },
  deprecate: (original) => original,
  inherits(type, parent) {
    Object.setPrototypeOf(type.prototype, parent.prototype);
  },
  stripVTControlCharacters: (text) => text.replace(/\x1b\[[0-9;]*[A-Za-z]/g, ""),
  styleText: (_style, text) => text,
  toUSVString: (text) => `${text}`.toWellFormed(),
  debuglog: () => () => {},
  isArray,
  TextEncoder,
  TextDecoder,
  types: {
    isDate: is(Date), isRegExp: is(RegExp), isMap: is(Map), isSet: is(Set), isPromise: is(PromiseType), isNativeError: is(ErrorType),
    isTypedArray: is(TypedArrayType), isUint8Array: is(Uint8Array), isArrayBuffer: is(ArrayBuffer), isWeakMap: is(WeakMap), isWeakSet: is(WeakSet),
    isProxy: (value) => typeof value === "object" && value !== null && host.proxyTarget(value) !== undefined,
    isAsyncFunction: (value) => typeof value === "function" && value[Symbol.toStringTag] === "AsyncFunction",
    isGeneratorFunction: (value) => typeof value === "function" && `${value[Symbol.toStringTag]}`.includes("GeneratorFunction"),
  },
};
