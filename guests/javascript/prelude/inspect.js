// util.inspect, as Node prints values: the walk, and how members are laid out in lines.

const INSPECT_DEFAULTS = {
  showHidden: false,
  depth: 2,
  colors: false,
  customInspect: true,
  maxArrayLength: 100,
  maxStringLength: 10000,
  breakLength: 80,
  compact: 3,
  sorted: false,
  getters: false,
};
const INSPECT_CUSTOM = Symbol.for("nodejs.util.inspect.custom");
const PLAIN_KEY = /^[a-zA-Z_][a-zA-Z_0-9]*$/;
const SEPARATOR_CHARS = 2;

function inspect(value, options, depth) {
  const given = typeof options === "object" && options !== null ? options : {};
  const settings = { ...INSPECT_DEFAULTS, ...given };
  if (typeof options === "boolean") settings.showHidden = options;
  if (typeof depth === "number" || depth === null) settings.depth = depth;
  if (settings.depth === null) settings.depth = Infinity;
  if (settings.maxArrayLength === null) settings.maxArrayLength = Infinity;
  if (settings.maxStringLength === null) settings.maxStringLength = Infinity;
  return new Inspection(settings).value(value, 0, true);
}
inspect.custom = INSPECT_CUSTOM;
inspect.defaultOptions = INSPECT_DEFAULTS;

class Inspection {
  seen = [];
  circular = new Map();
  indentation = 0;
  currentDepth = 0;

  constructor(options) {
    this.options = options;
  }

  value(value, depth, isTop = false) {
    if (value === null || (typeof value !== "object" && typeof value !== "function")) {
      return this.primitive(value);
    }
    const behind = unwrapped(value);
    if (behind === null) return "<Revoked Proxy>";
    value = behind;
    const custom = this.customized(value, depth);
    if (custom !== undefined) return custom;
    if (this.seen.includes(value)) {
      if (!this.circular.has(value)) this.circular.set(value, this.circular.size + 1);
      return `[Circular *${this.circular.get(value)}]`;
    }
    return this.object(value, depth, isTop);
  }

  customized(value, depth) {
    if (!this.options.customInspect) return undefined;
    const custom = value[INSPECT_CUSTOM];
    if (typeof custom !== "function" || custom === inspect) return undefined;
    const told = custom.call(value, this.options.depth - depth, { ...this.options }, inspect);
    if (told === value) return undefined;
    if (typeof told !== "object") return String(told).replaceAll("\n", `\n${" ".repeat(this.indentation)}`);
    return this.value(told, depth);
  }

  primitive(value) {
    if (typeof value === "string") return this.string(value);
    if (typeof value === "number") return Object.is(value, -0) ? "-0" : `${value}`;
    if (typeof value === "bigint") return `${value}n`;
    return String(value);
  }

  string(value) {
    const { maxStringLength, breakLength } = this.options;
    let rest = "";
    if (value.length > maxStringLength) {
      const left = value.length - maxStringLength;
      value = value.slice(0, maxStringLength);
      rest = `... ${left} more character${left > 1 ? "s" : ""}`;
    }
    if (value.length > 16 && value.length > breakLength - this.indentation - 4 && value.includes("\n")) {
      const lines = value.split(/(?<=\n)/).map(quoted);
      return lines.join(` +\n${" ".repeat(this.indentation + 2)}`) + rest;
    }
    return quoted(value) + rest;
  }

  object(value, depth, isTop) {
    const shape = shapeOf(value, this);
    if (shape.size === 0 && shape.keys.length === 0) {
      return this.referenced(value, shape.whole ?? `${shape.open}${shape.close}`);
    }
    if (depth > this.options.depth && shape.whole === undefined) return `[${shape.shortName}]`;
    this.seen.push(value);
    this.currentDepth = depth;
    let members;
    try {
      members = shape.members(depth);
      for (const key of shape.keys) members.push(this.property(value, key, depth, false));
    } finally {
      this.seen.pop();
    }
    let { base, open } = shape;
    if (this.circular.has(value)) {
      const mark = `<ref *${this.circular.get(value)}>`;
      if (base === "") open = `${mark} ${open}`;
      else base = `${mark} ${base}`;
    }
    return this.laidOut(members, base, open, shape, depth, value);
  }

  referenced(value, text) {
    return this.circular.has(value) ? `<ref *${this.circular.get(value)}> ${text}` : text;
  }

  property(object, key, depth, isListMember) {
    const described = Object.getOwnPropertyDescriptor(object, key) ?? { value: object[key], enumerable: true };
    let text;
    if ("value" in described) {
      this.indentation += 2;
      text = this.value(described.value, depth + 1);
      this.indentation -= 2;
    } else if (described.get !== undefined) {
      text = described.set !== undefined ? "[Getter/Setter]" : "[Getter]";
    } else {
      text = described.set !== undefined ? "[Setter]" : "undefined";
    }
    if (isListMember) return text;
    let name;
    if (typeof key === "symbol") name = `[${String(key)}]`;
    else if (key === "__proto__") name = "['__proto__']";
    else if (described.enumerable === false) name = `[${key}]`;
    else name = PLAIN_KEY.test(key) ? key : quoted(key);
    return `${name}: ${text}`;
  }

  /** Members in one line where they fit, short list members in columns, else one below the other. */
  laidOut(members, base, open, shape, depth, value) {
    const { compact, breakLength } = this.options;
    const start = base ? `${base} ` : "";
    if (compact === true || typeof compact === "number") {
      const count = members.length;
      if (shape.isList && count > 6) members = this.inColumns(members, value);
      const deepest = compact === true ? Infinity : compact;
      if (this.currentDepth - depth < deepest && count === members.length) {
        const room = members.length + this.indentation + open.length + base.length + 10;
        let length = members.length + room;
        for (const member of members) length += member.length;
        const fits = length <= breakLength && (base === "" || !base.includes("\n"));
        const joined = fits ? members.join(", ") : "";
        if (fits && !joined.includes("\n")) return `${start}${open} ${joined} ${shape.close}`;
      }
    }
    const indentation = `\n${" ".repeat(this.indentation)}`;
    return `${start}${open}${indentation}  ${members.join(`,${indentation}  `)}${indentation}${shape.close}`;
  }

  inColumns(members, value) {
    const { maxArrayLength, compact, breakLength } = this.options;
    const hasRest = maxArrayLength < members.length;
    const count = hasRest ? members.length - 1 : members.length;
    const lengths = members.slice(0, count).map((member) => member.length);
    const total = lengths.reduce((sum, length) => sum + length + SEPARATOR_CHARS, 0);
    const longest = Math.max(...lengths);
    const widest = longest + SEPARATOR_CHARS;
    if (widest * 3 + this.indentation >= breakLength || !(total / widest > 5 || longest <= 6)) return members;
    const bias = Math.sqrt(widest - total / members.length);
    const biased = Math.max(widest - 3 - bias, 1);
    const columns = Math.min(
      Math.round(Math.sqrt(2.5 * biased * count) / biased),
      Math.floor((breakLength - this.indentation) / widest),
      (compact === true ? 3 : compact) * 4,
      15,
    );
    if (columns <= 1) return members;
    const widths = [];
    for (let column = 0; column < columns; column++) {
      let width = 0;
      for (let index = column; index < count; index += columns) width = Math.max(width, lengths[index]);
      widths.push(width + SEPARATOR_CHARS);
    }
    const isNumeric =
      value !== undefined && members.every((_, index) => ["number", "bigint"].includes(typeof value[index]));
    const rows = [];
    for (let index = 0; index < count; index += columns) {
      const last = Math.min(index + columns, count) - 1;
      let row = "";
      for (let at = index; at < last; at++) {
        const cell = `${members[at]}, `;
        row += isNumeric ? cell.padStart(widths[at - index]) : cell.padEnd(widths[at - index]);
      }
      row += isNumeric ? members[last].padStart(widths[last - index] - SEPARATOR_CHARS) : members[last];
      rows.push(row);
    }
    if (hasRest) rows.push(members[count]);
    return rows;
  }
}

const ESCAPED = /[\x00-\x1f\x27\x5c\x7f-\x9f]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const ESCAPES = { "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", "\\": "\\\\" };

/** In single quotes, or in those that the text does not have. */
function quoted(text) {
  let quote = "'";
  if (text.includes("'")) {
    if (!text.includes('"')) quote = '"';
    else if (!text.includes("`") && !text.includes("${")) quote = "`";
  }
  const escaped = text.replace(ESCAPED, (found) => {
    if (found === "'") return quote === "'" ? "\\'" : "'";
    if (ESCAPES[found] !== undefined) return ESCAPES[found];
    const code = found.charCodeAt(0);
    return code < 0x100 ? `\\x${code.toString(16).toUpperCase().padStart(2, "0")}` : `\\u${code.toString(16).toUpperCase()}`;
  });
  return `${quote}${escaped}${quote}`;
}
