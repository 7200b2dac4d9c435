// Values of a program as JSON for the host: a tool's arguments, a value for `state`.

const ARGUMENTS_DEPTH_MAX = 200;

/** JSON text of plain data that we built ourselves: strict, without lone surrogates. */
function encodeJSON(value) {
  return toJSONText(value, wellFormed);
}

function wellFormed(_key, value) {
  return typeof value === "string" && !value.isWellFormed() ? value.toWellFormed() : value;
}

/** A copy of a value as plain JSON data; a TypeError names the place of what is none. */
function plainValue(value, path, depth = 0) {
  switch (typeof value) {
    case "string":
      return value.isWellFormed() ? value : value.toWellFormed();
    case "boolean":
    case "undefined":
      return value;
    case "number":
      if (!Number.isFinite(value)) throw new TypeError(`${path} is ${value}, which JSON can't represent`);
      return value;
    case "bigint":
      if (BigInt.asIntN(54, value) === value) return Number(value);
      throw new TypeError(`${path} is a BigInt that JSON can't represent exactly; pass it as text`);
    case "function":
    case "symbol":
      throw new TypeError(`${path} is a ${typeof value}, which JSON can't represent`);
  }
  if (value === null) return null;
  if (depth > ARGUMENTS_DEPTH_MAX) {
    throw new TypeError(`${path} is nested deeper than ${ARGUMENTS_DEPTH_MAX} levels (or contains itself)`);
  }
  if (value instanceof PromiseType) throw new TypeError(`${path} is a promise; await it first`);
  if (typeof value.toJSON === "function") return plainValue(value.toJSON(""), path, depth + 1);
  if (isArray(value)) {
    return value.map((member, index) => plainValue(member, `${path}[${index}]`, depth + 1) ?? null);
  }
  if (value instanceof Set) return plainValue([...value], path, depth);
  if (value instanceof Map) return plainValue(Object.fromEntries(value), path, depth);
  if (isBytes(value)) {
    throw new TypeError(`${path} is ${typeName(value)}, which JSON can't represent; pass text or an array`);
  }
  if (value instanceof Number || value instanceof String || value instanceof Boolean) return value.valueOf();
  const plain = {};
  for (const key of keysOf(value)) {
    const member = plainValue(value[key], memberPath(path, key), depth + 1);
    if (member !== undefined) defineProperty(plain, key.toWellFormed(), { value: member, enumerable: true });
  }
  return plain;
}

function memberPath(path, key) {
  return /^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u.test(key) ? `${path}.${key}` : `${path}[${toJSONText(key)}]`;
}
