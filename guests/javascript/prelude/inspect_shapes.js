// What each kind of object looks like to util.inspect: its braces, its members, what stands before them.

/** The name of a value's class, or null for one without a prototype. */
function constructorName(value) {
  for (let object = value; object !== null; object = getPrototypeOf(object)) {
    const described = Object.getOwnPropertyDescriptor(object, "constructor");
    if (typeof described?.value === "function" && described.value.name !== "" && value instanceof described.value) {
      return described.value.name;
    }
  }
  return null;
}

function tagOf(value, name) {
  const tag = value[Symbol.toStringTag];
  return typeof tag === "string" && tag !== "" && tag !== name ? tag : "";
}

/** `Name [tag] `, with how many members it has: what stands before the brace. */
function prefixOf(name, tag, fallback, size = "") {
  if (name === null) return `[${fallback}${size}: null prototype] ${tag && tag !== fallback ? `[${tag}] ` : ""}`;
  return `${name}${size} ${tag ? `[${tag}] ` : ""}`;
}

function shapeOf(value, inspection) {
  const name = constructorName(value);
  const tag = tagOf(value, name);
  const keys = visibleKeys(value, inspection.options);
  const shape = { keys, base: "", open: "{", close: "}", isList: false, members: () => [], size: 0 };
  shape.shortName = name === null ? `${tag || "Object"}: null prototype` : tag && tag !== name ? `${name} [${tag}]` : name;
  const prefix = (fallback, size) => prefixOf(name, tag, fallback, size);
  const find = SHAPES.find(([matches]) => matches(value));
  if (find !== undefined) find[1](shape, value, prefix, inspection, name, tag);
  else if (name !== "Object" || tag) shape.open = `${prefix("Object")}{`;
  if (inspection.options.sorted) shape.keys.sort();
  return shape;
}

function visibleKeys(value, options) {
  const isListed = isArray(value) || value instanceof TypedArrayType;
  const names = options.showHidden ? getOwnPropertyNames(value) : keysOf(value);
  const found = isListed ? names.filter((key) => !/^(0|[1-9]\d*)$/.test(key)) : names;
  const symbols = Object.getOwnPropertySymbols(value);
  const shown = options.showHidden ? symbols : symbols.filter((symbol) => Object.prototype.propertyIsEnumerable.call(value, symbol));
  return [...found, ...shown];
}

function more(count) {
  return `... ${count} more item${count > 1 ? "s" : ""}`;
}

function listMembers(value, inspection, depth) {
  const most = Math.min(Math.max(0, inspection.options.maxArrayLength), value.length);
  const members = [];
  let index = 0;
  while (index < value.length && members.length < most) {
    if (hasOwn(value, index)) {
      members.push(inspection.property(value, String(index), depth, true));
      index++;
    } else {
      const start = index;
      while (index < value.length && !hasOwn(value, index) && index - start < 1e6) index++;
      const empty = index - start;
      members.push(`<${empty} empty item${empty > 1 ? "s" : ""}>`);
    }
  }
  if (index < value.length) members.push(more(value.length - index));
  return members;
}

function shapeList(shape, value, prefix, inspection, name, tag) {
  const size = name === "Array" && !tag ? "" : `(${value.length})`;
  shape.open = size === "" ? "[" : `${prefix("Array", size)}[`;
  shape.close = "]";
  shape.isList = true;
  shape.size = value.length;
  shape.members = (depth) => listMembers(value, inspection, depth);
}

function shapeTyped(shape, value, prefix, inspection) {
  shape.open = `${prefix("TypedArray", `(${value.length})`)}[`;
  shape.close = "]";
  shape.isList = true;
  shape.size = value.length;
  shape.members = () => {
    const most = Math.min(inspection.options.maxArrayLength, value.length);
    const members = Array.from(value.subarray(0, most), (member) => inspection.primitive(member));
    if (value.length > most) members.push(more(value.length - most));
    return members;
  };
}

function entries(inspection, items, size, write) {
  const most = Math.min(inspection.options.maxArrayLength, size);
  const members = [];
  inspection.indentation += 2;
  for (const item of items) {
    if (members.length >= most) break;
    members.push(write(item));
  }
  inspection.indentation -= 2;
  if (size > most) members.push(more(size - most));
  return members;
}

function shapeSet(shape, value, prefix, inspection) {
  shape.open = `${prefix("Set", `(${value.size})`)}{`;
  shape.size = value.size;
  shape.members = (depth) =>
    entries(inspection, Set.prototype.values.call(value), value.size, (item) => inspection.value(item, depth + 1));
}

function shapeMap(shape, value, prefix, inspection) {
  shape.open = `${prefix("Map", `(${value.size})`)}{`;
  shape.size = value.size;
  shape.members = (depth) =>
    entries(inspection, Map.prototype.entries.call(value), value.size, ([key, member]) => {
      return `${inspection.value(key, depth + 1)} => ${inspection.value(member, depth + 1)}`;
    });
}

function shapeFunction(shape, value, _prefix, _inspection, name) {
  const text = Function.prototype.toString.call(value);
  if (text.startsWith("class") && text.endsWith("}")) {
    const parent = getPrototypeOf(value)?.name;
    shape.base = `[class ${value.name || "(anonymous)"}${parent ? ` extends ${parent}` : ""}]`;
  } else {
    const kind = name === null ? "Function" : name;
    shape.base = `[${kind}${value.name ? `: ${value.name}` : " (anonymous)"}]`;
  }
  shape.whole = shape.base;
}

function whole(write) {
  return (shape, value, prefix, inspection, name) => {
    shape.base = shape.whole = write(value, inspection, name);
  };
}

function shapeError(shape, value, _prefix, inspection) {
  const own = ["name", "message", "stack", "line", "column", "fileName", "lineNumber", "columnNumber"];
  shape.keys = shape.keys.filter((key) => !own.includes(key));
  for (const hidden of ["code", "cause", "errors"]) {
    if (hasOwn(value, hidden) && value[hidden] !== undefined && !shape.keys.includes(hidden)) shape.keys.push(hidden);
  }
  const stack = shortStack(value);
  const told = errorTitle(value);
  const text = stack ? `${told}\n${stack}` : `[${told}]`;
  shape.base = shape.whole = text.replaceAll("\n", `\n${" ".repeat(inspection.indentation)}`);
}

/** `TypeError: message`, whatever the program made of it. */
function errorTitle(error) {
  try {
    const name = errorName(error);
    const message = String(error.message ?? "");
    return message ? `${name}: ${message}` : name;
  } catch {
    return "Error";
  }
}

function errorName(error) {
  const name = error.name;
  const own = error.constructor?.name;
  // A class of the program that kept the name of what it extends is called by its own.
  if ((name === undefined || name === "Error") && typeof own === "string" && own !== "") return own;
  return typeof name === "string" && name !== "" ? name : "Error";
}

function shapePromise(shape, value, prefix, inspection) {
  shape.open = `${prefix("Promise")}{`;
  shape.size = 1;
  shape.members = (depth) => {
    const [state, settled] = host.promise(value) ?? [0];
    if (state === 0) return ["<pending>"];
    inspection.indentation += 2;
    const text = inspection.value(settled, depth + 1);
    inspection.indentation -= 2;
    return [state === 2 ? `<rejected> ${text}` : text];
  };
}

function shapeBuffer(shape, value) {
  shape.open = `${value.constructor.name} {`;
  shape.size = 2;
  shape.members = () => {
    const bytes = new Uint8Array(value, 0, Math.min(50, value.byteLength));
    let shown = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(" ");
    if (value.byteLength > 50) shown += ` ... ${value.byteLength - 50} more byte${value.byteLength > 51 ? "s" : ""}`;
    return [`[Uint8Contents]: <${shown}>`, `byteLength: ${value.byteLength}`];
  };
}

function isBoxed(value) {
  return value instanceof Number || value instanceof String || value instanceof Boolean || value instanceof BigInt || value instanceof Symbol;
}

function shapeBoxed(shape, value, _prefix, inspection) {
  const inner = value.valueOf();
  if (typeof inner === "string") shape.keys = shape.keys.filter((key) => !/^\d+$/.test(String(key)));
  const kind = { string: "String", number: "Number", boolean: "Boolean", bigint: "BigInt", symbol: "Symbol" }[typeof inner];
  shape.base = shape.whole = `[${kind}: ${inspection.primitive(inner)}]`;
}

const SHAPES = [
  [(value) => typeof value === "function", shapeFunction],
  [(value) => isArray(value), shapeList],
  [(value) => value instanceof TypedArrayType, shapeTyped],
  [(value) => value instanceof Set, shapeSet],
  [(value) => value instanceof Map, shapeMap],
  [(value) => value instanceof ErrorType || value instanceof DOMException, shapeError],
  [(value) => value instanceof RegExp, whole((value) => RegExp.prototype.toString.call(value))],
  [
    (value) => value instanceof Date,
    whole((value) => (Number.isNaN(value.getTime()) ? "Invalid Date" : Date.prototype.toISOString.call(value))),
  ],
  [(value) => value instanceof PromiseType, shapePromise],
  [(value) => value instanceof ArrayBuffer || value instanceof SharedArrayBuffer, shapeBuffer],
  [(value) => value instanceof WeakSet, whole(() => "WeakSet { <items unknown> }")],
  [(value) => value instanceof WeakMap, whole(() => "WeakMap { <items unknown> }")],
  [isBoxed, shapeBoxed],
  [
    (value) => ["Map Iterator", "Set Iterator"].includes(value[Symbol.toStringTag]),
    (shape, value) => {
      shape.open = `[${value[Symbol.toStringTag]}] {`;
    },
  ],
];
