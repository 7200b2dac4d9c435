// util.format, and the console.

function format(...values) {
  return formatWith({}, values);
}

function formatWith(options, values) {
  const first = values[0];
  let text = "";
  let next = 0;
  if (typeof first === "string") {
    if (values.length === 1) return first;
    next = 1;
    text = first.replace(/%[sdifjoOc%]/g, (found) => {
      if (found === "%%") return "%";
      if (next >= values.length) return found;
      return formatted(found[1], values[next++], options);
    });
  }
  const rest = values.slice(next).map((value) => (typeof value === "string" ? value : inspect(value, options)));
  return next === 0 ? rest.join(" ") : [text, ...rest].join(" ");
}

function formatted(letter, value, options) {
  switch (letter) {
    case "s":
      if (typeof value === "string") return value;
      if (typeof value === "bigint") return `${value}n`;
      if (typeof value === "number" && Object.is(value, -0)) return "-0";
      if (typeof value !== "object" || value === null) return String(value);
      if (value instanceof ErrorType || hasOwn(value, "toString")) return String(value);
      if (typeof value.toString === "function" && value.toString !== Object.prototype.toString && !isArray(value)) {
        return String(value);
      }
      return inspect(value, { ...options, depth: 0, compact: 3 });
    case "d":
      return typeof value === "bigint" ? `${value}n` : typeof value === "symbol" ? "NaN" : `${Number(value)}`;
    case "i":
      return typeof value === "bigint" ? `${value}n` : typeof value === "symbol" ? "NaN" : `${parseInt(value, 10)}`;
    case "f":
      return typeof value === "symbol" ? "NaN" : `${parseFloat(value)}`;
    case "j":
      try {
        return toJSONText(value);
      } catch {
        return "[Circular]";
      }
    case "o":
      return inspect(value, { ...options, showHidden: true, depth: 4 });
    case "O":
      return inspect(value, options);
    default:
      return "";
  }
}

const STDOUT = 1;
const STDERR = 2;

class Console {
  #indentation = "";
  #counts = new Map();
  #times = new Map();

  #print(stream, text) {
    const told = this.#indentation ? text.replace(/^/gm, this.#indentation) : text;
    host.write(stream, `${told.toWellFormed()}\n`);
  }
  log(...values) {
    this.#print(STDOUT, formatWith({}, values));
  }
  error(...values) {
    this.#print(STDERR, formatWith({}, values));
  }
  trace(...values) {
    const title = values.length ? `Trace: ${formatWith({}, values)}` : "Trace";
    this.#print(STDERR, `${title}\n${shortStack(new ErrorType())}`);
  }
  dir(value, options) {
    this.#print(STDOUT, inspect(value, { customInspect: false, ...options }));
  }
  assert(condition, ...values) {
    if (condition) return;
    if (typeof values[0] === "string") values[0] = `Assertion failed: ${values[0]}`;
    else values.unshift("Assertion failed");
    this.error(...values);
  }
  count(label = "default") {
    const count = (this.#counts.get(`${label}`) ?? 0) + 1;
    this.#counts.set(`${label}`, count);
    this.log(`${label}: ${count}`);
  }
  countReset(label = "default") {
    this.#counts.delete(`${label}`);
  }
  group(...values) {
    if (values.length) this.log(...values);
    this.#indentation += "  ";
  }
  groupEnd() {
    this.#indentation = this.#indentation.slice(2);
  }
  time(label = "default") {
    this.#times.set(`${label}`, host.now());
  }
  timeLog(label = "default", ...values) {
    const start = this.#times.get(`${label}`);
    if (start !== undefined) this.log(`${label}: ${(host.now() - start).toFixed(3)}ms`, ...values);
  }
  timeEnd(label = "default") {
    this.timeLog(label);
    this.#times.delete(`${label}`);
  }
  table(data, columns) {
    const drawn = typeof data === "object" && data !== null ? drawTable(data, columns) : undefined;
    this.log(drawn === undefined ? data : drawn);
  }
  clear() {}
  timeStamp() {}
}
for (const [name, of] of [["info", "log"], ["debug", "log"], ["warn", "error"], ["dirxml", "log"], ["groupCollapsed", "group"]]) {
  define(Console.prototype, { [name]: Console.prototype[of] });
}

const VALUES_COLUMN = Symbol("values");

function drawTable(data, wanted) {
  const isMap = data instanceof Map;
  const items = isMap ? [...data] : data instanceof Set ? [...data].map((item, index) => [index, item]) : keysOf(data).map((key) => [key, data[key]]);
  const header = [isMap || data instanceof Set ? "(iteration index)" : "(index)"];
  const columns = new Map();
  const rows = items.map(([key, item], index) => {
    const row = new Map();
    if (isMap) row.set("Key", cell(key));
    if (typeof item !== "object" || item === null || isMap) row.set(isMap ? "Values" : VALUES_COLUMN, cell(item));
    else for (const name of wanted ?? keysOf(item)) row.set(name, hasOwn(item, name) ? cell(item[name]) : "");
    for (const name of row.keys()) if (name !== VALUES_COLUMN) columns.set(name, true);
    return [isMap ? String(index) : String(key), row];
  });
  const names = [...(wanted ?? columns.keys())];
  const hasValues = rows.some(([, row]) => row.has(VALUES_COLUMN));
  const titles = [...header, ...names.map(String), ...(hasValues ? ["Values"] : [])];
  const keys = [...names, ...(hasValues ? [VALUES_COLUMN] : [])];
  const lines = rows.map(([key, row]) => [key, ...keys.map((name) => row.get(name) ?? "")]);
  const widths = titles.map((title, at) => Math.max(title.length, ...lines.map((line) => line[at].length)) + 2);
  const drawLine = (cells) => `│${cells.map((text, at) => ` ${text}`.padEnd(widths[at])).join("│")}│`;
  const rule = (left, middle, right) => left + widths.map((width) => "─".repeat(width)).join(middle) + right;
  return [rule("┌", "┬", "┐"), drawLine(titles), rule("├", "┼", "┤"), ...lines.map(drawLine), rule("└", "┴", "┘")].join("\n");
}

function cell(value) {
  return inspect(value, { depth: typeof value === "object" && value !== null && !isArray(value) && keysOf(value).length > 2 ? -1 : 0, maxArrayLength: 3, breakLength: Infinity });
}
